"""Tensors of one shape as rows of equal length, so that a kernel needs one stride a tensor.

Views such as the halves of a packed tensor, transposed and expanded tensors are read where they are as long
as each is made of rows whose elements follow one another (or are one element repeated); what is not gets
copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Rows:
    """``rows`` times ``cols`` elements; of each tensor its row stride and the stride in a row, 0 or 1."""

    rows: int
    cols: int
    tensors: tuple[torch.Tensor, ...]
    strides: tuple[int, ...]
    units: tuple[int, ...]


#: Rows shorter than this, of a tensor that could be copied, cost more than the copy.
SHORT = 128


def rows(outputs: Sequence[torch.Tensor], inputs: Sequence[torch.Tensor]) -> Rows:
    """The common rows of tensors of one shape. Outputs are written to where they are; inputs may be copied.

    Raises ValueError where the outputs have no common rows.
    """
    order = order_of(outputs[0])
    outs, ins = ([t.permute(order) for t in part] for part in (outputs, inputs))
    own = merged(outs)
    if own is None or 0 in own.units:
        raise ValueError("outputs are made of rows whose elements follow one another")
    found = merged([*outs, *ins])
    if found is None or found.cols < min(SHORT, own.cols):
        # contiguous() in the outputs' order of dimensions: a row of a copy is a row of theirs.
        found = merged([*outs, *(t if _fits(outs, own, t) else t.contiguous() for t in ins)])
    if found is None:
        found = merged([*outs, *(t.contiguous() for t in ins)])
    assert found is not None
    return found


def _fits(outs: Sequence[torch.Tensor], own: Rows, t: torch.Tensor) -> bool:
    both = merged([*outs, t])
    return both is not None and both.cols >= min(SHORT, own.cols)


def order_of(t: torch.Tensor) -> list[int]:
    """Dimensions from the largest stride to the smallest."""
    strides = t.stride()
    return sorted(range(t.dim()), key=lambda d: (-strides[d], d))


def merged(tensors: Sequence[torch.Tensor], *, join: bool = True) -> Rows | None:
    """Dimensions that continue each other in all tensors joined; None where more than rows are left.

    Without ``join`` two dimensions stay the rows and columns that they are.
    """
    if not join:
        pairs = [(t.stride(0), t.stride(1)) for t in tensors]
        shape = tensors[0].shape
        return Rows(
            shape[0], shape[1], tuple(tensors), tuple(a for a, _ in pairs), tuple(b for _, b in pairs)
        )
    sizes: list[int] = []
    strides: list[list[int]] = []
    for d, size in enumerate(tensors[0].shape):
        if size == 1:
            continue
        here = [t.stride(d) for t in tensors]
        if sizes and all(before == size * now for before, now in zip(strides[-1], here, strict=True)):
            sizes[-1] *= size
            strides[-1] = here
        else:
            sizes.append(size)
            strides.append(here)
    if not sizes:
        return Rows(1, 1, tuple(tensors), (0,) * len(tensors), (1,) * len(tensors))
    if any(s not in (0, 1) for s in strides[-1]):
        # Rows of one element.
        sizes.append(1)
        strides.append([1] * len(tensors))
    if len(sizes) > 2:
        return None
    outer = (1, [0] * len(tensors)) if len(sizes) == 1 else (sizes[0], strides[0])
    return Rows(outer[0], sizes[-1], tuple(tensors), tuple(outer[1]), tuple(strides[-1]))
