"""``gateproof::threshold_gate``: a gate with K branches whose numbers are tensors or constants.

The numbers of a gate (sharpnesses, thresholds, slopes, intercepts) come as one table, a row for the whole
tensor or one a channel, or as plain numbers. Their gradients are summed from partial sums in float64, so that
they do not depend on the order in which programs run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from gateproof.kernels import choice
from gateproof.kernels.composite import composite, maybe_compiled, real_type
from gateproof.kernels.gate_graph import Shape, gradient_graph, value_graph
from gateproof.kernels.launch import Table, launch
from gateproof.kernels.pointwise import LIBRARY

_ARGUMENTS = "Tensor? table, float[] numbers, int branches, bool shared, bool hard, int? dim"
LIBRARY.define(f"threshold_gate(Tensor x, {_ARGUMENTS}) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))
LIBRARY.define(
    f"threshold_gate_backward(Tensor dy, Tensor x, {_ARGUMENTS}, bool numbers_too) -> Tensor[]",
    tags=(torch.Tag.pt2_compliant_tag,),
)


def entries(x: torch.Tensor, table: torch.Tensor | None, dim: int | None) -> list[torch.Tensor]:
    """The columns of a table, shaped to be broadcast against x."""
    if table is None:
        return []
    if dim is None or table.shape[0] == 1:
        return [t.reshape(()) for t in table.unbind(1)]
    shape = [1] * x.dim()
    shape[dim] = table.shape[0]
    return [t.reshape(shape) for t in table.unbind(1)]


def _summed(
    x: torch.Tensor, values: Sequence[torch.Tensor], table: torch.Tensor, dim: int | None
) -> torch.Tensor:
    """Values summed for each row of the table: (rows, values)."""
    if dim is None or table.shape[0] == 1:
        sums = [v.sum(dtype=torch.float64).reshape(1) for v in values]
    else:
        others = [d for d in range(x.dim()) if d != dim % x.dim()]
        sums = [v.sum(others, dtype=torch.float64) if others else v.to(torch.float64) for v in values]
    return torch.stack(sums, 1).to(table.dtype)


def computed_value(
    x: torch.Tensor, table: torch.Tensor | None, numbers: Sequence[float], shape: Shape, dim: int | None
) -> torch.Tensor:
    """The value in PyTorch's own operations."""
    tensors = [x] if table is None else [x, table]
    return composite(value_graph(shape), [x], entries(x, table, dim), numbers, real_type(tensors), [x.dtype])[
        0
    ]


def computed_gradients(
    dy: torch.Tensor,
    x: torch.Tensor,
    table: torch.Tensor | None,
    numbers: Sequence[float],
    shape: Shape,
    dim: int | None,
    numbers_too: bool,
) -> list[torch.Tensor]:
    """The gradients in PyTorch's own operations: in x, and if wanted in the table."""
    real = real_type([dy, x] if table is None else [dy, x, table])
    graph = gradient_graph(shape, numbers_too)
    found = composite(graph, [dy, x], entries(x, table, dim), numbers, real, [x.dtype])
    if not numbers_too or table is None:
        return found[:1]
    return [found[0], _summed(x, found[1:], table, dim)]


def _value(
    x: torch.Tensor, table: Any, numbers: Any, branches: int, shared: bool, hard: bool, dim: int | None
) -> torch.Tensor:
    shape = Shape(branches, shared, hard)
    if choice.code_for(x.device.type) != "triton":
        found: torch.Tensor = maybe_compiled(computed_value, x.device.type)(x, table, numbers, shape, dim)
        return found
    out = torch.empty_like(x) if table is None or dim is None else _contiguous_like(x)
    if x.numel():
        launch(value_graph(shape), [out], [x], numbers, real_type([x]), _table(table, dim, x))
    return out


def _gradients(
    dy: torch.Tensor,
    x: torch.Tensor,
    table: Any,
    numbers: Any,
    branches: int,
    shared: bool,
    hard: bool,
    dim: int | None,
    numbers_too: bool,
) -> list[torch.Tensor]:
    shape = Shape(branches, shared, hard)
    if choice.code_for(x.device.type) != "triton":
        run = maybe_compiled(computed_gradients, x.device.type)
        made: list[torch.Tensor] = run(dy, x, table, numbers, shape, dim, numbers_too)
        return made
    out = torch.empty_like(x) if table is None or dim is None else _contiguous_like(x)
    sums = shape.width if numbers_too and table is not None else 0
    if not x.numel():
        return [out] if table is None or not sums else [out, torch.zeros_like(table)]
    graph = gradient_graph(shape, bool(sums))
    found = launch(graph, [out], [dy, x], numbers, real_type([dy, x]), _table(table, dim, x), sums)
    return [out] if found is None or table is None else [out, found.to(table.dtype)]


def _contiguous_like(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def _table(table: torch.Tensor | None, dim: int | None, x: torch.Tensor) -> Table | None:
    return (
        None if table is None else Table(table.contiguous(), None if dim is None else dim % max(x.dim(), 1))
    )


for _key in ("CPU", "CUDA"):
    LIBRARY.impl("threshold_gate", _value, _key)
    LIBRARY.impl("threshold_gate_backward", _gradients, _key)


@torch.library.register_fake("gateproof::threshold_gate", lib=LIBRARY)
def _fake(x: torch.Tensor, *_: Any) -> torch.Tensor:
    return torch.empty_like(x)


@torch.library.register_fake("gateproof::threshold_gate_backward", lib=LIBRARY)
def _fake_backward(_: torch.Tensor, x: torch.Tensor, table: Any, *rest: Any) -> list[torch.Tensor]:
    found = [torch.empty_like(x)]
    return [*found, torch.empty_like(table)] if rest[-1] and table is not None else found
