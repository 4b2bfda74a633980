"""A fixed point of the variance map with all that mean field theory says there, as enclosures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from typing import Any

from flint import arb

from gateproof.numerics.errors import NumericsError
from gateproof.numerics.meanfield.activation import Phi
from gateproof.numerics.meanfield.certified import CertifiedEngine
from gateproof.numerics.meanfield.certified_panels import NoPanels
from gateproof.numerics.meanfield.certified_tails import NoTailBound
from gateproof.numerics.meanfield.depth import NoFixedPoint, fixed_correlation, forgetting
from gateproof.numerics.meanfield.depth_edge import CornerRate, edge_rate
from gateproof.numerics.meanfield.outcome import Point
from gateproof.numerics.meanfield.value import Value
from gateproof.numerics.precision import precision

#: Laws by which 1 - c_l falls on the edge of chaos.
SMOOTH, CORNERED = "l^-1", "l^-2"
ONE, INFINITE, ZERO = Value.exact(1), Value.exact(inf), Value.exact(0)


@dataclass(frozen=True)
class FieldPoint:
    """A fixed point q* of q -> sigma_w2 V(q) + sigma_b2; what is not known, or means nothing, is None.

    ``beta_q`` = lim l (1 - c_l) and ``log_factor``, the factor of log l in 1/(1 - c_l), stand on the edge of
    chaos where phi' is continuous; ``limit`` = lim l^p (1 - c_l) with p the power of ``law``. Depth scales
    are in layers: ``xi_q`` < 0 where differences of variances grow. ``basin``: the variances between these
    ends go to q* (:mod:`~.basins`). ``largest_depth`` is L_max, where it was asked for.
    """

    sigma_w2: Value | None
    sigma_b2: Value | None
    q_star: Value | None
    chi_1: Value | None
    chi_parallel: Value | None
    stable: bool | None
    beta_q: Value | None = None
    xi_q: Value | None = None
    xi_c: Value | None = None
    xi_gradient: Value | None = None
    c_star: Value | None = None
    law: str | None = None
    limit: Value | None = None
    log_factor: Value | None = None
    double_critical: bool = False
    any_q: bool = False
    note: str = ""
    basin: tuple[Value, Value] | None = None
    largest_depth: Value | None = None

    def given(self, sigma_w2: Fraction | None, sigma_b2: Fraction | None) -> FieldPoint:
        """The same with the variances that were given as the exact numbers that they are."""
        return replace(
            self,
            sigma_w2=self.sigma_w2 if sigma_w2 is None else Value.exact(sigma_w2),
            sigma_b2=self.sigma_b2 if sigma_b2 is None else Value.exact(sigma_b2),
        )

    @property
    def on_edge(self) -> bool:
        """Whether chi_1 is exactly 1."""
        return self.chi_1 is not None and self.chi_1.is_exact and self.chi_1.lo == 1


def plain_point(point: Point, any_q: bool) -> FieldPoint:
    """The point without its scales."""
    of = Value.of
    return FieldPoint(
        of(point.sigma_w2), of(point.sigma_b2), of(point.q), of(point.chi_1), of(point.chi_parallel),
        point.stable, any_q=any_q, note=point.note,
    )  # fmt: skip


def described(engine: CertifiedEngine, point: Point, homogeneous: bool = False) -> FieldPoint:
    """The point with its scales, all in balls."""
    phi = engine.phi
    with precision(engine.bits):
        chi_1 = arb.pos_inf() if phi.has_jump else point.chi_1
        chi = point.chi_parallel
        both = bool(chi_1 == 1 and chi == 1)
        found: dict[str, Any] = {
            "sigma_w2": Value.of(point.sigma_w2), "sigma_b2": Value.of(point.sigma_b2),
            "q_star": Value.of(point.q), "chi_1": Value.of(chi_1), "chi_parallel": Value.of(chi),
            "stable": point.stable, "xi_q": _layers(chi), "xi_gradient": _gradient(chi_1),
            "double_critical": both, "any_q": homogeneous and both, "note": point.note,
        }  # fmt: skip
        if point.q > 0:
            found |= _on_edge(engine, point) if chi_1 == 1 else _off_edge(engine, point, chi_1)
        return FieldPoint(**found)


def _layers(factor: arb) -> Value | None:
    """-1/log|factor|."""
    if not factor.is_finite():
        return ZERO if factor > 0 else None
    if abs(factor) == 1:
        return INFINITE
    if abs(factor).contains(1):
        return None
    if factor.contains(0):
        size = arb(abs(factor).upper())
        top = None if factor.is_zero() or not size < 1 else Value.of(forgetting(size))
        return ZERO if factor.is_zero() else None if top is None else Value(Fraction(0), top.hi)
    return Value.of(forgetting(factor))


def _gradient(chi_1: arb) -> Value | None:
    """1/|log chi_1|; None where chi_1 is not told from 1, or not from 0."""
    if chi_1 == 1:
        return INFINITE
    if chi_1.is_zero() or (chi_1 > 1 and not chi_1.is_finite()):
        return ZERO
    return None if not chi_1 > 0 or chi_1.contains(1) else Value.of(abs(forgetting(chi_1)))


def _on_edge(engine: CertifiedEngine, point: Point) -> dict[str, Any]:
    """c* = 1, reached by a power of the depth."""
    same = {"xi_c": INFINITE, "c_star": ONE}
    try:
        rate = edge_rate(engine, engine.phi, point.sigma_w2, point.q)
    except ValueError:
        return {**same, "note": _joined(point.note, "phi is a line: correlations do not move")}
    except (NoPanels, NoTailBound, NumericsError) as error:
        return {**same, "note": _joined(point.note, f"beta_q was not enclosed: {error}")}
    if isinstance(rate, CornerRate):
        return {**same, "law": CORNERED, "limit": Value.of(rate.square_rate)}
    beta = Value.of(rate.beta_q)
    factor = Value.of(rate.log_factor) if rate.b.is_finite() else None
    note = "" if rate.b.is_finite() else "phi'' jumps, so that 1/(1 - c_l) grows like l/beta_q + O(sqrt(l))"
    return {
        **same, "law": SMOOTH, "beta_q": beta, "limit": beta, "log_factor": factor,
        "note": _joined(point.note, note),
    }  # fmt: skip


def _off_edge(engine: CertifiedEngine, point: Point, chi_1: arb) -> dict[str, Any]:
    if chi_1 < 1:
        return {"c_star": ONE, "xi_c": _layers(chi_1)}
    if not chi_1 > 1 or not chi_1.is_finite():
        note = "chi_1 is infinite: c* < 1 is not computed" if chi_1 > 1 else "chi_1 is not told from 1"
        return {"note": _joined(point.note, note)}
    try:
        eps, slope = _correlation(engine, point, chi_1)
    except (NoFixedPoint, NoPanels, NoTailBound, NumericsError, ValueError) as error:
        return {"note": _joined(point.note, f"c* was not enclosed: {error}")}
    return {"c_star": Value.of(1 - eps), "xi_c": Value.of(forgetting(slope))}


def _correlation(engine: CertifiedEngine, point: Point, chi_1: arb) -> tuple[arb, arb]:
    """1 - c* and R'(c*)."""
    phi: Phi = engine.phi
    if phi.parity == -1 and point.sigma_b2.is_zero():
        # R(0) = 0: independent inputs stay so.
        return arb(1), point.sigma_w2 * engine.correlation_slope(point.q, arb(0))
    return fixed_correlation(engine, point.sigma_w2, point.sigma_b2, point.q, chi_1)


def _joined(*notes: str) -> str:
    return "; ".join(n for n in notes if n)
