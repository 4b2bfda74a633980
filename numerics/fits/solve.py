"""From a target and a request to a fit: exact cases, search, numbers to be printed, certificate."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from gateproof.numerics.fits.certified import certified_error
from gateproof.numerics.fits.certified_gate import decimal_gate
from gateproof.numerics.fits.certified_lower import proved_lower_bound
from gateproof.numerics.fits.driver import fits
from gateproof.numerics.fits.normal import Normal, normal
from gateproof.numerics.fits.request import RefusedFit, Request
from gateproof.numerics.fits.result import Error, Fit, Status
from gateproof.numerics.fits.setting import Setting
from gateproof.numerics.fits.target import Target
from gateproof.theory.gate import Gate

#: What is shown of the alternation: peaks of at least this share of the largest.
LEVEL = 0.9
Watch = Callable[[int, float], None]


@dataclass(frozen=True)
class Candidate:
    """A gate with the numbers to be printed, and its error in floats."""

    gate: Gate
    error: float


def solve(target: Target, request: Request, *, watch: Watch | None = None) -> Fit:
    """The best fit. Raises RefusedTarget and RefusedFit.

    ``watch`` is called with K and the error in floats as the search goes on. KeyboardInterrupt ends the
    search with the best gate so far, and goes on up where there is none yet.
    """
    started = time.perf_counter()
    last: Fit | None = None
    for fit in curve(target, request, watch=watch, every=request.tol is not None):
        last = fit
        if request.tol is not None and fit.error.hi is not None and fit.error.hi <= request.tol:
            break
    assert last is not None
    if request.tol is not None and not (last.error.hi is not None and last.error.hi <= request.tol):
        last = replace(last, status=Status.NOT_REACHED, message=str(Status.NOT_REACHED))
    return replace(last, elapsed=time.perf_counter() - started)


def curve(
    target: Target, request: Request, *, watch: Watch | None = None, every: bool = True
) -> Iterator[Fit]:
    """Fits of one branch, two, and so on, as far as there are any; the last one only if not ``every``."""
    ends = ends_of(target, request)
    found = normal(target)
    last: Candidate | None = None
    stopped = False
    try:
        for candidate in _candidates(found, request, ends):
            if watch is not None:
                watch(candidate.gate.branches, candidate.error)
            last = candidate
            if every:
                yield _finished(found, request, ends, candidate)
    except KeyboardInterrupt:
        if last is None:
            raise
        stopped = True
    if last is None:
        raise RefusedFit(
            f"no gate of {request.most} branches has these ends; give more branches, or free ends"
        )
    if not every or stopped:
        fit = _finished(found, request, ends, last)
        yield replace(fit, status=Status.INTERRUPTED, message=str(Status.INTERRUPTED)) if stopped else fit


def ends_of(target: Target, request: Request) -> str:
    """How the outer lines are bound. Raises RefusedFit where the target does not allow that."""
    for line, end, why, sign in (
        (target.left, target.lo, target.why[0], "-"),
        (target.right, target.hi, target.why[1], "+"),
    ):
        if line is None and end is None and target.expr is not None:
            raise RefusedFit(
                f"{target.name} {why} at {sign}oo, so every gate has an infinite error on R; "
                "fit it on an interval, as in --domain '[-4, 4]'"
            )
    infinite = [line for line in (target.left, target.right) if line is not None]
    if not infinite:
        if request.ends in ("pinned", "slopes"):
            raise RefusedFit(
                f"--ends {request.ends} is for infinite ends with asymptotes, which {target.name} on an "
                "interval has none of; leave it out"
            )
        return "free"
    if request.ends == "free":
        raise RefusedFit(
            "--ends free is for an interval: on R a slope other than the asymptote's has an infinite error; "
            "use --ends slopes, or give --domain"
        )
    return request.ends or "pinned"


def _candidates(found: Normal, request: Request, ends: str) -> Iterator[Candidate]:
    setting = Setting(request.most, request.sharpness, ends, request.gates, request.family)
    for one in fits(found, setting, seed=request.seed):
        yield Candidate(decimal_gate(found, one), one.error * found.height)


def _finished(found: Normal, request: Request, ends: str, candidate: Candidate) -> Fit:
    """The fit with its certified error and all that stands beside it."""
    target, gate = found.target, candidate.gate
    error, status = _error(target, gate, candidate.error)
    lower = proved_lower_bound(target, request, gate.branches, ends)
    bound, document = (None, None) if isinstance(lower, str) else lower
    return Fit(
        gate, target, request, error, status, str(status),
        lower_bound=bound, lower_certificate=document,
    )  # fmt: skip


def _error(target: Target, gate: Gate, sampled: float) -> tuple[Error, Status]:
    seen = Fraction(sampled)
    if target.expr is None:
        return Error(seen, seen, "sampled"), Status.SAMPLED
    known = certified_error(gate, target.expr, target.lo, target.hi)
    if isinstance(known, str):
        return Error(seen, seen, "sampled", reason=known), Status.NOT_CERTIFIED
    return known, Status.OK
