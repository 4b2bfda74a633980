"""Weights and biases to begin with: sigma_w and sigma_b at a reachable critical point, or the nearest choice.

A critical point (chi_1 = 1) is reachable where its variance attracts: |chi_parallel| < 1. Where the one asked
for has none, what is offered instead is, in this order:

1. the reachable critical point whose sigma_b is nearest to the one asked for, with xi_q <= 1000. The
   reachable points are open towards chi_parallel = 1, where xi_q is infinite and stability is lost, so that
   without a bound on xi_q the least distance would be taken at a point that no network gets to; with it the
   set is closed, and the least is taken.
2. else, at the sigma_b asked for, the fixed point with the least |log chi_1| (gradients neither vanish nor
   explode for longest: xi_gradient = 1/|log chi_1| is largest) among those with xi_q <= 10, for the same
   reason: along the stable branch chi_1 comes nearest to 1 only as chi_parallel goes to 1. There, near a
   fold, the variances drawn in are few; hence the smaller bound. ``settle`` replaces both.

Positively homogeneous phi (relu, leaky relu, abs) keep every variance at sigma_w^2 = 1/E phi'^2 and
sigma_b = 0, where chi_1 = chi_parallel = 1: He's initialisation. Both searches are in floats over q from 1e-6
to 1e6; the point offered is then enclosed in balls.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import inf
from typing import Any

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.meanfield import given
from gateproof.numerics.meanfield.activation import Phi, Target
from gateproof.numerics.meanfield.activation import phi as activation
from gateproof.numerics.meanfield.edge import edge
from gateproof.numerics.meanfield.engines import float_engine
from gateproof.numerics.meanfield.fixed_points import fixed_points
from gateproof.numerics.meanfield.given import RefusedNumber
from gateproof.numerics.meanfield.initialise_depth import (
    critical_scales,
    for_depth,
    other_scales,
    reached,
)
from gateproof.numerics.meanfield.initialise_record import (
    CRITICAL,
    NEAREST_CRITICAL,
    NEAREST_STABLE,
    NONE,
    SCALE_INVARIANT,
    Initialisation,
)
from gateproof.numerics.meanfield.initialise_search import (
    LARGEST,
    LEAST,
    Along,
    critical_curve,
    fixed_point_curve,
    nearest,
)
from gateproof.numerics.meanfield.outcome import Outcome, Point, Status

SIGMA_B2 = Fraction(1, 20)
#: The largest xi_q of what is offered instead: of a critical point, and of another fixed point.
SLOWEST, SETTLE = 1000.0, 10.0
APART = 0.01


def initialise(
    target: Target | Phi,
    *,
    sigma_b2: Fraction | float | str | None = None,
    depth: int | None = None,
    apart: float = APART,
    settle: float | None = None,
    digits: int = 16,
    jax: bool | None = None,
) -> Initialisation:
    """sigma_w and sigma_b for an activation at sigma_b2 (0.05), or nearest to it for a target depth.

    With ``depth``, of the reachable critical points after whose ``depth`` layers inputs of correlation 0
    still have 1 - c >= ``apart``, the one with sigma_b nearest to that asked for. ``settle`` bounds xi_q of
    what is offered instead, in layers (None: as above); ``digits`` are those of the enclosures; ``jax`` False
    leaves JAX out. Raises RefusedActivation for what is no activation, RefusedNumber for bad numbers.
    """
    phi = target if isinstance(target, Phi) else activation(target)
    b2 = _given(sigma_b2, depth, apart, settle)
    slowest, settle = (SLOWEST, SETTLE) if settle is None else (settle, settle)
    engine = float_engine(phi, jax)
    if phi.has_jump:
        reason = "it jumps, so that chi_1 is infinite at every fixed point and gradients do not exist"
        return Initialisation(phi.text, NONE, None, None, None, None, reason, None, True)
    if phi.homogeneous:
        return _invariant(engine, phi, sigma_b2 is not None and b2 > 0, digits, depth, apart)
    try:
        asked = edge(phi, b2, digits)
    except ArithmeticError as error:
        # Balls do not reach this one; what floats find is offered, and not called certified.
        nothing = f"balls do not enclose its means: {error}"
        asked = Outcome(Status.NONE, (), nothing, (iv.rational(b2), None), False)
    stable = [p for p in asked.points if p.stable and p.q > 0]
    if stable:
        at = min(stable, key=lambda p: abs(float(p.chi_parallel.mid())))
        found = _critical(engine, phi, CRITICAL, at, asked, asked.certified)
        return found if depth is None else _deep(engine, found, float(b2), slowest, depth, apart, digits)
    why = _why_not(asked, b2)
    near = nearest(critical_curve(engine.plain, float(b2), slowest))
    if near is not None:
        found = _offered(engine, phi, near, digits, asked, why)
        return found if depth is None else _deep(engine, found, float(b2), slowest, depth, apart, digits)
    found = _stable(
        engine, phi, b2, settle, digits, asked, f"{why}; none was found at other sigma_b{_within(slowest)}"
    )
    return found if depth is None else replace(found, depth=depth, apart=apart)


def _given(
    sigma_b2: Fraction | float | str | None, depth: int | None, apart: float, settle: float | None
) -> Fraction:
    value = SIGMA_B2 if sigma_b2 is None else given.bias_variance(sigma_b2)
    if depth is not None and depth < 1:
        raise RefusedNumber(f"depth = {depth}: at least one layer is expected")
    if not 0 < apart < 1:
        raise RefusedNumber(f"apart = {apart}: a difference of correlations in (0, 1) is expected")
    if settle is not None and not 0 < settle < inf:
        raise RefusedNumber(f"settle = {settle}: a number of layers > 0 is expected")
    return value


def _within(xi_q: float) -> str:
    return f" with xi_q <= {xi_q:g}"


def _why_not(asked: Outcome, b2: Fraction) -> str:
    """Why the critical points at the sigma_b2 asked for do not serve."""
    at = f"at sigma_b^2 = {float(b2):.6g}"
    if asked.status is Status.DEGENERATE:
        return f"{at} the only critical point is degenerate: q* = 0, where nothing is left of a signal"
    if not asked.points:
        return f"{at} there is no critical point ({asked.reason})"
    if all(p.stable is False for p in asked.points):
        chi = ", ".join(f"{float(p.chi_parallel.mid()):.4g}" for p in asked.points)
        return f"{at} no network reaches the critical point: its variance repels (chi_parallel = {chi})"
    notes = "; ".join(p.note for p in asked.points if p.stable is not True and p.note)
    return f"{at} the critical point is not shown to attract" + (f" ({notes})" if notes else "")


def _critical(
    engine: Any, phi: Phi, kind: str, at: Point, asked: Outcome, certified: bool, reason: str = ""
) -> Initialisation:
    w, q = float(at.sigma_w2.mid()), float(at.q.mid())
    scales = critical_scales(engine, phi, w, q, float(at.chi_parallel.mid()))
    reason = reason or f"a critical point that attracts, at the sigma_b asked for ({asked.reason})"
    b2 = float(at.sigma_b2.mid())
    return Initialisation(phi.text, kind, w, b2, at, scales, reason, asked, certified)


def _offered(engine: Any, phi: Phi, near: Along, digits: int, asked: Outcome, why: str) -> Initialisation:
    """The critical point near the one found in floats, enclosed where balls find it to be stable."""
    at, certified = _enclosed(lambda: edge(phi, Fraction(f"{near.sigma_b2:.12g}"), digits), near)
    looked_at = f"for q* from {LEAST:g} to {LARGEST:g}"
    reason = f"{why}; {looked_at} the reachable one nearest in sigma_b is at sigma_b^2 = {near.sigma_b2:.6g}"
    return _critical(engine, phi, NEAREST_CRITICAL, at, asked, certified, reason)


def _enclosed(search: Callable[[], Outcome], near: Along) -> tuple[Point, bool]:
    """The stable point next to the one found in floats, and if it is certified; else that one itself."""
    try:
        outcome = search()
    except ArithmeticError:
        outcome = None
    stable = [p for p in outcome.points if p.stable and p.q > 0] if outcome is not None else []
    if outcome is not None and stable:
        return min(stable, key=lambda p: abs(float(p.q.mid()) - near.q)), outcome.certified
    found = Point(
        arb(near.q), arb(near.sigma_w2), arb(near.sigma_b2), arb(near.chi_1), arb(near.chi_parallel), True,
        "in floats, without an enclosure",
    )  # fmt: skip
    return found, False


def _stable(
    engine: Any, phi: Phi, b2: Fraction, settle: float, digits: int, asked: Outcome, why: str
) -> Initialisation:
    near = nearest(fixed_point_curve(engine.plain, float(b2), settle), float(b2))
    if near is None:
        nothing = f"{why}; nor is there a fixed point with xi_q <= {settle:g} and chi_1 > 0"
        return Initialisation(phi.text, NONE, None, None, None, None, nothing, asked, False)
    at, certified = _enclosed(lambda: fixed_points(phi, Fraction(f"{near.sigma_w2:.12g}"), b2, digits), near)
    w, q = float(at.sigma_w2.mid()), float(at.q.mid())
    scales = other_scales(engine, w, float(b2), q)
    reason = (
        f"{why}; of the fixed points{_within(settle)} at this sigma_b this one has chi_1 nearest to 1:"
        f" {float(at.chi_1.mid()):.6g}"
    )
    return Initialisation(phi.text, NEAREST_STABLE, w, float(b2), at, scales, reason, asked, certified)


def _invariant(
    engine: Any, phi: Phi, biased: bool, digits: int, depth: int | None, apart: float
) -> Initialisation:
    outcome = edge(phi, Fraction(0), digits)
    if not outcome.points:
        return Initialisation(phi.text, NONE, None, None, None, None, outcome.reason, outcome, True)
    at = outcome.points[0]
    w = float(at.sigma_w2.mid())
    scales = critical_scales(engine, phi, w, 1.0, 1.0)
    reason = (
        "phi(a x) = a phi(x) for a > 0: sigma_w^2 = 1/E phi'^2 and sigma_b = 0 keep every variance, with"
        " chi_1 = 1"
    )
    if biased:
        reason = f"with sigma_b > 0 the variance grows by sigma_b^2 a layer wherever chi_1 = 1; {reason}"
    made = Initialisation(phi.text, SCALE_INVARIANT, w, 0.0, at, scales, reason, outcome, True)
    if depth is None:
        return made
    eps = reached(engine, w, 1.0, depth)
    if eps < apart:
        made = replace(
            made, reason=f"{reason}; after {depth} layers 1 - c is {eps:.3g} only, whatever sigma_b is"
        )
    return replace(made, depth=depth, apart=apart, eps_at_depth=eps)


def _deep(
    engine: Any, found: Initialisation, sigma_b2: float, slowest: float, depth: int, apart: float, digits: int
) -> Initialisation:
    """The same where it carries the depth, else the nearest critical point that does."""
    assert found.sigma_w2 is not None
    assert found.q_star is not None
    eps = reached(engine, found.sigma_w2, found.q_star, depth)
    if eps < apart:
        near, better = for_depth(engine, engine.phi, sigma_b2, slowest, depth, apart)
        moved = None
        if near is not None and found.asked is not None:
            why = f"{depth} layers with 1 - c >= {apart:g} are not carried at sigma_b^2 = {sigma_b2:.6g}"
            moved = _offered(engine, engine.phi, near, digits, found.asked, why)
        if moved is None:
            found = replace(
                found, reason=f"{found.reason}; no reachable critical point carries {depth} layers"
            )
        else:
            found, eps = moved, better
    return replace(found, depth=depth, apart=apart, eps_at_depth=eps)
