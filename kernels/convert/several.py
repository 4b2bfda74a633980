"""Hard gates whose thresholds or branches are tensors: the larger of two, clamps to tensors, PReLU.

In eager code each is one registered operation, as all gates are; a compiler, a transform of torch.func and an
export see PyTorch's own operations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from gateproof.kernels.pointwise import LIBRARY
from gateproof.kernels.traced import exported


def _larger(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Half the gradient to each where they are equal; NaN from either."""
    even = torch.where(a == b, a * 0.5 + b * 0.5, b)
    return torch.where(a.isnan() | (a > b), a, even)


def _smaller(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    even = torch.where(a == b, a * 0.5 + b * 0.5, b)
    return torch.where(a.isnan() | (a < b), a, even)


def _larger_number(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The number where the other is NaN; all of the gradient to the first where they are equal."""
    return torch.where((a >= b) | b.isnan(), a, b)


def _smaller_number(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.where((a <= b) | b.isnan(), a, b)


def _step(x: torch.Tensor, at_jump: torch.Tensor) -> torch.Tensor:
    """0 left of 0 and for NaN, 1 right of it, ``at_jump`` at it: no derivative, as in PyTorch."""
    return torch.where(x == 0, at_jump, (x > 0).to(x.dtype))


def _bounded(x: torch.Tensor, lo: torch.Tensor | None, hi: torch.Tensor | None) -> torch.Tensor:
    """x's gradient is 1 where it equals a bound, as in PyTorch; NaN of a bound is the result."""
    y = x if lo is None else torch.where((x < lo) | lo.isnan(), lo, x)
    return (y if hi is None else torch.where((y > hi) | hi.isnan(), hi, y)).to(x.dtype)


def _prelu(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return torch.where(x > 0, x, torch.where(x.isnan(), x, weight * x))


PLAIN: dict[str, Callable[..., torch.Tensor]] = {
    "larger": _larger, "smaller": _smaller, "larger number": _larger_number,
    "smaller number": _smaller_number, "step": _step, "bounded": _bounded, "prelu": _prelu,
}  # fmt: skip


def gate_of_several(name: str, *given: torch.Tensor | None) -> torch.Tensor:
    """One of ``PLAIN``, by name."""
    dual = torch.autograd.forward_ad._current_level >= 0
    if torch.compiler.is_compiling() or exported() or dual or torch._C._are_functorch_transforms_active():
        return PLAIN[name](*given)
    if torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in given):
        return _Gate.apply(name, *given)  # type: ignore[no-any-return]
    return _run(name, list(given))


LIBRARY.define("of_several(str name, Tensor?[] given) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))


def _value(name: str, given: list[torch.Tensor | None]) -> torch.Tensor:
    found = PLAIN[name](*given)
    # An operation must not give back its argument.
    return found.clone() if any(found is t for t in given) else found


for _key in ("CPU", "CUDA"):
    LIBRARY.impl("of_several", _value, _key)


@torch.library.register_fake("gateproof::of_several", lib=LIBRARY)
def _fake(name: str, given: list[torch.Tensor | None]) -> torch.Tensor:  # noqa: ARG001 - its signature
    tensors = [t for t in given if t is not None]
    shape = torch.broadcast_shapes(*(t.shape for t in tensors))
    return tensors[0].new_empty(shape)


def _run(name: str, given: list[torch.Tensor | None]) -> torch.Tensor:
    found: torch.Tensor = torch.ops.gateproof.of_several(name, given)
    return found


class _Gate(torch.autograd.Function):
    """Keeps its tensors; the gradient is that of the plain operations, made when it is asked for."""

    @staticmethod
    def forward(ctx: Any, name: str, *given: torch.Tensor | None) -> torch.Tensor:
        ctx.name = name
        ctx.save_for_backward(*given)
        return _run(name, list(given))

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        again = torch.is_grad_enabled()
        given: list[Any] = list(ctx.saved_tensors)
        wanted = [n for n, needed in enumerate(ctx.needs_input_grad[1:]) if needed]
        with torch.enable_grad():
            # Views keep apart inputs that depend on each other, as in maximum(x, -x).
            given = [t if t is None else t.view_as(t) if again else t.detach() for t in given]
            for n in [] if again else wanted:
                given[n].requires_grad_()
            y = PLAIN[ctx.name](*given)
            found = torch.autograd.grad(y, [given[n] for n in wanted], grad_outputs[0], create_graph=again)
        grads: list[Any] = [None] * len(given)
        for n, g in zip(wanted, found, strict=True):
            grads[n] = g
        return None, *grads
