"""Tail arithmetic (docs/certificates.md): what an expression does far out, exactly.

On [start, oo) a core expression in one variable is written as a polynomial with
rational coefficients and a remainder with an explicit bound, bottom up over its tree.
Irrational constants enter as a rational with the error in the remainder.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from gateproof.theory.exact import balls, enclose, tail_functions
from gateproof.theory.exact.transseries import (
    Form,
    Grow,
    NoTail,
    Rest,
    Trans,
    add,
    between,
    inverse,
    leading,
    make,
    mul,
    neg,
    number,
    power,
    sign_of,
    sup_of,
    sup_power,
)
from gateproof.theory.formula.nodes import And, App, Const, Expr, Not, Num, Or, Rel, Stmt, Var, Where, num
from gateproof.theory.formula.powers import constant_value


class Term(NamedTuple):
    """c * x**k * exp(-a*x) with c >= 0, a >= 0."""

    c: Fraction
    k: int
    a: Fraction


@dataclass(frozen=True)
class Expansion:
    """value = sum poly[j] x**j + R with |R| <= sum of the remainder terms, for x >= start."""

    poly: dict[int, Fraction]
    remainder: tuple[Term, ...]
    start: Fraction


@dataclass(frozen=True)
class Growing:
    """sign * value >= c * x**k > 0 for x >= start, and grows without bound."""

    sign: int
    c: Fraction
    k: int
    start: Fraction


@dataclass(frozen=True)
class NoForm:
    """No tail form; false in a condition."""

    reason: str

    def __bool__(self) -> bool:
        return False


@dataclass(frozen=True, eq=False)
class Fixed(Expr):
    """A constant of which only lo <= value <= hi is known; each place where it stands counts for itself."""

    lo: Fraction
    hi: Fraction


def tail_form(expr: Expr, var: str, side: str, start: Fraction) -> Expansion | Growing | NoForm:
    """The form of a core expression in one variable for x >= start > 0; side '-': of f(-x)."""
    try:
        return _public(raw_form(expr, var, side, start))
    except (NoTail, OverflowError) as reason:
        return NoForm(str(reason))


def tail_sign(expr: Expr, var: str, side: str, start: Fraction) -> int | None:
    """The sign of the expression on the whole tail, where its leading term decides it."""
    try:
        return sign_of(raw_form(expr, var, side, start))
    except (NoTail, OverflowError):
        return None


def grows_slowly(expr: Expr, var: str, side: str, start: Fraction) -> bool:
    """Whether a logarithm or root in it grows without a term of its own: a checker has no rule for these."""
    slow = ("log", "asinh", "sqrt", "pow")
    for node in expr.walk():
        if isinstance(node, App) and node.head in slow and any(isinstance(n, Var) for n in node.walk()):
            try:
                if isinstance(raw_form(node, var, side, start), Grow):
                    return True
            except (NoTail, OverflowError):
                continue
    return False


def raw_form(expr: Expr, var: str, side: str, start: Fraction) -> Form:
    """The form with its exact exponential terms. Raises NoTail."""
    if start <= 0:
        raise ValueError("a tail starts at a positive number")
    x = Trans(start, {(Fraction(0), 1): Fraction(1 if side == "+" else -1)})
    return _walk(expr, var, x)


def _walk(expr: Expr, var: str, x: Trans) -> Form:
    if isinstance(expr, Num):
        return number(expr.value, x.start)
    if isinstance(expr, Fixed):
        return between((expr.lo, expr.hi), x.start)
    if isinstance(expr, Var):
        if expr.name != var:
            raise NoTail(f"a second variable {expr.name}")
        return x
    if isinstance(expr, Const):
        if expr.name == "oo":
            raise NoTail("oo as a value")
        return between(enclose.pi() if expr.name == "pi" else enclose.exp(Fraction(1)), x.start)
    if isinstance(expr, Where):
        truth = condition_truth(expr.cond, var, x)
        if truth is None:
            raise NoTail("a condition is not decided far out")
        return _walk(expr.then if truth else expr.other, var, x)
    if not isinstance(expr, App):
        raise NoTail(f"{type(expr).__name__} has no tail form")
    try:
        if expr.head == "pow":
            return _power(expr, var, x)
        inner = expr.args[0]
        if expr.head in tail_functions.OF_ASINH and isinstance(inner, App) and inner.head == "asinh":
            return tail_functions.OF_ASINH[expr.head](_walk(inner.args[0], var, x))
        args = [_walk(a, var, x) for a in expr.args]
        return _apply(expr.head, args)
    except NoTail:
        logs = _one_log(expr, var, x) if expr.head == "add" else None
        if logs is not None:
            return _walk(logs, var, x)
        # asinh(1), say: no function of what goes to infinity is asked for.
        pair = None if any(isinstance(n, Var) for n in expr.walk()) else balls.rational_bounds(expr)
        if pair is None:
            raise
        return between(pair, x.start)


def _one_log(expr: App, var: str, x: Trans) -> Expr | None:
    """A sum with several plus or minus logarithms of positive arguments, those as one.

    Alone each of them may grow without a form.
    """
    inside: list[Expr] = []
    others: list[Expr] = []
    for term in expr.args:
        minus = isinstance(term, App) and term.head == "neg"
        part = term.args[0] if minus and isinstance(term, App) else term
        if isinstance(part, App) and part.head == "log":
            u: Expr = part.args[0]
            if sign_of(_walk(u, var, x)) != 1:
                return None
        elif isinstance(part, App) and part.head == "asinh":
            u = App("exp", (part,))
        else:
            others.append(term)
            continue
        inside.append(App("div", (num(1), u)) if minus else u)
    if len(inside) < 2:
        return None
    together = App("log", (App("mul", tuple(inside)),))
    return App("add", (*others, together)) if others else together


def _apply(head: str, args: list[Form]) -> Form:
    if head == "div":
        return mul(args[0], inverse(args[1]))
    if head in ("add", "mul", "max", "min"):
        value = args[0]
        for other in args[1:]:
            if head == "add":
                value = add(value, other)
            elif head == "mul":
                value = mul(value, other)
            elif head == "max":
                value = tail_functions.maximum(value, other)
            else:
                value = neg(tail_functions.maximum(neg(value), neg(other)))
        return value
    function = tail_functions.FUNCTIONS.get(head)
    if function is None:
        raise NoTail(f"{head} has no tail form")
    return function(args[0])


def _power(expr: App, var: str, x: Trans) -> Form:
    n = constant_value(expr.args[1])
    base = _walk(expr.args[0], var, x)
    if n is not None and n.denominator == 1:
        return power(base, int(n))
    if n is not None and n.denominator == 2:
        return power(tail_functions.sqrt(base), n.numerator)
    raise NoTail("a power with a fractional or varying exponent")


def condition_truth(cond: Stmt, var: str, x: Trans) -> bool | None:
    """Whether a condition holds on the whole tail of x; None where that is not decided."""
    if isinstance(cond, Not):
        inner = condition_truth(cond.part, var, x)
        return None if inner is None else not inner
    if isinstance(cond, And | Or):
        found = [condition_truth(p, var, x) for p in cond.parts]
    elif isinstance(cond, Rel):
        pairs = zip(cond.ops, cond.terms, cond.terms[1:], strict=False)
        found = [_compare(op, a, b, var, x) for op, a, b in pairs]
    else:
        return None
    deciding = isinstance(cond, Or)
    if deciding in found:
        return deciding
    return None if None in found else not deciding


def _infinite(expr: Expr) -> int:
    if expr == Const("oo"):
        return 1
    return -1 if expr == App("neg", (Const("oo"),)) else 0


def _compare(op: str, a: Expr, b: Expr, var: str, x: Trans) -> bool | None:
    ends = (_infinite(a), _infinite(b))
    if any(ends):
        sign: int | None = (ends[0] > ends[1]) - (ends[0] < ends[1])
    else:
        sign = sign_of(add(_walk(a, var, x), neg(_walk(b, var, x))))
    if sign is None:
        return None
    return {
        "<": sign < 0, "<=": sign <= 0, "==": sign == 0,
        "!=": sign != 0, ">": sign > 0, ">=": sign >= 0,
    }[op]  # fmt: skip


def _public(form: Form) -> Expansion | Growing | NoForm:
    if isinstance(form, Trans):
        falling = [Rest(abs(c), k, -b) for (b, k), c in form.terms.items() if b < 0 or (b == 0 and k < 0)]
        rest = make(form.start, {}, [*form.rest, *falling]).rest
        if all(b <= 0 for b, _ in form.terms) and all(t.a >= 0 for t in rest):
            poly = {k: c for (b, k), c in form.terms.items() if b == 0 and k >= 0}
            return Expansion(poly, tuple(Term(*t) for t in rest), form.start)
        lead = leading(form)
        if lead is None:
            return NoForm("the leading part is not seen to dominate")
        (b, k), c, ratio = lead
        form = Grow(form.start, 1 if c > 0 else -1, abs(c) * (1 - ratio), k, b)
    c, k = form.c, form.k
    if k < 0 < form.b:
        # x**k exp(b x) is smallest at -k/b.
        at = max(form.start, -k / form.b)
        c, k = c * at**k * enclose.exp(min(form.b * at, enclose.FAR))[0], 0
    elif form.b > 0:
        c *= enclose.exp(min(form.b * form.start, enclose.FAR))[0]
    c = enclose.round_down(c, 64)
    return Growing(form.sign, c, k, form.start)


def tail_bounds(form: Expansion | Growing, start: Fraction) -> tuple[Fraction | None, Fraction | None]:
    """Rational lower and upper bounds on [start, oo), start >= form.start; None is infinite."""
    if start < form.start:
        raise ValueError("the tail form does not reach that far in")
    if isinstance(form, Growing):
        edge = form.sign * form.c * start**form.k
        return (edge, None) if form.sign > 0 else (None, edge)
    rest = [Rest(*t) for t in form.remainder]
    if all(k == 0 for k in form.poly):
        top = sup_of(rest, start)
        if top is None:
            return None, None
        c = form.poly.get(0, Fraction(0))
        return c - top, c + top
    sign = 1 if form.poly[max(form.poly)] > 0 else -1
    line = {k: sign * c for k, c in form.poly.items()}
    small = Fraction(0)
    for t in rest:
        if t.a == 0 and t.k > 0:
            line[t.k] = line.get(t.k, Fraction(0)) - t.c
        else:
            small += t.c * (sup_power(t.k, t.a, start, t.c) or Fraction(0))
    shifted = tail_functions.shifted(line, start)
    if any(c < 0 for c in shifted[1:]):
        return None, None
    edge = shifted[0] - small
    return (edge, None) if sign > 0 else (None, -edge)


def limit(form: Expansion | Growing) -> Fraction | str | None:
    """The limit: a Fraction, 'oo' or '-oo'; None if the form does not fix it."""
    if isinstance(form, Growing):
        return "oo" if form.sign > 0 else "-oo"
    degree = max(form.poly, default=0)
    loose = [t for t in form.remainder if t.a == 0 and t.k >= 0]
    if degree > 0:
        if any(t.k > degree or (t.k == degree and t.c >= abs(form.poly[degree])) for t in loose):
            return None
        return "oo" if form.poly[degree] > 0 else "-oo"
    return None if loose else form.poly.get(0, Fraction(0))
