"""Limits of composed expressions from the limits of their parts.

A part tends to a finite value, to +-oo, or is only known to stay bounded. Every rule also shows
that the whole has a value near the point: functions are taken at limits inside of their domain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gateproof.theory.exact import infinity
from gateproof.theory.exact.defined import prove_defined
from gateproof.theory.exact.domain import Assumptions
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.nodes import App, Expr, Node, Num, Rel, Stmt, Where, num
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

MAX_DEPTH = 6
_SMOOTH = ("exp", "sin", "cos", "atan", "sinh", "cosh", "tanh", "sech", "asinh", "sigmoid", "softplus")
_CONTINUOUS = frozenset((*_SMOOTH, "erf", "erfc", "abs"))
_BOUNDED = frozenset(["sin", "cos"])
_AT_INFINITY: dict[str, tuple[Expr, Expr]] = {
    **infinity.VALUES,
    "atan": (App("div", (infinity.PI, num(2))), App("neg", (App("div", (infinity.PI, num(2))),))),
    "abs": (infinity.INFINITY, infinity.INFINITY),
    "cosh": (infinity.INFINITY, infinity.INFINITY),
    "sinh": (infinity.INFINITY, infinity.MINUS_INFINITY),
    "asinh": (infinity.INFINITY, infinity.MINUS_INFINITY),
}
_AT_PLUS_INFINITY = frozenset(("log", "sqrt", "acosh"))


@dataclass(frozen=True)
class Tends:
    """To a value (``oo`` and ``-oo`` among them), or only bounded (value None)."""

    value: Expr | None
    steps: tuple[str, ...] = ()
    balls: bool = False

    @property
    def side(self) -> int:
        """1 or -1 for an infinite value, else 0."""
        return 0 if self.value is None else infinity.side(self.value)


#: The limit of an expression by algebra alone, or None.
Find = Callable[[Expr], Tends | None]


@dataclass
class Composition:
    """One name on its way to its limit; ``rest`` holds what is known of the others."""

    name: str
    rest: Assumptions
    find: Find

    def of(self, node: Expr, depth: int = 0) -> Tends | None:
        """The limit of an expression, by algebra or else by its parts."""
        if self.name not in free_names(node):
            return Tends(node) if prove_defined(node, self.rest) is not None else None
        found = self.find(node)
        if found is None and depth < MAX_DEPTH:
            found = self.by_parts(node, depth + 1)
        return found

    def by_parts(self, node: Expr, depth: int = 0) -> Tends | None:
        """The limit of an expression from those of its parts."""
        if isinstance(node, Where):
            return self._where(node, depth)
        if not isinstance(node, App):
            return None
        if node.head == "add":
            return self._add(node.args, depth)
        if node.head == "pow" and not isinstance(node.args[1], Num):
            return self._power(node, depth)
        if node.head == "div" and isinstance(node.args[0], App) and node.args[0].head == "add":
            terms = tuple(App("div", (t, node.args[1])) for t in node.args[0].args)
            found = self._add(terms, depth)
            if found is not None:
                return found
        parts = [self.of(a, depth) for a in node.args]
        known = [p for p in parts if p is not None]
        if len(known) != len(parts):
            if node.head in _BOUNDED and prove_defined(node, self._with_name()) is not None:
                return Tends(None)
            return None
        found = self._apply(node.head, known)
        if found is None:
            return None
        steps = tuple(s for p in known for s in p.steps)
        text = "stays bounded" if found.value is None else f"-> {to_text(found.value)}"
        return Tends(found.value, (*steps, f"{to_text(node)} {text}"), any(p.balls for p in known))

    def _with_name(self) -> Assumptions:
        from gateproof.theory.exact.domain import Domain

        return Assumptions({**self.rest.domains, self.name: Domain(lo=num(0))}, self.rest.facts)

    # --- rules ----------------------------------------------------------------

    def _apply(self, head: str, parts: list[Tends]) -> Tends | None:
        first = parts[0]
        if head == "neg":
            return Tends(None if first.value is None else _negated(first.value))
        if head == "mul":
            total = first
            for other in parts[1:]:
                product = self._product(total, other)
                if product is None:
                    return None
                total = product
            return total
        if head == "div":
            inverse = self._inverse(parts[1])
            return None if inverse is None else self._product(first, inverse)
        if head == "pow":
            return self._whole_power(first, parts[1])
        if head in ("max", "min"):
            if any(p.value is None or p.side for p in parts):
                return None
            return Tends(App(head, tuple(p.value for p in parts if p.value is not None)))
        if len(parts) != 1:
            return None
        return self._function(head, first)

    def _function(self, head: str, inner: Tends) -> Tends | None:
        value = inner.value
        if value is None:
            return Tends(None) if head in _CONTINUOUS else None
        if inner.side:
            if head in _AT_INFINITY:
                return Tends(_AT_INFINITY[head][0 if inner.side > 0 else 1])
            if head in _AT_PLUS_INFINITY and inner.side > 0:
                return Tends(infinity.INFINITY)
            return Tends(None) if head in _BOUNDED else None
        if head in _CONTINUOUS:
            return Tends(App(head, (value,)))
        inside = {
            "log": ((">", num(0)),),
            "sqrt": ((">", num(0)),),
            "asin": (("<", num(1)), (">", num(-1))),
            "acos": (("<", num(1)), (">", num(-1))),
            "atanh": (("<", num(1)), (">", num(-1))),
            "acosh": ((">", num(1)),),
        }.get(head)
        if inside is not None and all(self._holds(value, op, end) for op, end in inside):
            return Tends(App(head, (value,)))
        if head == "tan" and self._holds(App("cos", (value,)), "!=", num(0)):
            return Tends(App(head, (value,)))
        if head == "sign":
            for op, sign in ((">", 1), ("<", -1)):
                if self._holds(value, op, num(0)):
                    return Tends(num(sign))
        return None

    def _product(self, a: Tends, b: Tends) -> Tends | None:
        for left, right in ((a, b), (b, a)):
            if left.value is None:
                zero = right.value is not None and not right.side and self._holds(right.value, "==", num(0))
                return Tends(num(0)) if zero else Tends(None) if not right.side else None
        assert a.value is not None
        assert b.value is not None
        if a.side and b.side:
            return Tends(infinity.INFINITY if a.side == b.side else infinity.MINUS_INFINITY)
        for left, right in ((a, b), (b, a)):
            if left.side and right.value is not None:
                for op, sign in ((">", 1), ("<", -1)):
                    if self._holds(right.value, op, num(0)):
                        positive = left.side * sign > 0
                        return Tends(infinity.INFINITY if positive else infinity.MINUS_INFINITY)
                return None
        return Tends(App("mul", (a.value, b.value)))

    def _inverse(self, a: Tends) -> Tends | None:
        if a.value is None:
            return None
        if a.side:
            return Tends(num(0))
        return Tends(App("div", (num(1), a.value))) if self._holds(a.value, "!=", num(0)) else None

    def _whole_power(self, base: Tends, exponent: Tends) -> Tends | None:
        n = exponent.value
        if not isinstance(n, Num) or n.value.denominator != 1 or n.value == 0:
            return None
        if n.value < 0:
            inverse = self._inverse(base)
            return None if inverse is None else self._whole_power(inverse, Tends(Num(-n.value)))
        if base.value is None:
            return base
        if base.side:
            odd_negative = base.side < 0 and n.value % 2
            return Tends(infinity.MINUS_INFINITY if odd_negative else infinity.INFINITY)
        return Tends(App("pow", (base.value, n)))

    def _power(self, node: App, depth: int) -> Tends | None:
        """b**e = exp(e log b) where b stays positive."""
        base = self.of(node.args[0], depth)
        if base is None or base.value is None or base.side < 0:
            return None
        if not base.side and not self._holds(base.value, ">", num(0)):
            return None
        exponent = App("mul", (node.args[1], App("log", (node.args[0],))))
        inner = self.of(exponent, depth)
        found = None if inner is None else self._function("exp", inner)
        if inner is None or found is None or found.value is None:
            return None
        line = f"{to_text(node)} = exp({to_text(exponent)}) -> {to_text(found.value)}"
        return Tends(found.value, (*inner.steps, line), inner.balls)

    def _add(self, terms: tuple[Expr, ...], depth: int) -> Tends | None:
        """Terms with finite limits one by one, the others together."""
        parts = [self.of(t, depth) for t in terms]
        finite = [p for p in parts if p is not None and p.value is not None and not p.side]
        others = [(t, p) for t, p in zip(terms, parts, strict=True) if p is None or p.value is None or p.side]
        steps = tuple(s for p in parts if p is not None for s in p.steps)
        balls = any(p.balls for p in parts if p is not None)
        if not others:
            values = tuple(p.value for p in finite if p.value is not None)
            return Tends(App("add", values), steps, balls)
        known = [p for _, p in others if p is not None]
        if len(known) == len(others):
            sides = {p.side for p in known if p.side}
            if len(sides) == 1:
                return Tends(infinity.INFINITY if 1 in sides else infinity.MINUS_INFINITY, steps, balls)
            if not sides:
                return Tends(None, steps, balls)
        if not finite or len(others) < 2:
            return None
        group = self.of(App("add", tuple(t for t, _ in others)), depth)
        if group is None or group.value is None:
            return group
        if group.side:
            return Tends(group.value, (*steps, *group.steps), balls or group.balls)
        values = tuple(p.value for p in (*finite, group) if p.value is not None)
        return Tends(App("add", values), (*steps, *group.steps), balls or group.balls)

    def _where(self, node: Where, depth: int) -> Tends | None:
        truth = self._truth(node.cond, depth)
        return None if truth is None else self.of(node.then if truth else node.other, depth)

    def _truth(self, cond: Stmt, depth: int) -> bool | None:
        """A comparison whose sides tend to different values is decided near the point."""
        if not isinstance(cond, Rel) or len(cond.ops) != 1:
            return None
        gap = self.of(App("add", (cond.terms[0], App("neg", (cond.terms[1],)))), depth)
        if gap is None or gap.value is None:
            return None
        sign = gap.side
        if not sign:
            sign = next(
                (s for op, s in ((">", 1), ("<", -1)) if self._holds(gap.value, op, num(0))),
                0,
            )
        if not sign:
            return None
        return cond.ops[0] in ((">", ">=", "!=") if sign > 0 else ("<", "<=", "!="))

    def _holds(self, value: Node, op: str, other: Expr) -> bool:
        return isinstance(value, Expr) and prove_relation(value, op, other, self.rest) is not None


def _negated(value: Expr) -> Expr:
    side = infinity.side(value)
    if side:
        return infinity.MINUS_INFINITY if side > 0 else infinity.INFINITY
    return App("neg", (value,))
