"""The paper's four tiers as modules: a linear layer or convolution with a threshold gate on its inputs.

Threshold gating, "Method": a_j = sum_i sum_k g_k(x_i)(w_ji^(k) x_i + c_ji^(k)) + b_j, and "Training strategy"
for what each tier shares. Each starts as layer(activation(x)) and has exactly the parameters that
``theory.cost_ladder.cost`` counts:

- ``General``: all K slopes, K constants, thresholds and sharpness for each weight;
- ``TG_S``: K weights and K constants for each weight, gates shared, the bias absorbed in the constants;
- ``TG_W``: K weight matrices and the bias, gates shared; no constants, so the multiplicative family only;
- ``TG_A``: the layer as it was behind one gate (or one a channel), all of whose numbers learn.

tau = exp(log_tau) stays positive. An activation in front of a layer and one behind the layer before it are
the same network (the paper's cascade); the convolution's padding is 0 behind the activation in both.
"""

from __future__ import annotations

from math import log
from typing import Any, Self

import torch
from torch import nn
from torch.nn import functional as f

from gateproof.kernels import functional
from gateproof.kernels.convert.tier_start import CONVOLVED, Numbers, start
from gateproof.kernels.convert.tier_start import shape_of as shape_of

#: Elements that General works on at once.
_AT_ONCE = 1 << 24


class Tier(nn.Module):
    """What the tiers share: the layer's shape, how it is applied, its gates."""

    log_tau: torch.Tensor
    theta: torch.Tensor
    weight: torch.Tensor
    bias: torch.Tensor | None

    def __init__(
        self, layer: Any, numbers: Numbers, *, scope: str = "layer", sharpness: str = "shared",
        families: str = "freed",
    ) -> None:  # fmt: skip
        super().__init__()
        shape_of(layer)
        if getattr(layer, "padding_mode", "zeros") != "zeros":
            raise ValueError(f"padding mode {layer.padding_mode!r}: inputs are padded with zeros here")
        if scope not in ("layer", "channel") or sharpness not in ("shared", "separate"):
            raise ValueError(f"scope is layer or channel, sharpness shared or separate: {scope}, {sharpness}")
        tau, self.start_theta, self.slope_at, self.intercept_at = numbers
        self.start_tau = tau if sharpness == "separate" or len(set(tau)) > 1 else tau[:1]
        if sharpness == "separate" and len(tau) == 1:
            self.start_tau = tau * (self.branches - 1)
        self.scope, self.families = scope, families
        self.channel_dim = -1 if isinstance(layer, nn.Linear) else -(len(layer.kernel_size) + 1)
        self.channels = layer.in_features if isinstance(layer, nn.Linear) else layer.in_channels
        self.hyper = None if isinstance(layer, nn.Linear) else (
            layer.stride, layer.padding, layer.dilation, layer.groups
        )  # fmt: skip
        self.convolved = None if isinstance(layer, nn.Linear) else CONVOLVED[type(layer)]
        self._build(layer)

    @classmethod
    def from_linear(
        cls, layer: nn.Module, activation: str, *, branches: int = 2, tau: float | None = None, **options: Any
    ) -> Self:
        """layer(activation(x)) as this tier, to rounding (of a fitted gate: of the layer behind the gate).

        ``activation`` is a name or formula of the claim language; a gate that is exact has its own number of
        branches, others are fitted with ``branches``. ``tau``: the sharpness that a hard gate begins with.
        Options: ``scope`` 'layer' or 'channel', ``sharpness`` 'shared' or 'separate', ``families`` 'freed' or
        'kept' (slopes or constants that are all 0 do not learn). Raises ValueError for what has no such form.
        """
        return cls(layer, start(activation, branches, tau), **options)

    @property
    def branches(self) -> int:
        """K."""
        return len(self.slope_at)

    def _build(self, layer: Any) -> None:
        raise NotImplementedError

    def _gates(self, layer: Any, shape: tuple[int, ...] | None = None) -> None:
        """Thresholds and sharpness: one row, one a channel, or one for each weight."""
        rows = (self.channels,) if self.scope == "channel" else ()
        for name, values in (("log_tau", [log(t) for t in self.start_tau]), ("theta", self.start_theta)):
            row = layer.weight.new_tensor(values)
            full = row.expand(*rows, len(values)) if shape is None else row.reshape(-1, *[1] * len(shape))
            full = full if shape is None else full.expand(len(values), *shape)
            self.register_parameter(name, nn.Parameter(full.clone()))

    def _learned(self, name: str, value: torch.Tensor, *, fixed: bool = False) -> None:
        if fixed and self.families == "kept":
            self.register_buffer(name, value.detach().clone())
        else:
            self.register_parameter(name, nn.Parameter(value.detach().clone()))

    def _branches(self, layer: Any) -> None:
        w = layer.weight
        self._learned("weight", torch.stack([s * w for s in self.slope_at]), fixed=not any(self.slope_at))

    def _bias(self, layer: Any) -> None:
        self.register_parameter(
            "bias", None if layer.bias is None else nn.Parameter(layer.bias.detach().clone())
        )

    def gated(self, x: torch.Tensor, k: int, *, constant: bool) -> torch.Tensor:
        """g_k(x), or g_k(x) x."""
        one, none = [float(j == k) for j in range(self.branches)], [0.0] * self.branches
        lines = (none, one) if constant else (one, none)
        tau = self.log_tau.exp()
        return functional.threshold_gate(x, tau, self.theta, *lines, channel_dim=self.channel_dim)

    def applied(
        self, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
    ) -> torch.Tensor:
        """The linear part."""
        if self.convolved is None or self.hyper is None:
            return f.linear(x, weight, bias)
        return self.convolved(x, weight, bias, *self.hyper)


