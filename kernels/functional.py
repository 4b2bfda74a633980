"""Gates and gated products on tensors: the functions that users call.

All compute in float32, or float64 where a tensor is, and round once to the type of the result. Each has first
derivatives from one fused kernel, second derivatives, forward mode, vmap and a compiled form.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf
from typing import Any

import torch

from gateproof.kernels.gate_autograd import Dispatched, Traced
from gateproof.kernels.gate_graph import Shape, gradient_graph, value_graph
from gateproof.kernels.pointwise import Pointwise, check

Number = float | int
Numbers = Number | Sequence[Number] | torch.Tensor
MOST_BRANCHES = 16

_SWIGLU = Pointwise("swiglu", "silu(g)*u", ("g", "u"))
_MEMGLU = Pointwise("memglu", "c0*memglu(g)*u", ("g", "u"), ("c0",))
_GEGLU = Pointwise("geglu", "gelu(g)*u", ("g", "u"))


def swiglu(g: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    """silu(g)*u: the SwiGLU product (Shazeer 2020), tensors broadcast to one shape."""
    return _SWIGLU(g, u)


def memglu(g: torch.Tensor, u: torch.Tensor, c0: float = 1.0) -> torch.Tensor:
    """c0*tanh(g)*sech(g)*u: the MemGLU product (MemGLU, Section 4); c0 is its calibrated scale."""
    return _MEMGLU(g, u, c0)


def geglu(g: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    """gelu(g)*u with the exact GELU (Shazeer 2020)."""
    return _GEGLU(g, u)


def threshold_gate(
    x: torch.Tensor,
    tau: Numbers,
    theta: Numbers,
    slope: Numbers,
    intercept: Numbers,
    *,
    channel_dim: int = -1,
) -> torch.Tensor:
    """sum_k g_k (slope_k x + intercept_k), branches left to right (threshold gating, "Method").

    ``theta`` has K-1 numbers, ``slope`` and ``intercept`` K, up to 16; ``tau`` one or K-1, infinity for a
    hard gate, which belongs to its left branch at a threshold. Each is a number, a sequence or a tensor;
    tensors may have a leading dimension of channels, which are those of x in ``channel_dim``. The result has
    x's type.
    Raises ValueError for lengths that do not agree.
    """
    check("threshold_gate", "x", x, x)
    given = (tau, theta, slope, intercept)
    table: torch.Tensor | None = None
    if any(isinstance(p, torch.Tensor) for p in given):
        shape, table, dim = _table(x, given, channel_dim)
        numbers: list[float] = []
    else:
        shape, numbers = _numbers(*(_listed(p) for p in given))
        dim = None
    kind = Traced if torch.compiler.is_compiling() else Dispatched
    found: torch.Tensor = kind.apply(x, table, numbers, shape, dim)
    return found


def _listed(p: Any) -> list[float]:
    return [float(p)] if isinstance(p, int | float) else [float(v) for v in p]


def _checked(tau: int, theta: int, slope: int, intercept: int) -> int:
    """K, if the lengths agree."""
    k = slope
    if not 1 <= k <= MOST_BRANCHES:
        raise ValueError(f"threshold_gate: 1 to {MOST_BRANCHES} branches, found {k} slopes")
    if intercept != k or theta != k - 1:
        raise ValueError(
            f"threshold_gate: {k} slopes need {k} intercepts and {k - 1} thresholds, "
            f"found {intercept} and {theta}"
        )
    if tau not in (1, k - 1):
        raise ValueError(f"threshold_gate: one tau or {k - 1}, found {tau}")
    return k


def _numbers(
    tau: list[float], theta: list[float], slope: list[float], intercept: list[float]
) -> tuple[Shape, list[float]]:
    k = _checked(len(tau), len(theta), len(slope), len(intercept))
    hard = k > 1 and all(isinf(t) and t > 0 for t in tau)
    shape = _ready(k, len(tau) == 1, hard)
    return shape, [*tau[: shape.taus], *theta, *slope, *intercept]


def _table(
    x: torch.Tensor, given: tuple[Numbers, ...], channel_dim: int
) -> tuple[Shape, torch.Tensor, int | None]:
    """All numbers side by side: one row, or one a channel."""
    tensors = [
        p if isinstance(p, torch.Tensor) else x.new_tensor(_listed(p), dtype=torch.float32) for p in given
    ]
    rows = [t.reshape(1, 1) if t.dim() == 0 else t.unsqueeze(0) if t.dim() == 1 else t for t in tensors]
    if any(t.dim() != 2 for t in rows):
        raise ValueError("threshold_gate: numbers have one dimension, or two with the channels first")
    k = _checked(*(t.shape[1] for t in rows))
    channels = max(t.shape[0] for t in rows)
    dim = None
    if channels > 1:
        if not -x.dim() <= channel_dim < x.dim():
            raise ValueError(
                f"threshold_gate: channel_dim {channel_dim} for a tensor of {x.dim()} dimensions"
            )
        dim = channel_dim % x.dim()
        if x.shape[dim] != channels:
            raise ValueError(
                f"threshold_gate: {channels} channels of numbers, {x.shape[dim]} of x in dim {dim}"
            )
        rows = [t.expand(channels, -1) for t in rows]
    shape = _ready(k, rows[0].shape[1] == 1, False)
    return shape, torch.cat([rows[0][:, : shape.taus], *rows[1:]], 1), dim


def _ready(branches: int, shared: bool, hard: bool) -> Shape:
    """The shape, its graphs made: compiled code must find them ready."""
    shape = Shape(branches, shared, hard)
    if not torch.compiler.is_compiling():
        value_graph(shape)
        for numbers_too in (True, False):
            gradient_graph(shape, numbers_too)
    return shape
