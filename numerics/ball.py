"""Natural enclosures of core expressions.

An expression is compiled once into closures over intervals with exact ends; the
precision is flint's current one. Domain: real numbers only. Errors: Undefined if no
point of the box has a value, MaybeUndefined if that cannot be excluded for some point.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, lru_cache

import flint
from flint import arb

from gateproof.numerics import functions as fn
from gateproof.numerics import interval as iv
from gateproof.numerics import special_boxes
from gateproof.numerics.errors import (
    MaybeUndefined,
    NotImplementedOperator,
    NotReal,
    NumericsError,
    Undefined,
)
from gateproof.numerics.exact_point import exact_truth
from gateproof.numerics.interval import Interval
from gateproof.numerics.precision import precision
from gateproof.theory.formula.nodes import And, App, Const, Expr, Node, Not, Num, Or, Rel, Stmt, Var, Where
from gateproof.theory.formula.powers import constant_value

Env = Mapping[str, Interval]
Evaluator = Callable[[Env], Interval]
Condition = Callable[[Env], bool | None]


def evaluate(expr: Expr, env: Mapping[str, arb], bits: int) -> arb:
    """A ball that holds the value at every point of the box ``env``.

    Raises Undefined, MaybeUndefined, NotReal (``oo`` used as a value).
    """
    # lower, upper and union round at the current precision, so they stand inside as well.
    with precision(bits):
        return iv.to_ball(compiled(expr)({k: (v.lower(), v.upper()) for k, v in env.items()}))


def evaluate_interval(expr: Expr, env: Env, bits: int) -> Interval:
    """The same with exact ends in and out."""
    with precision(bits):
        return compiled(expr)(env)


def decide(cond: Stmt, env: Mapping[str, arb], bits: int) -> bool | None:
    """The truth of a condition on the whole box; None where it is not one or unclear."""
    with precision(bits):
        return compiled_condition(cond)({k: (v.lower(), v.upper()) for k, v in env.items()})


@cache
def names_in(node: Node) -> frozenset[str]:
    """Names used by a core node."""
    if isinstance(node, Var):
        return frozenset({node.name})
    return frozenset().union(*(names_in(c) for c in node.children()))


@lru_cache(maxsize=4096)
def compiled(expr: Expr) -> Evaluator:
    """The interval evaluator of a core expression, at whatever precision is current."""
    run = _compile(expr)
    return run if names_in(expr) or isinstance(expr, Var) else _kept(run)


def _kept(run: Evaluator) -> Evaluator:
    """A closed expression, computed once for each precision."""
    values: dict[int, Interval] = {}

    def constant(env: Env) -> Interval:
        bits = flint.ctx.prec
        found = values.get(bits)
        if found is None:
            found = values[bits] = run(env)
        return found

    return constant


def _compile(expr: Expr) -> Evaluator:
    if isinstance(expr, Num):
        value = expr.value
        return lambda env: iv.of_ball(iv.rational(value))
    if isinstance(expr, Const):
        return _constant(expr.name)
    if isinstance(expr, Var):
        name = expr.name
        return lambda env: env[name]
    if isinstance(expr, Where):
        return _where(expr)
    if isinstance(expr, App):
        return _app(expr)
    raise NotImplementedOperator(type(expr).__name__.lower())


def _constant(name: str) -> Evaluator:
    if name == "pi":
        return lambda env: iv.of_ball(arb.pi())
    if name == "e":
        return lambda env: iv.of_ball(arb(1).exp())

    def infinite(_: Env) -> Interval:
        raise NotReal("oo is not a real number")

    return infinite


def _app(expr: App) -> Evaluator:
    args = [compiled(a) for a in expr.args]
    head = expr.head
    if head == "pow":
        return _power(args[0], args[1], expr.args[1])
    if head == "div":
        top, bottom = args
        return lambda env: iv.div(top(env), bottom(env))
    if head in ("add", "mul"):
        return _fold(args, iv.add if head == "add" else iv.mul)
    if head == "max":
        return _fold(args, lambda a, b: (max(a[0], b[0]), max(a[1], b[1])))
    if head == "min":
        return _fold(args, lambda a, b: (min(a[0], b[0]), min(a[1], b[1])))
    special = special_boxes.on_interval(head)
    function, argument = fn.FUNCTIONS[head] if special is None else special, args[0]
    return lambda env: function(argument(env))


def _fold(args: list[Evaluator], op: Callable[[Interval, Interval], Interval]) -> Evaluator:
    first, rest = args[0], args[1:]

    def run(env: Env) -> Interval:
        value = first(env)
        for arg in rest:
            value = op(value, arg(env))
        return value

    return run


def _power(base: Evaluator, exponent: Evaluator, node: Expr) -> Evaluator:
    n = constant_value(node)
    if n is not None and n.denominator == 1:
        whole = int(n)
        return lambda env: iv.integer_power(base(env), whole)
    if n is not None and n.denominator == 2:
        half = int(n.numerator)
        return lambda env: fn.half_power(base(env), half)
    return lambda env: fn.real_power(base(env), exponent(env))


def _where(expr: Where) -> Evaluator:
    cond, then, other = compiled_condition(expr.cond), compiled(expr.then), compiled(expr.other)

    def run(env: Env) -> Interval:
        truth = cond(env)
        if truth is not None:
            return then(env) if truth else other(env)
        try:
            a, b = then(env), other(env)
        except Undefined as error:
            raise MaybeUndefined(error.where) from error
        return min(a[0], b[0]), max(a[1], b[1])

    return run


@lru_cache(maxsize=1024)
def compiled_condition(cond: Stmt) -> Condition:
    """The three-valued evaluator of a core condition; rationals are compared as such, 3/10 being no ball."""
    with suppress(Undefined):
        known = exact_truth(cond, {})
        if known is not None:
            return lambda env: known
    if isinstance(cond, Rel):
        return _relation(cond)
    if isinstance(cond, Not):
        inner = compiled_condition(cond.part)

        def negated(env: Env) -> bool | None:
            truth = inner(env)
            return None if truth is None else not truth

        return negated
    if isinstance(cond, And | Or):
        parts = [compiled_condition(p) for p in cond.parts]
        deciding = isinstance(cond, Or)
        return lambda env: _combine([p(env) for p in parts], deciding)
    raise TypeError(f"{type(cond).__name__} is not a core condition")


def _combine(truths: list[bool | None], deciding: bool) -> bool | None:
    if deciding in truths:
        return deciding
    return None if None in truths else not deciding


def _end(expr: Expr) -> Evaluator:
    """A side of a comparison, where oo and -oo may stand."""
    if expr == Const("oo"):
        return lambda env: (iv.INF, iv.INF)
    if expr == App("neg", (Const("oo"),)):
        return lambda env: (iv.NEG_INF, iv.NEG_INF)
    return compiled(expr)


def _relation(cond: Rel) -> Condition:
    terms = [_end(t) for t in cond.terms]
    ops = cond.ops

    def run(env: Env) -> bool | None:
        values = [t(env) for t in terms]
        pairs = [compare(op, a, b) for op, a, b in zip(ops, values, values[1:], strict=False)]
        return _combine(pairs, False)

    return run


def compare(op: str, a: Interval, b: Interval) -> bool | None:
    """The truth of ``a op b`` for all pairs of points, or None."""
    if op in (">", ">="):
        return compare("<" if op == ">" else "<=", b, a)
    if op == "<":
        return True if a[1] < b[0] else (False if a[0] >= b[1] else None)
    if op == "<=":
        return True if a[1] <= b[0] else (False if a[0] > b[1] else None)
    equal: bool | None = None
    if a[1] < b[0] or a[0] > b[1]:
        equal = False
    elif a[0] == a[1] == b[0] == b[1]:
        equal = True
    return equal if op == "==" or equal is None else not equal


__all__ = [
    "NumericsError",
    "compare",
    "compiled",
    "compiled_condition",
    "decide",
    "evaluate",
    "evaluate_interval",
    "names_in",
]
