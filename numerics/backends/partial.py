"""Partial derivatives with one convention at kinks, whatever the spelling.

At a kink the gradient is the element of least size of the interval between the derivatives from the two
sides: 0 for relu and abs, the smaller slope for leaky_relu, as in PyTorch. Each one-sided derivative is
that of the formula with every condition decided as it is just beside the point, so that ``max(x, 0)``,
``(x + abs(x))/2``, ``where(x >= 0, x, 0)`` and ``x*step(x)`` have equal gradients.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from gateproof.numerics.backends.branches import outside
from gateproof.numerics.backends.nodes import Patch, coefficients_of, polynomial
from gateproof.numerics.backends.normal import normal
from gateproof.theory.exact import derivative as calculus
from gateproof.theory.formula.errors import FormulaError
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import (
    And,
    App,
    Const,
    Expr,
    Node,
    Not,
    Num,
    Or,
    Rel,
    Stmt,
    Var,
    Where,
    num,
    rebuild,
)
from gateproof.theory.formula.scopes import free_names

MAX_SIZE = 20_000
Sides = tuple[Expr, Expr]


def partial(sides: Sides, var: str) -> Sides:
    """The derivatives of both forms, each in normal form."""
    return _checked(normal(slope(sides[0], var))), _checked(normal(slope(sides[1], var)))


def first_partial(expr: Expr, var: str) -> Sides:
    """The derivatives from the right and from the left; the same node twice where there is no kink."""
    if not has_kinks(expr):
        return partial((expr, expr), var)
    right, left = (outside(beside(expr, var, d), var) for d in (1, -1))
    return partial((right, left), var)


def _checked(expr: Expr) -> Expr:
    if expr.size > MAX_SIZE:
        raise FormulaError(f"a derivative with more than {MAX_SIZE} parts")
    return expr


@lru_cache(maxsize=4096)
def has_kinks(node: Node) -> bool:
    """Whether a part has two forms that need not continue each other."""
    if isinstance(node, Where) and not isinstance(node, Patch):
        return True
    if isinstance(node, App) and node.head in ("abs", "sign", "max", "min"):
        return True
    return any(has_kinks(c) for c in node.children())


# --- beside a point ----------------------------------------------------------


@lru_cache(maxsize=4096)
def beside(expr: Expr, var: str, d: int) -> Expr:
    """The formula that equals ``expr`` just right (d = 1) or left (d = -1) of each point."""
    if var not in free_names(expr) or not has_kinks(expr):
        return expr
    if isinstance(expr, Where) and not isinstance(expr, Patch):
        then, other = beside(expr.then, var, d), beside(expr.other, var, d)
        return Where(_condition(expr.cond, var, d), then, other)
    done = rebuild(expr, lambda c: beside(c, var, d) if isinstance(c, Expr) else c)
    if not isinstance(done, App):
        assert isinstance(done, Expr)
        return done
    zero = num(0)
    if done.head == "abs":
        u = done.args[0]
        return Where(_condition(Rel((">=",), (u, zero)), var, d), u, App("neg", (u,)))
    if done.head == "sign":
        u = done.args[0]
        below = Where(_condition(Rel(("<",), (u, zero)), var, d), num(-1), zero)
        return Where(_condition(Rel((">",), (u, zero)), var, d), num(1), below)
    if done.head in ("max", "min"):
        op = ">=" if done.head == "max" else "<="
        found = done.args[0]
        for other in done.args[1:]:
            found = Where(_condition(Rel((op,), (found, other)), var, d), found, other)
        return found
    return done


def _condition(stmt: Stmt, var: str, d: int) -> Stmt:
    """The condition as it is beside the point."""
    if isinstance(stmt, And | Or):
        return type(stmt)(tuple(_condition(p, var, d) for p in stmt.parts))
    if isinstance(stmt, Not):
        return Not(_condition(stmt.part, var, d))
    if not isinstance(stmt, Rel):
        return stmt
    pairs = zip(stmt.ops, stmt.terms, stmt.terms[1:], strict=False)
    parts = [_pair(op, a, b, var, d) for op, a, b in pairs]
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def _pair(op: str, a: Expr, b: Expr, var: str, d: int) -> Stmt:
    if any(isinstance(n, Const) and n.name == "oo" for t in (a, b) for n in t.walk()):
        return Rel((op,), (a, b))
    a, b = beside(a, var, d), beside(b, var, d)
    gap = normal(App("add", (a, App("neg", (b,)))))
    change = normal(slope(gap, var))
    if isinstance(change, Num):
        # A straight gap: strict and weak comparison differ at one point, where the slope decides.
        grows = change.value * d
        if grows == 0:
            return Rel((op,), (a, b))
        if op in ("==", "!="):
            return Rel(("!=",) if op == "!=" else ("<",), (num(0), num(1) if op == "!=" else num(0)))
        weak = (op[0] == ">") == (grows > 0)
        return Rel((op[0] + ("=" if weak else ""),), (a, b))
    moved = App("mul", (num(d), change))
    zero = num(0)
    if op in ("==", "!="):
        stays = And((Rel(("==",), (a, b)), Rel(("==",), (moved, zero))))
        return stays if op == "==" else Not(stays)
    tie = And((Rel(("==",), (a, b)), Rel((op,), (moved, zero))))
    return Or((Rel((op[0],), (a, b)), tie))


# --- derivatives -------------------------------------------------------------


@lru_cache(maxsize=8192)
def slope(expr: Expr, var: str) -> Expr:
    """The derivative of each form by the rules of calculus, conditions kept."""
    if isinstance(expr, Where):
        then, other = slope(expr.then, var), slope(expr.other, var)
        return then if then == other else type(expr)(expr.cond, then, other)
    if not isinstance(expr, App):
        return num(1 if expr == Var(var) else 0)
    if var not in free_names(expr):
        return num(0)
    args = expr.args
    if expr.head == "poly":
        c = coefficients_of(expr)
        lower = [k * c[k] for k in range(1, len(c))]
        return calculus.mul(polynomial(args[0], lower or [Fraction(0)]), slope(args[0], var))
    slopes = [slope(a, var) for a in args]
    if expr.head == "add":
        return calculus.add(*slopes)
    if expr.head == "mul":
        return calculus.add(*(calculus.mul(*args[:i], s, *args[i + 1 :]) for i, s in enumerate(slopes)))
    outer = _outer(expr.head, args, slopes)
    return calculus.mul(outer, slopes[0]) if len(args) == 1 else outer


def _outer(head: str, args: tuple[Expr, ...], slopes: list[Expr]) -> Expr:
    """The rule of one head, with names put for its arguments."""
    unary = args[1:] == ()
    if unary:
        rule = calculus.derivative(App(head, (Var("u_"),)), "u_")
        if rule is not None:
            return substitute(rule, {"u_": args[0]})
    if head == "pow" and isinstance(args[1], Num):
        n = args[1].value
        power = App("pow", (args[0], Num(n - 1))) if n != 1 else num(1)
        return calculus.mul(Num(n), power, slopes[0])
    if head == "pow":
        (u, v), (du, dv) = args, slopes
        first = calculus.mul(v, App("pow", (u, calculus.add(v, num(-1)))), du)
        return calculus.add(first, calculus.mul(App("pow", args), App("log", (u,)), dv))
    if head in ("max", "min"):
        op = ">=" if head == "max" else "<="
        value, found = args[0], slopes[0]
        for other, s in zip(args[1:], slopes[1:], strict=True):
            found = Where(Rel((op,), (value, other)), found, s)
            value = App(head, (value, other))
        return found
    raise FormulaError(f"no derivative of {head} is known")
