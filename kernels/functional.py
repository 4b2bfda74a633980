"""Gates and gated products on tensors: the functions that users call.

All compute in float32, or float64 where a tensor is, and round once to the type of the result. Each has first
derivatives from one fused kernel, second derivatives, forward mode, vmap and a compiled form.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import asinh, inf
from typing import Any

import torch

from gateproof.kernels import arguments, traced
from gateproof.kernels.attention_autograd import tg_attention as tg_attention
from gateproof.kernels.composite import real_type
from gateproof.kernels.gate_autograd import Dispatched, Traced
from gateproof.kernels.gate_graph import Shape
from gateproof.kernels.gate_op import GATE, PACKED, PRODUCT, GateOp
from gateproof.kernels.packed import check_packed
from gateproof.kernels.packed_op import Packed
from gateproof.kernels.pointwise import Pointwise
from gateproof.kernels.soft_threshold import soft_threshold as soft_threshold
from gateproof.kernels.softmax_autograd import tg_softmax as tg_softmax

Number = float | int
Numbers = Number | Sequence[Number] | torch.Tensor
MOST_BRANCHES = 16
_NAMES = ("tau", "theta", "slope", "intercept")
#: Where tanh*sech has its maximum.
_PEAK = asinh(1.0)

_SWIGLU = Pointwise("swiglu", "silu(g)*u", ("g", "u"))
_MEMGLU = Pointwise("memglu", "c0*memglu(g)*u", ("g", "u"), ("c0",))
_GEGLU = Pointwise("geglu", "gelu(g)*u", ("g", "u"))
_REMOVED = Pointwise("silu_hard_removal_glu", "silu_hard_removal(g, t)*u", ("g", "u"), ("t",))
_CAPPED = Pointwise("silu_positive_cap_glu", "silu_positive_cap(g, t)*u", ("g", "u"), ("t",))
_ATTENUATED = Pointwise(
    "silu_smooth_attenuation_glu", "silu_smooth_attenuation(g, t, w, b)*u", ("g", "u"), ("t", "w", "b")
)
_SWIGLU_PACKED, _MEMGLU_PACKED, _GEGLU_PACKED = Packed(_SWIGLU), Packed(_MEMGLU), Packed(_GEGLU)


def swiglu(g: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    """silu(g)*u: the SwiGLU product (Shazeer 2020), tensors broadcast to one shape."""
    return _SWIGLU(g, u)


def memglu(g: torch.Tensor, u: torch.Tensor, c0: float = 1.0) -> torch.Tensor:
    """c0*tanh(g)*sech(g)*u: the MemGLU product (MemGLU, Section 4); c0 is its calibrated scale."""
    return _MEMGLU(g, u, c0)


def geglu(g: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    """gelu(g)*u with the exact GELU (Shazeer 2020)."""
    return _GEGLU(g, u)


def silu_hard_removal_glu(g: torch.Tensor, u: torch.Tensor, t: float = _PEAK) -> torch.Tensor:
    """silu(g)*u up to g = t and 0 beyond it (MemGLU, Appendix E)."""
    return _REMOVED(g, u, t)


def silu_positive_cap_glu(g: torch.Tensor, u: torch.Tensor, t: float = _PEAK) -> torch.Tensor:
    """silu(min(g, t))*u (MemGLU, Appendix E)."""
    return _CAPPED(g, u, t)


def silu_smooth_attenuation_glu(
    g: torch.Tensor, u: torch.Tensor, t: float = _PEAK, w: float = 0.5, b: float = 1.0
) -> torch.Tensor:
    """silu(g)*u up to g = t, led over a width w > 0 into a tail that falls with rate b >= 0 (Appendix E)."""
    name = "silu_smooth_attenuation_glu"
    w, b = arguments.number(name, "w", w), arguments.number(name, "b", b)
    if not (w > 0 and b >= 0):
        raise ValueError(f"{name}: w > 0 and b >= 0, found w = {w} and b = {b}")
    return _ATTENUATED(g, u, t, w, b)


def swiglu_packed(x: torch.Tensor) -> torch.Tensor:
    """``swiglu`` of the first and the second half of x's last dimension, read in place; one gradient."""
    return _SWIGLU_PACKED(x)


def memglu_packed(x: torch.Tensor, c0: float = 1.0) -> torch.Tensor:
    """``memglu`` of the first and the second half of x's last dimension, read in place."""
    return _MEMGLU_PACKED(x, c0)


def geglu_packed(x: torch.Tensor) -> torch.Tensor:
    """``geglu`` of the first and the second half of x's last dimension, read in place."""
    return _GEGLU_PACKED(x)


def tg_glu(
    g: torch.Tensor,
    u: torch.Tensor,
    tau: Numbers,
    theta: Numbers,
    slope: Numbers,
    intercept: Numbers,
    *,
    channel_dim: int = -1,
) -> torch.Tensor:
    """``threshold_gate(g, ...)*u`` in one pass, tensors broadcast to one shape; the gate is not rounded."""
    arguments.check("tg_glu", "g", g, g)
    arguments.check("tg_glu", "u", u, g)
    g, u = arguments.one_shape("tg_glu", (g, u))
    return _gated(PRODUCT, (g, u), (tau, theta, slope, intercept), channel_dim)


