"""The rows of a run by what they measure, and arms in pairs of seeds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite

import numpy as np
import numpy.typing as npt

from gateproof.kernels.runs.experiment import Row

Numbers = npt.NDArray[np.float64]


class Results:
    """Measured numbers by (arm, steps of the training, metric), then by seed and step."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._found: dict[tuple[str, int, str], dict[int, dict[int, float]]] = {}
        for row in rows:
            value = row["value"] if row["step_seconds"] is None else row["step_seconds"]
            key = str(row["arm"]), int(row["steps"] or 0), str(row["metric"])
            seeds = self._found.setdefault(key, {})
            seeds.setdefault(int(row["seed"] or 0), {})[int(row["step"] or 0)] = float(value or 0.0)

    def curve(self, arm: str, steps: int, metric: str) -> dict[int, dict[int, float]]:
        """For each seed the values by step."""
        return self._found.get((arm, steps, metric), {})

    def last(self, arm: str, steps: int, metric: str) -> dict[int, float]:
        """For each seed the value at the last step."""
        return {seed: at[max(at)] for seed, at in self.curve(arm, steps, metric).items()}

    def last_mean(self, arm: str, steps: int, metric: str, count: int) -> dict[int, float]:
        """For each seed with so many values the mean of the last ones."""
        return {
            seed: float(np.mean([at[step] for step in sorted(at)[-count:]]))
            for seed, at in self.curve(arm, steps, metric).items()
            if len(at) >= count
        }


def paired(*by_seed: dict[int, float]) -> list[Numbers]:
    """The seeds that all have, in order, each with a finite value everywhere."""
    seeds = sorted(
        seed
        for seed in set.intersection(*(set(one) for one in by_seed))
        if all(isfinite(one[seed]) for one in by_seed)
    )
    return [np.array([one[seed] for seed in seeds]) for one in by_seed]


def enough(values: Sequence[Numbers]) -> bool:
    """Whether an interval can be given."""
    return len(values[0]) >= 2
