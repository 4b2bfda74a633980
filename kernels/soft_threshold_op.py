"""``gateproof::soft_threshold`` and its gradient: the two-sided gate, with the number of its zeros.

The threshold is a plain number or a tensor of shape (1,) or (channels,). Zeros and the threshold's
gradient are summed from partial sums in float64, so that they do not depend on the order in which programs
run; a partial count is at most 1024, and every number of zeros below 2**53 exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from gateproof.kernels import choice
from gateproof.kernels.composite import Results, laid_out, real_type, run
from gateproof.kernels.gate_op import entries, kept
from gateproof.kernels.graph import Graph
from gateproof.kernels.launch import Table, launch
from gateproof.kernels.pointwise import LIBRARY
from gateproof.kernels.soft_threshold_graph import gradient_graph, value_graph

_TAGS = (torch.Tag.pt2_compliant_tag,)


def _run(
    graph: Graph,
    inputs: Sequence[torch.Tensor],
    like: torch.Tensor,
    delta: torch.Tensor | None,
    numbers: Sequence[float],
    dim: int | None,
    summed: bool,
) -> list[torch.Tensor]:
    """One result in the shape, type and layout of ``like``, and one summed for each threshold."""
    table = None if delta is None else delta.reshape(-1, 1)
    dim = kept(table, dim, like.dim())
    real = real_type(inputs if table is None else [*inputs, table])
    if choice.code_for(like.device.type) != "triton":
        found = run(
            graph,
            inputs,
            entries(like, table, dim),
            numbers,
            real,
            Results((like.dtype,), False, summed, dim),
        )
        return [laid_out(like, found[0]), *(f.reshape(-1) for f in found[1:])]
    out = torch.empty_like(like)
    rows = 1 if table is None else table.shape[0]
    sums = torch.zeros(rows, 1, dtype=torch.float64, device=like.device) if summed else None
    if like.numel():
        given = None if table is None else Table(table.contiguous(), dim)
        made = launch(graph, [out], inputs, numbers, real, given, int(summed))
        sums = sums if made is None else made
    return [out] if sums is None else [out, sums.reshape(-1)]


def _value(x: Any, delta: Any, numbers: Any, dim: Any, counted: bool) -> list[torch.Tensor]:
    made = _run(value_graph(counted), [x], x, delta, numbers, dim, counted)
    return [made[0], *(m.to(torch.int64) for m in made[1:])]


def _backward(
    dy: Any, x: Any, delta: Any, numbers: Any, sharpness: float, gradient: Any, dim: Any, delta_too: bool
) -> list[torch.Tensor]:
    wanted = delta_too and delta is not None
    graph = gradient_graph(gradient, wanted)
    made = _run(graph, [dy, x], x, delta, [*numbers, sharpness], dim, wanted)
    dtype = x.dtype if delta is None else delta.dtype
    return [made[0], *(m.to(dtype) for m in made[1:])]


def _fake_value(x: Any, delta: Any, numbers: Any, dim: Any, counted: bool) -> list[torch.Tensor]:
    _ = numbers, dim
    rows = 1 if delta is None else delta.shape[0]
    counts = [x.new_empty((rows,), dtype=torch.int64)] if counted else []
    return [torch.empty_like(x), *counts]


def _fake_backward(dy: Any, x: Any, delta: Any, *rest: Any) -> list[torch.Tensor]:
    _ = dy
    return [torch.empty_like(x), *([torch.empty_like(delta)] if rest[-1] and delta is not None else [])]


def _vmapped(name: str, count: int, numbers_at: int, dim_at: int) -> Any:
    """The rule: batches of thresholds are channels of one tensor. Places are those among the arguments."""

    def rule(info: Any, dims: Any, *args: Any) -> Any:
        call, size = getattr(torch.ops.gateproof, name).default, info.batch_size

        def spread(t: torch.Tensor, d: int | None) -> torch.Tensor:
            return t.unsqueeze(0).expand(size, *t.shape) if d is None else t.movedim(d, 0)

        given, delta = list(args), args[count]
        tensors = [spread(t, d) for t, d in zip(args[:count], dims[:count], strict=True)]
        one, summed = tensors[0].dim() - 1, bool(args[-1])
        if dims[count] is None and not summed:
            place = None if args[dim_at] is None else args[dim_at] % max(one, 1) + 1
            given[:count], given[dim_at] = tensors, place
            found = call(*given)
            return found, [0] * len(found)
        if delta is None:
            numbers = list(args[numbers_at])
            real = torch.float64 if tensors[0].dtype == torch.float64 else torch.float32
            delta = torch.full((size, 1), numbers.pop(0), dtype=real, device=tensors[0].device)
            given[numbers_at] = numbers
            added = True
        else:
            delta, added = spread(delta, dims[count]), False
        rows = delta.shape[1]
        inner = kept(delta[0].reshape(-1, 1), args[dim_at], one)
        if inner is not None:
            tensors = [t.movedim(1 + inner, 1).flatten(0, 1) for t in tensors]
        given[:count], given[count], given[dim_at] = tensors, delta.flatten(), 0
        first, *rest = call(*given)
        first = first if inner is None else first.unflatten(0, (size, rows)).movedim(1, 1 + inner)
        rest = [] if added and name.endswith("backward") else [r.unflatten(0, (size, rows)) for r in rest]
        return [first, *rest], [0] * (1 + len(rest))

    return rule


LIBRARY.define(
    "soft_threshold(Tensor x, Tensor? delta, float[] numbers, int? dim, bool counted) -> Tensor[]", tags=_TAGS
)
LIBRARY.define(
    "soft_threshold_backward(Tensor dy, Tensor x, Tensor? delta, float[] numbers, float sharpness, "
    "str gradient, int? dim, bool delta_too) -> Tensor[]",
    tags=_TAGS,
)
for _key in ("CPU", "CUDA"):
    LIBRARY.impl("soft_threshold", _value, _key)
    LIBRARY.impl("soft_threshold_backward", _backward, _key)
torch.library.register_fake("gateproof::soft_threshold", _fake_value, lib=LIBRARY)
torch.library.register_fake("gateproof::soft_threshold_backward", _fake_backward, lib=LIBRARY)
torch.library.register_vmap("gateproof::soft_threshold", _vmapped("soft_threshold", 1, 2, 3), lib=LIBRARY)
torch.library.register_vmap(
    "gateproof::soft_threshold_backward", _vmapped("soft_threshold_backward", 2, 3, 6), lib=LIBRARY
)
VALUE = torch.ops.gateproof.soft_threshold.default
BACKWARD = torch.ops.gateproof.soft_threshold_backward.default
