"""Bessel functions of a rational order and their modified ones (DLMF 10)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb, factorial
from typing import TYPE_CHECKING

from gateproof.theory.special.balls import complex_ball, real, root_of_pi, unit
from gateproof.theory.special.family import Family, Params, Run, Span

if TYPE_CHECKING:
    from flint import acb, arb

_ZERO, _HALF3 = Fraction(0), Fraction(3, 2)


def _order(params: Params) -> str | None:
    return None if abs(params[0]) <= 100 else "the order is at most 100 in size"


def _whole_order(p: Params) -> str | None:
    n = p[0]
    return None if n.denominator == 1 and 0 <= n <= 100 else "the order is a whole number from 0 to 100"


def _whole(p: Params) -> bool:
    return p[0].denominator == 1


def _bounded(n: Fraction, value: arb) -> arb:
    """|J_n| <= 1 for a whole n (DLMF 10.14.1)."""
    if n.denominator > 1:
        return value
    between = unit()
    if not value.is_finite():
        return between
    return value if value.rad() < 1 else value.intersection(between)


def bessel_j(n: Fraction, x: arb) -> arb:
    """J_n over a ball."""
    return _bounded(n, x.bessel_j(real(n)))


def bessel_k(n: Fraction, x: arb) -> arb:
    """K_n, which falls on x > 0 (DLMF 10.37)."""
    if x > 0 and not x.is_exact():
        return bessel_k(n, x.lower()).union(bessel_k(n, x.upper()))
    return x.bessel_k(real(n))


def bessel_i(n: Fraction, x: arb) -> arb:
    """I_n; for n >= 0 it rises on x >= 0 (DLMF 10.37)."""
    if x >= 0 and n >= 0 and not x.is_exact():
        return bessel_i(n, x.lower()).union(bessel_i(n, x.upper()))
    return x.bessel_i(real(n))


def _series(value: Callable[[Fraction, arb], arb], inner: int, outer: int) -> Callable[..., list[arb]]:
    """f_n' = outer/2 (f_(n-1) + inner f_(n+1)), so that f_n^(k) is a binomial sum (DLMF 10.6.7, 10.29.5)."""

    def series(p: Params, x: arb, n: int) -> list[arb]:
        known = {p[0] + j: value(p[0] + j, x) for j in range(-n, n + 1)}
        found = []
        for k in range(n + 1):
            total = sum((inner**j * comb(k, j) * known[p[0] - k + 2 * j] for j in range(k + 1)), real(0))
            found.append(outer**k * total / (2**k * factorial(k)))
        return found

    return series


def _reflected(sign: Callable[[Fraction], int]) -> Callable[[Params], tuple[Fraction, Params]]:
    """Whole orders below 0 by those above (DLMF 10.4.1, 10.27.1)."""

    def canonical(p: Params) -> tuple[Fraction, Params]:
        if p[0] < 0 and _whole(p):
            return Fraction(sign(p[0])), (-p[0],)
        return Fraction(1), p

    return canonical


def _alternating(n: Fraction) -> int:
    return -1 if n % 2 else 1


def _from_zero(p: Params) -> Span:
    """J and I: all reals for a whole order, else x >= 0, or x > 0 where it is infinite at 0."""
    return Span() if _whole(p) else Span(lo="0", lo_closed=p[0] > 0)


def _at_zero(p: Params, x: Fraction) -> str | None:
    """J_n(0) and I_n(0) (DLMF 10.2.2, 10.25.2)."""
    if x != 0 or p[0] < 0:
        return None
    return "1" if p[0] == 0 else "0"


def _kinks(p: Params) -> tuple[str, ...]:
    return () if _whole(p) else ("0",)


def _parity(p: Params) -> int:
    return 0 if not _whole(p) else 1 if p[0] % 2 == 0 else -1


def _scipy(name: str) -> Callable[[Params], tuple[str, tuple[float, ...]]]:
    return lambda p: (name, (float(p[0]),))


def _torch(stem: str) -> Callable[[Params], tuple[str, tuple[float, ...]] | None]:
    return lambda p: (f"{stem}{p[0]}", ()) if p[0] in (0, 1) else None


_POSITIVE = Span(lo="0")


def _acb(method: Callable[[acb, acb], acb]) -> Callable[[Params, acb], acb]:
    return lambda p, z: method(z, complex_ball(p[0]))


def _cut(p: Params) -> str:
    return "" if _whole(p) else "<"


def spherical(n: int, x: arb) -> arb:
    """j_n by x^n/(2n + 1)!! 0F1(; n + 3/2; -x^2/4) (DLMF 10.53.1); |j_n| <= 1 (10.54.1)."""
    half = x / 2
    value = (half**n) * root_of_pi() / 2 * (-(half * half)).hypgeom_0f1(real(n + _HALF3), regularized=True)
    between = unit()
    return value.intersection(between) if value.is_finite() else between


def _spherical_series(p: Params, x: arb, order: int) -> list[arb]:
    """By j_n' = (n j_(n-1) - (n + 1) j_(n+1))/(2n + 1) (DLMF 10.51.2), applied k times."""
    now, found = {int(p[0]): Fraction(1)}, []
    for k in range(order + 1):
        parts = [real(c / factorial(k)) * spherical(m, x) for m, c in now.items()]
        found.append(sum(parts, real(0)))
        after: dict[int, Fraction] = {}
        for m, c in now.items():
            for other, weight in ((m - 1, m), (m + 1, -(m + 1))):
                if weight:
                    after[other] = after.get(other, _ZERO) + c * Fraction(weight, 2 * m + 1)
        now = after
    return found


