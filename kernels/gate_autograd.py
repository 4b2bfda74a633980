"""Derivatives of threshold gates: fused first ones, any further order, forward mode, compiled code."""
# ruff: noqa: D102 - the methods are those of autograd.Function

from __future__ import annotations

from typing import Any

import torch

from gateproof.kernels.composite import Results, composite, real_type, result_type
from gateproof.kernels.gate_graph import Shape, gradient_graph, value_graph
from gateproof.kernels.gate_op import GateOp, entries, kept
from gateproof.numerics.backends.heads import product0
from gateproof.numerics.backends.with_torch import TorchOps

_INFINITY = float("inf")


def smooth_value(parts: Any, table: Any, numbers: Any, shape: Shape, dim: int | None) -> Any:
    """The value in operations that PyTorch can differentiate again.

    Its sigmoid is smooth at 0, where the forms by exp(-|z|) have a kink for autograd.
    """
    x = parts[0]
    real = real_type(parts if table is None else [*parts, table])
    ops, y = TorchOps(real, x.device), x.to(real)
    if table is None:
        given = [torch.full((), n, dtype=real, device=x.device) for n in numbers]
    else:
        given = [e.to(real) for e in entries(x, table, dim)]
    value = _smooth_gate(ops, y, given, shape)
    return (value * parts[1].to(real) if shape.product else value).to(result_type(parts))


def _smooth_gate(ops: Any, y: Any, given: Any, shape: Shape) -> Any:
    k = shape.branches
    taus, rest = given[: shape.taus], given[shape.taus :]
    taus = taus * (k - 1) if shape.shared else taus
    theta, slope, intercept = rest[: k - 1], rest[k - 1 : 2 * k - 1], rest[2 * k - 1 :]
    # A slope of 0 sees an x of 0, so that an infinite one gives no 0 times infinity; its own gradient is y.
    lines = [_line(s, y, c) for s, c in zip(slope, intercept, strict=True)]
    if k == 1:
        return lines[0]
    above = [y > h for h in theta]
    if shape.hard:
        found = lines[0]
        for a, line in zip(above, lines[1:], strict=True):
            found = torch.where(a, line, found)
        return found
    ups, downs = [], []
    for t, h, a in zip(taus, theta, above, strict=True):
        sharp = t == _INFINITY
        # Where a threshold is infinitely sharp nothing moves with it.
        z = torch.where(sharp, 0.0, t) * torch.where(sharp, 0.0, y - h)
        ups.append(torch.where(sharp, a.to(ops.dtype), torch.sigmoid(z)))
        downs.append(torch.where(sharp, (~a).to(ops.dtype), torch.sigmoid(-z)))
    total = product0(ops, downs[0], lines[0]) + product0(ops, ups[-1], lines[-1])
    for j in range(1, k - 1):
        # A difference of the smaller pair keeps its digits in both tails.
        right = y > (theta[j - 1] + theta[j]) / 2
        gate = torch.where(right, downs[j] - downs[j - 1], ups[j - 1] - ups[j])
        total = total + product0(ops, gate, lines[j])
    return torch.where(torch.isnan(y), y, total)


def _line(slope: Any, y: Any, intercept: Any) -> Any:
    flat = (slope == 0) & torch.isinf(y)
    return slope * torch.where(flat, 0.0, y) + intercept


class Dispatched(torch.autograd.Function):
    """Calls the dispatcher: of an operation, its shape, table, numbers, dimension of channels and tensors."""

    generate_vmap_rule = True

    @staticmethod
    def forward(p: GateOp, shape: Shape, table: Any, numbers: Any, dim: Any, *tensors: Any) -> Any:
        return p.call_value(*tensors, table, numbers, shape.branches, shape.shared, shape.hard, dim)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:  # noqa: ARG004 - its signature
        ctx.p, ctx.shape, table, ctx.numbers, ctx.dim, *tensors = inputs
        ctx.has_table = table is not None
        saved = tensors if table is None else [*tensors, table]
        ctx.save_for_backward(*saved)
        ctx.save_for_forward(*saved)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        (dy,) = grad_outputs
        p, shape, tensors, table = ctx.p, ctx.shape, *_saved(ctx)
        needs = (*ctx.needs_input_grad[5:], ctx.needs_input_grad[2])
        if torch.is_grad_enabled():
            wanted: Any = [t for t, w in zip((*tensors, table), needs, strict=True) if w]
            with torch.enable_grad():
                y = smooth_value(p.parts(tensors), table, ctx.numbers, shape, ctx.dim)
                found = iter(torch.autograd.grad(y, wanted, dy, create_graph=True))
            made = [next(found) if w else None for w in needs]
        else:
            made = p.call_backward(
                dy, *tensors, table, ctx.numbers, shape.branches, shape.shared, shape.hard, ctx.dim, needs[-1]
            )
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


class Traced(torch.autograd.Function):
    """In PyTorch's own operations, for a compiler to fuse with what stands around it."""

    @staticmethod
    def forward(p: GateOp, shape: Shape, table: Any, numbers: Any, dim: Any, *tensors: Any) -> Any:
        parts = p.parts(tensors)
        real = real_type(parts if table is None else [*parts, table])
        results = Results((result_type(parts),))
        return composite(value_graph(shape), parts, entries(parts[0], table, dim), numbers, real, results)[0]

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
        graph, given = gradient_graph(shape, numbers_too), entries(parts[0], table, dim)
        found = composite(graph, [dy, *parts], given, ctx.numbers, real, results)
        dtable = found.pop().to(table.dtype) if numbers_too else None
        return None, None, dtable, None, None, *found


def _saved(ctx: Any) -> tuple[tuple[Any, ...], Any]:
    saved = tuple(ctx.saved_tensors)
    return (saved[:-1], saved[-1]) if ctx.has_table else (saved, None)
