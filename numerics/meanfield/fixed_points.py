"""All fixed points of the variance map q -> sigma_w^2 V(q) + sigma_b^2, with stability; not by iteration."""

from __future__ import annotations

from fractions import Fraction

from flint import arb, ctx

from gateproof.numerics import interval as iv
from gateproof.numerics.meanfield import polynomials
from gateproof.numerics.meanfield.activation import Phi, RefusedActivation
from gateproof.numerics.meanfield.certified_panels import NoPanels
from gateproof.numerics.meanfield.certified_tails import NoTailBound
from gateproof.numerics.meanfield.curves import Maps, fixed_point_curve, maps_of
from gateproof.numerics.meanfield.far_out import fixed_point_far, last_variance
from gateproof.numerics.meanfield.near_zero import (
    below_its_lines,
    bends_somewhere,
    drift,
    is_zero,
    ratio_sign,
    sides,
    start_where,
    steady_energy,
    vanishes,
)
from gateproof.numerics.meanfield.outcome import Outcome, Point, Status, stability, unless_told
from gateproof.numerics.meanfield.zeros import zeros
from gateproof.numerics.points import at_point, compare
from gateproof.numerics.precision import precision
from gateproof.theory.exact.kernels import minus, plus, times
from gateproof.theory.formula.nodes import Num, num

#: Where a search starts that no argument extends to 0.
SMALLEST = Fraction(1, 4**12)


def fixed_points(
    phi: Phi,
    sigma_w2: Fraction,
    sigma_b2: Fraction,
    digits: int = 30,
    *,
    largest: Fraction | None = None,
    maps: Maps | None = None,
) -> Outcome:
    """All q* >= 0 with q* = sigma_w2 V(q*) + sigma_b2, to ``digits`` digits.

    ``largest`` ends the search there, unless what lies beyond a smaller q is proved anyhow. Raises
    ValueError unless sigma_w2 > 0 and sigma_b2 >= 0, RefusedActivation where phi grows too fast for means.
    """
    if sigma_w2 <= 0 or sigma_b2 < 0:
        raise ValueError("sigma_w^2 > 0 and sigma_b^2 >= 0 are variances")
    with precision(int(digits * 3.33) + 96):
        if phi.homogeneous:
            return _homogeneous(phi, sigma_w2, sigma_b2)
        try:
            return _searched(maps or maps_of(phi), sigma_w2, sigma_b2, digits, largest)
        except (NoPanels, NoTailBound) as error:
            raise RefusedActivation(f"the activation {phi.text!r:.60}: {error}") from None


def _homogeneous(phi: Phi, sigma_w2: Fraction, sigma_b2: Fraction) -> Outcome:
    """The map is q -> w A q + s."""
    energy = sides(phi).energy
    rate = times(Num(sigma_w2), energy)
    order = compare(rate, num(1))
    w, s = iv.rational(sigma_w2), iv.rational(sigma_b2)
    chi, whole = w * at_point(energy, {}, 256), (arb(0), None)
    grows = f"the map is q -> chi q + {sigma_b2} with chi = {chi.str(8, radius=False)}"
    if order == 0 and sigma_b2 == 0:
        point = Point(arb(1), w, s, arb(1), arb(1), None, "every q > 0 is a fixed point")
        return Outcome(Status.SCALE_INVARIANT, (point,), f"{grows}: it keeps every variance", whole, True)
    if order == 0 or (order == 1 and sigma_b2 > 0):
        return Outcome(Status.NONE, (), f"{grows}: the variance grows without bound", whole, True)
    if order is None:
        return Outcome(Status.NONE, (), f"{grows}, not told from 1", whole, False)
    q = s / (1 - chi)
    point = Point(q, w, s, chi, chi, order < 0, "")
    return Outcome(Status.OK, (point,), f"{grows}: one fixed point", whole, True)


