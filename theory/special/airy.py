"""Airy functions and their derivatives (DLMF 9)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from gateproof.theory.special.balls import line, padded
from gateproof.theory.special.family import Family, Params, Run

if TYPE_CHECKING:
    from flint import acb, arb, arb_series


def _series(method: Callable[[arb_series], arb_series]) -> Callable[[Params, arb, int], list[arb]]:
    return lambda _, x, n: padded(method(line(x, n)).coeffs(), n)


def _complex(place: int) -> Callable[[Params, acb], acb]:
    return lambda _, z: z.airy()[place]


FAMILIES = tuple(
    Family(
        name=name,
        doc=doc,
        source="DLMF 9.2",
        ball=lambda _, x, place=place: x.airy()[place],  # type: ignore[misc]
        series=_series(method),
        slope=slope,
        complex=_complex(place),
        latex=latex,
        # The first zeros of Ai' and Bi' are -1.018... and -2.294... (DLMF 9.9); Ai'' = x Ai, Bi'' = x Bi.
        runs=lambda _, run=run: (run,),  # type: ignore[misc]
        bounds=lambda _, place=place: (Fraction(-1), Fraction(1)) if place == 0 else (None, None),  # type: ignore[misc]
        sign=lambda _, place=place: "right" if place in (0, 2) else "",  # type: ignore[misc]
        scipy=lambda _, place=place: (f"airy:{place}", ()),  # type: ignore[misc]
        torch=(lambda _: ("airy_ai", ())) if place == 0 else (lambda _: None),
    )
    for place, name, doc, method, slope, latex, run in (
        (0, "airyai", "Airy function Ai", lambda s: s.airy_ai(), "airyaiprime(x)",
         r"\mathrm{Ai}\left({x}\right)",
         Run(Fraction(-1), None, -1)),
        (1, "airyaiprime", "derivative of Ai", lambda s: s.airy_ai_prime(), "x*airyai(x)",
         r"\mathrm{Ai}'\left({x}\right)", Run(Fraction(0), None, 1)),
        (2, "airybi", "Airy function Bi", lambda s: s.airy_bi(), "airybiprime(x)",
         r"\mathrm{Bi}\left({x}\right)",
         Run(Fraction(-2), None, 1)),
        (3, "airybiprime", "derivative of Bi", lambda s: s.airy_bi_prime(), "x*airybi(x)",
         r"\mathrm{Bi}'\left({x}\right)", Run(Fraction(0), None, 1)),
    )
)  # fmt: skip
