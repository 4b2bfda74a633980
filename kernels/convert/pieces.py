"""A hard gate whose thresholds each say which side they belong to: the piecewise linear activations.

PyTorch's functions differ in the gradient at a kink (relu 0, clamp 1, maximum 1/2), so a gate that replaces
one keeps its convention, threshold by threshold. NaN stays NaN.
"""
# ruff: noqa: D102 - the methods are those of autograd.Function

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from gateproof.kernels.pointwise import LIBRARY
from gateproof.kernels.traced import exported

LEFT, EVEN, RIGHT = -1, 0, 1


@dataclass(frozen=True)
class Pieces:
    """K lines between K-1 ascending thresholds.

    ``sides`` says for each threshold to which line it belongs: LEFT, RIGHT, or EVEN for the value of the left
    line with the mean of both slopes.
    """

    theta: tuple[float, ...]
    slope: tuple[float, ...]
    intercept: tuple[float, ...]
    sides: tuple[int, ...]

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        given = (self.theta, self.slope, self.intercept, self.sides)
        if torch.compiler.is_compiling():
            return _Traced.apply(x, *given)  # type: ignore[no-any-return]
        if exported():
            return _pieced(x, *given)
        made = _Gate.apply if differentiated(x) else torch.ops.gateproof.pieces
        return made(x, *given)  # type: ignore[no-any-return]


def differentiated(x: torch.Tensor) -> bool:
    """Whether a derivative or a transform may be asked for; else the operation is called by itself."""
    if torch.is_grad_enabled() and x.requires_grad:
        return True
    dual = torch.autograd.forward_ad._current_level >= 0
    return dual or torch._C._are_functorch_transforms_active()


def _line(x: torch.Tensor, slope: float, intercept: float) -> Any:
    if slope == 0:
        return intercept
    product = x if slope == 1 else x * slope
    return product if intercept == 0 else product + intercept


def _left_of(x: torch.Tensor, theta: float, side: int) -> torch.Tensor:
    return x < theta if side == RIGHT else x <= theta


def _value(x: torch.Tensor, theta: Any, slope: Any, intercept: Any, sides: Any) -> torch.Tensor:
    # A product and a sum round twice where x is narrower than float32.
    wide = x if x.dtype in (torch.float32, torch.float64) or not x.is_floating_point() else x.float()
    if not torch.compiler.is_compiling() and (bounds := _bounds(theta, slope, intercept, sides)):
        # The same numbers in one pass.
        return wide.clamp(*bounds).to(x.dtype)
    return _pieced(x, theta, slope, intercept, sides)


def _pieced(x: torch.Tensor, theta: Any, slope: Any, intercept: Any, sides: Any) -> torch.Tensor:
    wide = x if x.dtype in (torch.float32, torch.float64) or not x.is_floating_point() else x.float()
    y: Any = _line(wide, slope[-1], intercept[-1]) if slope[-1] else torch.full_like(wide, intercept[-1])
    for k in reversed(range(len(theta))):
        y = torch.where(_left_of(wide, theta[k], sides[k]), _line(wide, slope[k], intercept[k]), y)
    if slope[-1] == 0:
        # NaN is left of no threshold: it would become the last branch's number.
        y = torch.where(wide.isnan(), wide, y)
    found: torch.Tensor = y.to(x.dtype)
    return found


def _gradient(dy: torch.Tensor, x: torch.Tensor, theta: Any, slope: Any, sides: Any) -> torch.Tensor:
    if not torch.compiler.is_compiling() and tuple(slope) == (0, 1) and tuple(sides) == (LEFT,):
        one_pass: torch.Tensor = torch.ops.aten.threshold_backward(dy, x, theta[0])
        return one_pass
    # A branch of slope 0 gives 0 itself: an infinite dy does not pass a closed branch.
    d: Any = _line(dy, slope[-1], 0) if slope[-1] else torch.zeros_like(dy)
    for k in reversed(range(len(theta))):
        d = torch.where(_left_of(x, theta[k], sides[k]), _line(dy, slope[k], 0), d)
        if sides[k] == EVEN:
            d = torch.where(x == theta[k], dy * ((slope[k] + slope[k + 1]) / 2), d)
    found: torch.Tensor = d
    return found


