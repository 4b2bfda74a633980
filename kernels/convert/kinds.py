"""The pointwise nonlinearities as PyTorch defines them: a formula, and what the formula does not say.

A new one is a line here, and its spellings are lines of ``spelled``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from math import inf, sqrt
from typing import Any

from gateproof.kernels.convert.pieces import EVEN, LEFT, RIGHT


@dataclass(frozen=True)
class Kind:
    """One function of x with its numbers filled in.

    ``formula`` is in the language of the claims. ``sides`` says for the kinks from left to right to which
    side PyTorch's gradient belongs there (and, where the function jumps, its value). ``link``: where the gate
    is opened by another distribution function than the logistic one, (name in ``links``, tau, theta, slopes,
    intercepts). ``form``: what computes it with PyTorch's gradient, where the gate alone does not.
    ``beyond``: what differs where x is no finite number, for the report.
    """

    name: str
    formula: str
    sides: tuple[int, ...] = ()
    link: tuple[str, float, float, tuple[float, float], tuple[float, float]] | None = None
    form: tuple[Any, ...] | None = None
    beyond: str = ""


def written(number: float) -> str:
    """The number as a decimal of the claim language, in parentheses if negative."""
    text = format(Decimal(repr(float(number))), "f")
    return f"({text})" if text.startswith("-") else text


def _hardtanh(lo: float, hi: float, low_side: int, high_side: int, name: str) -> Kind:
    """Clamped to [lo, hi], either of which may be infinite; a formula with NaN is refused."""
    text, sides = "x", []
    if lo != -inf:
        text, sides = f"max({text}, {written(lo)})", [low_side]
    if hi != inf:
        text, sides = f"min({text}, {written(hi)})", [*sides, high_side]
    if lo == hi and name == "clamp":
        # A constant, but PyTorch's gradient is 1 where x equals both bounds.
        return Kind(name, f"0*x + {written(hi)}", form=("pieces", (lo, hi), (0.0, 1.0, 0.0), (lo, 0.0, hi),
                    (RIGHT, LEFT)))  # fmt: skip
    if lo >= hi:
        return Kind(name, f"0*x + {written(hi)}")
    return Kind(name, text, tuple(sides))


def _gelu(approximate: str) -> Kind:
    line = ((0.0, 1.0), (0.0, 0.0))
    if approximate == "tanh":
        return Kind("gelu_tanh", "gelu_tanh(x)", link=("logistic of a cubic", 1.0, 0.0, *line))
    return Kind("gelu", "gelu(x)", link=("normal", 1.0, 0.0, *line))


def _shrink(lambd: float, hard: bool) -> Kind:
    a = written(lambd)
    off = "" if hard else f" - {a}"
    on = "" if hard else f" + {a}"
    name = "hardshrink" if hard else "softshrink"
    sides = (RIGHT, LEFT)
    return Kind(name, f"where(x > {a}, x{off}, where(x < -{a}, x{on}, 0))", sides)


def _softplus(beta: float, threshold: float) -> Kind:
    # PyTorch changes to x where beta*x > threshold: a step of less than exp(-threshold)/beta.
    b = written(beta)
    text = f"softplus({b}*x)/{b}"
    return Kind("softplus", text if threshold >= 20 else f"where({b}*x > {written(threshold)}, x, {text})")


_LINE = ((0.0, 0.0), (-1.0, 1.0))

#: By name: how the numbers of a call make the kind.
KINDS: dict[str, Callable[..., Kind]] = {
    "relu": lambda: Kind("relu", "relu(x)", (LEFT,)),
    "relu6": lambda: _hardtanh(0.0, 6.0, LEFT, RIGHT, "relu6"),
    "hardtanh": lambda lo, hi: _hardtanh(lo, hi, LEFT, RIGHT, "hardtanh"),
    "clamp": lambda lo, hi: _hardtanh(lo, hi, RIGHT, LEFT, "clamp"),
    "leaky_relu": lambda slope: Kind("leaky_relu", f"where(x > 0, x, {written(slope)}*x)", (LEFT,)),
    "threshold": lambda at, value: Kind(
        "threshold", f"where(x > {written(at)}, x, {written(value)})", (LEFT,)
    ),
    "softshrink": lambda lambd: _shrink(lambd, hard=False),
    "hardshrink": lambda lambd: _shrink(lambd, hard=True),
    "hardsigmoid": lambda: Kind("hardsigmoid", "hardsigmoid(x)", (LEFT, RIGHT)),
    "hardswish": lambda: Kind(
        "hardswish", "hardswish(x)", link=("uniform", 1.0, 0.0, (0.0, 1.0), (0.0, 0.0))
    ),
    "abs": lambda: Kind("abs", "abs(x)", (EVEN,)),
    "maximum": lambda at: Kind("maximum", f"max(x, {written(at)})", (EVEN,)),
    "minimum": lambda at: Kind("minimum", f"min(x, {written(at)})", (EVEN,)),
    "sigmoid": lambda: Kind("sigmoid", "sigmoid(x)"),
    "tanh": lambda: Kind("tanh", "tanh(x)"),
    "silu": lambda: Kind("silu", "silu(x)"),
    "tanhshrink": lambda: Kind("tanhshrink", "tanhshrink(x)"),
    "gelu": _gelu,
    "erf": lambda: Kind("erf", "erf(x)", link=("normal", sqrt(2), 0.0, *_LINE)),
    "erfc": lambda: Kind("erfc", "erfc(x)", link=("normal (erfc)", sqrt(2), 0.0, (0.0, 0.0), (2.0, 0.0))),
    "ndtr": lambda: Kind(
        "ndtr", "erfc(-x/sqrt(2))/2", link=("normal (erfc)", 1.0, 0.0, (0.0, 0.0), (0.0, 1.0))
    ),
    "mish": lambda: Kind("mish", "mish(x)", beyond="at an infinity its limits, where PyTorch has NaN"),
    "softplus": _softplus,
    "log_sigmoid": lambda: Kind("log_sigmoid", "log_sigmoid(x)"),
    "elu": lambda alpha: Kind("elu", f"where(x > 0, x, {written(alpha)}*expm1(x))"),
    "celu": lambda alpha: Kind("celu", f"where(x > 0, x, {written(alpha)}*expm1(x/{written(alpha)}))"),
    "selu": lambda: Kind("selu", "selu(x)"),
    "softsign": lambda: Kind("softsign", "softsign(x)"),
}