class TG_A(Tier):  # noqa: N801 - the paper's name
    """The layer behind a gate with all its numbers learning; the layer's weights are what they were."""

    slope: torch.Tensor
    intercept: torch.Tensor

    def _build(self, layer: Any) -> None:
        self._gates(layer)
        rows = (self.channels,) if self.scope == "channel" else ()
        for name, values in (("slope", self.slope_at), ("intercept", self.intercept_at)):
            full = layer.weight.new_tensor(values).expand(*rows, len(values))
            self._learned(name, full, fixed=not any(values))
        self.weight = nn.Parameter(layer.weight.detach().clone())
        self._bias(layer)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """layer(gate(x))."""
        y = functional.threshold_gate(
            x, self.log_tau.exp(), self.theta, self.slope, self.intercept, channel_dim=self.channel_dim
        )
        return self.applied(y, self.weight, self.bias)


class TG_W(Tier):  # noqa: N801 - the paper's name
    """K weight matrices, gates shared by all outputs."""

    def _build(self, layer: Any) -> None:
        if any(self.intercept_at):
            raise ValueError("TG_W has no constants: this gate's branches have some; TG_S has them")
        self._gates(layer)
        self._branches(layer)
        self._bias(layer)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """sum_k W_k (g_k x) + b."""
        y = self.applied(self.gated(x, 0, constant=False), self.weight[0], self.bias)
        for k in range(1, self.branches):
            y = y + self.applied(self.gated(x, k, constant=False), self.weight[k])
        return y


class TG_S(Tier):  # noqa: N801 - the paper's name
    """K weights and K constants for each weight; the constants hold the bias."""

    constant: torch.Tensor

    def _build(self, layer: Any) -> None:
        self._gates(layer)
        self._branches(layer)
        w = layer.weight
        c = torch.stack([a * w for a in self.intercept_at]) + _spread(layer)
        zero = not any(self.intercept_at) and layer.bias is None
        self._learned("constant", c, fixed=zero)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """sum_k W_k (g_k x) + C_k g_k."""
        parts = [
            self.applied(self.gated(x, k, constant=constant), (self.constant if constant else self.weight)[k])
            for k in range(self.branches)
            for constant in (False, True)
        ]
        return torch.stack(parts).sum(0)


