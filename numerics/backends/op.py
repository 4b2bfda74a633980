"""A formula ready to run: its tape, and its partial derivatives as further such formulas."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from gateproof.numerics.backends import ends
from gateproof.numerics.backends.lower import lowered
from gateproof.numerics.backends.partial import Sides, first_partial, partial
from gateproof.numerics.backends.tape import Tape, write_sides
from gateproof.theory.formula.nodes import Expr


@dataclass(frozen=True, eq=False)
class Op:
    """A function of ``names``; ``sides`` differ only for a gradient with kinks, right and left of them."""

    names: tuple[str, ...]
    sides: Sides
    order: int = 0

    @cached_property
    def tape(self) -> Tape:
        """Its operations."""
        right, left = (lowered(s) for s in self.sides)
        return ends.finished(write_sides(right, left, self.names), self.sides, self.names)

    @cached_property
    def _partials(self) -> dict[str, Op]:
        return {}

    def partial(self, name: str) -> Op:
        """The partial derivative in a name."""
        found = self._partials.get(name)
        if found is None:
            sides = first_partial(self.sides[0], name) if self.order == 0 else partial(self.sides, name)
            found = self._partials[name] = Op(self.names, sides, self.order + 1)
        return found


def value_op(expr: Expr, names: tuple[str, ...]) -> Op:
    """The op of an expression in normal form."""
    return Op(names, (expr, expr))
