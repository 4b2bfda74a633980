"""From a target and a request to a fit: exact cases, search, numbers to be printed, certificate."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from gateproof.numerics.fits.candidates import (
    Candidate,
    Search,
    Watch,
    exact_candidate,
    hard_candidates,
    refuse_ends,
)
from gateproof.numerics.fits.certified_fit import finish
from gateproof.numerics.fits.driver import Found
from gateproof.numerics.fits.families import family_refusal, possible_ends
from gateproof.numerics.fits.normal import normal
from gateproof.numerics.fits.request import RefusedFit, Request
from gateproof.numerics.fits.result import Fit, Status
from gateproof.numerics.fits.target import Target

#: One branch more must lower the error by this share; else fewer suffice.
GAIN = 1e-9


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
    assert last is not None
    if request.tol is not None and not _within(last, request) and last.status is not Status.INTERRUPTED:
        last = replace(last, status=Status.NOT_REACHED, message=f"{Status.NOT_REACHED}; {last.message}")
    return replace(last, elapsed=time.perf_counter() - started)


def _within(fit: Fit, request: Request) -> bool:
    return request.tol is not None and fit.error.hi is not None and fit.error.hi <= request.tol


def curve(
    target: Target, request: Request, *, watch: Watch | None = None, every: bool = True
) -> Iterator[Fit]:
    """Fits of one branch, two, and so on, as far as there are any; the last one only if not ``every``."""
    ends = ends_of(target, request)
    found = normal(target)
    exact = exact_candidate(target, request)
    if exact is not None and exact.gate.branches <= request.most:
        if not every or exact.gate.branches == 1:
            yield finish(found, request, ends, _suffices(exact, request, every=every))
            return
        request = replace(request, branches=exact.gate.branches - 1, tol=None)
    else:
        exact = None
    if request.sharpness == "hard":
        for candidate in hard_candidates(target, request, ends, every=every):
            if watch is not None:
                watch(candidate.gate.branches, candidate.error)
            yield finish(found, request, ends, _suffices(candidate, request, every=every))
    else:
        yield from _searched(Search(found, request, ends, watch), every=every)
    if exact is not None:
        yield finish(found, request, ends, exact)


def _searched(search: Search, *, every: bool) -> Iterator[Fit]:
    found, request, ends = search.found, search.request, search.ends
    best: Found | None = None
    stopped = False
    try:
        for one in search.run():
            if best is None or one.error < best.error * (1 - GAIN):
                best = one
            if every:
                yield finish(found, request, ends, search.candidate(one))
    except KeyboardInterrupt:
        best, stopped = search.begun or best, True
        if best is None:
            raise
    if best is None:
        raise refuse_ends(request, request.most)
    if stopped:
        fit = finish(found, request, ends, search.candidate(best, quick=True))
        yield replace(fit, status=Status.INTERRUPTED, message=f"{Status.INTERRUPTED}; {fit.message}")
    elif not every:
        yield finish(found, request, ends, _suffices(_judged(search, best), request, every=False))


def _judged(search: Search, best: Found) -> Candidate:
    try:
        return search.candidate(best)
    except KeyboardInterrupt:
        return search.candidate(best, quick=True).saying("stopped before it was known whether it is best")


def _suffices(candidate: Candidate, request: Request, *, every: bool) -> Candidate:
    """With a word where fewer branches than asked for do as well."""
    fewer = candidate.gate.branches < request.most and request.tol is None and not every
    return candidate.saying(f"K={candidate.gate.branches} suffices") if fewer else candidate


def ends_of(target: Target, request: Request) -> str:
    """How the outer lines are bound. Raises RefusedFit where the target does not allow that."""
    infinite = [line for line in (target.left, target.right) if line is not None]
    if not infinite:
        if request.ends in ("pinned", "slopes"):
            raise RefusedFit(
                f"--ends {request.ends} is for infinite ends with asymptotes, and {target.name} on "
                f"{target.domain} has none; leave it out"
            )
        return "free"
    if request.ends == "free" and target.expr is not None:
        raise RefusedFit(
            "--ends free is for an interval: on R a slope other than the asymptote's has an infinite error; "
            "use --ends slopes, or give --domain"
        )
    ends = request.ends or possible_ends(target, request.family)
    reason = family_refusal(target, request.family, ends)
    if reason:
        raise RefusedFit(reason)
    return ends
