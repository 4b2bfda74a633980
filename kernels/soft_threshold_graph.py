"""The two-sided gate sign(x) relu(|x| - D) with its exact, surrogate and debiased derivatives.

The surrogate pair (two-sided gate, formulas 2 and 3) is s = sigmoid(C(|x| - D)) in x and -sign(x) s in D.
The second jumps by 2 sigmoid(-C D) at x = 0, so that no function has both as its derivatives. Less its value
at 0 it is -sign(x) (s - sigmoid(-C D)), and both are derivatives of

    sign(x) (softplus(C(|x| - D)) - softplus(-C D))/C.

The difference cancels where |x| is small. With a = C(|x| - D) and b = -C D

    sigmoid(a) - sigmoid(b) = sigmoid(a) sigmoid(-b) (1 - exp(-(a - b))),    a - b = C|x|,

whose factors keep their digits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

from gateproof.kernels.compensated import compensated
from gateproof.kernels.graph import Builder, Graph, Symbol, Symbolic
from gateproof.kernels.traced import keep, traced
from gateproof.numerics.backends import heads

Gradient = Literal["surrogate", "exact", "debiased"]
Sigmoid = Callable[[Any, Any], Any]


def value(ops: Any, x: Any, delta: Any) -> Any:
    """The gate: every zero is +0 and not-a-number stays; a negative delta moves away from 0."""
    beyond = abs(x) - delta
    return ops.where(zero(ops, x, delta), 0.0, ops.where(x < 0.0, -beyond, beyond))


def zero(ops: Any, x: Any, delta: Any) -> Any:
    """Where it is 0: sign(0) is 0 whatever delta is."""
    return abs(x) <= ops.where(x == 0.0, abs(delta), delta)


def _whole(ops: Any, found: Any, x: Any, delta: Any) -> Any:
    beyond = abs(x) - delta
    return ops.where(beyond != beyond, beyond, found)


def in_x(ops: Any, sigmoid: Sigmoid, x: Any, delta: Any, sharpness: Any, kind: Gradient) -> Any:
    """The derivative in x; the exact one is 0 at the thresholds, as PyTorch's relu is at 0."""
    if kind == "exact":
        return _whole(ops, ops.where(abs(x) > delta, 1.0, 0.0), x, delta)
    return sigmoid(ops, sharpness * (abs(x) - delta))


def in_delta(
    ops: Any, sigmoid: Sigmoid, x: Any, delta: Any, sharpness: Any, kind: Gradient, size: Any = None
) -> Any:
    """The derivative in delta; ``size`` is |x|, where another form of it is wanted."""
    left, size = x < 0.0, abs(x) if size is None else size
    if kind == "exact":
        found = ops.where(left, 1.0, ops.where(x > 0.0, -1.0, 0.0))
        return _whole(ops, ops.where(abs(x) > delta, found, 0.0), x, delta)
    s = sigmoid(ops, sharpness * (size - delta))
    if kind == "surrogate":
        return ops.where(x == 0.0, 0.0 * s, ops.where(left, s, -s))
    less = s * sigmoid(ops, sharpness * delta) * -ops.expm1(-(sharpness * size))
    return ops.where(left, less, -less)


def _value_graph(counted: bool) -> Graph:
    builder = Builder(2)
    ops = Symbolic(builder, small=True)
    x, delta = (Symbol(builder, i) for i in range(2))
    results = [value(ops, x, delta)]
    if counted:
        results.append(ops.where(zero(ops, x, delta), 1.0, 0.0))
    return builder.finished([r.ref for r in results])


def _gradient_graph(kind: Gradient, delta_too: bool) -> Graph:
    builder = Builder(4)
    ops = Symbolic(builder, small=True)
    dy, x, delta, sharpness = (Symbol(builder, i) for i in range(4))
    made = (in_x, in_delta) if delta_too else (in_x,)
    results = [dy * part(ops, heads.sigmoid, x, delta, sharpness, kind) for part in made]
    return compensated(builder.finished([r.ref for r in results]))


def value_graph(counted: bool) -> Graph:
    """The value of (x, delta), and 1 where it is 0."""
    return _VALUES[counted]


def traced_value(counted: bool) -> Graph:
    """``value_graph`` for code that torch.compile traces."""
    return traced(_name(counted))


def gradient_graph(kind: Gradient, delta_too: bool) -> Graph:
    """dy times the derivative in x, and if wanted in delta, of (dy, x, delta, sharpness)."""
    return _GRADIENTS[kind, delta_too]


def traced_gradient(kind: Gradient, delta_too: bool) -> Graph:
    """``gradient_graph`` likewise."""
    return traced(_name(kind, delta_too))


def _name(*key: object) -> str:
    return f"soft_threshold {key}"


#: Made at import: code that torch.compile traces may fill no cache, and may be the first to ask.
_VALUES = {counted: _value_graph(counted) for counted in (False, True)}
_GRADIENTS = {
    (kind, delta_too): _gradient_graph(kind, delta_too)
    for kind in get_args(Gradient)
    for delta_too in (False, True)
}
for _counted, _graph in _VALUES.items():
    keep(_name(_counted), _graph)
for _key, _graph in _GRADIENTS.items():
    keep(_name(*_key), _graph)
