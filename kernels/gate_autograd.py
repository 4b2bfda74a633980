"""Derivatives of threshold gates: fused first ones, any further order, forward mode, compiled code."""
# ruff: noqa: D102 - the methods are those of autograd.Function

from __future__ import annotations

from typing import Any

import torch

from gateproof.kernels import choice
from gateproof.kernels.composite import Results, composite, real_type, result_type, summed
from gateproof.kernels.gate_graph import Gate, Shape, gate_gradients, gradient_graph, value_graph
from gateproof.kernels.gate_op import GateOp, entries, kept, once
from gateproof.kernels.graph import Graph
from gateproof.kernels.traced import constants_of, graph_of, in_operations
from gateproof.numerics.backends.with_torch import TorchOps


class _Smooth(Gate):
    """In operations that PyTorch can differentiate again.

    Its sigmoid is smooth at 0, where the forms by exp(-|z|) have a kink for autograd.
    """

    def _line(self, slope: Any, intercept: Any) -> Any:
        # A slope of 0 sees an infinite x as 0; its own gradient is x.
        flat = (slope == 0) & torch.isinf(self.x)
        return slope * torch.where(flat, 0.0, self.x) + intercept

    def _sides(self, z: Any) -> tuple[Any, Any, Any]:
        up, down = torch.sigmoid(z), torch.sigmoid(-z)
        return up, down, up * down

    def _middle(self, k: int) -> Any:
        # The difference of the smaller pair keeps its digits in both tails.
        right = self.x > (self.theta[k - 1] + self.theta[k]) / 2
        return torch.where(right, self.down[k] - self.down[k - 1], self.up[k - 1] - self.up[k])


def smooth_gradients(
    dy: Any, parts: Any, table: Any, numbers: Any, shape: Shape, dim: int | None, *, numbers_too: bool
) -> list[Any]:
    """The gradients in the tensors and, if wanted, in the table, which can be differentiated again."""
    x = parts[0]
    real = real_type([dy, *parts] if table is None else [dy, *parts, table])
    if table is None:
        given = [torch.full((), n, dtype=real, device=x.device) for n in numbers]
    else:
        given = [e.to(real) for e in entries(x, table, dim)]
    gate = _Smooth(TorchOps(real, x.device), x.to(real), given, shape)
    u = parts[1].to(real) if shape.product else None
    found = gate_gradients(gate, dy.to(real), u, numbers_too=numbers_too)
    made = [g.to(t.dtype) for g, t in zip(found, parts, strict=False)]
    if not numbers_too or table is None:
        return made
    return [*made, summed(found[len(parts) :], kept(table, dim, x.dim())).to(table.dtype)]


class Dispatched(torch.autograd.Function):
    """Calls the dispatcher: of an operation, its shape, table, numbers, dimension of channels and tensors."""

    generate_vmap_rule = True

    @staticmethod
    def forward(p: GateOp, shape: Shape, table: Any, numbers: Any, dim: Any, *tensors: Any) -> Any:
        return p.call_value(*tensors, table, numbers, shape.branches, shape.shared, shape.hard, dim)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:  # noqa: ARG004 - its signature
        ctx.p, ctx.shape, table, ctx.numbers, ctx.dim, *tensors = inputs
        ctx.has_table, ctx.code = table is not None, choice.chosen()
        saved = tensors if table is None else [*tensors, table]
        ctx.save_for_backward(*saved)
        ctx.save_for_forward(*saved)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        (dy,) = grad_outputs
        p, shape, tensors, table = ctx.p, ctx.shape, *_saved(ctx)
        needs = (*ctx.needs_input_grad[5:], ctx.needs_input_grad[2])
        if in_operations(dy):
            made = smooth_gradients(
                dy, p.parts(tensors), table, ctx.numbers, shape, ctx.dim, numbers_too=needs[-1]
            )
            made = [torch.cat(made[:2], -1), *made[2:]] if p.packed else made
        else:
            given = (table, ctx.numbers, shape.branches, shape.shared, shape.hard, ctx.dim, needs[-1])
            # Backward runs outside of the block that chose the code, on cards in a thread of its own.
            with choice.use(ctx.code):
                made = p.call_backward(dy, *tensors, *given)
        made = made if len(made) > len(tensors) else [*made, None]
        return None, None, made[-1], None, None, *made[:-1]

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        p, shape, tensors, table = ctx.p, ctx.shape, *_saved(ctx)
        dtable, moving, parts = grad_inputs[2], grad_inputs[5:], p.parts(tensors)
        if p.packed:
            moving = (None, None) if moving[0] is None else p.parts(moving)
        x = parts[0]
        real = real_type(parts if table is None else [*parts, table])
        given = entries(x, table, ctx.dim)
        graph = gradient_graph(shape, dtable is not None)
        ones = torch.ones_like(x)
        partials = composite(graph, [ones, *parts], given, ctx.numbers, real, Results(()))
        moves = [*moving, *([] if dtable is None else entries(x, dtable, ctx.dim))]
        terms: list[Any] = [m * d for m, d in zip(moves, partials, strict=True) if m is not None]
        found: Any = sum(terms[1:], terms[0])
        return found.to(result_type(parts))


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator, unused-ignore]
def _constants(numbers_too: bool | None, fine: bool, *fields: Any) -> tuple[Any, ...]:
    """A graph as plain constants, so that torch.compile neither makes it nor asks whether it changed."""
    shape = Shape(*fields)
    return constants_of(
        value_graph(shape, fine) if numbers_too is None else gradient_graph(shape, numbers_too, fine)
    )


def _traced(shape: Shape, fine: bool, numbers_too: bool | None = None) -> Graph:
    """The value's graph, or the gradients'."""
    fields = (shape.branches, shape.shared, shape.hard, shape.product, shape.unit, shape.centred)
    return graph_of(_constants(numbers_too, fine, *fields))


class Traced(torch.autograd.Function):
    """In PyTorch's own operations, for a compiler to fuse with what stands around it."""

    @staticmethod
    def forward(p: GateOp, shape: Shape, table: Any, numbers: Any, dim: Any, *tensors: Any) -> Any:
        parts = p.parts(tensors)
        real = real_type(parts if table is None else [*parts, table])
        results = Results((result_type(parts),))
        graph = _traced(shape, once(shape, real, parts, numbers))
        return composite(graph, parts, entries(parts[0], table, dim), numbers, real, results)[0]

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:  # noqa: ARG004 - its signature
        ctx.p, ctx.shape, table, ctx.numbers, ctx.dim, *tensors = inputs
        ctx.has_table = table is not None
        ctx.save_for_backward(*(tensors if table is None else [*tensors, table]))

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        (dy,) = grad_outputs
        p, shape, tensors, table = ctx.p, ctx.shape, *_saved(ctx)
        parts, numbers_too = p.parts(tensors), ctx.needs_input_grad[2]
        real = real_type([dy, *parts] if table is None else [dy, *parts, table])
        dim = kept(table, ctx.dim, parts[0].dim())
        results = Results(tuple(t.dtype for t in parts), p.packed, numbers_too, dim)
        fine = once(shape, real, [dy, *parts], ctx.numbers)
        graph, given = _traced(shape, fine, numbers_too), entries(parts[0], table, dim)
        found = composite(graph, [dy, *parts], given, ctx.numbers, real, results)
        dtable = found.pop().to(table.dtype) if numbers_too and table is not None else None
        return None, None, dtable, None, None, *found


def _saved(ctx: Any) -> tuple[tuple[Any, ...], Any]:
    saved = tuple(ctx.saved_tensors)
    return (saved[:-1], saved[-1]) if ctx.has_table else (saved, None)
