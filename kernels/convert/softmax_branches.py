"""Mish as its gate of three softmax branches, for a compiler to fuse.

With u = e^x the weights of the branches 0, x, x are 2 : 2u : u^2 (``theory.finite_gate_algebras`` finds
them), so that y = x n/(n + 2) with n = u (u + 2). Beyond x = 20 the first weight is below a rounding of
float32, beyond 40 of float64, and u is no longer let grow.
"""

from __future__ import annotations

import torch


def mish(x: torch.Tensor) -> torch.Tensor:
    """x tanh(softplus(x)), of x's type; computed in float32 or float64."""
    wide = x if x.dtype == torch.float64 else x.to(torch.float32)
    u = torch.exp(wide.clamp(max=40.0 if wide.dtype == torch.float64 else 20.0))
    n = u * (u + 2)
    return (wide * (n / (n + 2))).to(x.dtype)
