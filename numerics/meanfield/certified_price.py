"""Correlation maps of continuous piecewise linear activations in balls, by Price's theorem; also near c = 1.

With phi'' = sum J_k delta(x_k), c = 1 - eps = cos T, and D = E phi'(u)^2,

    D - E phi'(u) phi'(v) = sum_jk J_j J_k int_0^T g_jk(t) dt,
    V - C = q (eps D - sum_jk J_j J_k int_0^T g_jk(t) (cos t - cos T) dt),
    g_jk(t) = exp(-((x_j - x_k)^2/sin(t/2)^2 + (x_j + x_k)^2/cos(t/2)^2)/(8 q))/(2 pi).
"""

from __future__ import annotations

from collections.abc import Callable
from math import log

import flint
from flint import acb, arb

from gateproof.numerics.ball import evaluate
from gateproof.numerics.meanfield.activation import Phi
from gateproof.numerics.meanfield.near_zero import is_zero
from gateproof.theory.exact.kernels import plus


def bent(phi: Phi, q: arb, eps: arb, digits: int, *, weighted: bool) -> arb:
    """The double sum at eps in [0, 2], with or without the weight cos t - cos T."""
    end = arb.pi() if eps == 2 else 2 * (eps / 2).sqrt().asin()
    bits = flint.ctx.prec + 32
    places = [evaluate(k.at, {}, bits) for k in phi.kinks]
    jumps = [evaluate(k.slope_jump, {}, bits) for k in phi.kinks]
    total = arb(0)
    for j, x in enumerate(places):
        for k, y in enumerate(places[: j + 1]):
            at = phi.kinks[j].at, phi.kinks[k].at
            apart = arb(0) if j == k else (x - y) ** 2 / (8 * q)
            across = arb(0) if is_zero(plus(*at)) else (x + y) ** 2 / (8 * q)
            part = _integral(apart, across, end, digits, weighted=weighted)
            total += jumps[j] * jumps[k] * part * (1 if j == k else 2)
    return total


def _integral(apart: arb, across: arb, end: arb, digits: int, *, weighted: bool) -> arb:
    """The integral of exp(-apart/sin(t/2)^2 - across/cos(t/2)^2)/(2 pi) from 0 to T."""
    # Beyond this exponent the integrand is left out, and its bound put in.
    most = arb((digits + 8) * log(10)) + across + apart
    lo, hi, rest = arb(0), end, arb(0)
    if not apart.is_zero():
        lo, rest = _flat(apart, most, end)
    if not across.is_zero() and end > 3:
        # The same at t = pi, where cos(t/2) vanishes.
        off, more = _flat(across, most, arb.pi())
        hi, rest = end.min(arb((arb.pi() - off).mid())), rest + more
    if not lo < hi:
        return arb(0).union(_bound(apart, end) * end * (2 if weighted else 1))

    def value(t: acb, _: bool) -> acb:
        half = t / 2
        exponent = acb(0)
        if not apart.is_zero():
            exponent -= apart / half.sin() ** 2
        if not across.is_zero():
            exponent -= across / half.cos() ** 2
        found = exponent.exp() / (2 * arb.pi())
        return found * 2 * ((end + t) / 2).sin() * ((end - t) / 2).sin() if weighted else found

    width = hi - lo
    inside: Callable[[acb, bool], acb] = lambda t, a: value(lo + width * t, a) * width  # noqa: E731
    found = acb.integral(inside, acb(0), acb(1), rel_tol=arb(10) ** -(digits + 4), abs_tol=arb(0)).real
    # The weight cos t - cos T is at most 2.
    return found + arb(0).union(rest * (2 if weighted else 1))


def _flat(gap: arb, most: arb, end: arb) -> tuple[arb, arb]:
    """Where gap/sin(t/2)^2 falls to ``most``, at most the end, and a bound of the integral up to there."""
    sine = (gap / most).sqrt()
    at = end if not sine < 1 else end.min(2 * sine.asin())
    at = arb(at.mid())
    return at, _bound(gap, at) * at


def _bound(gap: arb, at: arb) -> arb:
    """The largest value up to a place."""
    if gap.is_zero():
        return 1 / (2 * arb.pi())
    half = at / 2
    sine = half.sin() if half < arb.pi() / 2 else arb(1)
    return arb(((-gap / sine**2).exp() / (2 * arb.pi())).upper())
