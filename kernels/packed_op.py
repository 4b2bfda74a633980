"""Gated products from one tensor that holds both halves: ``gateproof::NAME_packed``, one gradient tensor."""

from __future__ import annotations

from typing import Any

import torch

from gateproof.kernels import choice
from gateproof.kernels.arguments import check, number
from gateproof.kernels.composite import Results, laid_out, real_type, run
from gateproof.kernels.launch import launch
from gateproof.kernels.packed import check_packed, halves
from gateproof.kernels.pointwise import LIBRARY, Pointwise
from gateproof.kernels.traced import applied

_BOTH = (True, True)


class Packed:
    """A pointwise operation of two tensors, on the halves of the last dimension of one."""

    def __init__(self, product: Pointwise) -> None:
        self.product, self.name = product, f"{product.name}_packed"
        numbers = "".join(f", float {n}" for n in product.numbers)
        tags, backward = (torch.Tag.pt2_compliant_tag,), f"{self.name}_backward"
        LIBRARY.define(f"{self.name}(Tensor x{numbers}) -> Tensor", tags=tags)
        LIBRARY.define(f"{backward}(Tensor dy, Tensor x{numbers}) -> Tensor", tags=tags)
        for key in ("CPU", "CUDA"):
            LIBRARY.impl(self.name, self._value, key)
            LIBRARY.impl(backward, self._gradient, key)
        torch.library.register_fake(
            f"gateproof::{self.name}", lambda x, *_: torch.empty_like(halves(x)[0]), lib=LIBRARY
        )
        torch.library.register_fake(
            f"gateproof::{backward}", lambda _, x, *__: torch.empty_like(x), lib=LIBRARY
        )
        for name, count in ((self.name, 1), (backward, 2)):
            torch.library.register_vmap(f"gateproof::{name}", _vmapped(name, count), lib=LIBRARY)
        self.call_value = getattr(torch.ops.gateproof, self.name).default
        self.call_backward = getattr(torch.ops.gateproof, backward).default

    def _value(self, x: torch.Tensor, *numbers: float) -> torch.Tensor:
        parts, real = halves(x), real_type([x])
        graph = self.product.value_graph(small=real != torch.float64)
        if choice.code_for(x.device.type) != "triton":
            return laid_out(parts[0], run(graph, parts, [], numbers, real, Results((x.dtype,)))[0])
        out = torch.empty_like(parts[0])
        if out.numel():
            launch(graph, [out], parts, numbers, real)
        return out

    def _gradient(self, dy: torch.Tensor, x: torch.Tensor, *numbers: float) -> torch.Tensor:
        parts, real = halves(x), real_type([dy, x])
        graph = self.product.gradient_graph(_BOTH, small=real != torch.float64)
        if choice.code_for(x.device.type) != "triton":
            results = Results((x.dtype, x.dtype), packed=True)
            return laid_out(x, run(graph, [dy, *parts], [], numbers, real, results)[0])
        dx = torch.empty_like(x)
        if dy.numel():
            launch(graph, halves(dx), [dy, *parts], numbers, real)
        return dx

    def __call__(self, x: torch.Tensor, *numbers: float) -> torch.Tensor:
        """The product of both halves, half as wide."""
        check(self.name, "x", x, x)
        check_packed(self.name, x)
        plain = [number(self.name, n, v) for n, v in zip(self.product.numbers, numbers, strict=True)]
        given = (self, x, *plain)
        compiling = torch.compiler.is_compiling()
        found: torch.Tensor = applied(_Traced, *given) if compiling else _Dispatched.apply(*given)
        return found


def _vmapped(name: str, count: int) -> Any:
    def rule(info: Any, dims: Any, *args: Any) -> Any:
        spread = [
            t.unsqueeze(0).expand(info.batch_size, *t.shape) if d is None else t.movedim(d, 0)
            for t, d in zip(args[:count], dims[:count], strict=True)
        ]
        return getattr(torch.ops.gateproof, name).default(*spread, *args[count:]), 0

    return rule


class _Dispatched(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(p: Packed, x: Any, *numbers: Any) -> Any:
        return p.call_value(x, *numbers)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:  # noqa: ARG004 - its signature
        ctx.p, x, *ctx.numbers = inputs
        ctx.code = choice.chosen()
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        (dy,), (x,) = grad_outputs, ctx.saved_tensors
        if torch.is_grad_enabled():
            found = torch.cat(ctx.p.product.partials(dy, halves(x), ctx.numbers, _BOTH), -1)
        else:
            with choice.use(ctx.code):
                found = ctx.p.call_backward(dy, x, *ctx.numbers)
        return None, found, *(None for _ in ctx.numbers)

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        (x,) = ctx.saved_tensors
        return ctx.p.product.moved(halves(grad_inputs[1]), halves(x), ctx.numbers)


class _Traced(torch.autograd.Function):
    @staticmethod
    def forward(p: Packed, x: Any, *numbers: Any) -> Any:
        return p.product.traced_value(halves(x), numbers)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:  # noqa: ARG004 - its signature
        ctx.p, x, *ctx.numbers = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        (x,) = ctx.saved_tensors
        parts = ctx.p.product.traced_gradients(grad_outputs[0], halves(x), ctx.numbers)
        return None, torch.cat(parts, -1), *(None for _ in ctx.numbers)
