"""Taylor coefficients of core expressions in one variable, over points and over boxes.

An expression is compiled once into closures over power series of balls (series_rules); the value at
order 0 comes from monotone ends, so that wide boxes neither overflow nor give nan.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

import flint
from flint import arb, arb_series

from gateproof.numerics import interval as iv
from gateproof.numerics import series_rules as rules
from gateproof.numerics import special_series
from gateproof.numerics.ball import Env, compiled, compiled_condition, names_in
from gateproof.numerics.errors import NotSmooth
from gateproof.numerics.precision import precision
from gateproof.numerics.series_rules import Series
from gateproof.theory.exact.power_series import capped
from gateproof.theory.formula.nodes import App, Expr, Node, Var, Where
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.special import is_head

Coefficients = list[arb]
SeriesEvaluator = Callable[[Env, int], Coefficients]
#: From the box and the length n + 1 to the series.
_Run = Callable[[Env, int], Series]


def taylor(expr: Expr, var: str, env: Mapping[str, arb], n: int, bits: int) -> Coefficients:
    """c_0..c_n with f(m + h) = sum_{j<n} c_j(m) h^j + c_n(box) h^n.

    Over a thin ``env[var]`` all c_j are the Taylor coefficients there; over a box each
    c_j encloses f^(j)/j! on the whole box. Raises NotSmooth where a kink or jump may
    lie in the box, Undefined and MaybeUndefined as :func:`evaluate` does.
    """
    with precision(bits):
        run = compiled_series(expr, var)
        return run({k: (v.lower(), v.upper()) for k, v in env.items()}, n)


@lru_cache(maxsize=4096)
def compiled_series(expr: Expr, var: str) -> SeriesEvaluator:
    """The coefficient evaluator of a core expression, at whatever precision is current."""
    run = _compiled(expr, var)

    def coefficients(env: Env, n: int) -> Coefficients:
        # flint cuts every series at this length without a word.
        if flint.ctx.cap <= n:
            with capped(n + 1):
                return coefficients(env, n)
        found = run(env, n + 1)
        c: Coefficients = found.coeffs()
        return c if len(c) > n else c + [iv.ZERO] * (n + 1 - len(c))

    return coefficients


@lru_cache(maxsize=4096)
def _compiled(expr: Expr, var: str) -> _Run:
    if _fixed(expr, var):
        return _constant(expr)
    if isinstance(expr, Var):

        def variable(env: Env, length: int) -> Series:
            c = [iv.to_ball(env[var])]
            return arb_series(c if length == 1 else [*c, iv.ONE], prec=length)

        return variable
    if isinstance(expr, Where):
        return _where(expr, var)
    assert isinstance(expr, App)
    shared = expr.head in rules.RULES or is_head(expr.head)
    return _shared(_app(expr, var)) if shared else _app(expr, var)


def _shared(run: _Run) -> _Run:
    """The same series for one box as often as it is asked for: derivatives repeat their parts."""
    last: list[tuple[Env, int, int, Series]] = []

    def once(env: Env, length: int) -> Series:
        if last:
            known, reach, bits, value = last[0]
            if known == env and reach == length and bits == flint.ctx.prec:
                return value
        value = run(env, length)
        # A copy: the caller may go on with the same dictionary.
        last[:] = [(dict(env), length, flint.ctx.prec, value)]
        return value

    return once


def _constant(expr: Expr) -> _Run:
    value = compiled(expr)
    if names_in(expr):
        return lambda env, length: rules.constant(iv.to_ball(value(env)), length)
    known: dict[tuple[int, int], Series] = {}

    def closed(env: Env, length: int) -> Series:
        key = flint.ctx.prec, length
        found = known.get(key)
        if found is None:
            found = known[key] = rules.constant(iv.to_ball(value(env)), length)
        return found

    return closed


def _fixed(expr: Expr, var: str) -> bool:
    """A constant to be enclosed as a whole.

    Kinked parts are expanded even if constant: a certificate's Taylor rule needs them decided.
    """
    return var not in names_in(expr) and not any(_switches(n) for n in expr.walk())


def _switches(node: Node) -> bool:
    return isinstance(node, Where) or (isinstance(node, App) and node.head in ("abs", "sign", "max", "min"))


def _where(expr: Where, var: str) -> _Run:
    cond = compiled_condition(expr.cond)
    then, other = _compiled(expr.then, var), _compiled(expr.other, var)

    def run(env: Env, length: int) -> Series:
        truth = cond(env)
        if truth is None:
            raise NotSmooth("a condition is not the same on the whole box")
        return then(env, length) if truth else other(env, length)

    return run


def _app(expr: App, var: str) -> _Run:
    head = expr.head
    if head == "pow":
        return _power(expr, var)
    args = [_compiled(a, var) for a in expr.args]
    if head in ("add", "mul"):
        return _fold(args, head == "add")
    if head == "div":
        top, bottom = args
        return lambda env, length: rules.quotient(top(env, length), bottom(env, length))
    if head in ("max", "min"):
        larger = head == "max"
        return lambda env, length: rules.select([a(env, length) for a in args], larger)
    special = special_series.rule(head)
    rule, argument = rules.RULES[head] if special is None else special, args[0]
    return lambda env, length: rule(argument(env, length))


def _fold(args: list[_Run], add: bool) -> _Run:
    first, rest = args[0], args[1:]

    def run(env: Env, length: int) -> Series:
        value = first(env, length)
        for arg in rest:
            other = arg(env, length)
            value = value + other if add else value * other
        return value

    return run


def _power(expr: App, var: str) -> _Run:
    base_node, exponent_node = expr.args
    n = constant_value(exponent_node)
    base = _compiled(base_node, var)
    if n is not None and n.denominator == 1:
        whole = int(n)
        return lambda env, length: rules.integer_power(base(env, length), whole)
    if _fixed(exponent_node, var):
        constant = compiled(exponent_node)
        return lambda env, length: rules.real_power(base(env, length), iv.to_ball(constant(env)))
    exponent = _compiled(exponent_node, var)
    return lambda env, length: rules.varying_power(base(env, length), exponent(env, length))
