"""What stands beside a gate: its certified error, peaks, the bound below, what is outside, conditions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gateproof.numerics.bounds import Budget
from gateproof.numerics.fits.candidates import Candidate
from gateproof.numerics.fits.certified import EXACT, certified_error
from gateproof.numerics.fits.certified_lower import proved_lower_bound
from gateproof.numerics.fits.certified_sample import refined, values_of
from gateproof.numerics.fits.condition import condition
from gateproof.numerics.fits.families import direction
from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.gates_min import smallest_gate
from gateproof.numerics.fits.monotone import certify_monotone
from gateproof.numerics.fits.normal import Normal
from gateproof.numerics.fits.request import Request
from gateproof.numerics.fits.result import Error, Fit, Status
from gateproof.numerics.fits.target import Target
from gateproof.theory.gate import Gate

#: Peaks of at least this share of the largest are listed; the certified error may be this much above the
#: search's, relatively; boxes spent on what is outside of the domain.
LEVEL, SETTLED, FEW = 0.5, 5e-4, 2_000


def finish(found: Normal, request: Request, ends: str, candidate: Candidate) -> Fit:
    """The fit with all that is known of it. KeyboardInterrupt leaves out what is not certified yet."""
    target, gate = found.target, candidate.gate
    peaks = peaks_of(found, gate)
    sampled = max((abs(e) for _, e in peaks), default=candidate.error)
    stopped, lower = False, None
    try:
        error, status = _error(target, candidate, sampled)
        near = candidate.infimum if candidate.infimum is not None else candidate.error
        if status is not Status.EXACT:
            lower = proved_lower_bound(target, request, gate.branches, ends, near)
        outside = None if status is Status.EXACT else error_outside(target, gate)
    except KeyboardInterrupt:
        error, lower, outside, stopped = _seen(sampled, "stopped before it was certified"), None, None, True
        status = Status.INTERRUPTED
    smallest = smallest_gate(gate, target.lo, target.hi)
    bound, document = (candidate.lower, candidate.lower_certificate)
    if isinstance(lower, tuple) and (bound is None or lower[0] > bound):
        bound, document = lower
    if status is Status.OK and candidate.attained is False:
        status = Status.NOT_ATTAINED
    known = error.hi is not None and candidate.error > 0 and error.evidence == "certified"
    if status is Status.OK and known and float(error.hi or 0) > candidate.error * (1 + SETTLED):
        status = Status.NOT_CONVERGED
    words = [str(status), candidate.why, *candidate.more, *_monotone(target, request, gate), *target.notes]
    return Fit(
        gate=gate,
        target=target,
        request=request,
        error=error,
        status=Status.INTERRUPTED if stopped else status,
        message="; ".join(w for w in words if w),
        peaks=tuple(peaks) if error.hi != 0 else (),
        lower_bound=bound if error.hi != 0 else Fraction(0),
        lower_certificate=document,
        attained=True if status is Status.EXACT else candidate.attained,
        infimum=candidate.infimum,
        gates_min=None if smallest.value is None else smallest.value[0],
        condition=condition(gate, found),
        outside=outside,
        steps=candidate.proof or (),
    )


def _monotone(target: Target, request: Request, gate: Gate) -> list[str]:
    """What is certified of a gate that was to be monotone."""
    if not request.monotone:
        return []
    rising, _ = direction(target)
    known = certify_monotone(gate, rising, target.lo, target.hi)
    word = "rising" if rising > 0 else "falling"
    if known.holds:
        return [f"the gate is {word} throughout, certified: {known.reason}"]
    return [f"that the gate is {word} throughout is not certified: {known.reason}"]


def _error(target: Target, candidate: Candidate, sampled: float) -> tuple[Error, Status]:
    if candidate.proof is not None:
        return EXACT, Status.EXACT
    if target.expr is None:
        reason = "on the points of the data" if target.points is not None else "on a dense sample"
        return _seen(sampled, reason), Status.SAMPLED
    known = certified_error(candidate.gate, target.expr, target.lo, target.hi, weight=target.weight_expr)
    if isinstance(known, str):
        return _seen(sampled, f"not certified: {known}"), Status.NOT_CERTIFIED
    return known, Status.OK


def _seen(sampled: float, reason: str) -> Error:
    value = Fraction(repr(float(sampled)))
    return Error(value, value, "sampled", reason=reason)


def error_outside(target: Target, gate: Gate) -> Error | None:
    """The error on all of R where the domain is less; None where it is R, or nothing is known outside."""
    if target.expr is None or (target.lo is None and target.hi is None):
        return None
    known = certified_error(gate, target.expr, None, None, digits=6, budget=Budget(boxes=FEW))
    if isinstance(known, str):
        return Error(Fraction(0), None, "sampled", reason=known)
    return known


def peaks_of(found: Normal, gate: Gate) -> list[tuple[float, float]]:
    """The peaks of the weighted error: places ascending and signed values, in floats."""
    target, values = found.target, values_of(gate)

    def error(x: Array) -> Array:
        with np.errstate(all="ignore"):
            apart = values(x) - target.function(x)
            if target.weight is not None:
                apart = apart * target.weight(x)
        return np.where(np.isfinite(apart), apart, 0.0)

    x = np.unique(found.centre + found.width * found.grid())
    if target.points is not None:
        size = error(x)
        top = np.abs(size).max(initial=0.0)
        return [(float(a), float(e)) for a, e in zip(x, size, strict=True) if abs(e) >= LEVEL * top > 0]
    return refined(error, x, error(x), LEVEL)
