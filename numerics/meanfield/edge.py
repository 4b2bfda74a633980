"""The edge of chaos for a given sigma_b^2: every (sigma_w^2, q*) with chi_1 = 1, and whether it is stable.

chi_1 = sigma_w^2 D(q) = 1 at a fixed point of the variance map is F(q) = (q - sigma_b^2) D(q) - V(q) = 0.
F(sigma_b^2) = -V < 0. For sigma_b^2 = 0 and phi(0) = 0, Stein's identity gives

    F(q) = E k(u),   k(x) = x int_0^x phi'^2 - (int_0^x phi')^2 >= 0

by Cauchy and Schwarz, and F > 0 for q > 0 unless phi' is constant on either side of 0: only q* = 0 is left.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.meanfield import polynomials
from gateproof.numerics.meanfield.activation import Phi, RefusedActivation, X, must_be_continuous
from gateproof.numerics.meanfield.certified_panels import NoPanels
from gateproof.numerics.meanfield.certified_tails import NoTailBound
from gateproof.numerics.meanfield.curves import Maps, edge_curve, maps_of
from gateproof.numerics.meanfield.far_out import Far, edge_far, last_variance
from gateproof.numerics.meanfield.near_zero import (
    below_its_lines,
    bends_somewhere,
    drift,
    is_zero,
    sides,
    sign,
    start_where,
    vanishes,
)
from gateproof.numerics.meanfield.outcome import DOUBLE, Outcome, Point, Status, stability, unless_told
from gateproof.numerics.meanfield.zeros import zeros
from gateproof.numerics.points import at_point
from gateproof.numerics.precision import precision
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import Expr


def edge(
    phi: Phi,
    sigma_b2: Fraction,
    digits: int = 30,
    *,
    largest: Fraction | None = None,
    maps: Maps | None = None,
) -> Outcome:
    """All points of the edge of chaos at sigma_b2 >= 0, with q* to ``digits`` digits.

    ``largest`` ends the search there, unless what lies beyond a smaller q is proved anyhow. ``maps``
    keeps nodes between calls. Raises RefusedActivation where phi jumps, ValueError for sigma_b2 < 0.
    """
    if sigma_b2 < 0:
        raise ValueError(f"sigma_b^2 = {sigma_b2} is a variance: give a number >= 0")
    must_be_continuous(phi)
    bits = int(digits * 3.33) + 96
    with precision(bits):
        if phi.homogeneous:
            return _homogeneous(phi, sigma_b2, bits)
        at_zero = vanishes(phi)
        if sigma_b2 == 0 and at_zero:
            return _degenerate(phi, bits)
        try:
            return _searched(maps or maps_of(phi), sigma_b2, digits, largest)
        except (NoPanels, NoTailBound) as error:
            raise RefusedActivation(f"the activation {phi.text!r:.60}: {error}") from None


def edge_through(phi: Phi, q: Fraction, digits: int = 30, maps: Maps | None = None) -> Point:
    """The point of the edge of chaos with fixed point q > 0: sigma_w2 = 1/D, sigma_b2 = q - V/D.

    A negative sigma_b2 says that no network has its critical point there. Raises RefusedActivation where phi
    jumps, ValueError for q <= 0.
    """
    if q <= 0:
        raise ValueError(f"q = {q}: a variance > 0 is expected")
    must_be_continuous(phi)
    maps = maps or maps_of(phi)
    with precision(int(digits * 3.33) + 96):
        at = iv.rational(q)
        try:
            m = maps.at(at, digits + 4)
        except (NoPanels, NoTailBound) as error:
            raise RefusedActivation(f"the activation {phi.text!r:.60}: {error}") from None
        return _point(maps, at, at - m.first[0] / m.second[0], digits)


def _homogeneous(phi: Phi, sigma_b2: Fraction, bits: int) -> Outcome:
    """phi(a x) = a phi(x): V = A q and D = A exactly."""
    energy = at_point(sides(phi).energy, {}, bits)
    whole = (iv.rational(sigma_b2), None)
    if energy.is_zero():
        return Outcome(Status.NONE, (), "phi is 0", whole, True)
    if sigma_b2 > 0:
        reason = (
            "phi(a x) = a phi(x) for a > 0, so that V = q D, and chi_1 = 1 would need sigma_b^2 = 0:"
            " with sigma_w^2 D = 1 the variance grows by sigma_b^2 a layer"
        )
        return Outcome(Status.NONE, (), reason, whole, True)
    point = Point(arb(1), 1 / energy, arb(0), arb(1), arb(1), None, "every q > 0 is such a fixed point")
    reason = "phi(a x) = a phi(x) for a > 0: at this sigma_w^2 every variance is a fixed point with chi_1 = 1"
    return Outcome(Status.SCALE_INVARIANT, (point,), reason, (arb(0), None), True)


def _degenerate(phi: Phi, bits: int) -> Outcome:
    """sigma_b2 = 0 and phi(0) = 0: only q* = 0, by the identity above."""
    certified = bends_somewhere(phi)
    whole = (arb(0), None)
    above = "for q* > 0 (q - sigma_b^2) D - V = E[x int phi'^2 - (int phi')^2] > 0 by Cauchy and Schwarz"
    energy = sides(phi).energy
    if is_zero(energy):
        reason = f"phi'(0) = 0, so that chi_1 tends to 0 at the fixed point q = 0; {above}"
        return Outcome(Status.NONE, (), reason, whole, certified)
    if not sign(energy):
        return Outcome(Status.NONE, (), "phi'(0) was not told from 0", whole, False)
    way = drift(phi)
    stable = way < 0 if way is not None else below_its_lines(phi) or None
    word = {True: "attracts", False: "repels", None: "is not told to attract or repel"}[stable]
    note = f"chi_parallel is 1 as well; beyond the first order of V at 0 the fixed point {word}"
    w = 1 / at_point(energy, {}, bits)
    reason = f"sigma_b^2 = 0 and phi(0) = 0: the only critical point is at q* = 0; {above}"
    point = Point(arb(0), w, arb(0), arb(1), arb(1), stable, note)
    return Outcome(Status.DEGENERATE, (point,), reason, whole, certified)


def _searched(maps: Maps, sigma_b2: Fraction, digits: int, largest: Fraction | None) -> Outcome:
    s = iv.rational(sigma_b2)
    phi = maps.phi
    exact = polynomials.means(phi)
    if exact is not None:
        points = polynomials.edge(exact, sigma_b2, largest)
        end = None if largest is None else iv.rational(largest)
        count = "one critical point" if len(points) == 1 else f"{len(points)} critical points"
        where = "for all q" if largest is None else f"for q <= {largest}"
        status = Status.OK if points else Status.NONE
        return Outcome(status, points, f"{count} {where}: {polynomials.WHY}", (s, end), True)
    lo = arb(s.lower()) if sigma_b2 > 0 else start_where(phi, lambda q0, least, top: q0 * top < least)
    far = edge_far(maps, sigma_b2)
    hi, far = last_variance(maps, lo, sigma_b2, largest, far)
    found = zeros(edge_curve(maps, s), lo, hi, digits)
    points = tuple(_point(maps, q, s, digits) for q in found.found)
    searched = (s, None if far is not None else hi)
    return Outcome(
        Status.OK if points else Status.NONE,
        points,
        _reason(points, far, hi, found.open),
        searched,
        not found.open,
        tuple(found.open),
    )


def _point(maps: Maps, q: arb, s: arb, digits: int) -> Point:
    m = maps.at(q, digits + 4)
    d, v = m.second[0], m.first
    if identical_slopes(maps.phi):
        # sigma_w2 V'' tells on which side the variance is drawn to q*.
        bend = m.first[2]
        side = "below" if bend > 0 else "above" if bend < 0 else ""
        note = DOUBLE + (
            f"; the fixed point attracts from {side} and repels on the other side" if side else ""
        )
        return Point(q, 1 / d, s, arb(1), arb(1), None, note)
    chi = v[1] / d
    stable = stability(chi)
    return Point(q, 1 / d, s, arb(1), chi, stable, unless_told(stable))


def identical_slopes(phi: Phi) -> bool:
    """Whether V' = D exactly: V' - D = E phi phi'' is 0 for lines that bend only where phi = 0."""
    if not phi.piecewise_linear:
        return False
    values: list[Expr] = [substitute(phi.expr, {X: k.at}) for k in phi.kinks]
    return all(is_zero(v) for v in values)


def _reason(points: tuple[Point, ...], far: Far | None, hi: arb, undecided: list[arb]) -> str:
    end = f"q <= {hi.str(6, radius=False)}"
    beyond = f"; beyond {end[5:]} {far.why}" if far is not None else ""
    left = f"; {len(undecided)} small boxes were left undecided" if undecided else ""
    if points:
        count = "one critical point" if len(points) == 1 else f"{len(points)} critical points"
        where = "for all q" if far is not None else f"for {end}"
        return f"{count} {where}{beyond}{left}"
    where = "at any q" if far is not None else f"for {end}, which is as far as was searched"
    return f"chi_1 = 1 at no fixed point {where}{beyond}{left}"
