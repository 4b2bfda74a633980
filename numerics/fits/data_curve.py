"""A measured curve out of columns: which they are, what is dropped, merged and refused."""

from __future__ import annotations

import numpy as np

from gateproof.numerics.fits.data_read import Table
from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.target import Points, RefusedTarget

#: Fewer points than these are no curve, more would make a search of many starts too slow.
FEWEST, MOST = 4, 100_000
_ERRORS = ("se", "stderr", "std", "sigma", "err", "error", "yerr", "sd", "dy", "y_err", "sem", "uncertainty")
_WEIGHTS = ("w", "weight", "weights")


def curve(table: Table, name: str) -> tuple[Points, tuple[str, ...]]:
    """The points, and remarks on what was done to the rows. Raises RefusedTarget.

    Rows with a missing value are dropped; rows of one x become one with the mean of y, weighted by 1/se^2
    where there are standard errors (then its error is 1/sqrt(sum 1/se^2)), and by count where there are none.
    """
    x, y, se = _columns(table, name)
    notes = []
    for column, values in (("x", x), ("y", y), *((("standard error", se),) if se is not None else ())):
        bad = np.flatnonzero(np.isinf(values))
        if len(bad):
            raise RefusedTarget(f"{name}: line {table.lines[bad[0]]}: an infinite {column}; take the row out")
        huge = np.flatnonzero(np.abs(values) > 1e100)
        if len(huge):
            raise RefusedTarget(f"{name}: line {table.lines[huge[0]]}: {column} beyond 1e100 is too large")
    known = ~(np.isnan(x) | np.isnan(y) | (np.isnan(se) if se is not None else False))
    dropped = int((~known).sum())
    if dropped:
        notes.append(f"{dropped} of {len(x)} rows have a missing value and are left out")
    lines = table.lines[known]
    x, y, se = x[known], y[known], None if se is None else se[known]
    if se is not None and (se <= 0).any():
        k = int(np.flatnonzero(se <= 0)[0])
        raise RefusedTarget(f"{name}: line {lines[k]}: standard error {se[k]:g}; it must be above 0")
    points, merged = _merged(x, y, se)
    if merged:
        notes.append(f"{merged} x stand on several rows, which are averaged")
    if len(points.x) < FEWEST:
        raise RefusedTarget(f"{name}: {len(points.x)} different points; {FEWEST} or more make a curve")
    if len(points.x) > MOST:
        raise RefusedTarget(f"{name}: {len(points.x)} different x, at most {MOST}; thin out or average")
    return points, tuple(notes)


def _columns(table: Table, name: str) -> tuple[Array, Array, Array | None]:
    names = [n.lower() for n in table.names]
    count = len(table.columns)
    if names.count("x") == 1 and names.count("y") == 1:
        errors = [k for k, n in enumerate(names) if n in _ERRORS]
        if len(errors) > 1:
            raise RefusedTarget(
                f"{name}: columns {names[errors[0]]} and {names[errors[1]]}; keep one standard error"
            )
        if not errors and count == 3:
            errors = [k for k in range(3) if names[k] not in ("x", "y")]
        places = [names.index("x"), names.index("y"), *errors]
    elif count in (2, 3):
        places = list(range(count))
    else:
        only = "one column" if count == 1 else f"{count} columns"
        raise RefusedTarget(
            f"{name}: {only}; two or three are expected: x, y, and the standard error of y"
            + (", or a header that names x and y" if count > 3 else "")
        )
    if len(places) == 3 and names and names[places[2]] in _WEIGHTS:
        raise RefusedTarget(
            f"{name}: column {names[places[2]]!r}: give standard errors, which are 1/sqrt(weight)"
        )
    found = [table.columns[k] for k in places]
    if len(found) == 3 and not np.isnan(found[2]).all():
        return found[0], found[1], found[2]
    return found[0], found[1], None


def _merged(x: Array, y: Array, se: Array | None) -> tuple[Points, int]:
    """Ascending x, each once; and how many of them stood on several rows."""
    different, place, rows = np.unique(x, return_inverse=True, return_counts=True)
    if len(different) == len(x):
        order = np.argsort(x, kind="stable")
        return Points(x[order], y[order], None if se is None else se[order], len(x)), 0
    weight = np.ones_like(y) if se is None else (se.min() / se) ** 2
    total = np.bincount(place, weight)
    mean = np.bincount(place, weight * y) / total
    errors = None if se is None else se.min() / np.sqrt(total)
    return Points(different, mean, errors, len(x)), int((rows > 1).sum())
