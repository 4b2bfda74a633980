"""Riemann's zeta function and its derivatives (DLMF 25)."""

from __future__ import annotations

from fractions import Fraction
from math import comb, factorial
from typing import TYPE_CHECKING

from gateproof.theory.special.balls import complex_ball, line, padded
from gateproof.theory.special.family import Family, Params, Run, Span

if TYPE_CHECKING:
    from flint import acb, arb

_ONE = Span(holes=(Fraction(1),))
_MAX = 60


def _series(k: int, x: arb, n: int) -> list[arb]:
    """Of the k-th derivative: c_(j+k) (j+k)!/j!."""
    c = padded(line(x, n + k).zeta().coeffs(), n + k)
    return [c[j + k] * (factorial(j + k) // factorial(j)) for j in range(n + 1)]


def _value(_: Params, x: Fraction) -> str | None:
    """zeta at even and at negative whole numbers (DLMF 25.6.1-3)."""
    if x.denominator != 1 or abs(x) > _MAX:
        return None
    n = int(x)
    if n <= 0:
        # zeta(0) = -1/2: with B_1 = +1/2 the formula holds there as well.
        return f"({-bernoulli(1 - n) / (1 - n) if n else Fraction(-1, 2)})"
    if n % 2:
        return None
    return f"({abs(bernoulli(n)) * 2 ** (n - 1) / factorial(n)})*pi**{n}"


def bernoulli(n: int) -> Fraction:
    """B_n with B_1 = -1/2 (DLMF 24.5.3)."""
    found = [Fraction(1)]
    for m in range(1, n + 1):
        found.append(-sum((comb(m + 1, k) * found[k] for k in range(m)), Fraction(0)) / (m + 1))
    return found[n]


def _order(params: Params) -> str | None:
    n = params[0]
    return None if n.denominator == 1 and 1 <= n <= 20 else "the order is a whole number from 1 to 20"


def _complex(k: int, z: acb) -> acb:
    from flint import acb_series

    c: list[acb] = acb_series([z, complex_ball(1)], prec=k + 1).zeta().coeffs()
    return c[k] * factorial(k) if len(c) > k else complex_ball(0)


FAMILIES = (
    Family(
        name="zeta",
        doc="Riemann's zeta function, for all real x but 1",
        source="DLMF 25.2.1 and its continuation",
        ball=lambda _, x: x.zeta(),
        series=lambda _, x, n: _series(0, x, n),
        slope="zetaderiv(1, x)",
        complex=lambda _, z: z.zeta(),
        latex=r"\zeta\left({x}\right)",
        span=lambda _: _ONE,
        runs=lambda _: (Run(Fraction(1), None, -1),),
        value_at=_value,
        scipy=lambda _: ("zeta", ()),
    ),
    Family(
        name="zetaderiv",
        doc="the n-th derivative of zeta, for all real x but 1",
        source="DLMF 25.2.6",
        parameters=("n",),
        fault=_order,
        ball=lambda p, x: _series(int(p[0]), x, 0)[0],
        series=lambda p, x, n: _series(int(p[0]), x, n),
        slope="zetaderiv(n + 1, x)",
        complex=lambda p, z: _complex(int(p[0]), z),
        latex=r"\zeta^{({n})}\left({x}\right)",
        span=lambda _: _ONE,
        # (-1)^n zeta^(n)(x) = sum log(k)^n k^-x falls on x > 1.
        runs=lambda p: (Run(Fraction(1), None, -1 if p[0] % 2 == 0 else 1),),
    ),
)
