"""From a certificate's tree to a program, and the program's value in an arithmetic.

The tree becomes a list of steps, each after those it uses and equal ones written once. A step that
fails leaves its Rejected as its value: where() does not look at the branch not taken.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from functools import reduce
from operator import add, mul, neg, truediv
from typing import Any, NamedTuple

from gmpy2 import mpq

from gateproof.proofs_check.checker.algebra import HOLDS, Algebra, Rejected
from gateproof.proofs_check.checker.interval import PRIMITIVES

MAX_STEPS = 50_000
MAX_DIGITS = 5_000  # of a rational as it is written
MAX_FOLDED = 40_000  # bits of the parts of a folded constant
FOLDED: dict[str, Any] = {"add": add, "mul": mul, "div": truediv, "neg": neg}
#: How many arguments a head has, the operation that it is, and what else that takes.
HEADS: dict[str, tuple[Any, ...]] = {name: (1, "function", name) for name in PRIMITIVES} | {
    "neg": (1, "neg"),
    "abs": (1, "abs"),
    "sign": (1, "sign"),
    "div": (2, "div"),
    "sqrt": (1, "power", mpq(1, 2)),
}


def rational(text: Any) -> Any:
    """The number written "p/q" or "p"."""
    known = isinstance(text, str) and len(text) <= MAX_DIGITS
    if known and re.fullmatch("-?[0-9]+(/0*[1-9][0-9]*)?", text):
        return mpq(text)
    raise Rejected(f"not a rational number p/q of at most {MAX_DIGITS} digits: {text!r:.60}")


def is_special(head: str) -> bool:
    """Whether it is a special function; what those need is loaded for them alone."""
    from gateproof.proofs_check.checker import special

    return head not in HEADS and special.parse(head) is not None


class Step(NamedTuple):
    """An operation of an Algebra, the steps it is applied to, and further arguments."""

    operation: str
    args: tuple[int, ...]
    data: tuple[Any, ...] = ()


class Program:
    """The steps of one formula in names, some of them fixed numbers."""

    def __init__(self, tree: Any, names: Container[str], fixed: Mapping[str, Any] | None = None) -> None:
        self.names, self.fixed = names, fixed or {}
        self.steps: list[Step] = []
        self._known: dict[Step, int] = {}
        # Not simply the last step: a folded constant may equal one that stands further up.
        self.root = self._value(tree)
        self.functions = sum(step.operation == "function" for step in self.steps)

    def _value(self, tree: Any) -> int:
        match tree:
            case ["num", text]:
                return self._step("number", (), rational(text))
            case ["const", "pi" | "e" as name]:
                return self._step("constant", (), name)
            case ["var", str(name)] if name in self.fixed:
                return self._step("number", (), mpq(self.fixed[name]))
            case ["var", str(name)] if name in self.names:
                return self._step("variable", (), name)
            case ["app", "add" | "mul" | "max" | "min" as head, first, *rest]:
                return self._chain(head, map(self._value, (first, *rest)))
            case ["app", "pow", a, b]:
                return self._power(self._value(a), self._value(b))
            case ["app", str(head), *parts] if head in HEADS and len(parts) == HEADS[head][0]:
                return self._step(HEADS[head][1], tuple(map(self._value, parts)), *HEADS[head][2:])
            case ["app", str(head), part] if is_special(head):
                return self._step("function", (self._value(part),), head)
            case ["where", p, a, b]:
                return self._step("where", (self._condition(p), self._value(a), self._value(b)))
        raise Rejected(f"not a formula that this checker knows: {tree!r:.60}")

    def _condition(self, tree: Any) -> int:
        match tree:
            case ["rel", [_, *_] as relations, *terms] if len(terms) == len(relations) + 1:
                if all(isinstance(name, str) and name in HOLDS for name in relations):
                    at = list(map(self._value, terms))
                    parts = zip(at, at[1:], relations, strict=False)
                    return self._chain("both", [self._step("compare", (a, b), name) for a, b, name in parts])
            case ["and", first, *rest]:
                return self._chain("both", map(self._condition, (first, *rest)))
            case ["or", *parts]:
                return self._condition(["not", ["and", *(["not", part] for part in parts)]])
            case ["not", part]:
                return self._step("negation", (self._condition(part),))
        raise Rejected(f"not a condition that this checker knows: {tree!r:.60}")

    def _chain(self, operation: str, parts: Iterable[int]) -> int:
        return reduce(lambda a, b: self._step(operation, (a, b)), parts)

    def _power(self, a: int, b: int) -> int:
        if self.steps[b].operation == "number":
            return self._step("power", (a,), *self.steps[b].data)
        if self.steps[a] != Step("constant", (), ("e",)):  # a**b = exp(b log a)
            b = self._step("mul", (b, self._step("function", (a,), "log")))
        return self._step("function", (b,), "exp")

    def _step(self, operation: str, args: tuple[int, ...], *data: Any) -> int:
        """The number of a step, new or known; rational constants are folded, exactly, and max(a, a) is a."""
        if operation in ("max", "min") and args[0] == args[1]:
            return args[0]
        numbers = [q for a in args if self.steps[a].operation == "number" for q in self.steps[a].data]
        if operation in FOLDED and len(numbers) == len(args):
            bits = sum(q.numerator.bit_length() + q.denominator.bit_length() for q in numbers)
            if bits <= MAX_FOLDED and not (operation == "div" and numbers[1] == 0):
                operation, args, data = "number", (), (FOLDED[operation](*numbers),)
        step = Step(operation, args, data)
        if step not in self._known:
            if len(self.steps) == MAX_STEPS:
                raise Rejected(f"the formula has more than {MAX_STEPS} parts")
            self._known[step] = len(self.steps)
            self.steps.append(step)
        return self._known[step]

    def evaluate(self, algebra: Algebra, values: Mapping[str, Any]) -> Any:
        """The value of the formula."""
        found: list[Any] = []
        for operation, args, data in self.steps:
            parts = [found[a] for a in args]
            if operation == "where" and isinstance(parts[0], set) and len(parts[0]) == 1:
                parts[1:] = [parts[1] if True in parts[0] else parts[2]] * 2
            try:
                for part in parts:
                    if isinstance(part, Rejected):
                        raise part
                known = operation == "variable"
                value = values[data[0]] if known else getattr(algebra, operation)(*parts, *data)
            except Rejected as reason:
                value = reason
            found.append(value)
        if isinstance(found[self.root], Rejected):
            raise found[self.root]
        return found[self.root]
