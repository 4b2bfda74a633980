"""Many comparisons at once: p values adjusted so that a level holds for all of them together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan

from gateproof.kernels.runs.experiment import Cell
from gateproof.kernels.runs.statistics_inputs import level_of

LEVEL = 0.95


@dataclass(frozen=True)
class Comparisons:
    """p values by name, adjusted; rejected are those with adjusted p <= 1 - level."""

    method: str
    level: float
    raw: Mapping[str, float]
    adjusted: Mapping[str, float]
    rejected: tuple[str, ...]

    def rows(self) -> list[dict[str, Cell]]:
        """One row a comparison: comparison, p, p_adjusted, rejected, method."""
        return [
            {
                "comparison": name,
                "p": self.raw[name],
                "p_adjusted": self.adjusted[name],
                "rejected": name in self.rejected,
                "method": self.method,
            }
            for name in self.raw
        ]


def bonferroni(ps: Mapping[str, float], *, level: float = LEVEL) -> Comparisons:
    """Each p times their number, at most 1: the familywise level under any dependence."""
    _known(ps)
    m = len(ps)
    return _compared(f"Bonferroni, {m} comparisons", ps, {k: min(1.0, m * p) for k, p in ps.items()}, level)


def holm(ps: Mapping[str, float], *, level: float = LEVEL) -> Comparisons:
    """Holm's step-down (1979): the familywise level under any dependence, with more power."""
    _known(ps)
    adjusted: dict[str, float] = {}
    least, m = 0.0, len(ps)
    for i, (name, p) in enumerate(sorted(ps.items(), key=lambda item: item[1])):
        least = max(least, min(1.0, (m - i) * p))
        adjusted[name] = least
    return _compared(f"Holm, {m} comparisons", ps, {k: adjusted[k] for k in ps}, level)


def _known(ps: Mapping[str, float]) -> None:
    if not ps:
        raise ValueError("comparisons: at least one p value is needed")
    for name, p in ps.items():
        if isnan(p) or not 0 <= p <= 1:
            raise ValueError(f"comparisons: p of {name!r} is {p}: a probability in [0, 1] is expected")


def _compared(
    method: str, ps: Mapping[str, float], adjusted: Mapping[str, float], level: float
) -> Comparisons:
    alpha = 1 - level_of("comparisons", level)
    near = alpha * (1 + 1e-12)  # 1 - 0.95 is below 0.05 in floats
    return Comparisons(method, level, dict(ps), adjusted, tuple(k for k, p in adjusted.items() if p <= near))
