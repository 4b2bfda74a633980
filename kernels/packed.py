"""Both halves of one tensor, read and written where they are."""

from __future__ import annotations

import torch


def halves(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The first and the second half of the last dimension, as views."""
    n = x.shape[-1] // 2
    return x[..., :n], x[..., n:]


def check_packed(operation: str, x: torch.Tensor) -> None:
    """Refuse what has no halves."""
    if not x.dim() or x.shape[-1] % 2:
        raise ValueError(f"{operation}: the last dimension holds two halves, found shape {tuple(x.shape)}")
