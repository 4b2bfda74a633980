"""Core expressions on complex balls, as rigorous quadrature needs them.

A value is wanted either on a piece of the real line, or on a complex neighbourhood where the formula
must be analytic (``analytic``): there a ball that is not finite stands for "not analytic". Kinks
are analytic where the sign of the real part of their argument decides them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import count

from flint import acb, arb

from gateproof.numerics import interval as iv
from gateproof.numerics import special_complex
from gateproof.numerics.ball import Evaluator as Real
from gateproof.numerics.ball import compiled, names_in
from gateproof.numerics.errors import NumericsError
from gateproof.theory.formula.nodes import And, App, Expr, Not, Or, Rel, Stmt, Var, Where
from gateproof.theory.formula.powers import constant_value

#: Values of names: real balls, and the complex one of the variable.
Env = Mapping[str, acb]
Evaluator = Callable[[Env, bool], acb]
NOWHERE = acb(arb.nan(), arb.nan())
_KEYS = count()


class Shared(dict[str, acb]):
    """Values of names for one evaluation at one precision: equal parts of a formula are evaluated once."""

    def __init__(self, values: Mapping[str, acb]) -> None:
        super().__init__(values)
        self.found: dict[tuple[int, bool], acb] = {}


@lru_cache(maxsize=1024)
def compiled_complex(expr: Expr) -> Evaluator:
    """The evaluator of a core expression, at flint's current precision. It never raises."""
    if not names_in(expr) and not isinstance(expr, Var):
        value = compiled(expr)
        return lambda env, analytic: _fixed(value)
    if isinstance(expr, Var):
        name = expr.name
        return lambda env, analytic: env[name]
    if isinstance(expr, Where):
        return _where(expr)
    if not isinstance(expr, App):
        raise TypeError(f"{type(expr).__name__} is not a core expression")
    return _once(_app(expr))


def _once(run: Evaluator) -> Evaluator:
    own = next(_KEYS)

    def once(env: Env, analytic: bool) -> acb:
        if type(env) is not Shared:
            return run(env, analytic)
        value = env.found.get((own, analytic))
        if value is None:
            value = env.found[own, analytic] = run(env, analytic)
        return value

    return once


def _fixed(value: Real) -> acb:
    try:
        return acb(iv.to_ball(value({})))
    except NumericsError:
        return NOWHERE


def _app(expr: App) -> Evaluator:
    args = [compiled_complex(a) for a in expr.args]
    head = expr.head
    if head == "pow":
        return _power(args[0], args[1], expr.args[1])
    if head in ("add", "mul", "max", "min"):
        return _fold(args, _BINARY[head])
    if head == "div":
        top, bottom = args
        return lambda env, analytic: top(env, analytic) / bottom(env, analytic)
    inner = expr.args[0]
    if head in _OF_ASINH and isinstance(inner, App) and inner.head == "asinh":
        composed, inside = _OF_ASINH[head], compiled_complex(inner.args[0])
        return lambda env, analytic: composed(inside(env, analytic), analytic)
    function, argument = _FUNCTIONS.get(head) or special_complex.on_ball(head), args[0]
    return lambda env, analytic: function(argument(env, analytic), analytic)


def _fold(args: list[Evaluator], op: Callable[[acb, acb, bool], acb]) -> Evaluator:
    def run(env: Env, analytic: bool) -> acb:
        value = args[0](env, analytic)
        for arg in args[1:]:
            value = op(value, arg(env, analytic), analytic)
        return value

    return run


def _power(base: Evaluator, exponent: Evaluator, node: Expr) -> Evaluator:
    n = constant_value(node)
    if n is not None and n.denominator == 1:
        whole = int(n)
        if whole >= 0:
            return lambda env, analytic: base(env, analytic) ** whole
        return lambda env, analytic: 1 / base(env, analytic) ** -whole

    def real(env: Env, analytic: bool) -> acb:
        # For real bases >= 0 alone; analytic off the cut.
        return _exp(exponent(env, analytic) * _log(base(env, analytic), analytic), analytic)

    if n is not None and n.denominator == 2 and n > 0:
        odd = int(n.numerator)
        return lambda env, analytic: _sqrt(base(env, analytic), analytic) ** odd
    return real


def _decided(d: acb) -> int:
    """The sign of the real part where it is the same on the whole ball, else 0."""
    real = d.real
    return 1 if real > 0 else -1 if real < 0 else 0


def _real_zero(d: acb) -> bool:
    return bool(d.imag.is_zero())


def _union(a: acb, b: acb) -> acb:
    return acb(a.real.union(b.real), a.imag.union(b.imag))


def _larger(sign: int) -> Callable[[acb, acb, bool], acb]:
    def choose(a: acb, b: acb, analytic: bool) -> acb:
        order = sign * _decided(a - b)
        if order:
            return a if order > 0 else b
        if analytic or not (_real_zero(a) and _real_zero(b)):
            return NOWHERE
        return acb(a.real.max(b.real) if sign > 0 else a.real.min(b.real))

    return choose


_BINARY: dict[str, Callable[[acb, acb, bool], acb]] = {
    "add": lambda a, b, analytic: a + b,
    "mul": lambda a, b, analytic: a * b,
    "max": _larger(1),
    "min": _larger(-1),
}


def _abs(z: acb, analytic: bool) -> acb:
    order = _decided(z)
    if order:
        return z if order > 0 else -z
    return NOWHERE if analytic or not _real_zero(z) else acb(abs(z.real))


def _sign(z: acb, analytic: bool) -> acb:
    order = _decided(z)
    if order or z.is_zero():
        return acb(order) if order or not analytic else NOWHERE
    return NOWHERE if analytic or not _real_zero(z) else acb(arb(-1).union(arb(1)))


