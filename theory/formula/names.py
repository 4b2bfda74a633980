"""The names of the language: functions with their arity, and what is reserved.

A function is either *core* (every backend evaluates it) or *defined*: one line of
formula text in terms of others. The zoo of activations (``theory/activations``)
adds its own through :func:`gateproof.theory.activations.zoo`.
"""

from __future__ import annotations

from gateproof.theory.formula.nodes import CORE_HEADS

#: Operators have no call syntax.
OPERATORS = frozenset({"add", "mul", "neg", "div", "pow"})

#: Core functions as users call them.
CORE_FUNCTIONS: dict[str, int | None] = {k: v for k, v in CORE_HEADS.items() if k not in OPERATORS}

#: Elementary functions that are one formula in others: parameters, text.
ELEMENTARY: dict[str, tuple[tuple[str, ...], str]] = {
    "csch": (("x",), "1/sinh(x)"),
    "coth": (("x",), "1/tanh(x)"),
    "sec": (("x",), "1/cos(x)"),
    "csc": (("x",), "1/sin(x)"),
    "cot": (("x",), "cos(x)/sin(x)"),
    "log1p": (("x",), "log(1 + x)"),
    "expm1": (("x",), "exp(x) - 1"),
    "arcsinh": (("x",), "asinh(x)"),
    "arsinh": (("x",), "asinh(x)"),
    "ln": (("x",), "log(x)"),
    "step": (("x",), "where(x > 0, 1, 0)"),
    "beta": (("x", "y"), "gamma(x)*gamma(y)/gamma(x + y)"),
    "elliptick": (("m",), "pi/2*hyp2f1(1/2, 1/2, 1, m)"),
    "elliptice": (("m",), "pi/2*hyp2f1(-1/2, 1/2, 1, m)"),
    "li": (("x",), "ei(log(x))"),
    "lgamma": (("x",), "loggamma(x)"),
    "LambertW": (("x",), "lambertw(x)"),
    "Ei": (("x",), "ei(x)"),
    "Si": (("x",), "si(x)"),
    "Ci": (("x",), "ci(x)"),
}

#: Functions of small matrices, with their arity.
MATRIX: dict[str, int] = {
    "matmul": 2,
    "transpose": 1,
    "det": 1,
    "trace": 1,
    "inverse": 1,
    "identity": 1,
    "frobenius": 1,
}

EXTREMA = frozenset({"sup", "inf", "max", "min", "argmax", "argmin", "zeros"})
SERIES = frozenset({"sum", "prod"})
SPECIAL = frozenset(
    {"limit", "diff", "at", "taylor", "integrate", "gauss", "gauss2", "where", "tg", "lse", "softmax"}
    | {"logistic", "uniform"}
)
#: Sets of the mean field theory of wide networks.
FIELD = frozenset({"edge_of_chaos", "edge_variance", "fixed_points", "depth_rate"})
PREDICATES = frozenset(
    {"even", "odd", "increasing", "decreasing", "convex", "continuous", "differentiable", "defined"}
)
SETS = frozenset({"R", "N", "N1", "Z"})
CONSTANTS = {"pi": "pi", "e": "e", "E": "e", "oo": "oo"}
#: Names refused with a word of why.
REFUSED = {
    "I": "complex numbers are not part of the language",
    "lambda": "'lambda' is not a name here; call it lam",
    "inf": "infinity is written oo; inf(f, x in ...) is the infimum",
    "nan": "there is no not-a-number in exact mathematics",
    "Max": "write max",
    "Min": "write min",
    "Abs": "write abs",
    "Piecewise": "write where(condition, value, otherwise)",
    "Heaviside": "its value at 0 is a convention: write step(x) (0 at 0) or where(...)",
    "factorial": "factorials are not part of the language",
    "DiracDelta": "it is a distribution, not a function",
    "expint": "write ei(x): expint(1, x) is -ei(-x) for x > 0",
    "floor": "rounding is not part of the language",
    "ceil": "rounding is not part of the language",
    "round": "rounding is not part of the language",
}
#: Functions whose names may still be bound, or stand free, as numbers: gamma*x.
ALSO_NUMBERS = frozenset({"gamma", "beta", "zeta", "Ei", "Si", "Ci", "ei", "si", "ci", "li"})
