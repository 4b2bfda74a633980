"""From a target and a request to a fit: exact cases, search, numbers to be printed, certificate."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from gateproof.numerics.fits.candidates import (
    Candidate,
    Search,
    Watch,
    exact_candidate,
    hard_candidates,
    hardened,
    linear_data,
    refuse_ends,
    refuse_lost,
    refuse_monotone,
)
from gateproof.numerics.fits.certified_fit import finish
from gateproof.numerics.fits.certified_gate import weighted_noise
from gateproof.numerics.fits.driver import Found
from gateproof.numerics.fits.driver import finish as settle
from gateproof.numerics.fits.request import NotMonotone, RefusedFit, Request
from gateproof.numerics.fits.result import Fit, Status
from gateproof.numerics.fits.target import Target
from gateproof.numerics.fits.task import Task, task_of

#: One branch more must lower the error by this share; else fewer suffice.
GAIN = 1e-9
#: The features of a target lie within so many widths.
NEAR = 3.0


def solve(target: Target, request: Request, *, watch: Watch | None = None) -> Fit:
    """The best fit. Raises RefusedTarget and RefusedFit.

    ``watch`` is called with K and the error in floats as the search goes on. KeyboardInterrupt ends the
    search with the best gate so far, and goes on up where there is none yet.
    """
    started = time.perf_counter()
    last: Fit | None = None
    for fit in curve(target, request, watch=watch, every=request.tol is not None):
        last = fit
        if _within(fit, request):
            break
    if last is None:
        kind = "hard gate" if request.sharpness == "hard" else "gate"
        kind = f"monotone {kind}" if request.monotone else kind
        raise RefusedFit(f"no {kind} of at most {request.most} branches is within the tolerance")
    if request.tol is not None and not _within(last, request) and last.status is not Status.INTERRUPTED:
        last = replace(last, status=Status.NOT_REACHED, message=f"{Status.NOT_REACHED.text}; {last.message}")
    asked = replace(last.request, branches=request.branches, tol=request.tol)
    return replace(last, request=asked, elapsed=time.perf_counter() - started)


def _within(fit: Fit, request: Request) -> bool:
    return request.tol is not None and fit.error.hi is not None and fit.error.hi <= request.tol


def curve(
    target: Target, request: Request, *, watch: Watch | None = None, every: bool = True
) -> Iterator[Fit]:
    """Fits of one branch, two, and so on, as far as there are any; the last one only if not ``every``.

    With a tolerance only those that may be within it, and the last one.
    """
    task = task_of(target, request)
    exact = exact_candidate(task)
    if exact is None:
        exact = linear_data(task)
        task = task if exact is None else hardened(task)
    if exact is not None and exact.gate.branches <= request.most:
        if not every or exact.gate.branches == 1:
            yield finish(task, _suffices(exact, request, every=every))
            return
        task = replace(task, request=replace(request, branches=exact.gate.branches - 1, tol=None))
    else:
        exact = None
        refuse_monotone(task)
        refuse_lost(task.found)
    try:
        yield from _found(task, request, watch, every=every)
    except RefusedFit:
        # Of fewer branches there may be none; those of the exact gate there are.
        if exact is None:
            raise
    if exact is not None:
        yield finish(task, exact)


def _found(task: Task, request: Request, watch: Watch | None, *, every: bool) -> Iterator[Fit]:
    """What the search that the task asks for comes to."""
    if task.request.sharpness != "hard":
        yield from _searched(Search(task, watch), every=every, tol=request.tol)
        return
    for candidate in hard_candidates(task, every=every):
        if watch is not None:
            watch(candidate.gate.branches, candidate.error)
        yield from _finished(task, _suffices(candidate, request, every=every), every=every)


def _searched(search: Search, *, every: bool, tol: Fraction | None) -> Iterator[Fit]:
    task = search.task
    rounding = _rounding(task)
    best: Found | None = None
    stopped, done = False, False
    try:
        for one in search.run():
            done = every and (tol is None or one.error * task.found.height <= tol)
            if best is None or (one.error < best.error * (1 - GAIN) and best.error > rounding):
                best = one
            if done:
                try:
                    yield _closed_in(search, one, search.candidate(one))
                except NotMonotone:
                    continue
    except KeyboardInterrupt:
        best, stopped = search.begun or best, True
        if best is None:
            raise
    if best is None:
        raise refuse_ends(task.request.most)
    if stopped:
        fit = _stopped(finish(task, search.candidate(best, quick=True)))
        yield fit if every or fit.k == task.request.most else _short_of(fit, task.request.most)
    elif not done:
        judged, cut = _judged(search, best)
        fit = _closed_in(search, best, _suffices(judged, task.request, every=every))
        yield _stopped(fit) if cut else fit


def _rounding(task: Task) -> float:
    """The error, in normal coordinates, below which a gate meets a function or data to rounding; else 0."""
    if task.target.expr is not None:
        return 0.0
    u = task.found.grid()
    return float(weighted_noise(task.found, u[np.abs(u) <= NEAR]).max(initial=0.0))


def _finished(task: Task, candidate: Candidate, *, every: bool) -> Iterator[Fit]:
    """The fit; none where it is one of several and is not monotone, which was asked for."""
    try:
        yield finish(task, candidate)
    except NotMonotone:
        if not every:
            raise


def _closed_in(search: Search, one: Found, candidate: Candidate) -> Fit:
    """The fit, searched again on a finer grid where its certified error is above that of the search."""
    if search.task.request.quantise is not None:
        return finish(search.task, candidate)
    fit = finish(search.task, candidate, draft=True)
    if fit.status is not Status.NOT_CONVERGED:
        return fit
    found = search.task.found
    try:
        places = (np.array(fit.argmax) - found.centre) / found.width
        again = finish(search.task, search.candidate(settle(found, one, places)))
    except KeyboardInterrupt:
        return _stopped(finish(search.task, candidate))
    better = again.error.hi is not None and fit.error.hi is not None and again.error.hi < fit.error.hi
    return again if better else finish(search.task, candidate)


def _judged(search: Search, best: Found) -> tuple[Candidate, bool]:
    """The candidate, and whether it was stopped before it was known whether the infimum is attained."""
    try:
        return search.candidate(best), False
    except KeyboardInterrupt:
        known = search.candidate(best, quick=True)
        return known.saying("stopped before it was known whether it is best"), True


def _stopped(fit: Fit) -> Fit:
    """The fit of a search that was cut short, which says so."""
    if fit.status is Status.INTERRUPTED:
        return fit
    message = f"{Status.INTERRUPTED.text}; {fit.message.removeprefix(fit.status.text).lstrip('; ')}"
    return replace(fit, status=Status.INTERRUPTED, message=message)


def _short_of(fit: Fit, asked: int) -> Fit:
    """With a word on the branches that were asked for, which the search had not come to."""
    return replace(
        fit, message=f"{fit.message}; no gate of {asked} branches, as asked for, was found by then"
    )


def _suffices(candidate: Candidate, request: Request, *, every: bool) -> Candidate:
    """With a word where fewer branches than asked for do as well."""
    fewer = candidate.gate.branches < request.most and request.tol is None and not every
    return candidate.saying(f"K={candidate.gate.branches} suffices") if fewer else candidate
