"""A lowered formula as a list of operations, each part computed once."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gateproof.numerics.backends.algebra import is_closed
from gateproof.numerics.backends.heads import HEADS
from gateproof.numerics.backends.numbers import to_float
from gateproof.numerics.backends.special_heads import operation
from gateproof.theory.formula.errors import FormulaError
from gateproof.theory.formula.nodes import And, App, Const, Expr, Node, Not, Num, Or, Rel, Var, Where

_COMPARE = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
Ref = int | float
Payload = tuple[float, ...]


@dataclass(frozen=True)
class Step:
    """One operation: its head, where its arguments stand (a float is itself), and fixed numbers."""

    head: str
    args: tuple[Ref, ...]
    numbers: Payload = ()


@dataclass(frozen=True)
class Tape:
    """Steps over inputs; the last one's value, or ``result`` itself, is the value."""

    inputs: int
    steps: tuple[Step, ...]
    result: Ref

    def run(self, ops: Any, inputs: tuple[Any, ...]) -> Any:
        """The value for inputs of one backend, whose elementary functions ``ops`` has."""
        values = list(inputs)
        for step in self.steps:
            args = [values[a] if isinstance(a, int) else a for a in step.args]
            run = HEADS.get(step.head) or operation(step.head)
            values.append(run(ops, *args, *step.numbers))
        return values[self.result] if isinstance(self.result, int) else self.result


class _Writer:
    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.steps: list[Step] = []
        self.known: dict[Node, Ref] = {}

    def ref(self, node: Node) -> Ref:
        found = self.known.get(node)
        if found is None:
            found = self.known[node] = self._new(node)
        return found

    def _step(self, head: str, *args: Ref, numbers: Payload = ()) -> int:
        self.steps.append(Step(head, args, numbers))
        return len(self.names) + len(self.steps) - 1

    def _new(self, node: Node) -> Ref:
        if isinstance(node, Expr) and not isinstance(node, Where) and is_closed(node):
            return self._closed(node)
        if isinstance(node, Var):
            return self.names.index(node.name)
        if isinstance(node, Where):
            return self._step("where", self.ref(node.cond), self.ref(node.then), self.ref(node.other))
        if isinstance(node, Rel):
            pairs = zip(node.ops, node.terms, node.terms[1:], strict=False)
            return self._all(
                "and", [self._step(_COMPARE[op], self.ref(a), self.ref(b)) for op, a, b in pairs]
            )
        if isinstance(node, And | Or):
            return self._all("and" if isinstance(node, And) else "or", [self.ref(p) for p in node.parts])
        if isinstance(node, Not):
            return self._step("not", self.ref(node.part))
        if isinstance(node, App):
            return self._app(node)
        raise FormulaError(f"{type(node).__name__.lower()} has no form for arrays")

    def _closed(self, node: Expr) -> float:
        infinite = Const("oo")
        if node == infinite:
            return float("inf")
        if node in (App("neg", (infinite,)), App("mul", (Num(Fraction(-1)), infinite))):
            return float("-inf")
        try:
            return to_float(node)
        except FormulaError:
            # A branch that has no value, such as 1/0.
            return float("nan")

    def _all(self, head: str, parts: list[Ref]) -> Ref:
        found = parts[0]
        for part in parts[1:]:
            found = self._step(head, found, part)
        return found

    def _app(self, node: App) -> Ref:
        if node.head == "poly":
            numbers = tuple(to_float(a) for a in node.args[1:])
            return self._step("poly", self.ref(node.args[0]), numbers=numbers)
        if node.head == "expsq":
            return self._step("expsq", self.ref(node.args[1]), numbers=(to_float(node.args[0]),))
        args = [self.ref(a) for a in node.args]
        if node.head in ("add", "mul", "max", "min") and len(args) > 2:
            return self._all(node.head, args)
        return self._step(node.head, *args)


def write(expr: Expr, names: tuple[str, ...]) -> Tape:
    """The tape of a lowered expression."""
    writer = _Writer(names)
    result = writer.ref(expr)
    return Tape(len(names), tuple(writer.steps), result)


def write_sides(right: Expr, left: Expr, names: tuple[str, ...]) -> Tape:
    """The tape of a gradient that may differ on two sides."""
    writer = _Writer(names)
    a, b = writer.ref(right), writer.ref(left)
    result = a if right == left else writer._step("least", a, b)
    return Tape(len(names), tuple(writer.steps), result)
