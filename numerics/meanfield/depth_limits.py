"""L_max at fixed points: the last layer after which a correlation and c* differ by at least what is given."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf
from typing import Any

from gateproof.numerics.meanfield.choices import gap_of, like
from gateproof.numerics.meanfield.depth_law import told_apart
from gateproof.numerics.meanfield.depth_layers import steps_at
from gateproof.numerics.meanfield.described import FieldPoint
from gateproof.numerics.meanfield.given import RefusedNumber
from gateproof.numerics.meanfield.result import FieldPoints
from gateproof.numerics.meanfield.value import Value


def depth_limit(engine: Any, point: FieldPoint, apart: float, c: float = 0.0) -> float:
    """The layer, from c_0 = c, in floats: as :func:`~.depth_law.told_apart`. Raises RefusedNumber."""
    if point.c_star is None:
        raise RefusedNumber(f"c* is not known there: {point.note}")
    assert point.sigma_w2 is not None
    assert point.q_star is not None
    w, q = (like(engine, v.middle) for v in (point.sigma_w2, point.q_star))
    return told_apart(steps_at(engine, w, q), gap_of(c), 1 - float(point.c_star), apart)


def with_depth_limits(engine: Any, found: FieldPoints, apart: Fraction) -> FieldPoints:
    """The points with their ``largest_depth``, from c_0 = 0; None where it is not known."""
    return replace(found, apart=apart, points=tuple(_told(engine, p, float(apart)) for p in found))


def _told(engine: Any, point: FieldPoint, apart: float) -> FieldPoint:
    if point.q_star is None or not point.q_star.lo > 0:
        return point
    try:
        layer = depth_limit(engine, point, apart)
    except (ArithmeticError, ValueError):
        return point
    if layer < 0:
        return point  # They are nearer than that from the start.
    end = layer if layer == inf else Fraction(layer)
    return replace(point, largest_depth=Value(end, end, False))