def _bounds(theta: Any, slope: Any, intercept: Any, sides: Any) -> tuple[float | None, float | None] | None:
    """(lo, hi) where the gate is x between its thresholds and their value outside, which own them."""
    shape, at, closed = tuple(slope), tuple(theta), tuple(sides)
    if shape == (0, 1) and (intercept[0], intercept[1]) == (at[0], 0) and closed == (LEFT,):
        return at[0], None
    if shape == (1, 0) and (intercept[0], intercept[1]) == (0, at[0]) and closed == (RIGHT,):
        return None, at[0]
    if shape == (0, 1, 0) and tuple(intercept) == (at[0], 0, at[1]) and closed == (LEFT, RIGHT):
        return at
    return None


def _told_by_output(theta: Any, slope: Any, intercept: Any, sides: Any) -> bool:
    """Whether y lies where x does among the thresholds, so that the gradient at x is that at y."""
    if _bounds(theta, slope, intercept, sides) is not None:
        return True
    leaky = len(slope) == 2 and min(slope) > 0 and theta[0] == 0
    return leaky and tuple(intercept) == (0, 0) and sides[0] == LEFT


LIBRARY.define(
    "pieces(Tensor x, float[] theta, float[] slope, float[] intercept, int[] sides) -> Tensor",
    tags=(torch.Tag.pt2_compliant_tag,),
)
LIBRARY.define(
    "pieces_backward(Tensor dy, Tensor x, float[] theta, float[] slope, int[] sides) -> Tensor",
    tags=(torch.Tag.pt2_compliant_tag,),
)
for _key in ("CPU", "CUDA"):
    LIBRARY.impl("pieces", _value, _key)
    LIBRARY.impl("pieces_backward", _gradient, _key)


@torch.library.register_fake("gateproof::pieces", lib=LIBRARY)
def _(x: torch.Tensor, *_: Any) -> torch.Tensor:
    return torch.empty_like(x)


@torch.library.register_fake("gateproof::pieces_backward", lib=LIBRARY)
def _(dy: torch.Tensor, *_: Any) -> torch.Tensor:
    return torch.empty_like(dy)


def _mapped(info: Any, dims: Any, x: torch.Tensor, *given: Any) -> Any:  # noqa: ARG001 - its signature
    return torch.ops.gateproof.pieces(x, *given), dims[0]


torch.library.register_vmap("gateproof::pieces", _mapped, lib=LIBRARY)


def _mapped_gradient(info: Any, dims: Any, dy: torch.Tensor, x: torch.Tensor, *given: Any) -> Any:
    dy, x = lined_up(info, dims, dy, x)
    return torch.ops.gateproof.pieces_backward(dy, x, *given), 0


torch.library.register_vmap("gateproof::pieces_backward", _mapped_gradient, lib=LIBRARY)


def lined_up(info: Any, dims: Any, *tensors: torch.Tensor) -> list[torch.Tensor]:
    """The tensors with the dimension of vmap first in each."""
    return [
        t.unsqueeze(0).expand(info.batch_size, *t.shape) if d is None else t.movedim(d, 0)
        for t, d in zip(tensors, dims, strict=False)
    ]


class _Gate(torch.autograd.Function):
    """Keeps x, or y where that tells as much: a layer that follows keeps y too. A second derivative is 0."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: torch.Tensor, theta: Any, slope: Any, intercept: Any, sides: Any) -> Any:
        return torch.ops.gateproof.pieces(x, theta, slope, intercept, sides)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        x, ctx.theta, ctx.slope, intercept, ctx.sides = inputs
        kept = output if _told_by_output(ctx.theta, ctx.slope, intercept, ctx.sides) else x
        ctx.save_for_backward(kept)
        ctx.save_for_forward(kept)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        (x,) = ctx.saved_tensors
        again = torch.is_grad_enabled()
        made = _gradient if again else torch.ops.gateproof.pieces_backward
        return made(grad_outputs[0], x, ctx.theta, ctx.slope, ctx.sides), None, None, None, None

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        (x,) = ctx.saved_tensors
        return _gradient(grad_inputs[0], x, ctx.theta, ctx.slope, ctx.sides)


class _Traced(torch.autograd.Function):
    """In PyTorch's own operations, for a compiler to fuse with what stands around it."""

    @staticmethod
    def forward(x: torch.Tensor, theta: Any, slope: Any, intercept: Any, sides: Any) -> Any:
        return _value(x, theta, slope, intercept, sides)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        x, ctx.theta, ctx.slope, intercept, ctx.sides = inputs
        ctx.save_for_backward(output if _told_by_output(ctx.theta, ctx.slope, intercept, ctx.sides) else x)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        (kept,) = ctx.saved_tensors
        return _gradient(grad_outputs[0], kept, ctx.theta, ctx.slope, ctx.sides), None, None, None, None
