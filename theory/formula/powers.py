"""Numbers, and powers of numbers, refused where the number would not fit into memory."""

from __future__ import annotations

from fractions import Fraction
from math import log10

from gateproof.theory.formula.errors import FormulaError
from gateproof.theory.formula.nodes import App, Expr, Num, Printed, Var

MAX_POWER_DIGITS = 2_000


def number(text: str) -> Expr:
    """The node of a number: exact, or for ``DEC~`` all that rounds to it."""
    if not text.endswith("~"):
        return Num(Fraction(text))
    text = text[:-1]
    value = Fraction(text)
    mantissa, _, exponent = text.lower().partition("e")
    places = len(mantissa.partition(".")[2]) - int(exponent or 0)
    half = Fraction(1, 2) * Fraction(10) ** -places
    return Printed(text, value - half, value + half)


def constant_value(node: Expr) -> Fraction | None:
    """The rational value of a node made of numbers and operators, else None."""
    if isinstance(node, Num):
        return node.value
    if not isinstance(node, App) or node.head not in ("add", "mul", "neg", "div", "pow"):
        return None
    values = [constant_value(a) for a in node.args]
    if any(v is None for v in values):
        return None
    exact = [v for v in values if v is not None]
    if node.head == "add":
        return sum(exact, Fraction(0))
    if node.head == "neg":
        return -exact[0]
    if node.head == "div":
        return exact[0] / exact[1] if exact[1] else None
    if node.head == "mul":
        product = Fraction(1)
        for v in exact:
            product *= v
        return product
    base, exponent = exact
    if (
        exponent.denominator != 1
        or (base == 0 and exponent < 0)
        or digits_of_power(base, exponent) > MAX_POWER_DIGITS
    ):
        return None
    return base ** int(exponent)


def linear(expr: Expr, var: str) -> tuple[Fraction, Fraction] | None:
    """(slope, intercept) where the expression is linear in ``var`` with rational coefficients."""
    if isinstance(expr, Num):
        return Fraction(0), expr.value
    if isinstance(expr, Var):
        return (Fraction(1), Fraction(0)) if expr.name == var else None
    if not isinstance(expr, App) or expr.head not in ("add", "neg", "mul", "div"):
        return None
    parts = []
    for arg in expr.args:
        line = linear(arg, var)
        if line is None:
            return None
        parts.append(line)
    if expr.head == "add":
        return sum((p[0] for p in parts), Fraction(0)), sum((p[1] for p in parts), Fraction(0))
    if expr.head == "neg":
        return -parts[0][0], -parts[0][1]
    if expr.head == "div":
        (a, b), (c, d) = parts
        return (a / d, b / d) if c == 0 and d != 0 else None
    slope, intercept = parts[0]
    for c, d in parts[1:]:
        if slope and c:
            return None
        slope, intercept = slope * d + intercept * c, intercept * d
    return slope, intercept


def digits_of_power(base: Fraction, exponent: Fraction) -> float:
    """About how many decimal digits base**exponent has."""
    height = max(abs(base.numerator), base.denominator)
    if height <= 1:
        return 1.0
    size = log10(height) if height < 10**300 else float(len(str(height)))
    return size * float(min(abs(exponent), Fraction(10**18)))


def check_power(base: Expr, exponent: Expr, column: int) -> Expr:
    """The power node, or an error where base and exponent are numbers and the result is huge."""
    b, e = constant_value(base), constant_value(exponent)
    if b is not None and e is not None and digits_of_power(b, e) > MAX_POWER_DIGITS:
        raise FormulaError(
            f"a power with about {digits_of_power(b, e):.3g} digits; at most {MAX_POWER_DIGITS} are formed",
            column,
        )
    if b is not None and e is None and _huge(exponent):
        raise FormulaError("an exponent too large to be formed", column)
    return App("pow", (base, exponent))


def _huge(node: Expr) -> bool:
    return isinstance(node, App) and node.head == "pow" and all(not _has_name(a) for a in node.args)


def _has_name(node: Expr) -> bool:
    from gateproof.theory.formula.nodes import Index, Var

    return any(isinstance(n, Var | Index) for n in node.walk())
