"""An LSTM whose five nonlinearities are gates of two branches of one family or another.

With g = sigmoid(tau (z - theta)) each is (1 - g)(s_1 z + c_1) + g (s_2 z + c_2), shared by the layer (TG_A).
sigmoid is tau = 1, c = (0, 1) and tanh is tau = 2, c = (-1, 1), both with s = 0: the *constant* family
(threshold gating, "Method", key design 1). Arms:

- ``baseline``: these numbers are fixed;
- ``constant``: tau, theta and c learn, s stays 0;
- ``slopes``: the three gates i, f, o learn s beside c, from s = 0, where it is the baseline: the family is
  left ("a learnable slope s_k brought in");
- ``multiplicative``: i, f, o have c = 0 and learn s from (0, 1), the family of SiLU; their biases start at 1
  where such a gate is open;
- ``slopes everywhere``: both tanh learn slopes too, so that no factor of the state is bounded.

The two tanh learn within the constant family in all arms but the first and the last.
"""

from __future__ import annotations

from math import log

import torch
from torch import nn
from torch.nn import functional as f

from gateproof.kernels.runs.tg_training_parts.resmlp import draw

FAMILIES = ("baseline", "constant", "slopes", "multiplicative", "slopes everywhere")
_GATES = 3
#: Rows of the numbers: input, forget and output gate, candidate, and what the state passes on its way out.
_ROWS = 5


def parameters(family: str, inputs: int, width: int, outputs: int) -> int:
    """Exact count."""
    learned = {
        "baseline": 0,
        "constant": 4 * _ROWS,
        "slopes": 4 * _ROWS + 2 * _GATES,
        "multiplicative": 4 * _ROWS,
        "slopes everywhere": 6 * _ROWS,
    }[family]
    return 4 * width * (inputs + width + 1) + outputs * (width + 1) + learned


class LSTM(nn.Module):
    """(strips, frames, inputs) to logits (frames, strips, outputs), one layer, forwards."""

    log_tau: torch.Tensor
    theta: torch.Tensor
    constant: torch.Tensor
    constant_gates: torch.Tensor
    slope: torch.Tensor

    def __init__(self, family: str, inputs: int, width: int, outputs: int, seed: int) -> None:
        super().__init__()
        if family not in FAMILIES:
            raise ValueError(f"family {family!r:.40}: there are {', '.join(FAMILIES)}")
        self.family, self.width = family, width
        self.read = nn.Parameter(torch.empty(4 * width, inputs))
        self.recur = nn.Parameter(torch.empty(4 * width, width))
        self.out = nn.Parameter(torch.empty(outputs, width))
        for name in ("read", "recur", "out"):
            draw(getattr(self, name), width, seed, f"lstm {name}")
        bias = torch.zeros(4 * width)
        bias[width : 2 * width] = 1
        if family == "multiplicative":
            bias[: _GATES * width] = 1
        self.bias, self.out_bias = nn.Parameter(bias), nn.Parameter(torch.zeros(outputs))
        self._number("log_tau", torch.tensor([0.0] * _GATES + [log(2)] * 2))
        self._number("theta", torch.zeros(_ROWS))
        two = torch.tensor([[-1.0, 1.0]] * 2)
        if family == "multiplicative":
            self.register_buffer("constant_gates", torch.zeros(_GATES, 2))
        else:
            self._number("constant_gates", torch.tensor([[0.0, 1.0]] * _GATES))
        self._number("constant", two)
        slopes = {"slopes": _GATES, "multiplicative": _GATES, "slopes everywhere": _ROWS}.get(family, 0)
        start = [0.0, 1.0] if family == "multiplicative" else [0.0, 0.0]
        self._number("slope", torch.tensor([start] * slopes).reshape(slopes, 2))

    def _number(self, name: str, value: torch.Tensor) -> None:
        if self.family == "baseline" or not value.numel():
            self.register_buffer(name, value)
        else:
            self.register_parameter(name, nn.Parameter(value))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits."""
        h, sloped = self.width, len(self.slope)
        tau, theta = self.log_tau.exp(), self.theta
        low, step = _ends(torch.cat([self.constant_gates, self.constant]))
        first, rise = _ends(f.pad(self.slope, (0, 0, 0, _ROWS - sloped)))
        t4, h4, l4, d4, s4, r4 = (
            v[: _ROWS - 1].repeat_interleave(h) for v in (tau, theta, low, step, first, rise)
        )
        read = f.linear(x, self.read, self.bias).unbind(1)
        hidden = state = x.new_zeros(x.shape[0], h)
        seen = []
        for frame in read:
            z = torch.addmm(frame, hidden, self.recur.t())
            g = torch.sigmoid(t4 * (z - h4))
            y = (l4 + s4 * z) + g * (d4 + r4 * z) if sloped else l4 + g * d4
            i, forget, o, new = y.chunk(4, 1)
            state = forget * state + i * new
            g = torch.sigmoid(tau[4] * (state - theta[4]))
            if sloped == _ROWS:
                passed = (low[4] + first[4] * state) + g * (step[4] + rise[4] * state)
            else:
                passed = low[4] + g * step[4]
            hidden = o * passed
            seen.append(hidden)
        return f.linear(torch.stack(seen), self.out, self.out_bias)


def _ends(pairs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return pairs[:, 0], pairs[:, 1] - pairs[:, 0]
