"""Core formulas for Sollya and for alkahest, transcribed node by node: the same function on every side."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from gateproof.theory.formula.nodes import App, Const, Expr, Num, Var
from gateproof.theory.formula.powers import constant_value


def to_sollya(node: Expr) -> str:
    """The formula in x for Sollya, which has neither sigmoid nor softplus, sech, max, min."""
    if isinstance(node, Num):
        return f"({node.value.numerator}/{node.value.denominator})"
    if isinstance(node, Var):
        return "x"
    if isinstance(node, Const):
        return {"pi": "pi", "e": "exp(1)"}[node.name]
    assert isinstance(node, App)
    a = [to_sollya(arg) for arg in node.args]
    if node.head in ("add", "mul"):
        return f"({(' + ' if node.head == 'add' else ' * ').join(a)})"
    if node.head in ("max", "min"):
        first, second = a
        return f"(({first} + {second} {'+' if node.head == 'max' else '-'} abs({first} - {second})) / 2)"
    form = {
        "neg": "(-{0})",
        "div": "({0} / {1})",
        "pow": "({0} ^ {1})",
        "sigmoid": "(1 / (1 + exp(-{0})))",
        "softplus": "log1p(exp({0}))",
        "sech": "(1 / cosh({0}))",
    }.get(node.head, f"{node.head}({{0}})")
    return form.format(*a)


class Alkahest:
    """Its enclosures of ranges. Raises ImportError where it is not installed."""

    def __init__(self) -> None:
        import alkahest

        self.library: Any = alkahest
        self.pool = alkahest.ExprPool()
        self.x = self.pool.symbol("x")

    def of(self, node: Expr) -> Any:
        """The formula as an expression of it."""
        lib = self.library
        if isinstance(node, Num):
            return self.pool.rational(node.value.numerator, node.value.denominator)
        if isinstance(node, Var):
            return self.x
        if isinstance(node, Const):
            return 4 * lib.atan(self.pool.integer(1)) if node.name == "pi" else lib.exp(self.pool.integer(1))
        assert isinstance(node, App)
        if node.head == "pow":
            exponent = constant_value(node.args[1])
            assert exponent is not None
            assert exponent.denominator == 1
            return self.of(node.args[0]) ** int(exponent)
        a = [self.of(arg) for arg in node.args]
        if node.head in ("add", "mul"):
            total = a[0]
            for other in a[1:]:
                total = total + other if node.head == "add" else total * other
            return total
        if node.head in ("max", "min"):
            gap = lib.abs(a[0] - a[1])
            return (a[0] + a[1] + (gap if node.head == "max" else -1 * gap)) * self.pool.rational(1, 2)
        return {
            "neg": lambda: -1 * a[0],
            "div": lambda: a[0] / a[1],
            "sigmoid": lambda: 1 / (1 + lib.exp(-1 * a[0])),
            "softplus": lambda: lib.log(1 + lib.exp(a[0])),
            "sech": lambda: 1 / lib.cosh(a[0]),
        }.get(node.head, lambda: getattr(lib, node.head)(a[0]))()

    def range_of(self, expr: Any, lo: float, hi: float, tolerance: float) -> tuple[Fraction, Fraction]:
        """Its enclosure of the range on [lo, hi]. Raises RuntimeError where its budget runs out."""
        found = self.library.bound_on_box(expr, [(self.x, lo, hi)], tol=tolerance)
        if found.budget_exhausted:
            raise RuntimeError("budget exhausted")
        return Fraction(found.lower), Fraction(found.upper)
