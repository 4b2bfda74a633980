"""What each operator of PyTorch's dispatcher is to a count of nonlinearities, by rules of names and tags.

The rules read an operator's name, its tags and the types of its tensors, never which network calls it; so
they hold for every namespace (aten, quantized, onednn, mkldnn, and operators of others).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import torch

#: A word of an operator's name that makes it a nonlinearity of its own.
WORDS = frozenset({
    "relu", "relu6", "prelu", "rrelu", "elu", "celu", "selu", "gelu", "silu", "swish", "mish", "glu",
    "swiglu", "geglu", "sigmoid", "tanh", "logsigmoid", "hardtanh", "hardsigmoid", "hardswish", "softshrink",
    "hardshrink", "tanhshrink", "softplus", "softsign", "threshold", "clamp", "clip", "erf", "erfc", "ndtr",
    "softmax", "softmin", "attention", "transformer", "lstm", "gru", "rnn", "logsumexp", "logcumsumexp",
    "logaddexp", "logaddexp2", "abs", "absolute", "sign", "sgn", "heaviside", "maximum", "minimum", "fmax",
    "fmin",
})  # fmt: skip
#: max and min of two tensors carry the names of the reductions.
_OF_TWO = frozenset({"max.other", "max.out", "min.other", "min.out"})
#: Words that say that the operator is about a nonlinearity, but computes none.
_ABOUT = frozenset({"backward", "jvp", "weight", "prepack", "cache", "seqlen", "grad", "flatten"})
#: Named and left out by rule: they normalise, pool or measure, and are no activations.
_EXCLUDED = {
    "pooling": frozenset({"pool", "pool1d", "pool2d", "pool3d", "unpool2d", "unpool3d", "amax", "amin"}),
    "norm": frozenset({"norm", "normalization", "sqrt", "rsqrt", "var", "std", "norm2d"}),
    "loss": frozenset({"loss", "entropy"}),
}
#: Arithmetic and rounding: pointwise, and no activation.
_ARITHMETIC = frozenset({
    "add", "sub", "mul", "div", "rsub", "neg", "addcmul", "addcdiv", "lerp", "true", "clone", "positive",
    "eq", "ne", "ge", "gt", "le", "lt", "equal", "isfinite", "isinf", "isnan", "isneginf", "isposinf",
    "logical", "bitwise", "where", "masked", "nan", "conj", "gcd", "lcm", "signbit", "copysign", "ldexp",
    "frexp", "nextafter", "lshift", "rshift", "xor", "ilshift", "ixor", "irshift", "native", "deg2rad",
    "rad2deg", "angle",
})  # fmt: skip
#: Elementary, and mostly parts of norms, distances and polynomials.
POWERS = frozenset({"pow", "square", "reciprocal", "sqrt", "rsqrt"})
ORDERING = frozenset({"gt", "ge", "lt", "le"})
EQUALITY = frozenset({"eq", "ne"})
#: Operators that hand a condition on: its copies, views and combinations.
_HANDS_ON = frozenset({
    "_to_copy", "to", "view", "_unsafe_view", "reshape", "unsqueeze", "squeeze", "expand", "clone", "alias",
    "detach", "slice", "select", "transpose", "permute", "t", "logical_and", "logical_or", "logical_not",
    "logical_xor", "bitwise_and", "bitwise_or", "bitwise_not", "bitwise_xor", "rsub", "copy",
})  # fmt: skip
#: Operators that put a condition to work on numbers.
_OPENS = frozenset({"where", "masked_fill", "mul", "index_put", "masked_scatter"})


def base(op: Any) -> str:
    """The operator's name without namespace, overload and the mark of its in-place form."""
    name: str = op._schema.name.split("::")[-1]
    return name[:-1] if name.endswith("_") and not name.endswith("__") else name


@lru_cache(maxsize=4096)
def kind_of(op: Any) -> str:
    """'gate', 'nonlinear', 'elementary' (exp, log, sin, powers ...), the excluding rule's name, or ''."""
    space, name = op._schema.name.split("::")
    if space == "gateproof":
        return "gate"
    words = set(base(op).strip("_").split("_"))
    if words & _ABOUT:
        return ""
    if words & WORDS or f"{name}.{op._schema.overload_name}" in _OF_TWO:
        # A fused batch_norm_relu is one too: the words come before what is left out.
        return "nonlinear"
    for rule, named in _EXCLUDED.items():
        if words & named:
            return rule
    if torch.Tag.pointwise in op.tags and not words & _ARITHMETIC:
        return "elementary"
    return ""


def fused(args: tuple[Any, ...]) -> str:
    """The activation that a fused operator is told by a word (onednn's ``attr``), or ''."""
    for a in args:
        if isinstance(a, str) and set(a.lower().split("_")) & WORDS:
            return a.lower()
    return ""


def floating(values: Any) -> bool:
    """Whether some tensor among the values has floating or complex numbers, quantised ones among them."""
    for v in values:
        if isinstance(v, torch.Tensor):
            if v.is_floating_point() or v.is_complex() or v.is_quantized:
                return True
        elif isinstance(v, (list, tuple)) and floating(v):
            return True
    return False


def hands_on(op: Any) -> bool:
    """Whether a condition among the operator's inputs is one still in its output."""
    return base(op) in _HANDS_ON


def opens(op: Any) -> bool:
    """Whether the operator makes a gate of a condition among its inputs."""
    return base(op) in _OPENS


def tensors_in(values: Any) -> Iterator[torch.Tensor]:
    """The tensors among values and in lists and tuples of them."""
    for v in values if isinstance(values, (list, tuple)) else (values,):
        if isinstance(v, torch.Tensor):
            yield v
        elif isinstance(v, (list, tuple)):
            yield from tensors_in(v)
