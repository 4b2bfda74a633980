"""Integrals of core expressions over intervals with rational, closed or infinite ends, enclosed.

The compact part goes by quadrature between the kinks; an infinite side is cut where the rest is seen to
be small: its integrand is at most a sum of c x^k exp(-a x), which is integrated from the cut on.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.bounds import Budget, prove_bounds
from gateproof.numerics.errors import MaybeUndefined, NotReal, Undefined
from gateproof.numerics.kinks import parts
from gateproof.numerics.points import compare, rational_bounds
from gateproof.numerics.precision import precision
from gateproof.numerics.quadrature import Path, integrate
from gateproof.numerics.tailcut import STARTS
from gateproof.theory.exact.defined import prove_defined
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.infinity import side
from gateproof.theory.exact.kernels import minus, plus, times
from gateproof.theory.exact.tails import Expansion, Growing, NoForm, Term, tail_bounds, tail_form
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Num, Var
from gateproof.theory.formula.powers import constant_value

#: Where a tail may be cut; the far ones serve integrands that fall like a power.
CUTS = (*STARTS, *(Fraction(2**k) for k in range(12, 121, 6)))
_FIRST = Fraction(1, 10**6)


@dataclass(frozen=True)
class Value:
    """``status``: 'ok' (``enclosure``), 'infinite' (``sign``), 'undefined' or 'unknown' (``reason``)."""

    status: str
    enclosure: tuple[Fraction, Fraction] | None = None
    sign: int = 0
    reason: str = ""


@dataclass(frozen=True)
class Range:
    """The integrand with an interval whose ends are rational; None is infinite."""

    body: Expr
    var: str
    lo: Fraction | None
    hi: Fraction | None


class Stop(Exception):
    """The value is not a number, or is not found."""

    def __init__(self, value: Value) -> None:
        self.value = value
        super().__init__(value.status)


@lru_cache(maxsize=512)
def integral(body: Expr, var: str, lo: Expr, hi: Expr, digits: int, budget: Budget | None = None) -> Value:
    """The integral to about that many significant digits. Ends are closed expressions or infinite."""
    budget = budget or Budget()
    try:
        lo_sign, hi_sign = side(lo), side(hi)
        order = (lo_sign > hi_sign) - (lo_sign < hi_sign)
        if not lo_sign and not hi_sign:
            found = compare(lo, hi)
            if found is None:
                return Value("unknown", reason="the order of the ends of an integral is not known")
            order = found
        if order == 0:
            if lo_sign:
                return Value("undefined", reason="an integral between infinity and infinity")
            return Value("ok", (Fraction(0), Fraction(0)))
        if order > 0:
            return _negated(integral(body, var, hi, lo, digits, budget))
        return over(rational_range(body, var, lo, hi), digits, budget)
    except (Undefined, NotReal) as error:
        return Value("undefined", reason=str(error))
    except MaybeUndefined as error:
        return Value("unknown", reason=f"may be undefined: {error}")


def _negated(value: Value) -> Value:
    ends = value.enclosure
    turned = None if ends is None else (-ends[1], -ends[0])
    return Value(value.status, turned, -value.sign, value.reason)


def rational_range(body: Expr, var: str, lo: Expr, hi: Expr) -> Range:
    """The integral (lo < hi) with rational ends: x = lo + (hi - lo) t, x = lo + t or x = hi - t."""
    a, b = constant_value(lo), constant_value(hi)
    if (a is not None or side(lo)) and (b is not None or side(hi)):
        return Range(body, var, a, b)
    t = Var(var)
    if side(hi):
        return Range(substitute(body, {var: plus(lo, t)}), var, Fraction(0), None)
    if side(lo):
        return Range(substitute(body, {var: plus(hi, minus(t))}), var, Fraction(0), None)
    width = plus(hi, minus(lo))
    moved = substitute(body, {var: plus(lo, times(width, t))})
    return Range(times(width, moved), var, Fraction(0), Fraction(1))


def over(on: Range, digits: int, budget: Budget) -> Value:
    """The integral over a range with lo < hi."""
    try:
        must_be_defined(on, budget)
        work = Work(on)
        work.tails(_FIRST)
        tolerance = _FIRST
        ball = arb(0)
        for _ in range(6):
            ball = work.value(tolerance)
            size = ball.abs_lower()
            if bool(size > 0) and bool(2 * ball.rad() <= size * arb(10) ** (-digits - 1)):
                break
            top = rational_bounds(arb(ball.abs_upper()))[1]
            goal = (rational_bounds(arb(size))[0] or top) / 10 ** (digits + 3)
            tolerance = min(tolerance / 10**6, goal) if goal else tolerance / 10**6
            if tolerance < Fraction(1, 10 ** (2 * digits + 60)):
                break
        return Value("ok", rational_bounds(ball))
    except Stop as stop:
        return stop.value


def must_be_defined(on: Range, budget: Budget) -> None:
    """Raise Stop unless the integrand has a value strictly between the ends."""
    lo, hi = (None if e is None else Num(e) for e in (on.lo, on.hi))
    if prove_defined(on.body, Assumptions({on.var: Domain(lo, hi)})) is not None:
        return
    opened = frozenset((on.var, n) for n, e in (("lo", on.lo), ("hi", on.hi)) if e is not None)
    found = prove_bounds(on.body, {on.var: (on.lo, on.hi)}, budget=budget, open_ends=opened)
    if found.status == "undefined":
        at = ", ".join(f"{n} = {v}" for n, v in (found.point or {}).items())
        raise Stop(Value("undefined", reason=f"the integrand has no value at {at}"))
    if found.status != "proved":
        raise Stop(Value("unknown", reason=f"the integrand may be undefined: {found.reason}"))


@dataclass
class Work:
    """One integral, to be found to more and more digits."""

    on: Range

    def tails(self, tolerance: Fraction, beyond: Fraction = Fraction(0)) -> list[tuple[str, Fraction, arb]]:
        """The infinite sides as (side, cut, bound on the rest), cut beyond a given number."""
        found: list[tuple[str, Fraction, arb]] = []
        signs: list[int] = []
        starts: dict[str, Fraction] = {}
        for name, end in (("-", self.on.lo), ("+", self.on.hi)):
            if end is not None:
                continue
            cut = self._cut(name, tolerance, max(beyond, self._beyond()))
            starts[name] = cut[0]
            if cut[1] is None:
                signs.append(cut[2])
            else:
                found.append((name, cut[0], cut[1]))
        if {1, -1} <= set(signs):
            raise Stop(Value("undefined", reason="one side of the integral is oo and the other -oo"))
        if signs:
            self._must_be_bounded(starts)
            raise Stop(Value("infinite", sign=signs[0]))
        return found

    def _must_be_bounded(self, starts: dict[str, Fraction]) -> None:
        """Raise Stop unless the integrand is bounded between the starts of its tails."""
        lo = self.on.lo if self.on.lo is not None else -starts["-"]
        hi = self.on.hi if self.on.hi is not None else starts["+"]
        if lo < hi:
            compact(Range(self.on.body, self.on.var, lo, hi), 60, Fraction(1))

    def _beyond(self) -> Fraction:
        return max((abs(e) for e in (self.on.lo, self.on.hi) if e is not None), default=Fraction(0))

    def _cut(self, name: str, tolerance: Fraction, beyond: Fraction) -> tuple[Fraction, arb | None, int]:
        """A cut with a bound on the rest, or with none and the sign of an infinite integral."""
        reason = "the tail has no form"
        for start in (s for s in CUTS if s > beyond):
            form = tail_form(self.on.body, self.on.var, name, start)
            if isinstance(form, NoForm):
                reason = form.reason
                continue
            rest = None if isinstance(form, Growing) or form.poly else _rest(form.remainder, start)
            if rest is None:
                sign = self._infinite(name, start, form)
                if sign:
                    return start, None, sign
                reason = "it is not seen to fall fast enough, or to be infinite"
            elif bool(rest < iv.rational(tolerance)):
                return start, rest, 0
            else:
                reason = "it falls too slowly for these digits"
        raise Stop(Value("unknown", reason=f"the tail of the integral: {reason}"))

    def _infinite(self, name: str, start: Fraction, form: Expansion | Growing) -> int:
        """The sign of an integrand that stays beyond a multiple of 1/x."""
        times_x = App("mul", (Var(self.on.var), self.on.body))
        scaled = tail_form(times_x, self.on.var, name, start)
        for f, turned in ((form, 1), (scaled, 1 if name == "+" else -1)):
            if isinstance(f, NoForm):
                continue
            lo, hi = tail_bounds(f, start)
            if lo is not None and lo > 0:
                return turned
            if hi is not None and hi < 0:
                return -turned
        return 0

    def value(self, tolerance: Fraction) -> arb:
        """A ball around the integral, its error aimed at a multiple of the tolerance."""
        cuts = self.tails(tolerance)
        at = {name: cut for name, cut, _ in cuts}
        lo = self.on.lo if self.on.lo is not None else -at["-"]
        hi = self.on.hi if self.on.hi is not None else at["+"]
        size = max(1, tolerance.denominator // tolerance.numerator).bit_length()
        bits = size + 60
        total = compact(Range(self.on.body, self.on.var, lo, hi), bits, tolerance)
        with precision(bits):
            for _, _, rest in cuts:
                total += arb(0, rest)
        return total


def rest_beyond(body: Expr, var: str, side_name: str, start: Fraction) -> Fraction | None:
    """An upper bound of the integral of abs(body) over x >= start (side '-': x <= -start), or None."""
    form = tail_form(body, var, side_name, start)
    if not isinstance(form, Expansion) or form.poly:
        return None
    rest = _rest(form.remainder, start)
    return None if rest is None else rational_bounds(rest)[1]


def _rest(terms: tuple[Term, ...], start: Fraction) -> arb | None:
    """An upper bound of the integral of sum c x^k exp(-a x) from the start on; None where it may be infinite.

    The logarithm of x^k exp(-a x) falls at least at the rate a - k/start from there on (k > 0).
    """
    total = arb(0)
    with precision(64):
        m = iv.rational(start)
        for c, k, a in terms:
            if a > 0:
                rate = a - max(Fraction(k), Fraction(0)) / start
                if rate <= 0:
                    return None
                part = m**k * (-iv.rational(a) * m).exp() / iv.rational(rate)
            elif k <= -2:
                part = m ** (k + 1) / (-k - 1)
            else:
                return None
            total += iv.rational(c) * part
        return arb(total.upper()) if total.is_finite() else None


def compact(on: Range, bits: int, tolerance: Fraction) -> arb:
    """A ball around an integral over a compact interval."""
    assert on.lo is not None
    assert on.hi is not None
    found = None
    for work in (bits, 2 * bits + 64):
        with precision(work):
            found = parts(on.body, on.var, on.lo, on.hi, tolerance / 64)
        if found is not None:
            bits = work
            break
    with precision(bits):
        goal = iv.rational(tolerance) / 4
        if found is None:
            total = integrate(Path(on.body, on.var, on.lo, on.hi), bits, goal)
        else:
            total = arb(0)
            for part in found:
                if part.smooth is None:
                    assert part.spread is not None
                    total += arb(0, (part.spread * iv.rational(part.hi - part.lo)).upper())
                else:
                    path = Path(part.smooth, on.var, part.lo, part.hi)
                    total += integrate(path, bits, goal / len(found))
        if not total.is_finite() or bool(total.rad() > 2**200):
            raise Stop(Value("unknown", reason="quadrature did not converge"))
        return total
