"""Rows of finished jobs, arranged by arm and seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from gateproof.kernels.runs.experiment import Row
from gateproof.kernels.runs.statistics import first_reach

#: The name of the dense network that differs from ``silu x1`` by its seed only.
AGAIN = "silu x1, another seed"


@dataclass
class Curve:
    """One training of images: accuracies in percent at steps, and the last, of all test images."""

    steps: list[int] = field(default_factory=list)
    accuracy: list[float] = field(default_factory=list)
    test: float | None = None

    def reach(self, target: float) -> float | None:
        """The first evaluated step with the target accuracy."""
        return first_reach(self.steps, self.accuracy, target, below=False)


@dataclass
class Results:
    """What is there: curves and errors by arm and seed, whole trainings only."""

    curves: dict[str, dict[int, Curve]]
    errors: dict[tuple[str, int], dict[int, float]]
    diverged: dict[tuple[str, int], int]
    step_seconds: dict[str, list[float]]
    counts: dict[str, tuple[int, int]]
    """Parameters and multiply-adds of the arms of images."""

    def paired(self, *arms: str) -> list[int]:
        """Seeds that all arms have."""
        seeds = [set(self.curves.get(a, ())) for a in arms]
        return sorted(set.intersection(*seeds))

    def step_time(self, arm: str) -> float | None:
        """The median of the rounds, in seconds."""
        found = self.step_seconds.get(arm)
        return median(found) if found else None


def results(rows: Sequence[Row], last: int) -> Results:
    """Of rows in any order; ``last`` is the last step of images."""
    curves: dict[str, dict[int, Curve]] = {}
    found = Results(curves, {}, {}, {}, {})
    ends: dict[tuple[str, int, int], Any] = {}
    for row in sorted(rows, key=lambda r: (str(r["part"]), _step(r))):
        arm, part = str(row["arm"]), row["part"]
        if part == "timing":
            found.step_seconds.setdefault(arm, []).append(_number(row["step_seconds"]))
        elif part == "strips":
            ends[arm, int(_number(row["width"])), int(_number(row["seed"]))] = row
        else:
            found.counts[arm] = (int(_number(row["parameters"])), int(_number(row["multiply_adds"])))
            name = AGAIN if row["control"] else arm
            curve = curves.setdefault(name, {}).setdefault(int(_number(row["seed"])), Curve())
            curve.steps.append(_step(row))
            curve.accuracy.append(_number(row["accuracy"]))
            curve.test = None if row["test"] is None else _number(row["test"])
    for arm in list(curves):
        curves[arm] = {s: c for s, c in sorted(curves[arm].items()) if c.steps[-1] == last}
    for (family, width, seed), row in sorted(ends.items(), key=lambda e: e[0]):
        found.errors.setdefault((family, width), {})[seed] = _number(row["error"])
        lost = not abs(_number(row["loss"])) < float("inf")
        found.diverged[family, width] = found.diverged.get((family, width), 0) + lost
    return found


def _step(row: Row) -> int:
    return 0 if row["step"] is None else int(_number(row["step"]))


def _number(value: Any) -> float:
    if not isinstance(value, (int, float)):
        raise ValueError(f"a number is expected in a row, found {value!r:.40}")
    return float(value)
