"""Silero VAD for 16 kHz as a plain torch module, with the weights of the script (package silero-vad)."""

from __future__ import annotations

from typing import Any

import silero
import torch
from harness.network import Call, Network
from torch import nn
from torch.nn.functional import pad

CONTEXT = 64


class Silero(nn.Module):
    """The layers that the script runs at 16 kHz, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.stft_conv = nn.Conv1d(1, 258, 256, stride=128, bias=False)
        self.conv1 = nn.Conv1d(129, 128, 3, padding=1)
        self.conv2 = nn.Conv1d(128, 64, 3, stride=2, padding=1)
        self.conv3 = nn.Conv1d(64, 64, 3, stride=2, padding=1)
        self.conv4 = nn.Conv1d(64, 128, 3, padding=1)
        self.lstm_cell = nn.LSTMCell(128, 128)
        self.final_conv = nn.Conv1d(128, 1, 1)
        self.reset_states()

    def reset_states(self) -> None:
        """Forget what was heard."""
        self.context: torch.Tensor | None = None
        self.state: tuple[torch.Tensor, torch.Tensor] | None = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Probability of speech (batch, 1) in a chunk (batch, 512)."""
        heard = torch.zeros_like(x[:, :CONTEXT]) if self.context is None else self.context
        x = torch.cat([heard, x], dim=1)
        self.context = x[:, -CONTEXT:]
        x = self.stft_conv(pad(x, (0, 64), mode="reflect")[:, None])
        real, imaginary = x[:, :129], x[:, 129:]
        x = (real**2 + imaginary**2).sqrt()
        for layer in (self.conv1, self.conv2, self.conv3, self.conv4):
            x = layer(x).relu()
        self.state = self.lstm_cell(x.squeeze(-1), self.state)
        return self.final_conv(self.state[0].relu()[:, :, None]).sigmoid().mean(2)


NAMES = {"stft_conv.weight": "stft.forward_basis_buffer"}
NAMES |= {f"conv{i + 1}.{w}": f"encoder.{i}.reparam_conv.{w}" for i in range(4) for w in ("weight", "bias")}
NAMES |= {f"lstm_cell.{w}": f"decoder.rnn.{w}" for w in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")}
NAMES |= {f"final_conv.{w}": f"decoder.decoder.2.{w}" for w in ("weight", "bias")}


def build() -> nn.Module:
    """The module with its weights."""
    weights = silero.build().state_dict()
    model = Silero()
    model.load_state_dict({ours: weights[f"_model.{theirs}"] for ours, theirs in NAMES.items()})
    return model.eval()


def calls() -> list[Call]:
    """The chunks that the script gets."""
    return [Call(call.args[:1]) for call in silero.calls()]


def reference(_calls: Any) -> list[torch.Tensor]:
    """What the script itself answers."""
    script = silero.build()
    silero.NETWORK.reset(script)
    with torch.no_grad():
        return [script(*call.args) for call in silero.calls()]


NETWORK = Network(
    "convolutions and an LSTM cell, 16 kHz",
    build,
    calls,
    silero.metric,
    reset=lambda model: model.reset_states(),
    reference=reference,
)
