"""The principal branch of the Lambert W function (DLMF 4.13)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from gateproof.theory.special.balls import line, no_number, padded, real
from gateproof.theory.special.family import Family, Params, Run, Span

if TYPE_CHECKING:
    from flint import arb


def _checked(_: Params, x: arb) -> arb:
    """W of a point by bounds w with w exp(w) on their sides of x; on a ball, of its ends: W rises."""
    if not x.is_exact():
        low, high = _checked((), x.lower()), _checked((), x.upper())
        return low.union(high)
    found = x.lambertw()
    if not found.is_finite():
        return no_number()
    low, high = found.lower(), found.upper()
    # The branch is the one with w >= -1, where w exp(w) rises.
    if not high >= -1 or not (high * high.exp()).upper() >= x:
        return no_number()
    if low <= -1:
        return real(-1).union(high)
    return found if (low * low.exp()).lower() <= x else no_number()


def _series(_: Params, x: arb, n: int) -> list[arb]:
    c = padded(line(x, n).lambertw().coeffs(), n)
    return [_checked((), x), *c[1:]]


FAMILIES = (
    Family(
        name="lambertw",
        doc="the w >= -1 with w*exp(w) = x, for x >= -1/e",
        source="DLMF 4.13.1",
        ball=_checked,
        series=_series,
        slope="1/(exp(lambertw(x))*(1 + lambertw(x)))",
        complex=lambda _, z: z.lambertw(),
        latex=r"W_0\left({x}\right)",
        span=lambda _: Span(lo="-exp(-1)", lo_closed=True),
        cut=lambda _: "<",
        runs=lambda _: (Run(None, None, 1),),
        bounds=lambda _: (Fraction(-1), None),
        sign=lambda _: "same",
        value_at=lambda _, x: "0" if x == 0 else None,
        kinks=lambda _: ("-exp(-1)",),
    ),
)
