"""Where a derivative is positive, negative and 0 on one smooth piece: all its zeros, and the signs between.

Zeros are found by exact algebra or isolated in balls; between two neighbours the sign is constant
and taken at one rational point.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from gateproof.numerics.ends import EndExpr
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.far_signs import no_zeros_beyond
from gateproof.numerics.points import difference_sign, enclosure
from gateproof.numerics.results import Enclosure
from gateproof.numerics.roots import zeros
from gateproof.theory.complexity import derivatives
from gateproof.theory.exact.critical import equal_constants, sign_of
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.limits import limit
from gateproof.theory.exact.piecewise import Piece
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Const, Expr, Num, Var, num
from gateproof.theory.periods import Period
from gateproof.theory.undefined_parts import inner_point
from gateproof.theory.zeros import exact_zeros

#: Bits of a closed form that is compared with the place of a zero.
NAME_BITS = 4096

#: Where a window of one period may start: no zero of a usual wave lies there.
_STARTS = tuple(Fraction(-k, 7) for k in (1, 2, 3, 5))


class Unknown(Exception):
    """Not all zeros were found, and why."""


@dataclass(frozen=True)
class Zero:
    """A zero in [lo, hi], alone there; ``exact`` where it has a closed form."""

    lo: Fraction
    hi: Fraction
    exact: Expr | None


@dataclass(frozen=True)
class Profile:
    """Zeros of one derivative on a piece, and its sign before, between and after them."""

    zeros: tuple[Zero, ...]
    signs: tuple[int, ...]


def profile(piece: Piece, var: str, which: int, digits: int, period: Period | None) -> Profile:
    """The profile of the ``which``-th derivative (in one window of a period). Raises Unknown."""
    found = derivatives(piece.expr, var, which + 1)
    if found is None:
        raise Unknown("no derivative")
    slope, bend = found[which:]
    if _vanishes(slope, var, piece.domain):
        return Profile((), (0,))
    try:
        if period is not None:
            return _in_window(slope, bend, var, digits, period)
        return _signs(slope, var, piece.domain, _zeros(slope, bend, var, piece.domain, digits))
    except Unknown:
        # A sign that is never crossed: touching zeros do not matter then.
        point = inner_point(piece.domain.lo, piece.domain.hi)
        side = None if point is None else _sign_at(slope, var, point)
        op = {1: ">=", -1: "<="}.get(side or 0)
        if op is None or prove_relation(slope, op, num(0), Assumptions({var: piece.domain})) is None:
            raise
        return Profile((), (side or 0,))


def _vanishes(slope: Expr, var: str, domain: Domain) -> bool:
    """Whether a derivative is 0 on the whole piece."""
    point = inner_point(domain.lo, domain.hi)
    if point is not None and _sign_at(slope, var, point):
        return False
    return any(
        prove_relation(slope, "==", num(0), Assumptions({var: where})) is not None
        for where in dict.fromkeys((Domain(), domain))
    )


def _zeros(slope: Expr, bend: Expr, var: str, domain: Domain, digits: int) -> tuple[Zero, ...]:
    """All zeros of a derivative inside the domain; ``bend`` is the next one."""
    exact = exact_zeros(slope, var, domain)
    if exact is not None:
        return tuple(Zero(*enclosure(z, 64 + 4 * digits), z) for z in exact)
    ends = _reach(slope, bend, var, domain)
    if ends is None:
        return ()
    closed = ends[0] != domain.lo, ends[1] != domain.hi
    found = zeros(slope, var, ends[0], ends[1], digits, lo_closed=closed[0], hi_closed=closed[1])
    places = found.points if found.status == "ok" else _moved(slope, var, ends, closed, digits)
    if places is None:
        raise Unknown(f"zeros of a derivative: {found.reason}")
    return tuple(_named(slope, var, p) for p in places)


def _moved(
    slope: Expr, var: str, ends: tuple[EndExpr, EndExpr], closed: tuple[bool, bool], digits: int
) -> tuple[Enclosure, ...] | None:
    """The zeros found away from 0, as no enclosure of 0 has digits; None where that fails too."""
    lo, hi = (e.value if isinstance(e, Num) else e for e in ends)
    if not isinstance(lo, Fraction) or not isinstance(hi, Fraction) or not lo < 0 < hi:
        return None
    step = hi - 2 * lo
    moved = substitute(slope, {var: App("add", (Var(var), Num(-step)))})
    found = zeros(moved, var, lo + step, hi + step, digits, lo_closed=closed[0], hi_closed=closed[1])
    if found.status != "ok":
        return None
    return tuple((a - step, b - step) for a, b in found.points)


def _reach(slope: Expr, bend: Expr, var: str, domain: Domain) -> tuple[EndExpr, EndExpr] | None:
    """Finite ends that all zeros lie between; None where there are none."""
    known = [abs(v) for e in (domain.lo, domain.hi) if e is not None for v in enclosure(e)]
    beyond = max([Fraction(1), *known])
    ends: list[EndExpr] = []
    for side, given in (("-", domain.lo), ("+", domain.hi)):
        if given is not None:
            ends.append(given)
            continue
        far = no_zeros_beyond(slope, var, side, beyond)
        if far is None:
            far = _by_monotony(slope, bend, var, side, domain)
            if far is None:
                return None
            ends.append(far)
        else:
            ends.append(far if side == "+" else -far)
    return ends[0], ends[1]


def _by_monotony(slope: Expr, bend: Expr, var: str, side: str, domain: Domain) -> Fraction | None:
    """The outermost zero of the next derivative, if the slope leaves its limit away from 0 out there.

    None where the slope has no zero at all. Raises Unknown where the argument does not apply.
    """
    turns = exact_zeros(bend, var, domain)
    if turns is None:
        raise Unknown("the sign of a derivative far out was not found")
    point = Const("oo") if side == "+" else App("neg", (Const("oo"),))
    end = limit(slope, var, point, "", Assumptions())
    if not isinstance(end, tuple):
        raise Unknown("the limit of a derivative was not found")
    places = tuple(Zero(*enclosure(z), z) for z in turns)
    signs = _signs(bend, var, domain, places).signs
    # From the infinite end inwards the slope goes up (1) or down (-1).
    inwards = signs[0] if side == "-" else -signs[-1]
    height = 1 if end[0] == Const("oo") else sign_of(end[0])
    if height is None or height * inwards < 0:
        raise Unknown("a derivative may cross 0 far out")
    if not places:
        return None
    return places[0].lo if side == "-" else places[-1].hi


def _named(slope: Expr, var: str, place: Enclosure) -> Zero:
    """The zero with a closed form, where a short rational, or one times pi, is proved to be it."""
    lo, hi = place
    for scale in (num(1), Const("pi")):
        below, above = enclosure(scale)
        guess = ((lo + hi) / (below + above)).limit_denominator(24)
        point: Expr = Num(guess) if scale == num(1) else App("mul", (Num(guess), scale))
        near, far = enclosure(point, NAME_BITS)
        # The zero is alone in its place, so a zero of closed form in there is the one.
        if lo <= near and far <= hi and equal_constants(substitute(slope, {var: point}), num(0)):
            return Zero(near, far, point)
    return Zero(lo, hi, None)


def _in_window(slope: Expr, bend: Expr, var: str, digits: int, period: Period) -> Profile:
    """The profile on [a, a + T) for a start a beside which there is no zero."""
    try:
        start, places = _window_zeros(slope, var, digits, period)
    except Unknown:
        # Zeros that touch: the values at the turning points are the largest and smallest.
        _, turns = _window_zeros(bend, var, digits, period)
        heights = {_height(slope, var, z) for z in turns} - {0}
        if len(heights) != 1:
            raise
        return Profile((), (heights.pop(),))
    below, _ = enclosure(period.length)
    return _signs(slope, var, Domain(Num(start), Num(start + below)), places)


def _window_zeros(slope: Expr, var: str, digits: int, period: Period) -> tuple[Fraction, tuple[Zero, ...]]:
    below, above = enclosure(period.length)
    for start in _STARTS:
        found = zeros(slope, var, start, start + above, digits)
        if found.status != "ok":
            raise Unknown(f"zeros of a derivative: {found.reason}")
        room = above - below
        if all(start + room < lo and hi < start + below for lo, hi in found.points):
            return start, tuple(_named(slope, var, p) for p in found.points)
    raise Unknown("zeros of a derivative at the ends of the window")


def _height(slope: Expr, var: str, place: Zero) -> int:
    """The sign of a value, which may be 0."""
    side = None if place.exact is None else sign_of(substitute(slope, {var: place.exact}))
    if side is None:
        raise Unknown("a value at a turning point was not compared with 0")
    return side


def _signs(slope: Expr, var: str, domain: Domain, places: tuple[Zero, ...]) -> Profile:
    low = None if domain.lo is None else enclosure(domain.lo)[1]
    high = None if domain.hi is None else enclosure(domain.hi)[0]
    ends = [low, *(e for z in places for e in (z.lo, z.hi)), high]
    signs = [_sign(slope, var, a, b) for a, b in zip(ends[::2], ends[1::2], strict=True)]
    return Profile(places, tuple(signs))


def _sign(slope: Expr, var: str, lo: Fraction | None, hi: Fraction | None) -> int:
    """The sign between two neighbouring zeros or ends, at a point between them."""
    if lo is None and hi is None:
        point = Fraction(1, 3)
    elif lo is None or hi is None:
        point = hi - 1 if hi is not None else (lo or Fraction(0)) + 1
    else:
        if lo >= hi:
            raise Unknown("neighbouring zeros were not told apart")
        point = ((lo + hi) / 2).limit_denominator(max(4, int(8 / (hi - lo))))
        if not lo < point < hi:
            point = (lo + hi) / 2
    side = _sign_at(slope, var, point)
    if not side:
        raise Unknown(f"the sign of a derivative at {point}")
    return side


def _sign_at(slope: Expr, var: str, point: Fraction) -> int | None:
    try:
        return difference_sign(slope, num(0), {var: point})
    except NumericsError:
        return None
