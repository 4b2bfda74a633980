"""A soft gate of two branches in PyTorch's own functions: what a network's activation becomes.

    y = F(-z) (s_0 x + c_0) + F(z) (s_1 x + c_1),   z = tau (x - theta)

for a link F of ``links``. In float32 (float64 for float64 tensors), rounded once to x's type. It keeps what
the replaced function does at infinity: the branch of a closed gate is multiplied by 0, so SiLU at -oo is NaN
as it is in PyTorch. ``kernels.functional.threshold_gate`` is the general gate, with exact tails and limits.
"""
# ruff: noqa: D102 - the methods are those of autograd.Function

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from gateproof.kernels.convert.links import LINKS
from gateproof.kernels.convert.pieces import differentiated, lined_up
from gateproof.kernels.pointwise import LIBRARY
from gateproof.kernels.traced import exported

Numbers = tuple[float, float, float, float, float, float]


@dataclass(frozen=True)
class TwoBranches:
    """The numbers of the gate; ``link`` names one of ``links.LINKS``."""

    tau: float
    theta: float
    slope: tuple[float, float]
    intercept: tuple[float, float]
    link: str = "logistic"

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        numbers = (self.tau, self.theta, *self.slope, *self.intercept)
        if torch.compiler.is_compiling() or exported():
            return _value(x, self.link, numbers)
        made = _Gate.apply if differentiated(x) else torch.ops.gateproof.two_branches
        found: torch.Tensor = made(x, self.link, numbers)
        return found


def _real(x: torch.Tensor) -> torch.Tensor:
    return x if x.dtype == torch.float64 else x.to(torch.float32)


def _line(x: Any, slope: float, intercept: float) -> Any:
    """s x + c without the operations that change nothing; a number where the line is level."""
    if slope == 0:
        return intercept
    product = x if slope == 1 else x * slope
    return product if intercept == 0 else product + intercept


def _argument(x: Any, tau: float, theta: float) -> Any:
    shifted = x if theta == 0 else x - theta
    return shifted if tau == 1 else shifted * tau


def _value(x: torch.Tensor, link: str, numbers: Numbers, *, inside: bool = False) -> torch.Tensor:
    """``inside`` the operation nothing is kept for a gradient, so that products go where their factor was."""
    tau, theta, s0, s1, c0, c1 = numbers
    f, wide = LINKS[link], _real(x)
    z = _argument(wide, tau, theta)
    left, right = _line(wide, s0, c0), _line(wide, s1, c1)
    if s0 == s1:
        # Lines of one slope: the step between them is all that the gate moves.
        if s0 == 0 and c0 == 0:
            y = c1 * f.rising(z) if c1 != 1 else f.rising(z)
        elif s0 == 0 and c1 == 0:
            y = c0 * f.rising(-z) if c0 != 1 else f.rising(-z)
        else:
            middle, half = _line(wide, s0, (c0 + c1) / 2), (c1 - c0) / 2
            step = f.both(z) if half == 1 else f.both(z) * half
            y = step if isinstance(middle, float) and middle == 0 else middle + step
    elif isinstance(left, float) and left == 0:
        y = _times(f.rising(z), right, inside)
    elif isinstance(right, float) and right == 0:
        y = _times(f.rising(-z), left, inside)
    else:
        y = f.rising(-z) * left + f.rising(z) * right
    found: torch.Tensor = y.to(x.dtype)
    return found


def _times(gate: torch.Tensor, line: Any, inside: bool) -> torch.Tensor:
    return gate.mul_(line) if inside else gate * line


def _inside(x: torch.Tensor, link: str, numbers: Numbers) -> torch.Tensor:
    return _value(x, link, numbers, inside=True)


def _levels(link: str, numbers: Numbers) -> bool:
    """Whether it steps between two levels by the logistic link: then y tells its own slope."""
    _, _, s0, s1, c0, c1 = numbers
    return link == "logistic" and s0 == s1 == 0 and c0 != c1


def _gradient_of_levels(dy: torch.Tensor, y: torch.Tensor, numbers: Numbers) -> torch.Tensor:
    """dy tau (y - c_0)(c_1 - y)/(c_1 - c_0), as PyTorch's sigmoid and tanh have it."""
    tau, _, _, _, c0, c1 = numbers
    wide = _real(y)
    slope = (wide - c0) * (c1 - wide) * (tau / (c1 - c0))
    found: torch.Tensor = (dy.to(wide.dtype) * slope).to(y.dtype)
    return found


