"""Runs of neighbouring samples at which a statement holds."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from gateproof.theory.exact.domain import Domain


@dataclass(frozen=True)
class Run:
    """Neighbouring samples that hold, and the nearest that fail on both sides (None: the domain's end)."""

    first: Fraction
    last: Fraction
    before: Fraction | None
    behind: Fraction | None


def runs_of(known: list[tuple[Fraction, bool]], domain: Domain) -> list[Run]:
    """Runs of samples that hold, the most useful first: unbounded, then long, then on the right."""
    runs: list[Run] = []
    start: int | None = None
    for k, (_, holds) in enumerate([*known, (Fraction(0), False)]):
        if holds and start is None:
            start = k
        elif not holds and start is not None:
            before = known[start - 1][0] if start else None
            behind = known[k][0] if k < len(known) else None
            runs.append(Run(known[start][0], known[k - 1][0], before, behind))
            start = None

    def worth(run: Run) -> tuple[int, Fraction, Fraction]:
        right = run.behind is None and domain.hi is None
        left = run.before is None and domain.lo is None
        return int(right) + int(left), Fraction(0) if right or left else run.last - run.first, run.last

    return sorted((r for r in runs if r.first < r.last), key=worth, reverse=True)[:2]
