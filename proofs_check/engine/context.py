"""What every decision is given beside the statement."""

from __future__ import annotations

from dataclasses import dataclass

from gateproof.numerics.bounds import Budget
from gateproof.proofs_check.records import Settings


@dataclass(frozen=True)
class Context:
    """Settings of the run; ``depth`` guards against rules that call each other."""

    settings: Settings
    depth: int = 0

    def budget(self) -> Budget:
        """Boxes and bits that one bound may use."""
        return Budget(boxes=self.settings.boxes, max_bits=self.settings.max_bits)

    def first_budget(self) -> Budget:
        """A small budget for a first attempt, before exact critical points are looked for."""
        return Budget(boxes=min(1_000, self.settings.boxes), max_bits=min(256, self.settings.max_bits or 256))

    def deeper(self) -> Context:
        """The context of a sub-question."""
        return Context(self.settings, self.depth + 1)
