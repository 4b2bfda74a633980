"""Suprema on sets whose ends no box closes: log(x)/x on x > 0, x + 1/x beside its pole, x*log(x).

Beside an open or infinite end the derivative often keeps its sign, which the exact prover shows. There the
formula rises or falls towards the end: it stays between its value at the cut and its limit, and what is left
is a closed interval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from gateproof.numerics.decimals import agreed_digits
from gateproof.numerics.ends import End, EndExpr, as_expr, end
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.points import at_point, enclosure
from gateproof.numerics.precision import precision
from gateproof.numerics.results import Enclosure, Extremum
from gateproof.theory.exact.defined import prove_defined
from gateproof.theory.exact.derivative import derivative
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.infinity import INFINITY, MINUS_INFINITY
from gateproof.theory.exact.infinity import side as infinite_side
from gateproof.theory.exact.limits import limit
from gateproof.theory.exact.piecewise import has_no_kink, resolve
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.nodes import Expr, Num, num
from gateproof.theory.formula.printer import to_text

#: How far from a finite end a cut may lie, in lengths of the interval, as powers of two.
_SHARES = (2, 5, 10, 20, 40)
#: Bits at which an irrational end is known.
_BITS = 256
_FAR = tuple(Fraction(2) ** k for k in (1, 3, 6, 10, 20))
Solve = Callable[[EndExpr, EndExpr, bool, bool], Extremum]


@dataclass(frozen=True)
class SteepEnd:
    """Between ``cut`` and an end (``side`` -1 the lower one, 1 the upper) the formula is strictly monotone.

    ``rises``: towards the end. ``point`` is the end, ``place`` a rational at it, None where it is infinite.
    """

    side: int
    point: Expr
    place: Fraction | None
    cut: Fraction
    inner: Expr
    rises: bool

    @property
    def sides(self) -> tuple[str, ...]:
        """The infinite side, as results name it; none for a finite end."""
        return () if self.place is not None else ("-" if self.side < 0 else "+",)

    @property
    def step(self) -> str:
        """What was shown, in words."""
        name, word = to_text(self.point), "rises" if self.rises else "falls"
        between = f"between {to_text(Num(self.cut))} and {name}"
        return f"{between} the formula {word} towards {name}: {to_text(self.inner)}"


def by_steep_ends(
    body: Expr,
    var: str,
    ends: tuple[EndExpr, EndExpr],
    closed: tuple[bool, bool],
    folded: bool,
    digits: int,
    solve: Solve,
) -> Extremum | None:
    """The supremum of ``body``, or of ``abs(body)`` where ``folded``; None where no end is steep.

    ``solve(lo, hi, lo_closed, hi_closed)`` is the supremum of the same on what is left.
    """
    steep: list[SteepEnd] = []
    left, right = ends
    shut = list(closed)
    for side in (-1, 1):
        at, other = (left, right) if side < 0 else (right, left)
        with precision(_BITS):
            here, there = end(at, side, False), end(other, -side, False)
        if shut[side > 0] and not here.infinite:
            continue
        found = _steep_end(body, var, side, at, here, there)
        if found is None:
            continue
        steep.append(found)
        left, right = (found.cut, right) if side < 0 else (left, found.cut)
        shut[side > 0] = True
    if not steep:
        return None
    limits: list[tuple[Enclosure, SteepEnd]] = []
    for one in steep:
        if not (one.rises or folded):
            continue
        value = _limit_at(one, var)
        if value is None:
            return None
        if infinite_side(value):
            if folded or infinite_side(value) > 0:
                return Extremum("infinite", at_infinity=one.sides, steps=(one.step,))
            continue
        try:
            limits.append((_scored(enclosure(value, 64 + 4 * digits), folded), one))
        except NumericsError:
            return None
    inner = solve(left, right, shut[0], shut[1])
    if inner.status != "ok" or inner.value is None:
        return inner if inner.status in ("undefined", "infinite") else None
    steps = tuple(s.step for s in steep)
    return _together(replace(inner, certificate=None, steps=(*inner.steps, *steps)), limits)


def _together(inner: Extremum, limits: list[tuple[Enclosure, SteepEnd]]) -> Extremum:
    """The larger of the supremum inside and the limits, which are not attained beside their ends."""
    assert inner.value is not None
    if not limits:
        return inner
    low, high = (max(v[k] for v, _ in limits) for k in (0, 1))
    if inner.value[0] > high:
        return inner
    if inner.value[1] < low:
        best = [one for v, one in limits if v[1] >= low]
        sides = tuple(s for one in best for s in one.sides)
        return replace(
            inner,
            value=(low, high),
            attained=False,
            points=(),
            at_infinity=sides,
            digits=min(agreed_digits(low, high), 10**6),
            tied=False,
        )
    value = max(low, inner.value[0]), max(high, inner.value[1])
    reason = "a value inside and the limit at an open end agree to all digits"
    return replace(
        inner, value=value, attained=None, points=None, digits=agreed_digits(*value), reason=reason
    )


def _scored(value: Enclosure, folded: bool) -> Enclosure:
    low, high = value
    if not folded or low >= 0:
        return value
    return (-high, -low) if high <= 0 else (Fraction(0), max(-low, high))


def _steep_end(body: Expr, var: str, side: int, at: EndExpr, here: End, there: End) -> SteepEnd | None:
    point = (INFINITY if side > 0 else MINUS_INFINITY) if here.infinite or at is None else as_expr(at)
    outer = None if here.infinite else point
    for cut in _cuts(here, there, side):
        domain = Domain(outer, Num(cut), False, True) if side < 0 else Domain(Num(cut), outer, True, False)
        found = _monotone(body, var, Assumptions({var: domain}), cut)
        if found is not None:
            inner, sign = found
            return SteepEnd(side, point, here.inner, cut, inner, sign * side > 0)
    return None


def _monotone(body: Expr, var: str, given: Assumptions, cut: Fraction) -> tuple[Expr, int] | None:
    """The formula on the neighbourhood and the sign of its derivative there; None where it is not shown."""
    inner = resolve(body, given)
    if not isinstance(inner, Expr) or prove_defined(inner, given) is None:
        return None
    if not has_no_kink(inner, var, given):
        return None
    slope = derivative(inner, var)
    if slope is None:
        return None
    try:
        here = at_point(slope, {var: cut}, 128)
    except NumericsError:
        return None
    sign = 1 if here > 0 else -1 if here < 0 else 0
    if not sign or prove_relation(slope, ">" if sign > 0 else "<", num(0), given) is None:
        return None
    return inner, sign


def _limit_at(one: SteepEnd, var: str) -> Expr | None:
    """The limit at the end, from inside; a monotone formula has one, finite or not."""
    direction = "" if one.place is None else "-" if one.side > 0 else "+"
    found = limit(one.inner, var, one.point, direction, Assumptions())
    return found[0] if isinstance(found, tuple) and _is_approached(one, var, found[0]) else None


def _is_approached(one: SteepEnd, var: str, value: Expr) -> bool:
    """Whether balls close to the end agree: near the limit, on the side that the formula comes from."""
    near = False
    for k in (8, 60, 200):
        if one.place is None:
            probe = one.cut + one.side * Fraction(2) ** k
        else:
            probe = one.place + (one.cut - one.place) / 2**k
        try:
            here = at_point(one.inner, {var: probe}, 512)
            if infinite_side(value):
                if not here * infinite_side(value) < 0:
                    near = True
                continue
            target = at_point(value, {}, 512)
        except NumericsError:
            continue
        # Rounding hides a gap of 2**-500; a gap on the wrong side shows.
        if here > target if one.rises else here < target:
            return False
        near = near or bool(abs(here - target) < (1 + abs(target)) / 10)
    return near


def _cuts(here: End, there: End, side: int) -> Iterator[Fraction]:
    """Cuts beside an end, inside the set."""
    if here.inner is None:
        yield from ((there.inner or 0) + side * s for s in _FAR)
        return
    width = abs(there.inner - here.inner) if there.inner is not None else Fraction(1)
    # A rational stands for the end to about _BITS bits.
    if width > Fraction(1, 2**100):
        yield from (here.inner - side * width / 2**k for k in _SHARES)
