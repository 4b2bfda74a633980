"""Derivatives of core expressions, with one rule a function.

At a kink (a zero of the argument of abs, sign, max, min or of a condition) the formula
is not the derivative: :func:`kinks` lists where. Elsewhere abs(u)' = sign(u) u' and a
``where`` keeps its condition.
"""

from __future__ import annotations

from fractions import Fraction

from gateproof.theory.formula.nodes import App, Const, Expr, Num, Rel, Stmt, Var, Where, num
from gateproof.theory.formula.rewriting import mentions
from gateproof.theory.special import find
from gateproof.theory.special.symbolic import kinks as special_kinks
from gateproof.theory.special.symbolic import slope_at


def add(*parts: Expr) -> Expr:
    """A sum without zeros."""
    kept = [p for p in parts if not _is(p, 0)]
    if not kept:
        return num(0)
    return kept[0] if len(kept) == 1 else App("add", tuple(kept))


def mul(*parts: Expr) -> Expr:
    """A product without ones; 0 where a factor is 0."""
    if any(_is(p, 0) for p in parts):
        return num(0)
    kept = [p for p in parts if not _is(p, 1)]
    if not kept:
        return num(1)
    return kept[0] if len(kept) == 1 else App("mul", tuple(kept))


def neg(a: Expr) -> Expr:
    """-a."""
    return Num(-a.value) if isinstance(a, Num) else App("neg", (a,))


def div(a: Expr, b: Expr) -> Expr:
    """a/b; 0 where a is 0."""
    return num(0) if _is(a, 0) else App("div", (a, b))


def _is(node: Expr, value: int) -> bool:
    return isinstance(node, Num) and node.value == value


def _square(u: Expr) -> Expr:
    return App("pow", (u, num(2)))


def _outer(head: str, u: Expr, f: Expr) -> Expr | None:
    """The derivative of a function of one argument u; f is the function's value."""
    one = num(1)
    less = add(one, neg(_square(u)))
    more = add(one, _square(u))
    bell = App("exp", (neg(_square(u)),))
    slope = div(mul(num(2), bell), App("sqrt", (Const("pi"),)))
    table: dict[str, Expr] = {
        "neg": num(-1),
        "abs": App("sign", (u,)),
        "sign": num(0),
        "exp": f,
        "log": div(one, u),
        "sqrt": div(num(Fraction(1, 2)), f),
        "sin": App("cos", (u,)),
        "cos": neg(App("sin", (u,))),
        "tan": add(one, _square(f)),
        "asin": div(one, App("sqrt", (less,))),
        "acos": neg(div(one, App("sqrt", (less,)))),
        "atan": div(one, more),
        "sinh": App("cosh", (u,)),
        "cosh": App("sinh", (u,)),
        "tanh": _square(App("sech", (u,))),
        "sech": neg(mul(f, App("tanh", (u,)))),
        "asinh": div(one, App("sqrt", (more,))),
        "acosh": div(one, App("sqrt", (add(_square(u), num(-1)),))),
        "atanh": div(one, less),
        "sigmoid": mul(f, App("sigmoid", (neg(u),))),
        "softplus": App("sigmoid", (u,)),
        "erf": slope,
        "erfc": neg(slope),
    }
    return table[head] if head in table else slope_at(head, u)


def derivative(expr: Expr, var: str) -> Expr | None:
    """The derivative away from kinks, or None for what is no core expression."""
    if isinstance(expr, Num | Const):
        return num(0)
    if isinstance(expr, Var):
        return num(1 if expr.name == var else 0)
    if isinstance(expr, Where):
        then, other = derivative(expr.then, var), derivative(expr.other, var)
        if then is None or other is None:
            return None
        return then if then == other else Where(expr.cond, then, other)
    if not isinstance(expr, App):
        return None
    inner = [derivative(a, var) for a in expr.args]
    slopes = [d for d in inner if d is not None]
    if len(slopes) != len(inner):
        return None
    return _app(expr, slopes)


def _app(node: App, slopes: list[Expr]) -> Expr | None:
    head, args = node.head, node.args
    if head == "add":
        return add(*slopes)
    if head == "neg":
        return neg(slopes[0])
    if head == "mul":
        return add(*(mul(*args[:i], d, *args[i + 1 :]) for i, d in enumerate(slopes)))
    if head == "div":
        u, v = args
        if _is(slopes[1], 0):
            return div(slopes[0], v)
        return div(add(mul(slopes[0], v), neg(mul(u, slopes[1]))), _square(v))
    if head == "pow":
        return _power(node, slopes)
    if head in ("max", "min"):
        return _extreme(node, slopes)
    if all(_is(d, 0) for d in slopes):
        return num(0)
    outer = _outer(head, args[0], node)
    return None if outer is None else mul(outer, slopes[0])


def _power(node: App, slopes: list[Expr]) -> Expr:
    base, exponent = node.args
    if _is(slopes[1], 0):
        if isinstance(exponent, Num):
            if exponent.value == 0:
                return num(0)
            lower: Expr = Num(exponent.value - 1)
        else:
            lower = add(exponent, num(-1))
        power = base if _is(lower, 1) else App("pow", (base, lower))
        return mul(exponent, num(1) if _is(lower, 0) else power, slopes[0])
    first = mul(slopes[1], App("log", (base,)))
    second = div(mul(exponent, slopes[0]), base)
    return mul(node, add(first, second))


def _extreme(node: App, slopes: list[Expr]) -> Expr:
    value, slope = node.args[0], slopes[0]
    op = ">=" if node.head == "max" else "<="
    for other, d in zip(node.args[1:], slopes[1:], strict=True):
        if slope != d:
            slope = Where(Rel((op,), (value, other)), slope, d)
        value = App(node.head, (value, other))
    return slope


def kinks(expr: Expr, var: str) -> tuple[Expr, ...]:
    """Expressions in ``var`` at whose zeros the formula of :func:`derivative` may fail."""
    found: dict[Expr, None] = {}
    for node in expr.walk():
        for u in kinks_at(node):
            if mentions(u, var):
                found[u] = None
    return tuple(found)


def kinks_at(node: object) -> list[Expr]:
    """The same for one node alone, whatever names they use."""
    if isinstance(node, Where):
        return _of_condition(node.cond)
    if not isinstance(node, App):
        return []
    args = node.args
    if node.head in ("abs", "sign", "sqrt"):
        return [args[0]]
    if node.head in ("asin", "acos"):
        return [add(num(1), neg(_square(args[0])))]
    if node.head == "acosh":
        return [add(args[0], num(-1))]
    if node.head == "pow" and not (isinstance(args[1], Num) and args[1].value.denominator == 1):
        return [args[0]]
    special = find(node.head)
    if special is not None:
        return special_kinks(special, args[0])
    if node.head in ("max", "min"):
        return [add(a, neg(b)) for i, a in enumerate(args) for b in args[i + 1 :]]
    return []


def _of_condition(cond: Stmt) -> list[Expr]:
    return [
        add(a, neg(b))
        for part in cond.walk()
        if isinstance(part, Rel)
        for a, b in zip(part.terms, part.terms[1:], strict=False)
    ]
