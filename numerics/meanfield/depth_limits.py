"""L_max at fixed points: the last layer after which a correlation and c* differ by at least what is given."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf
from typing import Any

from gateproof.numerics.meanfield.choices import gap_of, like
from gateproof.numerics.meanfield.depth_law import MAX_LAYERS, told_apart
from gateproof.numerics.meanfield.depth_layers import steps_at
from gateproof.numerics.meanfield.described import FieldPoint
from gateproof.numerics.meanfield.given import RefusedNumber
from gateproof.numerics.meanfield.result import FieldPoints
from gateproof.numerics.meanfield.value import Value

#: The least difference from c* < 1 that floats tell.
RESOLVED = 1e-12


def depth_limit(engine: Any, point: FieldPoint, apart: float, c: float = 0.0) -> float:
    """The layer, from c_0 = c, in floats: as :func:`~.depth_law.told_apart`. Raises RefusedNumber."""
    if point.c_star is None:
        raise RefusedNumber(f"c* is not known there: {point.note}")
    assert point.sigma_w2 is not None
    assert point.q_star is not None
    w, q = (like(engine, v.middle) for v in (point.sigma_w2, point.q_star))
    return told_apart(steps_at(engine, w, q), gap_of(c), 1 - float(point.c_star), apart)


def with_depth_limits(engine: Any, found: FieldPoints, apart: Fraction) -> FieldPoints:
    """The points with their ``largest_depth``, from c_0 = 0; where it is not known the note says why."""
    return replace(found, apart=apart, points=tuple(_told(engine, p, float(apart)) for p in found))


def _told(engine: Any, point: FieldPoint, apart: float) -> FieldPoint:
    if point.q_star is None or not point.q_star.lo > 0:
        return point
    if point.c_star is not None and point.c_star.hi < 1 and apart < RESOLVED:
        return _unknown(point, "floats do not tell correlations so near to c*")
    try:
        layer = depth_limit(engine, point, apart)
    except (ArithmeticError, ValueError) as error:
        return _unknown(point, str(error))
    if layer < 0:
        return _unknown(point, "from the start c_0 = 0 is nearer to c*")
    if layer < inf:
        end = Fraction(layer)
        return replace(point, largest_depth=Value(end, end, False))
    # Of a line correlations stay as they are; elsewhere the layers were not followed as far.
    stays = point.on_edge and point.law is None
    return replace(point, largest_depth=Value(inf if stays else Fraction(MAX_LAYERS), inf, False))


def _unknown(point: FieldPoint, why: str) -> FieldPoint:
    return replace(point, note=f"{point.note}{'; ' * bool(point.note)}no L_max: {why}")
