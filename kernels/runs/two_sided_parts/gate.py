"""The two-sided gate behind a projection, as it is trained here.

Values and gradients are those of ``gateproof.kernels.soft_threshold``; in plain float32 operations a step of
training takes a fifteenth of its time on a CPU, where that one rounds every result once.
"""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import nn
from torch.nn.functional import softplus

from gateproof.kernels.soft_threshold_graph import Gradient
from gateproof.kernels.soft_threshold_module import alpha_of, delta_for_rate, delta_of

Thresholds = Literal["dense", "fixed", "trainable", "smooth"]
Per = Literal["projection", "channel"]


class _Gate(torch.autograd.Function):
    """sign(x) relu(|x| - delta), delta scalar or of x's last dimension, with a chosen gradient."""

    @staticmethod
    def forward(ctx: Any, x: Any, delta: Any, sharpness: float, gradient: Gradient) -> Any:
        ctx.save_for_backward(x, delta)
        ctx.sharpness, ctx.gradient = sharpness, gradient
        return x - torch.clamp(x, -delta, delta)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        (dy,), (x, delta) = grad_outputs, ctx.saved_tensors
        if ctx.gradient == "exact":
            slope = (x.abs() > delta).to(x.dtype)
        else:
            slope = torch.sigmoid_(x.abs().sub_(delta).mul_(ctx.sharpness))
        dx = dy * slope
        if not ctx.needs_input_grad[1]:
            return dx, None, None, None
        side = x.sign()
        moved = dx * side
        if ctx.gradient == "debiased":
            moved -= dy * side * torch.sigmoid(-ctx.sharpness * delta)
        rows = moved.reshape(-1, moved.shape[-1])
        return dx, -(rows.sum(0) if delta.dim() else rows.sum()), None, None


def gated(x: torch.Tensor, delta: torch.Tensor, sharpness: float, gradient: Gradient) -> torch.Tensor:
    """The gate of x (..., channels); ``delta`` is of shape () or (channels,), greater than 0.

    Gradients as in ``gateproof.kernels.soft_threshold``: two-sided gate, formulas 1 to 3.
    """
    call: Any = _Gate.apply
    found: torch.Tensor = call(x, delta, sharpness, gradient)
    return found


class Gate(nn.Module):
    """A gate with thresholds of its own: none, fixed ones, or trained ones.

    ``smooth`` has fixed ones, no zeros, and the shape of the gate: sign(z) (softplus(C (|z| - delta)) -
    softplus(-C delta))/C, whose slope is the surrogate. It tells what the zeros do from what the shape does.

    Thresholds are softplus(alpha) + 1e-6. ``start`` sets them from activations z (..., channels) at a rate of
    zeros; until then alpha is -oo and the gate all but the identity, which a dense one always is.
    """

    alpha: nn.Parameter | torch.Tensor

    def __init__(
        self, thresholds: Thresholds, per: Per, channels: int, sharpness: float, gradient: Gradient
    ) -> None:
        super().__init__()
        self.thresholds, self.per, self.sharpness = thresholds, per, sharpness
        self.gradient: Gradient = gradient
        if thresholds != "dense":
            alpha = torch.full((channels,) if per == "channel" else (), -torch.inf)
            if thresholds == "trainable":
                self.alpha = nn.Parameter(alpha)
            else:
                self.register_buffer("alpha", alpha)

    def delta(self) -> torch.Tensor:
        """The thresholds, differentiable in alpha."""
        return delta_of(self.alpha)

    def start(self, z: torch.Tensor, rate: float) -> None:
        """Thresholds at the quantile ``rate`` of |z| (the source: 0.2); each channel's own, if many."""
        if self.thresholds == "dense":
            return
        found = delta_for_rate(z, rate, per_channel=self.per == "channel")
        with torch.no_grad():
            self.alpha.copy_(alpha_of(found.clamp_min(2e-6)))

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """The gate of z."""
        if self.thresholds == "dense":
            return z
        if self.thresholds == "smooth":
            steep, delta = self.sharpness, self.delta()
            return z.sign() * (softplus(steep * (z.abs() - delta)) - softplus(-steep * delta)) / steep
        return gated(z, self.delta(), self.sharpness, self.gradient)

    def smooth_zeros(self, z: torch.Tensor) -> torch.Tensor:
        """The sum of sigmoid(C (delta - |z|)): the number of zeros with a gradient, in delta and in z."""
        return torch.sigmoid(self.sharpness * (self.delta() - z.abs())).sum()
