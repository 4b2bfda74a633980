"""Special functions: enclosures over an interval and Taylor coefficients, by MPFR and series with remainders.

Correctly rounded by MPFR: gamma, log gamma, digamma, zeta, Bessel Y of a whole order. Summed here, with
a bound of the rest: hypergeometric series (Bessel J and I, Airy, 1F1, 2F1, sine, cosine and exponential
integral), Bessel K of a whole order, Hurwitz zeta by Euler and Maclaurin. W is bracketed by w exp(w).
Loaded only where a certificate names one of them. Formulas: DLMF, as named.
"""

from __future__ import annotations

import re
from typing import Any

from gmpy2 import mpq

from gateproof.proofs_check.checker.algebra import Rejected
from gateproof.proofs_check.checker.interval import INF, Interval, Intervals
from gateproof.proofs_check.checker.special.functions import Special
from gateproof.proofs_check.checker.special.part import Values

#: How many parameters each takes.
NAMES = {
    "gamma": 0, "loggamma": 0, "digamma": 0, "polygamma": 1, "zeta": 0, "lambertw": 0,
    "besselj": 1, "bessely": 1, "besseli": 1, "besselk": 1,
    "airyai": 0, "airyaiprime": 0, "airybi": 0, "airybiprime": 0, "ei": 0, "si": 0, "ci": 0,
    "hyp1f1": 2, "hyp2f1": 3, "sphericalj": 1,
}  # fmt: skip
_NUMBER = r"-?\d{1,4}(?:/0*[1-9]\d{0,3})?"
_HEAD = re.compile(rf"([a-z0-9]+)(?:\[({_NUMBER}(?:,{_NUMBER})*)\])?")


def parse(head: str) -> tuple[str, Values] | None:
    """The name and the parameters of ``besselj[1/2]``; None for what is no such head."""
    found = _HEAD.fullmatch(head)
    if found is None or found[1] not in NAMES:
        return None
    params: tuple[Any, ...] = tuple(map(mpq, found[2].split(","))) if found[2] else ()
    return (found[1], params) if len(params) == NAMES[found[1]] else None


def enclosed(to: Intervals, head: str, a: Interval) -> Interval:
    """All values of the function over the interval."""
    return coefficients(to, head, a, 0)[0]


def coefficients(to: Intervals, head: str, a: Interval, order: int) -> list[Interval]:
    """f^(k)/k! over the interval for k = 0 .. order."""
    found = parse(head)
    if found is None:
        raise Rejected(f"not a function that this checker knows: {head!r:.40}")
    name, params = found
    if a.lo == -INF or a.hi == INF:
        raise Rejected(f"{name} of an unbounded interval")
    at = Special(to, name, a)
    first = at.value(name, params, a)
    return [first, *at.taylor(name, params, a, order)[1:]] if order else [first]