def tg_glu_packed(
    x: torch.Tensor,
    tau: Numbers,
    theta: Numbers,
    slope: Numbers,
    intercept: Numbers,
    *,
    channel_dim: int = -1,
) -> torch.Tensor:
    """``tg_glu`` of the first and the second half of x's last dimension, read in place."""
    arguments.check("tg_glu_packed", "x", x, x)
    check_packed("tg_glu_packed", x)
    return _gated(PACKED, (x,), (tau, theta, slope, intercept), channel_dim)


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
    Raises ValueError for lengths that do not agree and a tau that is not positive. Values of tensors are not
    looked at: what keeps a tau positive that learns (an exponential, a softplus) is the caller's.
    """
    arguments.check("threshold_gate", "x", x, x)
    return _gated(GATE, (x,), (tau, theta, slope, intercept), channel_dim)


def _gated(
    p: GateOp, tensors: tuple[torch.Tensor, ...], given: tuple[Numbers, ...], channel_dim: int
) -> torch.Tensor:
    table: torch.Tensor | None = None
    dim: int | None = None
    if any(isinstance(v, torch.Tensor) for v in given):
        shape, table, dim = _table(p, tensors, given, channel_dim)
        numbers: list[float] = []
    else:
        shape, numbers = _numbers(p, *(_listed(p, *v) for v in zip(_NAMES, given, strict=True)))
    own = (p, shape, table, numbers, dim, *tensors)
    compiling = torch.compiler.is_compiling()
    found: torch.Tensor = traced.applied(Traced, *own) if compiling else Dispatched.apply(*own)
    return found


def _listed(p: GateOp, name: str, given: Any) -> list[float]:
    if isinstance(given, int | float):
        return [arguments.number(p.name, name, given)]
    if isinstance(given, list | tuple) or getattr(given, "ndim", 0) == 1:
        return [arguments.number(p.name, name, v) for v in given]
    if hasattr(given, "__float__") and not getattr(given, "ndim", 0):
        return [arguments.number(p.name, name, given)]
    raise TypeError(
        f"{p.name}: {name} is a number, a sequence of numbers or a tensor, found {arguments.said(given)}"
    )


def _checked(name: str, tau: int, theta: int, slope: int, intercept: int) -> int:
    """K, if the lengths agree."""
    k = slope
    if not 1 <= k <= MOST_BRANCHES:
        raise ValueError(f"{name}: 1 to {MOST_BRANCHES} branches, found {k} slopes")
    if intercept != k or theta != k - 1:
        raise ValueError(
            f"{name}: {k} slopes need {k} intercepts and {k - 1} thresholds, found {intercept} and {theta}"
        )
    if tau not in (1, k - 1):
        raise ValueError(f"{name}: one tau or {k - 1}, found {tau}")
    return k


def _numbers(
    p: GateOp, tau: list[float], theta: list[float], slope: list[float], intercept: list[float]
) -> tuple[Shape, list[float]]:
    k = _checked(p.name, len(tau), len(theta), len(slope), len(intercept))
    if any(not t > 0 for t in tau):
        raise ValueError(f"{p.name}: tau is positive, found {next(t for t in tau if not t > 0)}")
    # isinf takes no number that a compiler leaves open.
    hard = k > 1 and all(t == inf for t in tau)
    taus = [] if hard or k == 1 else tau
    numbers = [*taus, *theta, *slope, *intercept]
    return p.shape(k, len(tau) == 1, hard, numbers), numbers


def _table(
    p: GateOp, tensors: tuple[torch.Tensor, ...], given: tuple[Numbers, ...], channel_dim: int
) -> tuple[Shape, torch.Tensor, int | None]:
    """All numbers side by side: one row, or one a channel."""
    x = p.parts(tensors)[0]
    learned = [v for v in given if isinstance(v, torch.Tensor)]
    for name, v in zip(_NAMES, given, strict=True):
        if isinstance(v, torch.Tensor):
            arguments.check(p.name, name, v, x)
    # Plain numbers beside them lose nothing to a narrower type.
    real = real_type([*tensors, *learned])
    made = [
        v if isinstance(v, torch.Tensor) else x.new_tensor(_listed(p, name, v), dtype=real)
        for name, v in zip(_NAMES, given, strict=True)
    ]
    rows = [t.reshape(1, 1) if t.dim() == 0 else t.unsqueeze(0) if t.dim() == 1 else t for t in made]
    if any(t.dim() != 2 for t in rows):
        raise ValueError(f"{p.name}: numbers have one dimension, or two with the channels first")
    k = _checked(p.name, *(t.shape[1] for t in rows))
    channels = max(t.shape[0] for t in rows)
    dim = None
    if channels > 1:
        dim = arguments.dimension(p.name, "channel_dim", channel_dim, x)
        if x.shape[dim] != channels:
            raise ValueError(f"{p.name}: {channels} channels of numbers, {x.shape[dim]} of x in dim {dim}")
        rows = [t.expand(channels, -1) for t in rows]
    shape = p.shape(k, rows[0].shape[1] == 1, hard=False)
    return shape, torch.cat([rows[0][:, : shape.taus], *rows[1:]], 1), dim
