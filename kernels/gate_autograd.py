"""Derivatives of the threshold gate: fused first ones, any further order, forward mode, compiled code."""
# ruff: noqa: D102 - the methods are those of autograd.Function

from __future__ import annotations

from typing import Any

import torch

from gateproof.kernels.composite import composite, real_type
from gateproof.kernels.gate_graph import Shape, gradient_graph
from gateproof.kernels.gate_op import computed_gradients, computed_value, entries
from gateproof.numerics.backends.heads import product0
from gateproof.numerics.backends.with_torch import TorchOps

_INFINITY = float("inf")


def smooth_value(x: Any, table: Any, numbers: Any, shape: Shape, dim: int | None) -> Any:
    """The value in operations that PyTorch can differentiate again.

    Its sigmoid is smooth at 0, where the forms by exp(-|z|) have a kink for autograd.
    """
    real = real_type([x] if table is None else [x, table])
    ops, y = TorchOps(real, x.device), x.to(real)
    if table is None:
        given = [torch.full((), n, dtype=real, device=x.device) for n in numbers]
    else:
        given = [e.to(real) for e in entries(x, table, dim)]
    k = shape.branches
    taus, rest = given[: shape.taus], given[shape.taus :]
    taus = taus * (k - 1) if shape.shared else taus
    theta, slope, intercept = rest[: k - 1], rest[k - 1 : 2 * k - 1], rest[2 * k - 1 :]
    lines = [torch.where(s == 0, c + 0 * s, s * y + c) for s, c in zip(slope, intercept, strict=True)]
    if k == 1:
        return (slope[0] * y + intercept[0]).to(x.dtype)
    above = [y > h for h in theta]
    if shape.hard:
        found = lines[0]
        for a, line in zip(above, lines[1:], strict=True):
            found = torch.where(a, line, found)
        return found.to(x.dtype)
    ups, downs = [], []
    for t, h, a in zip(taus, theta, above, strict=True):
        sharp = t == _INFINITY
        z = torch.where(sharp, 0.0, t) * (y - h)
        ups.append(torch.where(sharp, a.to(real), torch.sigmoid(z)))
        downs.append(torch.where(sharp, (~a).to(real), torch.sigmoid(-z)))
    total = product0(ops, downs[0], lines[0]) + product0(ops, ups[-1], lines[-1])
    for j in range(1, k - 1):
        # A difference of the smaller pair keeps its digits in both tails.
        right = y > (theta[j - 1] + theta[j]) / 2
        gate = torch.where(right, downs[j] - downs[j - 1], ups[j - 1] - ups[j])
        total = total + product0(ops, gate, lines[j])
    return total.to(x.dtype)


class Dispatched(torch.autograd.Function):
    """Calls the dispatcher."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Any, table: Any, numbers: Any, shape: Shape, dim: Any) -> Any:
        return torch.ops.gateproof.threshold_gate.default(
            x, table, numbers, shape.branches, shape.shared, shape.hard, dim
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:  # noqa: ARG004 - its signature
        x, table, ctx.numbers, ctx.shape, ctx.dim = inputs
        ctx.has_table = table is not None
        saved = (x,) if table is None else (x, table)
        ctx.save_for_backward(*saved)
        ctx.save_for_forward(*saved)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        (dy,) = grad_outputs
        x, table = ctx.saved_tensors if ctx.has_table else (*ctx.saved_tensors, None)
        shape, numbers_too = ctx.shape, ctx.needs_input_grad[1]
        if torch.is_grad_enabled():
            wanted: Any = [t for t, w in zip((x, table), ctx.needs_input_grad, strict=False) if w]
            with torch.enable_grad():
                y = smooth_value(x, table, ctx.numbers, shape, ctx.dim)
                found = iter(torch.autograd.grad(y, wanted, dy, create_graph=True))
            return (*(next(found) if w else None for w in ctx.needs_input_grad[:2]), None, None, None)
        dx, *rest = torch.ops.gateproof.threshold_gate_backward.default(
            dy, x, table, ctx.numbers, shape.branches, shape.shared, shape.hard, ctx.dim, numbers_too
        )
        return dx, rest[0] if rest else None, None, None, None

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        x, table = ctx.saved_tensors if ctx.has_table else (*ctx.saved_tensors, None)
        dx, dtable = grad_inputs[:2]
        real = real_type([x] if table is None else [x, table])
        graph = gradient_graph(ctx.shape, dtable is not None)
        given = [] if table is None else entries(x, table, ctx.dim)
        partials = composite(graph, [torch.ones_like(x), x], given, ctx.numbers, real, [])
        terms: list[Any] = [] if dx is None else [dx * partials[0]]
        if dtable is not None:
            moved = entries(x, dtable, ctx.dim)
            terms += [t * p for t, p in zip(moved, partials[1:], strict=True)]
        found: Any = sum(terms[1:], terms[0])
        return found.to(x.dtype)


class Traced(torch.autograd.Function):
    """In PyTorch's own operations, for a compiler to fuse with what stands around it."""

    @staticmethod
    def forward(x: Any, table: Any, numbers: Any, shape: Shape, dim: Any) -> Any:
        return computed_value(x, table, numbers, shape, dim)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:  # noqa: ARG004 - its signature
        x, table, ctx.numbers, ctx.shape, ctx.dim = inputs
        ctx.has_table = table is not None
        ctx.save_for_backward(*((x,) if table is None else (x, table)))

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        x, table = ctx.saved_tensors if ctx.has_table else (*ctx.saved_tensors, None)
        found = computed_gradients(
            grad_outputs[0], x, table, ctx.numbers, ctx.shape, ctx.dim, ctx.needs_input_grad[1]
        )
        return found[0], found[1] if len(found) > 1 else None, None, None, None
