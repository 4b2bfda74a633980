"""Taylor coefficients of core expressions in one variable, over points and over boxes.

Own recurrences instead of arb_series: the value at order 0 comes from monotone ends,
so that wide boxes neither overflow nor give nan. Coefficients are balls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics import series_rules as rules
from gateproof.numerics.ball import Env, compiled, compiled_condition, names_in
from gateproof.numerics.errors import NotSmooth
from gateproof.numerics.precision import precision
from gateproof.numerics.series_rules import Coefficients
from gateproof.theory.formula.nodes import App, Expr, Node, Var, Where
from gateproof.theory.formula.powers import constant_value

SeriesEvaluator = Callable[[Env, int], Coefficients]


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
    if _fixed(expr, var):
        value = compiled(expr)
        zero = arb(0)
        return lambda env, n: [iv.to_ball(value(env))] + [zero] * n
    if isinstance(expr, Var):
        one = arb(1)

        def variable(env: Env, n: int) -> Coefficients:
            c = [iv.to_ball(env[var])] + [iv.ZERO] * n
            if n:
                c[1] = one
            return c

        return variable
    if isinstance(expr, Where):
        return _where(expr, var)
    assert isinstance(expr, App)
    return _app(expr, var)


def _fixed(expr: Expr, var: str) -> bool:
    """A constant to be enclosed as a whole.

    Kinked parts are expanded even if constant: a certificate's Taylor rule needs them decided.
    """
    return var not in names_in(expr) and not any(_switches(n) for n in expr.walk())


def _switches(node: Node) -> bool:
    return isinstance(node, Where) or (isinstance(node, App) and node.head in ("abs", "sign", "max", "min"))


def _where(expr: Where, var: str) -> SeriesEvaluator:
    cond = compiled_condition(expr.cond)
    then, other = compiled_series(expr.then, var), compiled_series(expr.other, var)

    def run(env: Env, n: int) -> Coefficients:
        truth = cond(env)
        if truth is None:
            raise NotSmooth("a condition is not the same on the whole box")
        return then(env, n) if truth else other(env, n)

    return run


def _app(expr: App, var: str) -> SeriesEvaluator:
    head = expr.head
    if head == "pow":
        return _power(expr, var)
    if head == "mul":
        return _product(expr, var)
    args = [compiled_series(a, var) for a in expr.args]
    if head == "add":
        return lambda env, n: rules.total([a(env, n) for a in args])
    if head == "div":
        top, bottom = args
        if _fixed(expr.args[1], var):
            divisor = compiled(expr.args[1])

            def scaled(env: Env, n: int) -> Coefficients:
                factor = iv.to_ball(iv.div((iv.ONE, iv.ONE), divisor(env)))
                return [c * factor for c in top(env, n)]

            return scaled
        return lambda env, n: rules.quotient(top(env, n), bottom(env, n))
    if head in ("max", "min"):
        larger = head == "max"
        return lambda env, n: rules.select([a(env, n) for a in args], larger)
    rule, argument = rules.RULES[head], args[0]
    return lambda env, n: rule(argument(env, n))


def _product(expr: App, var: str) -> SeriesEvaluator:
    fixed = [compiled(a) for a in expr.args if _fixed(a, var)]
    moving = [compiled_series(a, var) for a in expr.args if not _fixed(a, var)]

    def run(env: Env, n: int) -> Coefficients:
        value = moving[0](env, n)
        for factor in moving[1:]:
            value = rules.product(value, factor(env, n))
        for constant in fixed:
            c = iv.to_ball(constant(env))
            value = [v * c for v in value]
        return value

    return run


def _power(expr: App, var: str) -> SeriesEvaluator:
    base_node, exponent_node = expr.args
    n = constant_value(exponent_node)
    base = compiled_series(base_node, var)
    if n is not None and n.denominator == 1:
        whole = int(n)
        return lambda env, order: rules.integer_power(base(env, order), whole)
    if _fixed(exponent_node, var):
        constant = compiled(exponent_node)
        return lambda env, order: rules.real_power(base(env, order), iv.to_ball(constant(env)))
    exponent = compiled_series(exponent_node, var)
    return lambda env, order: rules.exp(rules.product(exponent(env, order), rules.log(base(env, order))))