def _spherical_slope(p: Params) -> str:
    last = "(n + 1)/(2*n + 1)*sphericalj(n + 1, x)"
    return f"n/(2*n + 1)*sphericalj(n - 1, x) - {last}" if p[0] else f"-{last}"


def _spherical_complex(p: Params, z: acb) -> acb:
    half, n = z / 2, int(p[0])
    return (
        (half**n)
        * root_of_pi()
        / 2
        * (-(half * half)).hypgeom_0f1(complex_ball(n + _HALF3), regularized=True)
    )


FAMILIES = (
    Family(
        name="besselj",
        doc="Bessel function of the first kind; all real x for a whole order n, else x >= 0 (x > 0 if n < 0)",
        source="DLMF 10.2.2",
        parameters=("n",),
        fault=_order,
        canonical=_reflected(_alternating),
        ball=lambda p, x: bessel_j(p[0], x),
        series=_series(bessel_j, -1, 1),
        slope="(besselj(n - 1, x) - besselj(n + 1, x))/2",
        complex=_acb(lambda z, n: z.bessel_j(n)),
        latex=r"J_{{n}}\left({x}\right)",
        span=_from_zero,
        cut=_cut,
        # The first zero of J_n' is greater than n (DLMF 10.21.3).
        runs=lambda p: (Run(_ZERO, p[0], 1),) if p[0] > 0 else (),
        bounds=lambda p: (Fraction(-1), Fraction(1)) if _whole(p) or p[0] > 0 else (None, None),
        parity=_parity,
        value_at=_at_zero,
        kinks=_kinks,
        scipy=_scipy("jv"),
        torch=_torch("bessel_j"),
    ),
    Family(
        name="bessely",
        doc="Bessel function of the second kind, for x > 0",
        source="DLMF 10.2.3",
        parameters=("n",),
        fault=_order,
        canonical=_reflected(_alternating),
        ball=lambda p, x: x.bessel_y(real(p[0])),
        series=_series(lambda n, x: x.bessel_y(real(n)), -1, 1),
        slope="(bessely(n - 1, x) - bessely(n + 1, x))/2",
        complex=_acb(lambda z, n: z.bessel_y(n)),
        latex=r"Y_{{n}}\left({x}\right)",
        span=lambda _: _POSITIVE,
        cut=lambda _: "<",
        scipy=_scipy("yv"),
        torch=_torch("bessel_y"),
    ),
    Family(
        name="besseli",
        doc="modified Bessel function of the first kind; its domain is that of besselj",
        source="DLMF 10.25.2",
        parameters=("n",),
        fault=_order,
        canonical=_reflected(lambda _: 1),
        ball=lambda p, x: bessel_i(p[0], x),
        series=_series(bessel_i, 1, 1),
        slope="(besseli(n - 1, x) + besseli(n + 1, x))/2",
        complex=_acb(lambda z, n: z.bessel_i(n)),
        latex=r"I_{{n}}\left({x}\right)",
        span=_from_zero,
        cut=_cut,
        runs=lambda p: (Run(_ZERO, None, 1),) if p[0] >= 0 else (),
        sign=lambda p: "right" if p[0] >= 0 else "",
        parity=_parity,
        value_at=_at_zero,
        kinks=_kinks,
        scipy=_scipy("iv"),
        torch=_torch("modified_bessel_i"),
    ),
    Family(
        name="besselk",
        doc="modified Bessel function of the second kind, for x > 0",
        source="DLMF 10.27.4",
        parameters=("n",),
        fault=_order,
        canonical=lambda p: (Fraction(1), (abs(p[0]),)),
        ball=lambda p, x: bessel_k(p[0], x),
        series=_series(bessel_k, 1, -1),
        slope="-(besselk(n - 1, x) + besselk(n + 1, x))/2",
        complex=_acb(lambda z, n: z.bessel_k(n)),
        latex=r"K_{{n}}\left({x}\right)",
        span=lambda _: _POSITIVE,
        cut=lambda _: "<",
        runs=lambda _: (Run(None, None, -1),),
        bounds=lambda _: (_ZERO, None),
        sign=lambda _: "positive",
        scipy=_scipy("kv"),
        torch=_torch("modified_bessel_k"),
    ),
    Family(
        name="sphericalj",
        doc="spherical Bessel function of the first kind, of a whole order n >= 0",
        source="DLMF 10.47.3",
        parameters=("n",),
        fault=_whole_order,
        ball=lambda p, x: spherical(int(p[0]), x),
        series=_spherical_series,
        slope=_spherical_slope,
        complex=_spherical_complex,
        latex=r"\mathsf{j}_{{n}}\left({x}\right)",
        bounds=lambda _: (Fraction(-1), Fraction(1)),
        parity=lambda p: 1 if p[0] % 2 == 0 else -1,
        value_at=_at_zero,
        scipy=lambda p: ("spherical_jn", (int(p[0]),)),
    ),
)
