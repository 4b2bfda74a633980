"""A request put to a target: the target with its weight, normal coordinates, ends, distribution of inputs."""

from __future__ import annotations

from dataclasses import dataclass

from gateproof.numerics.fits.families import bound_refusal, direction, family_refusal, possible_ends
from gateproof.numerics.fits.measure import Measure, measure_of
from gateproof.numerics.fits.measure_weight import weighted
from gateproof.numerics.fits.normal import Normal, normal
from gateproof.numerics.fits.request import RefusedFit, Request
from gateproof.numerics.fits.setting import Setting
from gateproof.numerics.fits.target import Target


@dataclass(frozen=True)
class Task:
    """``ends`` is how the outer lines are bound, ``rising`` 1 or -1 where the gate is to be monotone."""

    found: Normal
    request: Request
    ends: str
    measure: Measure
    rising: int = 0

    @property
    def target(self) -> Target:
        """The target, with its weight."""
        return self.found.target

    @property
    def largest(self) -> float | None:
        """The bound on |slope| and |intercept|."""
        most = self.request.max_coefficient
        return None if most is None else float(most)

    @property
    def setting(self) -> Setting:
        """What is asked of a soft gate."""
        request = self.request
        return Setting(
            request.most,
            request.sharpness,
            self.ends,
            request.gates,
            request.family,
            max_coefficient=self.largest,
            monotone=self.rising,
        )


def task_of(target: Target, request: Request) -> Task:
    """The task. Raises RefusedTarget and RefusedFit for a request that the target does not allow."""
    squares = request.norm == "rms"
    target = weighted(target, request.norm, None if squares else request.weight)
    density = request.weight if squares else None
    measure = measure_of(target, request.mu, request.sigma, request.histogram, density)
    ends, rising = _ends(target, request), 0
    if request.monotone:
        rising, reason = direction(target)
        if not rising:
            raise RefusedFit(f"--monotone: {reason}")
    if request.max_coefficient is not None:
        reason = bound_refusal(target, ends, float(request.max_coefficient))
        if reason:
            raise RefusedFit(reason)
    return Task(normal(target), request, ends, measure, rising)


def _ends(target: Target, request: Request) -> str:
    if target.left is None and target.right is None:
        if request.ends in ("pinned", "slopes"):
            raise RefusedFit(
                f"--ends {request.ends} is for infinite ends with asymptotes, and {target.name} on "
                f"{target.domain} has none; leave it out"
            )
        return "free"
    if request.ends == "free" and target.expr is not None and request.norm != "rms":
        raise RefusedFit(
            "--ends free is for an interval: on R a slope other than the asymptote's has an infinite error; "
            "use --ends slopes, or give --domain"
        )
    ends = request.ends or possible_ends(target, request.family)
    reason = family_refusal(target, request.family, ends)
    if reason:
        raise RefusedFit(reason)
    return ends
