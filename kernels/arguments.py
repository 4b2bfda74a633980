"""What arguments of public functions may be: refused in one line that says what, where and what instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

_FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def check(operation: str, name: str, t: Any, first: Any) -> None:
    """Refuse what is no dense tensor of a floating type beside the first one."""
    if not isinstance(t, torch.Tensor):
        raise TypeError(f"{operation}: {name} is a tensor, found {type(t).__name__}")
    if t.dtype not in _FLOATS:
        raise TypeError(f"{operation}: {name} is of a floating type, found {t.dtype}")
    if t.layout != torch.strided:
        raise TypeError(f"{operation}: {name} is a dense tensor, found {t.layout}: use {name}.to_dense()")
    if t.device != first.device:
        raise ValueError(f"{operation}: {name} is on {t.device}, the first tensor on {first.device}")


def number(operation: str, name: str, value: Any) -> float:
    """A plain number, or what NumPy has for one. A tensor is refused: it would look as if it were learned."""
    if isinstance(value, int | float):
        return _float(operation, name, value)
    plain = hasattr(value, "__float__") and not getattr(value, "ndim", None)
    if isinstance(value, torch.Tensor) or not plain:
        raise TypeError(f"{operation}: {name} is a plain number, found {said(value)}")
    return _float(operation, name, value)


def _float(operation: str, name: str, value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{operation}: {name} is beyond the largest float") from None


def flag(operation: str, name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        raise TypeError(f"{operation}: {name} is True or False, found {said(value)}")
    return value


def choice_of(operation: str, name: str, value: Any, known: Sequence[str]) -> str:
    """One of some words."""
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{operation}: {name} is one of {', '.join(known)}, found {said(value)}")
    return value


def dimension(operation: str, name: str, dim: Any, t: torch.Tensor) -> int:
    """A dimension of a tensor, counted from its first."""
    if isinstance(dim, bool | torch.Tensor) or not (isinstance(dim, int) or hasattr(dim, "__index__")):
        raise TypeError(f"{operation}: {name} is a whole number, found {said(dim)}")
    if not -t.dim() <= dim < t.dim():
        raise ValueError(f"{operation}: {name} {dim} for a tensor of {t.dim()} dimensions")
    return int(dim) % t.dim()


def one_shape(operation: str, tensors: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
    """Tensors broadcast to one shape."""
    if all(t.shape == tensors[0].shape for t in tensors):
        return tensors
    most = max(t.dim() for t in tensors)
    for place in range(1, most + 1):
        sizes = [t.shape[-place] for t in tensors if t.dim() >= place and t.shape[-place] != 1]
        if any(s != sizes[0] for s in sizes):
            shapes = " and ".join(str(tuple(t.shape)) for t in tensors)
            raise ValueError(f"{operation}: tensors of shapes {shapes} have no common shape")
    found: Sequence[torch.Tensor] = torch.broadcast_tensors(*tensors)
    return found


def said(value: Any) -> str:
    """A value that can be seen at a glance, else what it is."""
    return (
        repr(value)
        if isinstance(value, str | int | float | tuple) and len(repr(value)) < 40
        else type(value).__name__
    )