def _cut_below(z: acb, at: int) -> bool:
    """Whether the ball may meet the real numbers <= at."""
    return bool(z.imag.contains(0)) and not z.real > at


def _exp(z: acb, _: bool) -> acb:
    return z.exp()


def _log(z: acb, _: bool) -> acb:
    return NOWHERE if _cut_below(z, 0) else z.log()


def _sqrt(z: acb, analytic: bool) -> acb:
    if not _cut_below(z, 0):
        return z.sqrt()
    if analytic or not _real_zero(z) or not z.real.upper() >= 0:
        return NOWHERE
    # A real radicand that is >= 0 where it is defined.
    top = arb(z.real.upper()).sqrt().upper()
    return acb(arb(0).union(arb(top)))


def _sigmoid(z: acb, _: bool) -> acb:
    if z.real.mid() >= 0:
        return 1 / (1 + (-z).exp())
    e = z.exp()
    return e / (1 + e)


def _softplus(z: acb, analytic: bool) -> acb:
    # Analytic in the strip abs(Im z) < pi, and off abs(Re z) <= 1 by the series of the logarithm;
    # there log(1 + e^z) = z + log(1 + e^-z).
    if analytic and not (z.imag < 3 and z.imag > -3) and not abs(z.real) > 1:
        return NOWHERE
    return z + (-z).exp().log1p() if z.real.mid() > 0 else z.exp().log1p()


def _sech(z: acb, _: bool) -> acb:
    return z.sech()


def _between(name: str, *, outside: bool) -> Callable[[acb, bool], acb]:
    """Functions cut along the real numbers outside (-1, 1), or along those imaginary ones."""

    def function(z: acb, analytic: bool) -> acb:
        across, along = (z.imag, z.real) if outside else (z.real, z.imag)
        safe = (along < 1 and along > -1) or not across.contains(0)
        if not safe and (analytic or not _real_zero(z)):
            return NOWHERE
        value = getattr(z, name)()
        return value if isinstance(value, acb) else NOWHERE

    return function


_slow_asinh = _between("asinh", outside=False)


def _asinh(z: acb, analytic: bool) -> acb:
    # acb's own gives wide balls no value far out, where this loses nothing.
    if z.real > 1:
        return (z + _root_of_more(z, analytic)).log()
    return -_asinh(-z, analytic) if z.real < -1 else _slow_asinh(z, analytic)


def _root_of_more(z: acb, analytic: bool) -> acb:
    """sqrt(1 + z^2) = cosh(asinh(z))."""
    return _sqrt(1 + z * z, analytic)


_OF_ASINH: dict[str, Callable[[acb, bool], acb]] = {
    "tanh": lambda z, analytic: z / _root_of_more(z, analytic),
    "sech": lambda z, analytic: 1 / _root_of_more(z, analytic),
    "cosh": lambda z, analytic: _root_of_more(z, analytic),
}


def _acosh(z: acb, _: bool) -> acb:
    return NOWHERE if _cut_below(z, 1) else z.acosh()


_FUNCTIONS: dict[str, Callable[[acb, bool], acb]] = {
    "neg": lambda z, analytic: -z,
    "abs": _abs,
    "sign": _sign,
    "exp": _exp,
    "log": _log,
    "sqrt": _sqrt,
    "sin": lambda z, analytic: z.sin(),
    "cos": lambda z, analytic: z.cos(),
    "tan": lambda z, analytic: z.tan(),
    "asin": _between("asin", outside=True),
    "acos": _between("acos", outside=True),
    "atan": _between("atan", outside=False),
    "sinh": lambda z, analytic: z.sinh(),
    "cosh": lambda z, analytic: z.cosh(),
    "tanh": lambda z, analytic: z.tanh(),
    "sech": _sech,
    "asinh": _asinh,
    "acosh": _acosh,
    "atanh": _between("atanh", outside=True),
    "sigmoid": _sigmoid,
    "softplus": _softplus,
    "erf": lambda z, analytic: z.erf(),
    "erfc": lambda z, analytic: z.erfc(),
}


def _where(expr: Where) -> Evaluator:
    condition = _condition(expr.cond)
    then, other = compiled_complex(expr.then), compiled_complex(expr.other)

    def run(env: Env, analytic: bool) -> acb:
        truth = condition(env, analytic)
        if truth is not None:
            return (then if truth else other)(env, analytic)
        return NOWHERE if analytic else _union(then(env, analytic), other(env, analytic))

    return run


def _condition(cond: Stmt) -> Callable[[Env, bool], bool | None]:
    """True or False where that is so, strictly, on the whole ball."""
    if isinstance(cond, Not):
        inner = _condition(cond.part)

        def negated(env: Env, analytic: bool) -> bool | None:
            truth = inner(env, analytic)
            return None if truth is None else not truth

        return negated
    if isinstance(cond, And | Or):
        parts, deciding = [_condition(p) for p in cond.parts], isinstance(cond, Or)
        return lambda env, analytic: _combined([p(env, analytic) for p in parts], deciding)
    assert isinstance(cond, Rel)
    terms, ops = [compiled_complex(t) for t in cond.terms], cond.ops

    def run(env: Env, analytic: bool) -> bool | None:
        values = [t(env, analytic) for t in terms]
        links = zip(ops, values, values[1:], strict=False)
        return _combined([_compare(op, _decided(a - b)) for op, a, b in links], False)

    return run


def _combined(truths: list[bool | None], deciding: bool) -> bool | None:
    if deciding in truths:
        return deciding
    return None if None in truths else not deciding


def _compare(op: str, order: int) -> bool | None:
    if order == 0:
        return None
    return {"<": order < 0, "<=": order < 0, "==": False, "!=": True, ">": order > 0, ">=": order > 0}[op]
