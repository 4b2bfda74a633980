"""Finished trainings side by side: arms of the same seeds, and each against the dense one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import Any

import numpy as np

from gateproof.kernels.runs.experiment import Row
from gateproof.kernels.runs.statistics import Paired, paired_difference, paired_percent, paired_ratio

#: One training: its rows by kind.
Trained = Mapping[str, Sequence[Row]]
#: (family, arm) -> seed -> training.
Found = Mapping[tuple[str, str], Mapping[int, Trained]]


def sorted_out(rows: Sequence[Row]) -> Found:
    """Rows by family and arm, then by seed, then by kind; those of trainings that have ended."""
    made: Any = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for r in rows:
        made[r["family"], r["arm"]][r["seed"]][r["kind"]].append(r)
    return {
        key: {seed: dict(kinds) for seed, kinds in sorted(seeds.items()) if "end" in kinds}
        for key, seeds in made.items()
    }


def end(trained: Trained, column: str) -> float:
    """A number of the end of a training."""
    return float(trained["end"][0][column])  # type: ignore[arg-type]


def left(trained: Trained) -> float:
    """Nonzero outputs of all gates."""
    return end(trained, "elements") - end(trained, "zeros")


def dense_at_equal_operations(trained: Trained, dense: Trained) -> float:
    """The dense model's held-out loss when it had spent what the other spent in all, in forward operations.

    Between two points of its curve the loss is taken as linear in the operations; the curve bends down, so
    that this is not below the loss itself.
    """
    spent = [float(r["spent"]) for r in dense["curve"]]  # type: ignore[arg-type]
    losses = [float(r["loss"]) for r in dense["curve"]]  # type: ignore[arg-type]
    total = float(trained["curve"][-1]["spent"])  # type: ignore[arg-type]
    return float(np.interp(total, spent, losses))


def pairs(found: Found, family: str, one: str, other: str) -> tuple[list[int], list[Trained], list[Trained]]:
    """Both arms of the seeds that have both."""
    a, b = found.get((family, one), {}), found.get((family, other), {})
    seeds = [seed for seed in a if seed in b]
    return seeds, [a[s] for s in seeds], [b[s] for s in seeds]


def column(of: Callable[[Trained], float], trained: Sequence[Trained]) -> list[float]:
    """A number of each training."""
    return [of(t) for t in trained]


def loss(trained: Trained) -> float:
    """The held-out loss at the end, in nats a token."""
    return end(trained, "loss")


def perplexity(trained: Trained) -> float:
    """Its exponential."""
    return exp(loss(trained))


@dataclass(frozen=True)
class Against:
    """An arm against the dense one of the same seeds."""

    seeds: Sequence[int]
    loss: Paired
    perplexity: Paired
    events: Paired
    operations: Paired
    equal_operations: Paired


def against_dense(found: Found, family: str, name: str) -> Against | None:
    """The paired numbers of an arm, or None with fewer than two pairs."""
    seeds, ours, dense = pairs(found, family, name, "dense")
    if len(seeds) < 2:
        return None
    at_equal = [dense_at_equal_operations(a, b) for a, b in zip(ours, dense, strict=True)]
    curve = [float(t["curve"][-1]["loss"]) for t in ours]  # type: ignore[arg-type]
    return Against(
        seeds,
        paired_difference(column(loss, ours), column(loss, dense)),
        paired_percent(column(perplexity, ours), column(perplexity, dense)),
        paired_ratio(column(left, dense), column(left, ours)),
        paired_ratio(
            [end(t, "operations") for t in dense],
            [end(t, "operations") for t in ours],
        ),
        paired_difference(curve, at_equal),
    )


def mean(values: Sequence[float]) -> float:
    """The mean of one number or more."""
    return sum(values) / len(values)


def arms(found: Found, family: str) -> list[str]:
    """Those with a training that has ended, in the order in which they came."""
    return [name for f, name in found if f == family and found[f, name]]
