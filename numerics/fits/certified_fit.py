"""What stands beside a gate: its certified error, peaks, the bound below, what is outside, conditions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from gateproof.numerics.bounds import Budget
from gateproof.numerics.fits.candidates import Candidate, on_grid
from gateproof.numerics.fits.certified import EXACT, certified_error
from gateproof.numerics.fits.certified_gate import shorter
from gateproof.numerics.fits.certified_hard import is_hard
from gateproof.numerics.fits.certified_lower import proved_lower_bound
from gateproof.numerics.fits.certified_sample import refined, values_of
from gateproof.numerics.fits.condition import condition
from gateproof.numerics.fits.exact import Exact, recognise
from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.gates_min import smallest_gate
from gateproof.numerics.fits.hard_joined import is_continuous, joined, largest_jump
from gateproof.numerics.fits.measure import chi_squared
from gateproof.numerics.fits.measure_rms import rms, rms_enclosure
from gateproof.numerics.fits.monotone import certify_monotone
from gateproof.numerics.fits.normal import Normal
from gateproof.numerics.fits.peaks import true_peaks
from gateproof.numerics.fits.request import NotMonotone, Request
from gateproof.numerics.fits.result import Error, Fit, Status
from gateproof.numerics.fits.setting import problem
from gateproof.numerics.fits.target import RefusedTarget, Target
from gateproof.numerics.fits.task import Task
from gateproof.theory.gate import Gate

#: Peaks of at least this share of the largest are listed; the certified error may be this much above the
#: search's, relatively; boxes spent on what is outside of the domain.
LEVEL, SETTLED, FEW = 0.5, 5e-4, 2_000
#: Places as near to 0, in widths of the target, are 0: what a symmetric error has there is rounding.
ZERO = 1e-12
#: An error of 0 in floats may be so much.
TINY = Fraction(1, 10**9)


def finish(task: Task, candidate: Candidate, *, draft: bool = False) -> Fit:
    """The fit with all that is known of it. KeyboardInterrupt leaves out what is not certified yet.

    ``draft``: of a gate whose certified error is above that of the search, which may be searched again, the
    bound below and the error outside are left out.
    """
    candidate = on_grid(task, candidate)
    candidate = _short(task, candidate)
    target, gate, request = task.target, candidate.gate, task.request
    sure, monotone = _monotone(task, gate)
    peaks = peaks_of(task.found, gate)
    sampled, rounding = max((abs(e) for _, e in peaks), default=candidate.error), ZERO * task.found.width
    lower, outside, plain, stopped = None, None, None, False
    mean = _rms(task, gate)
    try:
        error, status = _error(task, candidate, sampled, mean)
        unsettled = status is Status.OK and _settled(candidate, error) is Status.NOT_CONVERGED
        if status is not Status.EXACT and not (draft and unsettled):
            plain = _plain(task, gate)
            near = candidate.infimum if candidate.infimum is not None else candidate.error
            lower = proved_lower_bound(target, request, gate.branches, task.ends, near)
        if not (draft and unsettled):
            outside = error_outside(target, gate, request if status is Status.EXACT else None)
    except KeyboardInterrupt:
        error, stopped = _seen(sampled, "stopped before it was certified"), True
        status = Status.INTERRUPTED
    smallest = smallest_gate(gate, target.lo, target.hi)
    bound, document = candidate.lower, candidate.lower_certificate
    if isinstance(lower, tuple) and (bound is None or lower[0] > bound):
        bound, document = lower
    if status is Status.OK:
        status = _settled(candidate, error)
    said = _said(task, candidate, status)
    if status is Status.SAMPLED and plain is not None:
        said = f"{Status.OK.text}; its root mean square is one of floats, its supremum is certified"
    if not sure and status in (Status.OK, Status.NOT_ATTAINED, Status.SAMPLED):
        status = Status.NOT_CERTIFIED
    evidence = "" if status in (Status.EXACT, Status.SAMPLED) else f"its error is {error.evidence}"
    floats = "that it is not attained is seen in floats" if candidate.attained is False else ""
    words = [said, evidence, candidate.why, floats, *candidate.more, *monotone, *_chi(task, gate)]
    return Fit(
        gate=gate,
        target=target,
        request=request,
        error=error,
        status=Status.INTERRUPTED if stopped else status,
        message="; ".join(w for w in (*words, *target.notes, *task.measure.notes) if w),
        peaks=_at_zero(true_peaks(task.found, gate, peaks), rounding) if error.hi != 0 else (),
        near_zero=rounding,
        rms=0.0 if error.hi == 0 else mean,
        measure=task.measure.text,
        lower_bound=bound if error.hi != 0 else Fraction(0),
        lower_certificate=document,
        attained=True if status is Status.EXACT else None if stopped else candidate.attained,
        infimum=None if stopped else candidate.infimum,
        gates_min=None if smallest.value is None else smallest.value[0],
        condition=condition(gate, task.found),
        outside=outside,
        plain=plain,
        steps=candidate.proof or (),
        fraction_bits=candidate.fraction_bits,
    )


def _short(task: Task, candidate: Candidate) -> Candidate:
    """A hard gate with rounded numbers, and without jumps, exactly, where that is asked for."""
    gate, request = candidate.gate, task.request
    if not is_hard(gate):
        return candidate
    if request.continuous:
        return _without_jumps(task, candidate)
    if candidate.proof is not None or request.quantise is not None or request.norm == "rms":
        return candidate
    short = shorter(gate, task.found, lambda g: _largest(peaks_of(task.found, g)))
    return replace(candidate, gate=short)


def _without_jumps(task: Task, candidate: Candidate) -> Candidate:
    gate = candidate.gate
    if candidate.proof is None and task.request.quantise is None:
        mean = task.request.norm == "rms"

        def error(g: Gate) -> float:
            found = _rms(task, g) if mean else _largest(peaks_of(task.found, g))
            return math.inf if found is None else found

        gate = joined(gate, task.found, error) or gate
    if is_continuous(gate):
        return replace(candidate, gate=gate).saying("continuous, proved: lines meet exactly at thresholds")
    return replace(candidate, gate=gate).saying(
        f"with these numbers lines meet at thresholds up to jumps of {largest_jump(gate):.2g}"
    )


def _largest(peaks: Sequence[tuple[float, float]]) -> float:
    return max((abs(e) for _, e in peaks), default=0.0)


def _settled(candidate: Candidate, error: Error) -> Status:
    """Whether the certified error is that of the search, and attained."""
    above = candidate.error * (1 + SETTLED)
    if error.hi is not None and float(error.hi) > above and (above > 0 or error.hi > TINY):
        return Status.NOT_CONVERGED
    return Status.NOT_ATTAINED if candidate.attained is False else Status.OK


def _said(task: Task, candidate: Candidate, status: Status) -> str:
    """The status in words: of hard gates the search is global, but for the root mean square."""
    best = Status.OK.text
    if is_hard(candidate.gate) and task.request.norm != "rms" and task.request.quantise is None:
        return status.text.replace(best, "the best gate: for hard gates the search is global", 1)
    return status.text


def _at_zero(peaks: Sequence[tuple[float, float]], near: float) -> tuple[tuple[float, float], ...]:
    return tuple((0.0 if abs(x) <= near else x, e) for x, e in peaks)


def _monotone(task: Task, gate: Gate) -> tuple[bool, list[str]]:
    """Whether a gate that was to be monotone is, certified, and words. NotMonotone where it is not."""
    if not task.rising:
        return True, []
    known = certify_monotone(gate, task.rising, task.target.lo, task.target.hi)
    word = "rising" if task.rising > 0 else "falling"
    if known.holds:
        return True, [f"the gate is {word} throughout, certified: {known.reason}"]
    if known.holds is None:
        return False, [f"whether the gate is {word} throughout could not be certified: {known.reason}"]
    request, instead = task.request, ["more branches"]
    if is_hard(gate) and not request.continuous:
        instead.append("--continuous")
    if request.quantise is not None:
        instead.append("more bits")
    raise NotMonotone(
        f"--monotone: the best gate found of {gate.branches} branches is not {word} throughout: "
        f"{known.reason}; give {' or '.join(instead)}"
    )


def _chi(task: Task, gate: Gate) -> list[str]:
    """How well data with standard errors is met."""
    points = task.target.points
    if points is None:
        return []
    apart = values_of(gate)(points.x) - points.y
    parameters = problem(
        task.found, task.setting.with_branches(gate.branches), task.found.grid()
    ).basis.shape[1]
    found = chi_squared(task.target, apart, parameters)
    return [] if found is None else [f"chi^2 per degree of freedom {found:.3g}"]


def _rms(task: Task, gate: Gate) -> float | None:
    try:
        return rms(gate, task.target, task.measure)
    except RefusedTarget:
        return None


def _error(task: Task, candidate: Candidate, sampled: float, mean: float | None) -> tuple[Error, Status]:
    target = task.target
    if candidate.proof is not None:
        return EXACT, Status.EXACT
    if task.request.norm == "rms":
        return _mean_error(task, candidate, candidate.error if mean is None else mean)
    if target.expr is None:
        reason = "on the points of the data" if target.points is not None else "on a dense sample"
        return _seen(sampled, reason), Status.SAMPLED
    known = certified_error(
        candidate.gate,
        target.expr,
        target.lo,
        target.hi,
        weight=target.weight_expr,
        left_out=target.left_out,
    )
    if isinstance(known, str):
        return _seen(sampled, f"not certified: {known}"), Status.NOT_CERTIFIED
    return known, Status.OK


def _mean_error(task: Task, candidate: Candidate, mean: float) -> tuple[Error, Status]:
    """The root mean square, enclosed in balls where that can be done."""
    if task.target.expr is None or task.measure.kind in ("bins", "points"):
        return _seen(mean, f"the root mean square under {task.measure.text}"), Status.SAMPLED
    known = rms_enclosure(candidate.gate, task.target, task.measure, digits=8)
    if known is None:
        return _seen(mean, "the root mean square could not be enclosed"), Status.NOT_CERTIFIED
    return Error(*known, "enclosed", reason="the root mean square, enclosed in balls"), Status.OK


def _plain(task: Task, gate: Gate) -> Error | None:
    """The plain supremum where the error is another one."""
    target = task.target
    if target.expr is None or (task.request.norm != "rms" and target.weight_expr is None):
        return None
    known = certified_error(gate, target.expr, target.lo, target.hi, left_out=target.left_out)
    return None if isinstance(known, str) else known


def _seen(sampled: float, reason: str) -> Error:
    value = Fraction(repr(float(sampled)))
    return Error(value, value, "sampled", reason=reason)


def error_outside(target: Target, gate: Gate, exact: Request | None = None) -> Error | None:
    """The error on all of R where the domain is less; None where it is R, or nothing is known outside.

    ``exact``: the request of a gate that is the target on the domain; it may be so on all of R.
    """
    if target.expr is None or (target.lo is None and target.hi is None):
        return None
    if exact is not None:
        whole = recognise(replace(target, lo=None, hi=None), exact.gates, exact.sharpness)
        if isinstance(whole, Exact) and whole.gate == gate:
            return EXACT
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

    if target.points is not None:
        # As measured: in normal coordinates and back a point moves by a rounding, past a threshold or an end.
        x = target.points.x
        size = error(x)
        top = np.abs(size).max(initial=0.0)
        return [(float(a), float(e)) for a, e in zip(x, size, strict=True) if abs(e) >= LEVEL * top > 0]
    x = np.unique(found.centre + found.width * found.grid())
    return refined(error, x, error(x), LEVEL)
