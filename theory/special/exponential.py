"""Exponential, sine and cosine integrals (DLMF 6.2)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from gateproof.theory.special.balls import complex_ball, line, no_number, padded
from gateproof.theory.special.family import Family, Params, Run, Span

if TYPE_CHECKING:
    from flint import acb, arb, arb_series

_ZERO = Fraction(0)


def _series(method: Callable[[arb_series], arb_series]) -> Callable[[Params, arb, int], list[arb]]:
    return lambda _, x, n: padded(method(line(x, n)).coeffs(), n)


def _ei(_: Params, z: acb) -> acb:
    """On Re z < 0 it is -E_1(-z): Arb's Ei has a cut there, of which the principal value is the middle."""
    if z.real < 0:
        return -(-z).expint(complex_ball(1))
    return z.ei() if z.real > 0 else z * no_number()


FAMILIES = (
    Family(
        name="ei",
        doc="exponential integral, the principal value of the integral of exp(t)/t up to x, for x != 0",
        source="DLMF 6.2.5",
        ball=lambda _, x: x.ei(),
        series=_series(lambda s: s.ei()),
        slope="exp(x)/x",
        complex=_ei,
        latex=r"\mathrm{Ei}\left({x}\right)",
        span=lambda _: Span(holes=(_ZERO,)),
        runs=lambda _: (Run(_ZERO, None, 1), Run(None, _ZERO, -1)),
        scipy=lambda _: ("expi", ()),
    ),
    Family(
        name="si",
        doc="sine integral, the integral of sin(t)/t from 0 to x",
        source="DLMF 6.2.9",
        ball=lambda _, x: x.si(),
        series=_series(lambda s: s.si()),
        slope="sphericalj(0, x)",
        complex=lambda _, z: z.si(),
        latex=r"\mathrm{Si}\left({x}\right)",
        # Its largest value is Si(pi) = 1.8519...
        bounds=lambda _: (Fraction(-2), Fraction(2)),
        runs=lambda _: (Run(Fraction(-3), Fraction(3), 1),),
        parity=lambda _: -1,
        value_at=lambda _, x: "0" if x == 0 else None,
        scipy=lambda _: ("sici:0", ()),
    ),
    Family(
        name="ci",
        doc="cosine integral, minus the integral of cos(t)/t from x to oo, for x > 0",
        source="DLMF 6.2.11",
        ball=lambda _, x: x.ci() if x > 0 else no_number(),
        series=_series(lambda s: s.ci()),
        slope="cos(x)/x",
        complex=lambda _, z: z.ci(),
        latex=r"\mathrm{Ci}\left({x}\right)",
        span=lambda _: Span(lo="0"),
        cut=lambda _: "<",
        runs=lambda _: (Run(None, Fraction(3, 2), 1),),
        scipy=lambda _: ("sici:1", ()),
    ),
)
