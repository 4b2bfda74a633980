"""A linear map in the arithmetic of int8, for training: ``fake_quantised_linear`` and ``QuantisedLinear``.

Both are symmetric: weights have a scale for each output channel, activations one a token or one for the
tensor. A scale is max|.|/127, an integer round(./scale) to even, in [-127, 127]. The sum of products is that
of an int8 matrix product with int32 accumulation, bit for bit: a block of 1024 products of int8 numbers is at
most 128*128*1024 = 2**24 in size, up to which float32 holds every integer, in any order of summation (and so
do TF32 and bfloat16 factors with float32 sums); blocks are added up in int32. Gradients go straight through
the rounding: they are those of the product of the two dequantised tensors.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import torch
from torch import nn

from gateproof.kernels.arguments import check, choice_of
from gateproof.kernels.composite import real_type
from gateproof.kernels.precision import own_types

Activations = Literal["token", "tensor"]
LEVELS = 127
_EXACT = 1024
#: 128*128 times one more would pass 2**31 - 1.
MOST_FEATURES = 2**17 - 1


def quantise(x: torch.Tensor, scales: Activations = "token") -> tuple[torch.Tensor, torch.Tensor]:
    """Integers of shape (..., features), int8, and scales that are broadcast against them.

    A row with infinity or not-a-number has such a scale and integers 0: what is computed from it is
    not-a-number. A scale is at least the least normal number: smaller rows, zeros among them, have fewer
    levels. Raises TypeError for what is no floating tensor, and ValueError for other scales.
    """
    check("quantise", "x", x, x)
    choice_of("quantise", "scales", scales, get_args(Activations))
    return _quantised(x, scales)


def _quantised(x: torch.Tensor, scales: Activations) -> tuple[torch.Tensor, torch.Tensor]:
    real = real_type([x])
    wide = x.detach().to(real)
    if not x.numel():
        most = wide.new_zeros((*x.shape[:-1], 1) if scales == "token" else ())
    else:
        most = wide.abs().amax(-1, keepdim=True) if scales == "token" else wide.abs().amax()
    scale = (most / LEVELS).clamp_min(torch.finfo(real).tiny)
    levels = torch.round(wide / scale).clamp(-LEVELS, LEVELS)
    return torch.where(torch.isnan(levels), 0.0, levels).to(torch.int8), scale


def integer_matmul(a: Any, b: Any) -> torch.Tensor:
    """a b^T of int8 tensors (..., k) and (n, k): int32, exact.

    Raises TypeError for other types and ValueError for more than 2**17 - 1 features, which int32 cannot sum.
    """
    for name, t in (("a", a), ("b", b)):
        if not isinstance(t, torch.Tensor) or t.dtype != torch.int8:
            kind = t.dtype if isinstance(t, torch.Tensor) else type(t).__name__
            raise TypeError(f"integer_matmul: {name} is a tensor of int8, found {kind}")
    if not a.dim() or b.dim() != 2 or a.shape[-1] != b.shape[1]:
        raise ValueError(
            f"integer_matmul: a (..., k) and b (n, k), found {tuple(a.shape)} and {tuple(b.shape)}"
        )
    features = a.shape[-1]
    if features > MOST_FEATURES:
        raise ValueError(f"integer_matmul: at most {MOST_FEATURES} features fit int32, found {features}")
    with own_types(a.device.type):
        total: Any = None
        for start in range(0, max(features, 1), _EXACT):
            x, w = (t[..., start : start + _EXACT].to(torch.float32) for t in (a, b))
            part = torch.matmul(x, w.mT).to(torch.int32)
            total = part if total is None else total + part
    found: torch.Tensor = total
    return found


def _value(x: Any, weight: Any, bias: Any, scales: Any) -> torch.Tensor:
    real = real_type([x, weight])
    (a, sa), (b, sb) = _quantised(x, scales), _quantised(weight, "token")
    found = (integer_matmul(a, b).to(real) * sa.to(real)) * sb.to(real).mT.squeeze(-2)
    return (found if bias is None else found + bias.to(real)).to(x.dtype)


def _dequantised(t: torch.Tensor, scales: Activations, real: torch.dtype) -> torch.Tensor:
    levels, scale = _quantised(t, scales)
    return levels.to(real) * scale.to(real)


class _Through(torch.autograd.Function):
    """Quantised and back; its gradient is 1."""

    generate_vmap_rule = True

    @staticmethod
    def forward(t: Any, scales: Any, real: Any) -> Any:
        return _dequantised(t, scales, real)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        _ = output
        ctx.dtype, ctx.real = inputs[0].dtype, inputs[2]

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        return grad_outputs[0].to(ctx.dtype), None, None

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        return grad_inputs[0].to(ctx.real)


def _gradients(ctx: Any, dy: Any, through: Any) -> tuple[Any, ...]:
    x, weight, *rest = ctx.saved_tensors
    real = real_type([x, weight])
    dx = dw = db = None
    with own_types(x.device.type):
        wide = dy.to(real)
        flat = wide.reshape(-1, wide.shape[-1])
        if ctx.needs_input_grad[0]:
            dx = torch.matmul(wide, through(weight, "token", real)).to(x.dtype)
        if ctx.needs_input_grad[1]:
            seen = through(x, ctx.scales, real)
            dw = torch.matmul(flat.mT, seen.reshape(-1, seen.shape[-1])).to(weight.dtype)
        if rest and ctx.needs_input_grad[2]:
            db = flat.sum(0).to(rest[0].dtype)
    return dx, dw, db, None


class _Traced(torch.autograd.Function):
    @staticmethod
    def forward(x: Any, weight: Any, bias: Any, scales: Any) -> Any:
        return _value(x, weight, bias, scales)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        _ = output
        x, weight, bias, ctx.scales = inputs
        ctx.save_for_backward(*((x, weight) if bias is None else (x, weight, bias)))

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        return _gradients(ctx, grad_outputs[0], _dequantised)


class _Full(_Traced):
    """Differentiable again, and in forward mode."""

    generate_vmap_rule = True

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        _ = output
        x, weight, bias, ctx.scales = inputs
        saved = (x, weight) if bias is None else (x, weight, bias)
        ctx.save_for_backward(*saved)
        ctx.save_for_forward(*saved)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        return _gradients(ctx, grad_outputs[0], _Through.apply)

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        x, weight = ctx.saved_tensors[:2]
        real = real_type([x, weight])
        dx, dw, db = grad_inputs[:3]
        terms = [] if dx is None else [torch.matmul(dx.to(real), _dequantised(weight, "token", real).mT)]
        terms += [] if dw is None else [torch.matmul(_dequantised(x, ctx.scales, real), dw.to(real).mT)]
        found: Any = sum(terms[1:], terms[0]) if terms else 0.0
        moved = found if db is None else found + db.to(real)
        return moved.expand(*x.shape[:-1], weight.shape[0]).to(x.dtype)


def fake_quantised_linear(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None = None,
    *,
    activations: Activations = "token",
) -> torch.Tensor:
    """x weight^T + bias in int8: x (..., features), weight (outputs, features), bias (outputs,).

    The integer sum times both scales, plus the bias, in float32 (float64 for float64), rounded to x's type.
    Gradients go straight through the rounding and have scales constant. Raises ValueError for shapes that do
    not agree and for more than 2**17 - 1 features.
    """
    name = "fake_quantised_linear"
    choice_of(name, "activations", activations, get_args(Activations))
    for label, t in (("x", x), ("weight", weight), ("bias", bias)):
        if label != "bias" or t is not None:
            check(name, label, t, x)
    if weight.dim() != 2 or not x.dim() or x.shape[-1] != weight.shape[1]:
        raise ValueError(f"{name}: x {tuple(x.shape)} and weight {tuple(weight.shape)} do not agree")
    if bias is not None and bias.shape != weight.shape[:1]:
        raise ValueError(f"{name}: {weight.shape[0]} outputs, found a bias of shape {tuple(bias.shape)}")
    kind = _Traced if torch.compiler.is_compiling() else _Full
    found: torch.Tensor = kind.apply(x, weight, bias, activations)
    return found


class QuantisedLinear(nn.Linear):
    """``nn.Linear`` in the arithmetic of int8; its parameters stay floats and are trained."""

    activations: Activations = "token"

    @classmethod
    def from_linear(cls, linear: nn.Linear, *, activations: Activations = "token") -> QuantisedLinear:
        """The quantised form of a linear map, which shares its parameters."""
        if not isinstance(linear, nn.Linear):
            raise TypeError(f"QuantisedLinear.from_linear: an nn.Linear, found {type(linear).__name__}")
        choice_of("QuantisedLinear.from_linear", "activations", activations, get_args(Activations))
        made = cls(linear.in_features, linear.out_features, linear.bias is not None, device="meta")
        made.weight, made.bias, made.activations = linear.weight, linear.bias, activations
        return made.train(linear.training)

    def forward(self, input: torch.Tensor) -> torch.Tensor:  # noqa: A002 - its signature
        """The map of tensors (..., in_features)."""
        return fake_quantised_linear(input, self.weight, self.bias, activations=self.activations)

    def extra_repr(self) -> str:
        """What was chosen."""
        return f"{super().extra_repr()}, activations={self.activations!r}"
