"""Linear layers behind gates of two branches, in plain PyTorch operations.

The same parameters and functions as :mod:`gateproof.kernels.convert.tiers`, without its correctly rounded
operations, which on CPUs cost several times a plain sigmoid: what is timed here is the cheapest form, which
favours the gates.
"""

from __future__ import annotations

import torch
from torch.nn import functional as f

from gateproof.kernels.convert.tier_start import Numbers
from gateproof.kernels.convert.tiers import TG_A, TG_W

#: Two branches that are the same line: a gate that starts as the identity.
IDENTITY: Numbers = ((1.0,), (0.0,), (1.0, 1.0), (0.0, 0.0))
#: silu(x) = x sigmoid(x), and GELU's gate of the paper ("Method", key design 1).
STARTS: dict[str, Numbers] = {
    "silu": ((1.0,), (0.0,), (0.0, 1.0), (0.0, 0.0)),
    "gelu": ((1.702,), (0.0,), (0.0, 1.0), (0.0, 0.0)),
}


class TwoMatrices(TG_W):
    """TG_W with K = 2: W_1 ((1 - g) x) + W_2 (g x) + b, g = sigmoid(tau (x - theta))."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Of rows of inputs."""
        opened = torch.sigmoid(self.log_tau.exp() * (x - self.theta)) * x
        return f.linear(x - opened, self.weight[0], self.bias) + f.linear(opened, self.weight[1])


class GatedInputs(TG_A):
    """TG_A with K = 2: W ((1 - g)(s_1 x + c_1) + g (s_2 x + c_2)) + b."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Of rows of inputs."""
        g = torch.sigmoid(self.log_tau.exp() * (x - self.theta))
        s, c = self.slope, self.intercept
        y = (s[0] * x + c[0]) + g * ((s[1] - s[0]) * x + (c[1] - c[0]))
        return f.linear(y, self.weight, self.bias)
