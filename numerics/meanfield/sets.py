"""Sets of numbers that the claim language asks of the mean field, from the certified engine.

A critical point at sigma_b^2 is a pair (sigma_w^2 > 0, q >= 0) with

    q = sigma_w^2 V(q) + sigma_b^2,     chi_1 = sigma_w^2 D(q) = 1,

where V(0) = phi(0)^2 and D(0) is the limit of D, the mean of the two squared slopes at 0. ``edge_of_chaos``
are the sigma_w^2 of these, ``edge_variance`` their q, ``depth_rate`` their limits of l^power (1 - c_l), and
``fixed_points`` the q >= 0 with q = sigma_w^2 V(q) + sigma_b^2.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.meanfield.activation import Phi, RefusedActivation, X
from gateproof.numerics.meanfield.activation import phi as activation
from gateproof.numerics.meanfield.certified import CertifiedEngine
from gateproof.numerics.meanfield.certified_panels import NoPanels
from gateproof.numerics.meanfield.certified_tails import NoTailBound
from gateproof.numerics.meanfield.depth_edge import CornerRate, edge_rate
from gateproof.numerics.meanfield.edge import edge
from gateproof.numerics.meanfield.fixed_points import fixed_points
from gateproof.numerics.meanfield.near_zero import sides
from gateproof.numerics.meanfield.number_set import Element, NoValue, NumberSet
from gateproof.numerics.meanfield.outcome import Outcome, Point, Status
from gateproof.numerics.points import compare, rational_bounds
from gateproof.numerics.precision import precision
from gateproof.theory.exact.kernels import PI, minus, over, plus, raised, times
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import Expr, MeanField, Num, Var, num
from gateproof.theory.formula.powers import constant_value

#: Digits beyond those asked for.
GUARD = 6


def number_set(node: MeanField, digits: int) -> NumberSet:
    """The set, its numbers to about ``digits`` digits; ``node`` has a core body and rational variances.

    Raises NoValue where it has no meaning, RefusedActivation where the engine does not reach it.
    """
    w = None if node.sigma_w2 is None else constant_value(node.sigma_w2)
    s = constant_value(node.sigma_b2)
    if s is None or (node.sigma_w2 is not None and w is None):
        raise RefusedActivation("sigma_w2 and sigma_b2 are taken as rational numbers")
    if s < 0 or (w is not None and w <= 0):
        raise NoValue("sigma_w2 > 0 and sigma_b2 >= 0 are variances")
    return _number_set(node.op, substitute(node.body, {node.var: Var(X)}), w, s, node.power, digits)


@lru_cache(maxsize=512)
def _number_set(op: str, body: Expr, w: Fraction | None, s: Fraction, power: int, digits: int) -> NumberSet:
    phi = activation(body)
    if op != "fixed_points" and phi.has_jump:
        raise NoValue("the activation jumps, so that chi_1 is infinite everywhere")
    try:
        if w is not None:
            return _of(fixed_points(phi, w, s, digits), s, "q", _exact_fixed(phi, w, s))
        found = edge(phi, s, digits)
        if op == "depth_rate":
            return _rates(phi, found, s, power, digits)
        what = "sigma_w2" if op == "edge_of_chaos" else "q"
        return _of(found, s, what, _exact_critical(phi, found, what))
    except (NoPanels, NoTailBound, NumericsError) as error:
        raise RefusedActivation(f"the activation {phi.text!r:.60}: {error}") from None
    except OverflowError:
        raise RefusedActivation(f"the activation {phi.text!r:.60} grows too fast for normal means") from None


def _of(found: Outcome, s: Fraction, what: str, exact: Expr | None) -> NumberSet:
    complete, searched = _reach(found, s)
    if found.status is Status.SCALE_INVARIANT and what == "q":
        return NumberSet((), complete, True, searched, bool(found.open))
    elements = tuple(_element(getattr(p, what), exact) for p in found.points)
    return NumberSet(elements, complete, False, searched, bool(found.open))


def _reach(found: Outcome, s: Fraction) -> tuple[bool, str]:
    """Whether nothing is left out, and what was searched."""
    lo, hi = found.searched
    with precision(64):
        from_below = not lo > iv.rational(s)
    complete = found.certified and not found.open and hi is None and from_below
    return complete, found.reason


def _element(ball: arb, exact: Expr | None) -> Element:
    lo, hi = rational_bounds(ball)
    if exact is None and lo == hi:
        exact = Num(lo)
    return Element(lo, hi, exact)


def _exact_critical(phi: Phi, found: Outcome, what: str) -> Expr | None:
    """The one critical point where it is known without a search: sigma_w^2 = 1/D(0)."""
    if found.status not in (Status.DEGENERATE, Status.SCALE_INVARIANT):
        return None
    return over(num(1), sides(phi).energy) if what == "sigma_w2" else None


def _exact_fixed(phi: Phi, w: Fraction, s: Fraction) -> Expr | None:
    """s/(1 - w D), the one fixed point where phi(a x) = a phi(x)."""
    if not phi.homogeneous:
        return None
    rest = plus(num(1), minus(times(Num(w), sides(phi).energy)))
    return None if compare(rest, num(0)) in (0, None) else over(Num(s), rest)


def _rates(phi: Phi, found: Outcome, s: Fraction, power: int, digits: int) -> NumberSet:
    """The limits of l^power (1 - c_l) at the critical points."""
    complete, searched = _reach(found, s)
    engine = CertifiedEngine(phi, digits + GUARD)
    elements = tuple(_rate(engine, p, power, found.status) for p in found.points)
    return NumberSet(elements, complete, False, searched, bool(found.open))


def _rate(engine: CertifiedEngine, point: Point, power: int, status: Status) -> Element:
    phi = engine.phi
    if not point.q > 0:
        raise NoValue("the critical point stands at q* = 0, where there is no correlation")
    with precision(engine.bits):
        try:
            rate = edge_rate(engine, phi, point.sigma_w2, point.q)
        except ValueError:
            raise NoValue("the activation is a line: correlations do not move") from None
        if isinstance(rate, CornerRate):
            if power == 1:
                return Element(Fraction(0), Fraction(0), num(0))
            exact = _exact_square_rate(phi) if status is Status.SCALE_INVARIANT else None
            return _element(rate.square_rate, exact)
        if power == 2:
            raise NoValue("the slope of the activation is continuous, so that l^2 (1 - c_l) tends to oo")
        return _element(rate.beta_q, None)


def _exact_square_rate(phi: Phi) -> Expr:
    """18 pi^2 A^2/J^4 for lines of slopes a and b on either side of 0: A = (a^2 + b^2)/2, J = a - b.

    s = (2/3) sigma_w^2 sqrt(q/pi) J^2/sqrt(2 pi q) with sigma_w^2 = 1/A in 4/s^2 (see depth_edge).
    """
    here = sides(phi)
    jump = plus(here.right[0], minus(here.left[0]))
    return over(times(num(18), raised(PI, 2), raised(here.energy, 2)), raised(jump, 4))
