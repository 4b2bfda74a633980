"""The two-sided gate as a module: thresholds that stay positive, started at a wanted rate of zeros."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, inf
from typing import Any, get_args

import torch
from torch import nn

from gateproof.kernels.arguments import check, choice_of, dimension, flag, number
from gateproof.kernels.soft_threshold import soft_threshold
from gateproof.kernels.soft_threshold_graph import Gradient

EPS = 1e-6


def delta_of(alpha: torch.Tensor, eps: float = EPS) -> torch.Tensor:
    """softplus(alpha) + eps, in float32 or float64 (two-sided gate, formula 3).

    Not rounded to a 16-bit alpha's type, in which eps would be lost. The range is (eps, infinity).
    """
    real = torch.float64 if alpha.dtype == torch.float64 else torch.float32
    wide = alpha.to(real)
    # torch's own softplus is the identity from 20 on, which is short of float64.
    return torch.logaddexp(wide, torch.zeros_like(wide)) + eps


def alpha_of(delta: torch.Tensor, eps: float = EPS) -> torch.Tensor:
    """The alpha of a threshold: y + log(1 - exp(-y)) with y = delta - eps, which does not overflow.

    Float64 inside, so that the difference keeps its digits; in float32 or float64 outside. Raises ValueError
    for thresholds up to eps, which belong to no alpha, and for what is not finite.
    """
    real = torch.float64 if delta.dtype == torch.float64 else torch.float32
    y = delta.detach().to(torch.float64) - eps
    if not bool(((y > 0) & torch.isfinite(y)).all()):
        raise ValueError(f"thresholds are finite and greater than eps = {eps}, found {delta.tolist()}")
    return (y + torch.log(-torch.expm1(-y))).to(real)


def delta_for_rate(
    x: torch.Tensor, rate: float, *, per_channel: bool = False, channel_dim: int = -1
) -> torch.Tensor:
    """The least threshold that puts at least the share ``rate`` of x to zero: a quantile of |x|.

    Of the absolute values, not of x, whose low quantiles are negative; an element of |x|, not interpolated.
    Scalar, or one a channel. The zeros are more than asked for where several |x| equal it. Raises ValueError
    for a rate outside of (0, 1), an empty x and not-a-number.
    """
    name = "delta_for_rate"
    check(name, "x", x, x)
    if flag(name, "per_channel", per_channel):
        channel_dim = dimension(name, "channel_dim", channel_dim, x)
    if not 0 < number(name, "rate", rate) < 1:
        raise ValueError(f"the rate of zeros is between 0 and 1, found {rate}")
    sizes = x.detach().abs()
    flat = sizes.movedim(channel_dim, 0).flatten(1) if per_channel else sizes.reshape(1, -1)
    if not flat.shape[1] or x.is_meta or bool(torch.isnan(flat).any()):
        raise ValueError(
            "a threshold for a rate of zeros needs numbers, found an empty tensor or not-a-number"
        )
    # 0.3 of 10 are 3 elements, whatever 0.3*10 rounds to.
    place = ceil(Fraction(rate).limit_denominator(10**9) * flat.shape[1])
    found = flat.kthvalue(place, dim=1).values
    return found if per_channel else found.reshape(())


class SoftThreshold(nn.Module):
    """The two-sided gate with its own threshold, softplus(alpha) + eps, or one a channel.

    ``delta_init`` is a number or a tensor of thresholds greater than eps; ``learnable`` makes alpha a
    parameter. With ``track`` the module counts zeros and elements, for ``zero_rate()``, until ``reset()``.
    """

    zeros: torch.Tensor
    seen: torch.Tensor
    gradient: Gradient

    def __init__(
        self,
        delta_init: float | torch.Tensor,
        sharpness: float,
        gradient: Gradient = "surrogate",
        *,
        channel_dim: int = -1,
        eps: float = EPS,
        learnable: bool = True,
        track: bool = False,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        choice_of(name, "gradient", gradient, get_args(Gradient))
        self.sharpness, self.eps = number(name, "sharpness", sharpness), number(name, "eps", eps)
        if not (0 < self.sharpness < inf and 0 <= self.eps < inf):
            raise ValueError(
                f"{name}: sharpness is positive and finite, eps finite and >= 0, found {sharpness} and {eps}"
            )
        if isinstance(channel_dim, bool) or not isinstance(channel_dim, int):
            raise TypeError(f"{name}: channel_dim is a whole number, found {channel_dim!r}")
        self.gradient, self.channel_dim, self.track = gradient, channel_dim, flag(name, "track", track)
        flag(name, "learnable", learnable)
        if isinstance(delta_init, torch.Tensor):
            check(name, "delta_init", delta_init, delta_init)
            wanted = delta_init
        else:
            wanted = torch.tensor(number(name, "delta_init", delta_init), dtype=torch.float32)
        if wanted.dim() > 1:
            raise ValueError(f"{name}: thresholds have at most one dimension, found {tuple(wanted.shape)}")
        self.alpha = nn.Parameter(alpha_of(wanted, self.eps), requires_grad=learnable)
        self.register_buffer("zeros", torch.zeros(wanted.shape, dtype=torch.int64))
        self.register_buffer("seen", torch.zeros((), dtype=torch.int64))

    @classmethod
    def for_rate(
        cls, x: torch.Tensor, rate: float, sharpness: float, *, per_channel: bool = False, **options: Any
    ) -> SoftThreshold:
        """Thresholds that put at least the share ``rate`` of activations x to zero (the source: 0.2)."""
        found = delta_for_rate(x, rate, per_channel=per_channel, channel_dim=options.get("channel_dim", -1))
        real = torch.float64 if found.dtype == torch.float64 else torch.float32
        found = found.to(real)
        made = cls(found, sharpness, **options)
        with torch.no_grad():
            # The threshold is an element of |x|: rounded below it, that element would survive.
            while bool((short := made.delta < found).any()):
                up = torch.full_like(made.alpha, float("inf"))
                made.alpha.copy_(torch.where(short, torch.nextafter(made.alpha, up), made.alpha))
        return made

    @property
    def delta(self) -> torch.Tensor:
        """The thresholds, differentiable in alpha."""
        return delta_of(self.alpha, self.eps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The gate of x, in its shape and type."""
        made = soft_threshold(
            x,
            self.delta,
            self.sharpness,
            self.gradient,
            channel_dim=self.channel_dim,
            return_stats=self.track,
        )
        if not self.track:
            return made  # type: ignore[no-any-return]
        y, zeros = made
        self.zeros += zeros
        self.seen += x.numel() // max(self.alpha.numel(), 1)
        return y  # type: ignore[no-any-return]

    def zero_rate(self) -> torch.Tensor:
        """The share of zeros seen, in float64: one, or one a channel; not-a-number before the first."""
        return self.zeros.to(torch.float64) / self.seen

    def reset(self) -> None:
        """Forget what was counted."""
        self.zeros.zero_()
        self.seen.zero_()

    def extra_repr(self) -> str:
        """What was chosen."""
        return f"sharpness={self.sharpness}, gradient={self.gradient!r}, thresholds={self.alpha.numel()}"
