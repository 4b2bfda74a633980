"""Targets that are measured curves: a file, or columns in arrays."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from gateproof.numerics.fits.data_curve import FEWEST, curve
from gateproof.numerics.fits.data_read import read_table, table_of
from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.target import Points, RefusedTarget, Target
from gateproof.numerics.fits.target_domain import Domain


def of_file(path: Path, domain: Domain | None = None) -> Target:
    """The target of a CSV or NPY file of x, y and perhaps standard errors. Raises RefusedTarget."""
    points, notes = curve(read_table(path), str(path))
    return of_points(points, path.name, domain, notes)


def of_columns(given: Any, domain: Domain | None = None) -> Target:
    """The target of an array (n, 2) or (n, 3), or of a tuple (x, y) or (x, y, standard errors)."""
    points, notes = curve(table_of(given, (), "the curve"), "the curve")
    return of_points(points, "the curve", domain, notes)


def of_points(points: Points, name: str, domain: Domain | None = None, notes: tuple[str, ...] = ()) -> Target:
    """The target of a curve; a domain keeps the points in it. Between points it goes by straight lines."""
    if domain is not None:
        inside = np.ones(len(points.x), dtype=bool)
        if domain.lo is not None:
            inside &= points.x >= float(domain.lo)
        if domain.hi is not None:
            inside &= points.x <= float(domain.hi)
        if inside.sum() < FEWEST:
            raise RefusedTarget(
                f"{name}: {inside.sum()} points in the domain, {FEWEST} or more are needed; all lie from "
                f"{points.x[0]:.6g} to {points.x[-1]:.6g}"
            )
        if not inside.all():
            notes = (*notes, f"{(~inside).sum()} of {len(inside)} points lie outside of the domain")
        se = None if points.se is None else points.se[inside]
        points = Points(points.x[inside], points.y[inside], se, points.count)
    lo, hi = float(points.x[0]), float(points.x[-1])
    if hi - lo < 1e-9 * max(abs(lo), abs(hi)):
        raise RefusedTarget(f"{name}: its x are all near {lo:.6g}, too close for doubles; subtract it")

    def function(x: Array) -> Array:
        return np.interp(x, points.x, points.y)

    return Target(
        name, function, None, Fraction(repr(lo)), Fraction(repr(hi)), kind="data", points=points, notes=notes
    )