def _searched(
    maps: Maps, sigma_w2: Fraction, sigma_b2: Fraction, digits: int, largest: Fraction | None
) -> Outcome:
    exact = polynomials.means(maps.phi)
    if exact is not None:
        return _exact(maps.phi, exact, sigma_w2, sigma_b2, largest)
    w, s = iv.rational(sigma_w2), iv.rational(sigma_b2)
    first: tuple[Point, ...] = ()
    reached = True
    if sigma_b2 > 0:
        lo = arb(s.lower())
    elif vanishes(maps.phi):
        point, critical = at_zero(maps.phi, sigma_w2)
        if point.stable and below_its_lines(maps.phi) and bends_somewhere(maps.phi):
            reason = (
                "1 fixed point for all q: |phi(x)| <= |phi'(0) x| on either side of 0, so that the variance"
                " falls from every q > 0 to 0"
            )
            return Outcome(Status.OK, (point,), reason, (arb(0), None), True)
        near = _reach(maps.phi, w, critical=critical)
        first, reached = (point,), near is not None
        lo = near if near is not None else iv.rational(SMALLEST)
    else:
        lo = start_where(maps.phi, lambda q0, least, _: w * least > q0)
    far = fixed_point_far(maps, sigma_w2, sigma_b2)
    hi, far = last_variance(maps, lo, sigma_b2, largest, far)
    found = zeros(fixed_point_curve(maps, w, s), lo, hi, digits)
    chi_1 = _steady(maps.phi, sigma_w2)
    points = first + tuple(_point(maps, q, w, s, digits, chi_1) for q in found.found)
    start = s if reached else lo
    end = "all q" if far is not None else f"q <= {hi.str(6, radius=False)}"
    if not reached:
        # The point 0 itself is no part of that range.
        end = f"q = 0 and {'' if end == 'all q' else end + ', '}q >= {lo.str(3, radius=False)}"
    beyond = f"; beyond {hi.str(6, radius=False)} {far.why}" if far is not None else ""
    parts = [f"{len(points)} fixed point{'s' * (len(points) != 1)} for {end}{beyond}"]
    if far is not None and far.sign > 0:
        parts.append("from the largest q on the variance grows without bound")
    if not reached:
        parts.append(f"between 0 and {lo.str(3, radius=False)} nothing was proved")
    if found.open:
        parts.append(f"{len(found.open)} small boxes, perhaps folds, were left undecided")
    status = Status.OK if points else Status.NONE
    whole = (start, None if far is not None else hi)
    return Outcome(status, points, "; ".join(parts), whole, not found.open, tuple(found.open))


def _exact(
    phi: Phi, means: polynomials.Means, sigma_w2: Fraction, sigma_b2: Fraction, largest: Fraction | None
) -> Outcome:
    """The same for a polynomial."""
    first = (at_zero(phi, sigma_w2)[0],) if sigma_b2 == 0 and vanishes(phi) else ()
    points = first + polynomials.fixed_points(means, sigma_w2, sigma_b2, largest)
    end = "all q" if largest is None else f"q <= {largest}"
    reason = f"{len(points)} fixed point{'s' * (len(points) != 1)} for {end}: {polynomials.WHY}"
    whole = iv.rational(sigma_b2), None if largest is None else iv.rational(largest)
    return Outcome(Status.OK if points else Status.NONE, points, reason, whole, True)


def _point(maps: Maps, q: arb, w: arb, s: arb, digits: int, chi_1: arb | None) -> Point:
    m = maps.at(q, digits + 4)
    chi = w * m.first[1]
    stable = stability(chi)
    return Point(q, w, s, w * m.second[0] if chi_1 is None else chi_1, chi, stable, unless_told(stable))


def _steady(phi: Phi, sigma_w2: Fraction) -> arb | None:
    """chi_1 where it does not depend on q; exactly 1 where it is 1."""
    energy = steady_energy(phi)
    if energy is None:
        return None
    if is_zero(plus(times(Num(sigma_w2), energy), minus(num(1)))):
        return arb(1)
    return iv.rational(sigma_w2) * at_point(energy, {}, 256)


def at_zero(phi: Phi, sigma_w2: Fraction) -> tuple[Point, bool]:
    """The fixed point q = 0, and whether chi_parallel is exactly 1 there."""
    energy = sides(phi).energy
    w = iv.rational(sigma_w2)
    slope = times(Num(sigma_w2), energy)
    critical = is_zero(plus(slope, minus(num(1))))
    chi = arb(1) if critical else w * at_point(energy, {}, max(256, ctx.prec))
    order = None if critical else compare(slope, num(1))
    note, stable = "", None if order is None else order < 0
    if critical:
        way = drift(phi)
        stable = way < 0 if way is not None else below_its_lines(phi) or None
        note = "chi_1 and chi_parallel are exactly 1; what follows the first order of V at 0 decides"
    chi_1 = chi if not phi.has_jump else arb.pos_inf()
    return Point(arb(0), w, arb(0), chi_1, chi, stable, note), critical


def _reach(phi: Phi, sigma_w2: arb, *, critical: bool) -> arb | None:
    """A q0 with no fixed point in (0, q0]."""
    near = ratio_sign(phi, sigma_w2, critical=critical)
    return None if near is None else near[1]