def _spread(layer: Any) -> torch.Tensor:
    """The bias as constants that every output place reads in full: all gates sum to 1."""
    w = layer.weight
    held: torch.Tensor = torch.zeros_like(w, requires_grad=False)
    if layer.bias is None:
        return held
    if isinstance(layer, nn.Linear):
        held += (layer.bias.detach() / w.shape[1]).unsqueeze(1)
        return held
    if isinstance(layer.padding, str):
        raise ValueError("padding by name: give numbers, so that a tap inside of the input is known")
    place = []
    for size, pad, step in zip(layer.kernel_size, layer.padding, layer.dilation, strict=True):
        # The tap that reads the place itself is inside of the input at every output place.
        if pad % step or 2 * pad > step * (size - 1):
            raise ValueError(
                f"padding {pad} of a kernel of {size}: no tap is always inside; use TG_W or TG_A"
            )
        place.append(pad // step)
    held[(slice(None), slice(None), *place)] = (layer.bias.detach() / w.shape[1]).unsqueeze(1)
    return held


class General(Tier):
    """Branches and gates for each weight, worked out in pieces of the outputs."""

    constant: torch.Tensor

    def _build(self, layer: Any) -> None:
        if isinstance(layer, nn.Conv3d):
            raise ValueError("General takes Linear, Conv1d and Conv2d")
        self._gates(layer, tuple(layer.weight.shape))
        self._branches(layer)
        c = torch.stack([a * layer.weight for a in self.intercept_at])
        self._learned("constant", c, fixed=not any(self.intercept_at))
        self._bias(layer)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """sum_i sum_k g_kji(x_i)(w_kji x_i + c_kji) + b_j."""
        if self.hyper is None:
            y = self._summed(x.reshape(-1, x.shape[-1]), None)
            y = y.reshape(*x.shape[:-1], -1)
            return y if self.bias is None else y + self.bias
        image = x.unsqueeze(-2) if x.dim() == 3 else x
        stride, padding, dilation, groups = self.hyper
        flat = len(stride) == 1
        two = [(1, *v) if flat else v for v in (self.weight.shape[3:], stride, dilation)]
        pad = (0, *padding) if flat else padding
        kernel = two[0]
        unfold = {"kernel_size": kernel, "stride": two[1], "dilation": two[2], "padding": pad}
        patches = f.unfold(image, **unfold)
        inside = f.unfold(torch.ones_like(image[:1]), **unfold)
        b, _, places = patches.shape
        sizes = [
            (n + 2 * p - d * (k - 1) - 1) // s + 1
            for n, p, d, k, s in zip(image.shape[2:], pad, two[2], kernel, two[1], strict=True)
        ]
        rows = patches.transpose(1, 2).reshape(b * places, groups, -1)
        masks = inside.transpose(1, 2).expand(b, -1, -1).reshape(b * places, groups, -1)
        outputs = self.weight.shape[1] // groups
        y = torch.cat(
            [
                self._summed(rows[:, g], masks[:, g], slice(g * outputs, (g + 1) * outputs))
                for g in range(groups)
            ],
            1,
        )
        y = y.reshape(b, places, -1).transpose(1, 2).reshape(b, -1, *(sizes[1:] if flat else sizes))
        return y if self.bias is None else y + self.bias.reshape(-1, *[1] * len(stride))

    def _summed(
        self, x: torch.Tensor, inside: torch.Tensor | None, outputs: slice = slice(None)
    ) -> torch.Tensor:
        """Of rows of inputs; a place of padding adds nothing."""
        tau, theta, weight, constant = (
            t[:, outputs].flatten(2) for t in (self.log_tau.exp(), self.theta, self.weight, self.constant)
        )
        step = max(1, _AT_ONCE // max(1, x.numel()))
        found = []
        for j in range(0, weight.shape[1], step):
            some = slice(j, j + step)
            z = tau[:, some].unsqueeze(1) * (x[:, None] - theta[:, some].unsqueeze(1))
            opened, closed = torch.sigmoid(z), torch.sigmoid(-z)
            terms: Any = 0
            for k in range(self.branches):
                if k == 0:
                    g = closed[0]
                elif k == self.branches - 1:
                    g = opened[-1]
                else:
                    g = opened[k - 1] - opened[k]
                terms = terms + g * (weight[k, some] * x[:, None] + constant[k, some])
            found.append((terms if inside is None else terms * inside[:, None]).sum(-1))
        return torch.cat(found, 1)
