"""Products with a layer's weights: the general one, or oneDNN's.

A step multiplies a few rows by a matrix that stays the same for all times, which oneDNN does twice as fast
with the matrix laid out for it beforehand as the general product does. PyTorch computes LSTM layers with
oneDNN and the other cells with the general product; with the same one the results have the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

Tensor = torch.Tensor
#: Fewer calls do not pay for laying the matrix out.
_WORTH = 6


def autocast(x: Tensor) -> bool:
    """Whether autocast is at work on x's device."""
    kind = x.device.type
    return torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind)


def as_they_are(x: Tensor) -> AbstractContextManager[Any]:
    """A block in which autocast changes no types on x's device."""
    return torch.autocast(x.device.type, enabled=False) if autocast(x) else nullcontext()


def onednn(x: Tensor, calls: int) -> bool:
    """Whether oneDNN is to be used for float32 on this device and is worth it for so many calls."""
    return (
        calls >= _WORTH
        and x.device.type == "cpu"
        and x.dtype == torch.float32
        and torch.backends.mkldnn.is_available()
        and torch._C._get_mkldnn_enabled()
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    )


def linear(x: Tensor, w: Tensor, b: Tensor | None = None, *, fast: bool) -> Tensor:
    """W x + b for the rows of x."""
    if fast and x.shape[0] > 1 and w.numel():
        made: Tensor = torch.ops.mkldnn._linear_pointwise.default(x, w, b, "none", [], "")
        return made
    return torch.nn.functional.linear(x, w, b)


def repeated(w: Tensor, b: Tensor | None, rows: int, *, fast: bool) -> Callable[[Tensor], Tensor]:
    """``linear`` with the same W and b, for calls of so many rows."""
    if fast and rows > 1 and w.numel():
        packed = torch.ops.mkldnn._reorder_linear_weight.default(w.contiguous(), rows)
        run = torch.ops.mkldnn._linear_pointwise.default
        return lambda x: run(x, packed, b, "none", [], "")
    plain = torch.nn.functional.linear
    return lambda x: plain(x, w, b)
