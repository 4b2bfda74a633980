"""Steps to the dense network's final accuracy, over pairs.

The target of a seed is the accuracy of its dense network at the last evaluation. ``own`` divides the first
step at which the dense network itself is there by the arm's; ``all`` divides all its steps by the arm's,
as 'steps that are needed for the baseline's final metric' may be meant. A noisy curve is at its final value
before its end, so ``all`` is above 1 for any arm, also for the same network with another seed: that one is
trained beside, and says by how much.
"""

from __future__ import annotations

from dataclasses import replace

from gateproof.kernels.runs.experiment import Interval
from gateproof.kernels.runs.statistics import StepsRatio, steps_ratio
from gateproof.kernels.runs.tg_training_parts.results import Results


def targets(found: Results, base: str) -> dict[int, float]:
    """By seed."""
    return {seed: curve.accuracy[-1] for seed, curve in found.curves.get(base, {}).items()}


def ratio(found: Results, base: str, over: str, under: str, budget: int) -> StepsRatio | None:
    """Steps of ``over`` by those of ``under`` to the final accuracy of ``base``; None below two pairs."""
    target = targets(found, base)
    seeds = found.paired(base, over, under)
    if len(seeds) < 2:
        return None
    above, below = ([found.curves[arm][s].reach(target[s]) for s in seeds] for arm in (over, under))
    return steps_ratio(above, below, budget)


def ratio_of_all(found: Results, base: str, arm: str, budget: int) -> StepsRatio | None:
    """All steps of ``base`` by those of ``arm`` to its final accuracy."""
    target, seeds = targets(found, base), found.paired(base, arm)
    if len(seeds) < 2:
        return None
    return steps_ratio(
        [float(budget)] * len(seeds), [found.curves[arm][s].reach(target[s]) for s in seeds], budget
    )


def decided(found: StepsRatio) -> Interval:
    """Student's where every training was there in time; else the median's, which needs no more than order."""
    return found.interval if found.word == "equal" else found.median


def scaled(interval: Interval, factor: float) -> Interval:
    """An interval of a ratio times a known positive number."""
    return replace(interval, lo=interval.lo * factor, hi=interval.hi * factor)
