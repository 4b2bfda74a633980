"""Two small language models whose int8 projections end in a gate.

transformer: pre-norm blocks x + O attention(Q x', K x', V x') and x + D silu(U x'), x' = RMSNorm(x) with a
gain, causal attention, learned positions added to the embedding (a rotation of q and k would mix channels, so
that their zeros were lost before the scores). Gates stand behind Q, K, V, U and D.

state-space: blocks x + D silu(S h), h_t = a h_(t-1) + sqrt(1 - a^2) u_t, u = I x', with a in (0, 1)^states
trained as exp(-exp(nu)). Gates stand behind I (input), S (state) and D (output).

Every projection is int8 in weights and activations (a scale a token); embedding and head, tied, are float32.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log
from typing import Any, Literal

import torch
from torch import nn
from torch.nn import functional

from gateproof.kernels.quantised import QuantisedLinear
from gateproof.kernels.runs.two_sided_parts.gate import Gate
from gateproof.kernels.runs.two_sided_parts.scan import scan
from gateproof.kernels.runs.two_sided_parts.tally import Tally

Family = Literal["transformer", "state-space"]
GateArguments = dict[str, Any]


class Projection(nn.Module):
    """An int8 linear map without bias, then its gate (none: ``gate`` is None).

    ``seen`` is what came before the gate in the last pass, and ``begin``, if set, the rate of zeros at which
    the next pass sets the thresholds.
    """

    def __init__(self, name: str, inputs: int, outputs: int, gate: GateArguments | None) -> None:
        super().__init__()
        self.name, self.seen, self.begin = name, torch.empty(0), 0.0
        self.map = QuantisedLinear(inputs, outputs, bias=False)
        self.gate = None if gate is None else Gate(channels=outputs, **gate)

    def forward(self, h: torch.Tensor, tally: Tally | None) -> torch.Tensor:
        """y (..., outputs) of h (..., inputs)."""
        z: torch.Tensor = self.map(h)
        if tally is not None:
            tally.product(self.name, h, z.shape[-1])
        if self.gate is None:
            return z
        if self.begin:
            self.gate.start(z, self.begin)
        self.seen = z
        y: torch.Tensor = self.gate(z)
        if tally is not None:
            tally.events(self.name, y)
        return y


class Attention(nn.Module):
    """Causal attention; zeros of q, k and v reach its products."""

    def __init__(self, name: str, width: int, heads: int, gate: GateArguments) -> None:
        super().__init__()
        self.heads, self.norm = heads, nn.RMSNorm(width)
        self.q, self.k, self.v = (Projection(f"{name}.{part}", width, width, gate) for part in "qkv")
        self.out = Projection(f"{name}.out", width, width, None)

    def forward(self, x: torch.Tensor, tally: Tally | None) -> torch.Tensor:
        """x (batch, time, width) plus what attention adds."""
        h = self.norm(x)
        parts = [
            p(h, tally).unflatten(-1, (self.heads, -1)).transpose(1, 2) for p in (self.q, self.k, self.v)
        ]
        if tally is not None:
            tally.attention(*parts)
        q, k, v = parts
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        added: torch.Tensor = self.out(mixed.transpose(1, 2).flatten(2), tally)
        return x + added


class Mlp(nn.Module):
    """Up, SiLU, down; the zeros of up reach down, those of down are lost in the sum."""

    def __init__(self, name: str, width: int, hidden: int, gate: GateArguments) -> None:
        super().__init__()
        self.norm = nn.RMSNorm(width)
        self.up = Projection(f"{name}.up", width, hidden, gate)
        self.down = Projection(f"{name}.down", hidden, width, gate)

    def forward(self, x: torch.Tensor, tally: Tally | None) -> torch.Tensor:
        """x (batch, time, width) plus what the block adds."""
        added: torch.Tensor = self.down(functional.silu(self.up(self.norm(x), tally)), tally)
        return x + added


class StateSpace(nn.Module):
    """Input, diagonal recurrence, state, SiLU, output; the zeros of input reach the recurrence alone."""

    def __init__(self, name: str, width: int, states: int, gate: GateArguments) -> None:
        super().__init__()
        self.norm = nn.RMSNorm(width)
        self.input = Projection(f"{name}.input", width, states, gate)
        self.state = Projection(f"{name}.state", states, states, gate)
        self.output = Projection(f"{name}.output", states, width, gate)
        # Time constants from 1 to 64 tokens, evenly in their logarithm.
        self.nu = nn.Parameter(torch.linspace(-log(64.0), 0.0, states))

    def forward(self, x: torch.Tensor, tally: Tally | None) -> torch.Tensor:
        """x (batch, time, width) plus what the block adds."""
        u = self.input(self.norm(x), tally)
        rate = torch.exp(self.nu)
        # 1 - a^2 = -expm1(-2 rate) keeps its digits as a tends to 1.
        h = scan(torch.exp(-rate), torch.sqrt(-torch.expm1(-2 * rate)) * u)
        if tally is not None:
            tally.recurrence(h, u)
        added: torch.Tensor = self.output(functional.silu(self.state(h, tally)), tally)
        return x + added


class LanguageModel(nn.Module):
    """Logits (batch, time, vocabulary) of token ids (batch, time)."""

    def __init__(
        self, family: Family, *, vocabulary: int, context: int, width: int, layers: int, heads: int,
        hidden: int, states: int, gate: GateArguments, seed: int,
    ) -> None:  # fmt: skip
        super().__init__()
        self.embedding = nn.Parameter(torch.empty(vocabulary, width))
        self.positions = nn.Parameter(torch.empty(context, width)) if family == "transformer" else None
        self.blocks = nn.ModuleList()
        for i in range(layers):
            if family == "transformer":
                self.blocks += [Attention(f"{i}", width, heads, gate), Mlp(f"{i}", width, hidden, gate)]
            else:
                self.blocks.append(StateSpace(f"{i}", width, states, gate))
        self.norm = nn.RMSNorm(width)
        self._draw(seed)

    def _draw(self, seed: int) -> None:
        """The same for all gates: deviations 1/sqrt(inputs); over sqrt(blocks) where added to the stream."""
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for p in (self.embedding, self.positions):
                if p is not None:
                    p.normal_(0.0, p.shape[1] ** -0.5, generator=generator)
            for projection in self.projections():
                weight = projection.map.weight
                adds = projection.name.endswith(("out", "down", "output"))
                size = weight.shape[1] * (len(self.blocks) if adds else 1)
                weight.normal_(0.0, size**-0.5, generator=generator)

    def projections(self) -> Iterator[Projection]:
        """All projections, in the order in which they run."""
        return (m for m in self.modules() if isinstance(m, Projection))

    def gates(self) -> Iterator[Projection]:
        """Those of them with a gate's place, dense ones among them."""
        return (p for p in self.projections() if p.gate is not None)

    def start(self, tokens: torch.Tensor, rate: float) -> None:
        """Set all thresholds at a rate of zeros, each behind those that stand before it."""
        for p in self.gates():
            p.begin = rate
        with torch.no_grad():
            self(tokens)
        for p in self.gates():
            p.begin = 0.0

    def forward(self, tokens: torch.Tensor, tally: Tally | None = None) -> torch.Tensor:
        """The logits; ``tally`` counts the pass."""
        # Entries of size 1: else the first blocks' random outputs would drown the tokens.
        x = self.embedding[tokens] * self.embedding.shape[1] ** 0.5
        if self.positions is not None:
            x = x + self.positions[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x, tally)
        h: torch.Tensor = self.norm(x)
        if tally is not None:
            tally.product("head", h, self.embedding.shape[0], integers=False)
        return h @ self.embedding.T
