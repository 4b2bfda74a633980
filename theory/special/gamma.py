"""The gamma function, its logarithm, and the logarithm's derivatives (DLMF 5)."""

from __future__ import annotations

from fractions import Fraction
from math import factorial
from typing import TYPE_CHECKING

from gateproof.theory.special.balls import complex_ball, line, no_number, padded, real
from gateproof.theory.special.family import Family, Params, Run, Span

if TYPE_CHECKING:
    from flint import arb

#: The only minimum of gamma on x > 0 is at 1.46163... (DLMF 5.4.19).
_LEFT, _RIGHT = Fraction(146, 100), Fraction(147, 100)
_MAX = 100


def _value(_: Params, x: Fraction) -> str | None:
    """gamma at whole and half-whole numbers (DLMF 5.4.1, 5.4.6)."""
    if x.denominator == 1 and 0 < x <= _MAX:
        return str(factorial(int(x) - 1))
    if x.denominator != 2 or abs(x) > _MAX:
        return None
    c, at = Fraction(1), Fraction(1, 2)
    while at < x:
        c, at = c * at, at + 1
    while at > x:
        at -= 1
        c /= at
    return f"({c})*sqrt(pi)"


def _log_value(params: Params, x: Fraction) -> str | None:
    found = _value(params, x) if x > 0 else None
    return None if found is None else f"log({found})"


def _series(_: Params, x: arb, n: int) -> list[arb]:
    return padded(line(x, n).gamma().coeffs(), n)


def _log_series(_: Params, x: arb, n: int) -> list[arb]:
    return padded(line(x, n).lgamma().coeffs(), n)


def polygamma(k: int, x: arb) -> arb:
    """The k-th derivative of digamma (DLMF 5.15.1); it is monotone on x > 0, so ends suffice there."""
    if x > 0 and not x.is_exact():
        return polygamma(k, x.lower()).union(polygamma(k, x.upper()))
    if k == 0:
        return x.digamma()
    if x > 0:
        value: arb = (-1) ** (k + 1) * factorial(k) * real(k + 1).zeta(x)
        return value
    found = complex_ball(x).polygamma(k)
    known: arb = found.real if found.is_finite() else no_number()
    return known


def _derivatives(first: int, x: arb, n: int) -> list[arb]:
    return [polygamma(first + k, x) / factorial(k) for k in range(n + 1)]


def _order(params: Params) -> str | None:
    n = params[0]
    return None if n.denominator == 1 and 0 <= n <= 20 else "the order is a whole number from 0 to 20"


def _polygamma_at(params: Params, x: Fraction) -> str | None:
    """psi_n(1) = (-1)^(n+1) n! zeta(n + 1), and at 1/2 that times 2^(n+1) - 1 (DLMF 5.15.2-3)."""
    n = int(params[0])
    if x not in (1, Fraction(1, 2)):
        return None
    return f"({(-1) ** (n + 1) * factorial(n) * (1 if x == 1 else 2 ** (n + 1) - 1)})*zeta({n + 1})"


_POLES = Span(poles=True)
_POSITIVE = Span(lo="0")
_FALLS_RISES = (Run(None, _LEFT, -1), Run(_RIGHT, None, 1))

FAMILIES = (
    Family(
        name="gamma",
        doc="Euler's gamma function, for all real x but 0, -1, -2, ...",
        source="DLMF 5.2.1",
        ball=lambda _, x: x.gamma(),
        series=_series,
        slope="gamma(x)*digamma(x)",
        complex=lambda _, z: z.gamma(),
        latex=r"\Gamma\left({x}\right)",
        span=lambda _: _POLES,
        runs=lambda _: (Run(Fraction(0), _LEFT, -1), Run(_RIGHT, None, 1)),
        value_at=_value,
        sign=lambda _: "right",
        scipy=lambda _: ("gamma", ()),
    ),
    Family(
        name="loggamma",
        doc="log(gamma(x)) for x > 0",
        source="DLMF 5.2.1",
        ball=lambda _, x: x.lgamma() if x > 0 else no_number(),
        series=_log_series,
        slope="digamma(x)",
        complex=lambda _, z: z.lgamma(),
        latex=r"\log\Gamma\left({x}\right)",
        span=lambda _: _POSITIVE,
        cut=lambda _: "<",
        runs=lambda _: _FALLS_RISES,
        value_at=_log_value,
        scipy=lambda _: ("gammaln", ()),
        torch=lambda _: ("gammaln", ()),
    ),
    Family(
        name="digamma",
        doc="gamma'(x)/gamma(x), for all real x but 0, -1, -2, ...",
        source="DLMF 5.2.2",
        ball=lambda _, x: polygamma(0, x),
        series=lambda _, x, n: _derivatives(0, x, n),
        slope="polygamma(1, x)",
        complex=lambda _, z: z.digamma(),
        latex=r"\psi\left({x}\right)",
        span=lambda _: _POLES,
        runs=lambda _: (Run(Fraction(0), None, 1),),
        # DLMF 5.4.13.
        value_at=lambda _, x: "digamma(1) - 2*log(2)" if x == Fraction(1, 2) else None,
        scipy=lambda _: ("digamma", ()),
        torch=lambda _: ("digamma", ()),
    ),
    Family(
        name="polygamma",
        doc="the n-th derivative of digamma, for all real x but 0, -1, -2, ...",
        source="DLMF 5.15",
        parameters=("n",),
        fault=_order,
        ball=lambda p, x: polygamma(int(p[0]), x),
        series=lambda p, x, n: _derivatives(int(p[0]), x, n),
        slope="polygamma(n + 1, x)",
        complex=lambda p, z: z.polygamma(int(p[0])),
        latex=r"\psi^{({n})}\left({x}\right)",
        span=lambda _: _POLES,
        runs=lambda p: (Run(Fraction(0), None, 1 if p[0] % 2 == 0 else -1),),
        value_at=_polygamma_at,
        # (-1)^(n+1) n! sum (x + k)^-(n+1), of even powers for an odd n (DLMF 5.15.1).
        sign=lambda p: "positive" if p[0] % 2 else "",
        scipy=lambda p: ("polygamma", tuple(map(float, p))),
        torch=lambda p: ("polygamma", tuple(map(float, p))),
    ),
)