def _gradient(dy: torch.Tensor, x: torch.Tensor, link: str, numbers: Numbers) -> torch.Tensor:
    """dy F(-z) s_0 + dy F(z) s_1 + dy tau F'(z) (s_1 x + c_1 - s_0 x - c_0)."""
    tau, theta, s0, s1, c0, c1 = numbers
    f, wide = LINKS[link], _real(x)
    z = _argument(wide, tau, theta)
    across = _line(wide, s1 - s0, c1 - c0)
    bent = f.density(z) * across
    if f.bounded:
        # Its gate is shut at infinity: no 0 times infinity.
        bent = torch.where(bent.isnan() & ~wide.isnan(), 0, bent)
    bent = bent if tau == 1 else bent * tau
    if s0 == s1:
        slope = bent if s0 == 0 else bent + s0
    elif s0 == 0:
        slope = f.rising(z) * s1 + bent if s1 != 1 else f.rising(z) + bent
    else:
        slope = f.rising(-z) * s0 + f.rising(z) * s1 + bent
    found: torch.Tensor = (dy.to(wide.dtype) * slope).to(x.dtype)
    return found


def _gradient_of_kept(dy: torch.Tensor, kept: torch.Tensor, link: str, numbers: Numbers) -> torch.Tensor:
    if _levels(link, numbers):
        return _gradient_of_levels(dy, kept, numbers)
    return _gradient(dy, kept, link, numbers)


LIBRARY.define(
    "two_branches(Tensor x, str link, float[] numbers) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,)
)
LIBRARY.define(
    "two_branches_backward(Tensor dy, Tensor kept, str link, float[] numbers) -> Tensor",
    tags=(torch.Tag.pt2_compliant_tag,),
)
for _key in ("CPU", "CUDA"):
    LIBRARY.impl("two_branches", _inside, _key)
    LIBRARY.impl("two_branches_backward", _gradient_of_kept, _key)


@torch.library.register_fake("gateproof::two_branches", lib=LIBRARY)
def _(x: torch.Tensor, link: str, numbers: list[float]) -> torch.Tensor:  # noqa: ARG001 - its signature
    return torch.empty_like(x)


@torch.library.register_fake("gateproof::two_branches_backward", lib=LIBRARY)
def _(dy: torch.Tensor, x: torch.Tensor, link: str, numbers: list[float]) -> torch.Tensor:  # noqa: ARG001
    return torch.empty_like(x)


def _mapped(info: Any, dims: Any, x: torch.Tensor, *given: Any) -> Any:  # noqa: ARG001 - its signature
    return torch.ops.gateproof.two_branches(x, *given), dims[0]


torch.library.register_vmap("gateproof::two_branches", _mapped, lib=LIBRARY)


def _mapped_gradient(info: Any, dims: Any, dy: torch.Tensor, x: torch.Tensor, *given: Any) -> Any:
    dy, x = lined_up(info, dims, dy, x)
    return torch.ops.gateproof.two_branches_backward(dy, x, *given), 0


torch.library.register_vmap("gateproof::two_branches_backward", _mapped_gradient, lib=LIBRARY)


class _Gate(torch.autograd.Function):
    """Keeps x, or y between two levels, as PyTorch does; its gradient can be differentiated again."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: torch.Tensor, link: str, numbers: Numbers) -> Any:
        return torch.ops.gateproof.two_branches(x, link, numbers)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        x, ctx.link, ctx.numbers = inputs
        kept = output if _levels(ctx.link, ctx.numbers) else x
        ctx.save_for_backward(kept)
        ctx.save_for_forward(kept)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        (kept,) = ctx.saved_tensors
        # Where a graph is asked for, the gradient is made of operations that have derivatives.
        again = torch.is_grad_enabled()
        made = _gradient_of_kept if again else torch.ops.gateproof.two_branches_backward
        return made(grad_outputs[0], kept, ctx.link, ctx.numbers), None, None

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        (kept,) = ctx.saved_tensors
        return _gradient_of_kept(grad_inputs[0], kept, ctx.link, ctx.numbers)
