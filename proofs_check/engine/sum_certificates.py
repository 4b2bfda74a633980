"""Certificates of sums up to oo: the first terms as one closed value, the rest between certified bounds.

For f >= 0 that falls on [N, oo) the terms from N on add up to between I and I + f(N), I the integral of f
from N; where f is convex from N - 1/2 on, to between I + f(N)/2 and the integral from N - 1/2. Signs of f,
f' and f'' are ranges on [N - 1/2, oo). Terms (-1)**k f(k) add up to between 0 and the first of them, or,
where f is convex, between f(N)/2 and f(N) - f(N + 1)/2 in size (that f tends to 0 is symbolic). Other terms
are at most as large as those of such an f in size, which is symbolic too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from gateproof.numerics.bounds import Budget, prove_bounds
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.integral import Range
from gateproof.numerics.integral_certificate import integral_certificate, short
from gateproof.numerics.points import at_point, rational_bounds
from gateproof.proofs_check.engine.boxes import accept
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.point_certificates import value_certificate
from gateproof.proofs_check.engine.series_tails import integral_from, larger_terms, split_terms
from gateproof.theory.exact.derivative import derivative, kinks
from gateproof.theory.exact.kernels import plus, raised, times
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Num, Series, Var, num
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.printer import to_text

#: Terms that are added one by one, in turn.
TERMS = (10, 40, 160, 640)
_BITS = 160
_HALF = Fraction(1, 2)
Ends = tuple[Fraction, Fraction]


class _NoneError(Exception):
    """A part has no accepted certificate."""


@dataclass
class _Evidence:
    """The certificates so far."""

    width: Fraction
    context: Context
    parts: list[dict[str, Any]] = field(default_factory=list)

    def keep(self, document: Mapping[str, Any] | None) -> None:
        """One more certificate, if the checker accepts it."""
        if document is None or accept(document) is not None:
            raise _NoneError
        self.parts.append(dict(document))

    def sign(self, expr: Expr, name: str, start: Fraction) -> None:
        """expr >= 0 from the start on."""
        for body, at in ((expr, start), (_squared(expr, name, start), Fraction(0))):
            found = prove_bounds(
                body, {name: (at, None)}, lower=Fraction(0), budget=Budget(2_000, 256), text=to_text(body)
            )
            if found.certificate is not None and accept(found.certificate) is None:
                self.parts.append(found.certificate)
                return
        raise _NoneError

    def value(self, expr: Expr, text: str = "") -> Ends:
        """Bounds of a closed value."""
        low, high = rational_bounds(at_point(expr, {}, _BITS))
        spare = self.width / 64
        ends = short(low - spare, spare, -1), short(high + spare, spare, 1)
        self.keep(value_certificate(expr, *ends, text))
        return ends

    def integral(self, plain: Expr, name: str, start: Fraction) -> Ends:
        """Bounds of the integral from the start on."""
        known = integral_from(plain, name, num(start), 20, self.context)
        if known.enclosure is None:
            raise _NoneError
        moved = times(num(2), Var(name), _squared(plain, name, start))
        for body, at in ((plain, start), (moved, Fraction(0))):
            on = Range(body, name, at, None)
            document = integral_certificate(on, known.enclosure, self.width / 16, to_text(body))
            if document is not None and accept(document) is None:
                self.parts.append(document)
                return Fraction(document["conclusion"]["lower"]), Fraction(document["conclusion"]["upper"])
        raise _NoneError


def _squared(expr: Expr, name: str, start: Fraction) -> Expr:
    """The expression at start + t^2, t >= 0 (under the same name): powers of the root become whole ones."""
    return substitute(expr, {name: plus(Num(start), raised(Var(name), 2))})


def sum_certificate(
    series: Series, width: Fraction, context: Context
) -> tuple[list[dict[str, Any]], Ends] | None:
    """Accepted certificates and the bounds of the sum that they give, at most so far apart; or None."""
    first = constant_value(series.lo)
    if first is None or first.denominator != 1:
        return None
    for count in TERMS:
        cut = max(int(first) + count, 2)
        evidence = _Evidence(width, context)
        try:
            low, high = _rest(series, cut, evidence)
            if high - low > width * Fraction(15, 16):
                continue
            terms = [substitute(series.body, {series.index: num(k)}) for k in range(int(first), cut)]
            text = f"the terms of {to_text(series)} before {series.index} = {cut}"
            head = evidence.value(App("add", tuple(terms)) if len(terms) > 1 else terms[0], text)
        except (_NoneError, NumericsError):
            continue
        return evidence.parts, (head[0] + low, head[1] + high)
    return None


def _rest(series: Series, cut: int, evidence: _Evidence) -> Ends:
    """Bounds of the terms from the cut on."""
    terms, name = split_terms(series), series.index
    if terms is not None and (sign := _sign(terms.plain, name, cut)):
        plain = terms.plain if sign > 0 else App("neg", (terms.plain,))
        # Where f is convex, f(N) - f(N + 1) is about 4 times what the bounds leave open.
        if _at(plain, name, cut) - _at(plain, name, cut + 1) > 8 * evidence.width:
            raise _NoneError
        try:
            convex = _falls(plain, name, cut, evidence)
        except _NoneError:
            evidence.parts.clear()
        else:
            if terms.alternating:
                return _turned(_leibniz(plain, name, cut, convex, evidence), sign * (-1) ** cut)
            return _turned(_one_sign(plain, name, cut, convex, evidence), sign)
    larger = larger_terms(series, cut)
    if larger is None or 2 * _at(larger, name, cut) > evidence.width:
        raise _NoneError
    _falls(larger, name, cut, evidence)
    most = _one_sign(larger, name, cut, False, evidence)[1]
    return -most, most


def _at(plain: Expr, name: str, k: int) -> Fraction:
    return rational_bounds(at_point(plain, {name: Fraction(k)}, _BITS))[1]


def _sign(plain: Expr, name: str, cut: int) -> int:
    low, high = rational_bounds(at_point(plain, {name: Fraction(cut)}, _BITS))
    return 1 if low > 0 else -1 if high < 0 else 0


def _turned(ends: Ends, sign: int) -> Ends:
    return ends if sign > 0 else (-ends[1], -ends[0])


def _falls(plain: Expr, name: str, cut: int, evidence: _Evidence) -> bool:
    """Show f >= 0 and f' <= 0 from cut - 1/2 on; whether f'' >= 0 was shown too."""
    # Roots of the name itself are smooth from 1 on.
    if any(kink != Var(name) for kink in kinks(plain, name)):
        raise _NoneError
    start, slope = cut - _HALF, derivative(plain, name)
    curve = None if slope is None else derivative(slope, name)
    if slope is None:
        raise _NoneError
    evidence.sign(plain, name, start)
    evidence.sign(App("neg", (slope,)), name, start)
    try:
        if curve is not None:
            evidence.sign(curve, name, start)
    except _NoneError:
        return False
    return curve is not None


def _one_sign(plain: Expr, name: str, cut: int, convex: bool, evidence: _Evidence) -> Ends:
    at = evidence.value(substitute(plain, {name: num(cut)}))
    low, high = evidence.integral(plain, name, Fraction(cut))
    if not convex:
        return low, high + at[1]
    return low + at[0] / 2, evidence.integral(plain, name, cut - _HALF)[1]


def _leibniz(plain: Expr, name: str, cut: int, convex: bool, evidence: _Evidence) -> Ends:
    at = evidence.value(substitute(plain, {name: num(cut)}))
    if not convex:
        return Fraction(0), at[1]
    after = evidence.value(substitute(plain, {name: num(cut + 1)}))
    return at[0] / 2, at[1] - after[0] / 2
