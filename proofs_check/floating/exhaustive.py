"""Every number of the format in the set: the claim is evaluated at each point, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gmpy2 import mpq

from gateproof.proofs_check.floating.program import Program, UndefinedError
from gateproof.proofs_check.floating.space import Space
from gateproof.theory.formula.nodes import Stmt

#: Points of which all are tried at once, and where nothing else decides.
FEW, MANY = 1 << 18, 1 << 20


@dataclass(frozen=True)
class Scan:
    """How many points meet the conditions, and the first places at which it fails or has no value."""

    met: int
    fails: tuple[int, ...] | None = None
    undefined: tuple[int, ...] | None = None
    reason: str = ""


class Judge:
    """A claim at the points of a space."""

    def __init__(self, space: Space, claim: Stmt) -> None:
        self.space, self.program = space, Program(space.format, space.names)
        self.conditions = [self.program.truth(c) for c in space.conditions]
        self.claim = self.program.truth(claim)
        self._numbers: dict[int, Any] = {}

    def point(self, at: tuple[int, ...]) -> tuple[Any, ...]:
        """The numbers at some places."""
        return tuple(map(self._number, at))

    def _number(self, place: int) -> Any:
        found = self._numbers.get(place)
        if found is None:
            if len(self._numbers) > MANY:
                self._numbers.clear()
            found = self._numbers[place] = mpq(self.space.format.number(place))
        return found

    def at(self, at: tuple[int, ...]) -> bool | None:
        """Whether it holds; None where a condition does not. Raises UndefinedError, UndecidedError."""
        point = self.point(at)
        for condition in self.conditions:
            if not condition(point):
                return None
        return self.claim(point)


def scan(space: Space, claim: Stmt) -> Scan:
    """The claim at every point. Raises UndecidedError."""
    judge = Judge(space, claim)
    met, fails = 0, None
    for at in space.places():
        try:
            found = judge.at(at)
        except UndefinedError as error:
            return Scan(met, fails, at, str(error))
        if found is not None:
            met += 1
            if not found and fails is None:
                fails = at
    return Scan(met, fails)
