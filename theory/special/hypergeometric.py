"""Kummer's and Gauss's hypergeometric functions of rational parameters (DLMF 13.2, 15.2)."""

from __future__ import annotations

from fractions import Fraction
from math import factorial
from typing import TYPE_CHECKING

from gateproof.theory.special.balls import complex_ball, no_number, real
from gateproof.theory.special.family import Family, Params, Run, Span

if TYPE_CHECKING:
    from flint import arb


def _lower(params: Params) -> str | None:
    b = params[-1]
    if max(abs(p) for p in params) > 100:
        return "parameters are at most 100 in size"
    return "the last parameter is 0 or a negative whole number" if b.denominator == 1 and b <= 0 else None


def rising(a: Fraction, k: int) -> Fraction:
    """a (a + 1) .. (a + k - 1)."""
    found = Fraction(1)
    for j in range(k):
        found *= a + j
    return found


def _one(p: Params, x: arb) -> arb:
    if _turn_of_one(p) and not x.is_exact():
        return _one(p, x.lower()).union(_one(p, x.upper()))
    return x.hypgeom_1f1(real(p[0]), real(p[1]))


def two(p: Params, x: arb) -> arb:
    """2F1 over a ball, by its ends where it is monotone."""
    if not (x <= 1 if _closed(p) else x < 1):
        return no_number()
    if _turn_of_two(p) and not x.is_exact():
        return two(p, x.lower()).union(two(p, x.upper()))
    return x.hypgeom_2f1(real(p[0]), real(p[1]), real(p[2]))


def _closed(p: Params) -> bool:
    """Finite at 1 (DLMF 15.4.20)."""
    return p[2] > p[0] + p[1]


def _sign(value: Fraction) -> int:
    return (value > 0) - (value < 0)


def _turn_of_one(p: Params) -> int:
    """The sign of the slope a/b 1F1(a + 1; b + 1; x) on the reals; 0: not known.

    For b > a > -1 that function has a positive integral (DLMF 13.4.1).
    """
    a, b = p
    return _sign(a / b) if b > a > -1 else 0


def _turn_of_two(p: Params) -> int:
    """The same of a b/c 2F1(a + 1, b + 1; c + 1; x) on x < 1 (DLMF 15.6.1)."""
    a, b, c = p
    return _sign(a * b / c) if c > b > -1 or c > a > -1 else 0


def _runs(turn: int) -> tuple[Run, ...]:
    return (Run(None, None, turn),) if turn else ()


def _two_at(p: Params, x: Fraction) -> str | None:
    if x == 0:
        return "1"
    a, b, c = p
    lower = (c - a, c - b)
    if x != 1 or not _closed(p) or any(v.denominator == 1 and v <= 0 for v in lower):
        return None
    return f"gamma({c})*gamma({c - a - b})/(gamma({c - a})*gamma({c - b}))"


def _series(p: Params, x: arb, n: int, lower: int) -> list[arb]:
    found = []
    for k in range(n + 1):
        factor = Fraction(1)
        for j, a in enumerate(p):
            factor = factor * rising(a, k) if j < lower else factor / rising(a, k)
        moved = tuple(a + k for a in p)
        value = real(0) if factor == 0 else (_one if lower == 1 else two)(moved, x)
        found.append(real(factor / factorial(k)) * value)
    return found


FAMILIES = (
    Family(
        name="hyp1f1",
        doc="Kummer's confluent hypergeometric function 1F1(a; b; x), b no whole number <= 0",
        source="DLMF 13.2.2",
        parameters=("a", "b"),
        fault=_lower,
        ball=_one,
        series=lambda p, x, n: _series(p, x, n, 1),
        slope="a/b*hyp1f1(a + 1, b + 1, x)",
        complex=lambda p, z: z.hypgeom_1f1(complex_ball(p[0]), complex_ball(p[1])),
        latex=r"{{}}_1F_1\left({a}; {b}; {x}\right)",
        runs=lambda p: _runs(_turn_of_one(p)),
        value_at=lambda _, x: "1" if x == 0 else None,
        scipy=lambda p: ("hyp1f1", tuple(map(float, p))),
    ),
    Family(
        name="hyp2f1",
        doc="Gauss's 2F1(a, b; c; x) for x < 1, at 1 where c > a + b; c no whole number <= 0",
        source="DLMF 15.2.1 and its continuation",
        parameters=("a", "b", "c"),
        fault=_lower,
        ball=two,
        series=lambda p, x, n: _series(p, x, n, 2),
        slope="a*b/c*hyp2f1(a + 1, b + 1, c + 1, x)",
        complex=lambda p, z: z.hypgeom_2f1(complex_ball(p[0]), complex_ball(p[1]), complex_ball(p[2])),
        latex=r"{{}}_2F_1\left({a}, {b}; {c}; {x}\right)",
        span=lambda p: Span(hi="1", hi_closed=_closed(p)),
        cut=lambda _: ">",
        runs=lambda p: _runs(_turn_of_two(p)),
        value_at=_two_at,
        kinks=lambda p: ("1",) if _closed(p) else (),
        scipy=lambda p: ("hyp2f1", tuple(map(float, p))),
    ),
)
