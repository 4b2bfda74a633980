"""Triton kernels of graphs, launched on rows."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch

from gateproof.kernels.graph import Graph
from gateproof.kernels.layout import Rows, merged, order_of, rows
from gateproof.kernels.start import lanes_of, start
from gateproof.kernels.triton_source import Roles, kernel_source, load

#: Elements and rows a program. No search for better ones at run time: it would run kernels on a user's data.
BLOCK, COLUMNS, CHUNK = 1024, 128, 64


@dataclass(frozen=True)
class Table:
    """Numbers of shape (1, width) for a whole tensor, or (channels, width) with the channels in ``dim``."""

    values: torch.Tensor
    dim: int | None


@lru_cache(maxsize=512)
def kernel_of(graph: Graph, roles: Roles) -> Any:
    """The kernel of a graph."""
    return load(kernel_source(graph, roles))


def bits(number: float) -> int:
    """A float64 as the whole number of its bits: Triton takes plain floats in single precision only."""
    found: int = struct.unpack("<q", struct.pack("<d", number))[0]
    return found


def launch(
    graph: Graph,
    outputs: Sequence[torch.Tensor],
    inputs: Sequence[torch.Tensor],
    numbers: Sequence[float],
    real: torch.dtype,
    table: Table | None = None,
    sums: int = 0,
) -> torch.Tensor | None:
    """Compute a graph's results into the outputs; one shape for all, on one device, not empty.

    The last ``sums`` results are summed for each row of the table: shape (channels or 1, sums), float64.
    """
    import triton.language as tl

    plan, period, columns = _plan(outputs, inputs, table)
    fast = real == torch.float32 and all(t.dtype.itemsize == 2 for t in outputs)
    roles = Roles(0 if table is None else table.values.shape[1], len(numbers), sums, columns, fast)
    most, threads = _sizes(roles)
    block = _block(plan.cols, most)
    blocks = -(-plan.cols // block)
    chunks = -(-plan.rows // CHUNK) if columns else plan.rows
    partial = (chunks, plan.cols, sums) if columns else (plan.rows * blocks, sums)
    # Every entry of it is written.
    found = torch.empty(partial, dtype=real, device=outputs[0].device) if sums else None
    start(
        outputs[0].device,
        kernel_of(graph, roles),
        (chunks * blocks,),
        *plan.tensors[: len(outputs)],
        *([] if found is None else [found]),
        *plan.tensors[len(outputs) :],
        *([] if table is None else [table.values]),
        *(bits(n) for n in numbers),
        plan.cols,
        blocks,
        plan.rows,
        period,
        *plan.strides,
        0 if table is None else table.values.stride(0),
        *plan.units[len(outputs) :],
        WHOLE=plan.cols % block == 0,
        REAL=tl.float64 if real == torch.float64 else tl.float32,
        BLOCK=block,
        CHUNK=CHUNK,
        num_warps=max(1, threads // lanes_of(outputs[0].device)),
    )
    if found is None:
        return None
    if columns:
        return found.sum(0, dtype=torch.float64)
    # Rows run through the channels: programs of row r are those of channel r % period.
    return found.view(-1, period, blocks, sums).sum((0, 2), dtype=torch.float64)


def _plan(
    outputs: Sequence[torch.Tensor], inputs: Sequence[torch.Tensor], table: Table | None
) -> tuple[Rows, int, bool]:
    """The rows, how many of them have a table row of their own, and whether channels run along a row."""
    if table is None or table.dim is None or table.values.shape[0] == 1:
        return rows(outputs, inputs), 1, False
    # A dense tensor in the order of its strides is contiguous, channels_last too.
    order = order_of(outputs[0])
    tensors = [t.permute(order) for t in (*outputs, *inputs)]
    shape, dim = tensors[0].shape, order.index(table.dim)
    inner = shape[dim + 1 :].numel()
    wide = (shape[:dim].numel(), shape[dim]) if inner == 1 else (shape[: dim + 1].numel(), inner)
    plain = [_as_rows(t, wide, k >= len(outputs)) for k, t in enumerate(tensors)]
    found = merged(plain, join=False)
    assert found is not None
    return (found, 1, True) if inner == 1 else (found, shape[dim], False)


def _as_rows(t: torch.Tensor, wide: tuple[int, int], may_copy: bool) -> torch.Tensor:
    """A tensor as rows whose elements follow one another, or are one."""
    try:
        seen = t.view(wide)
    except RuntimeError:
        seen = None
    if seen is not None and (seen.stride(1) in (0, 1) or wide[1] == 1):
        return seen
    if not may_copy:
        raise ValueError(
            "with a table of channels, outputs are made of rows whose elements follow one another"
        )
    return t.contiguous().view(wide)


def _sizes(roles: Roles) -> tuple[int, int]:
    """Elements and threads of a program.

    Eight elements a thread fill 128 bits in 16-bit types. A gate with more numbers has fewer, since each
    number, or each number of each of a thread's channels, takes registers: the table of ``gateproof kernels
    compile`` has no spills with these sizes, and has them with the next larger ones.
    """
    numbers = roles.entries + roles.numbers
    if roles.columns:
        return COLUMNS, 32 if numbers <= 6 else 64 if numbers <= 24 else 128
    if numbers <= 12:
        return BLOCK, 128
    return (BLOCK // 2, 128) if numbers <= 24 else (BLOCK // 4, 128)


def _block(cols: int, most: int) -> int:
    """A power of two, no larger than it needs to be."""
    return min(most, max(16, 1 << (cols - 1).bit_length()))
