"""The decoder-only model of the paper, to the parameter.

Pre-norm blocks x + attention(norm(x)), x + ffn(norm(x)); a last norm; logits by the embedding itself. Norms
are x/sqrt(mean x^2 + 1e-6) with a learned factor (Zhang and Sennrich 2019). Queries and keys are turned by
position: the pair (k, k + d/2) of a head by the angle p 10000^(-2k/d) (Su 2021). All matrices start
N(0, s^2), norms at 1. What the paper leaves out (epsilon, base of the angles, one deviation for all matrices)
is the usual choice; its printed c0 tell s = 0.02 (the claim mem.c0.values).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional

from gateproof.kernels.runs.language_model_parts.gates import Glu
from gateproof.kernels.runs.language_model_parts.settings import Shape

EPSILON = 1e-6
BASE = 10_000.0
#: Sees an FFN at work: g, u, h = glu(g, u) and the update W_o h.
Watch = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor], None]


def rms_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Norm over the last dimension; in the type of x."""
    return functional.rms_norm(x, (x.shape[-1],), weight.to(x.dtype), EPSILON)


def angles(context: int, width: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosine and sine of shape (context, width/2), from angles in float64."""
    k = torch.arange(width // 2, dtype=torch.float64)
    angle = torch.arange(context, dtype=torch.float64)[:, None] * BASE ** (-2 * k / width)
    return angle.cos().float(), angle.sin().float()


def rotated(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Queries or keys of shape (..., positions, width), each turned by its position."""
    first, second = x.float().chunk(2, -1)
    turned = torch.cat([first * cos - second * sin, second * cos + first * sin], -1)
    return turned.to(x.dtype)


class Block(nn.Module):
    """Attention and a gated FFN, each after a norm and added to its input."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        d, f = shape.width, shape.hidden
        self.heads = shape.heads
        self.attention_norm, self.ffn_norm = nn.Parameter(torch.ones(d)), nn.Parameter(torch.ones(d))
        self.qkv = nn.Linear(d, 3 * d, bias=False)
        self.out = nn.Linear(d, d, bias=False)
        self.gate, self.value = nn.Linear(d, f, bias=False), nn.Linear(d, f, bias=False)
        self.update = nn.Linear(f, d, bias=False)

    def forward(
        self, x: torch.Tensor, turn: tuple[torch.Tensor, torch.Tensor], glu: Glu, watch: Watch | None
    ) -> torch.Tensor:
        """The block's output for x of shape (batch, positions, width)."""
        b, t, d = x.shape
        parts = self.qkv(rms_norm(x, self.attention_norm)).view(b, t, 3, self.heads, -1)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(
            rotated(q, *turn), rotated(k, *turn), v, is_causal=True
        )
        x = x + self.out(mixed.transpose(1, 2).reshape(b, t, d))
        y = rms_norm(x, self.ffn_norm)
        g, u = self.gate(y), self.value(y)
        h = glu(g, u)
        dx = self.update(h)
        if watch is not None:
            watch(g, u, h, dx)
        found: torch.Tensor = x + dx
        return found


class Decoder(nn.Module):
    """Token ids of shape (batch, positions) to logits of shape (batch, positions, vocabulary)."""

    cos: torch.Tensor
    sin: torch.Tensor

    def __init__(self, shape: Shape, seed: int) -> None:
        super().__init__()
        self.shape = shape
        with torch.device("meta"):
            self.embedding = nn.Embedding(shape.vocabulary, shape.width)
            self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
            self.norm = nn.Parameter(torch.ones(shape.width))
        self.to_empty(device="cpu")
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for weight in self.parameters():
                if weight.dim() == 1:
                    weight.fill_(1.0)
                else:
                    weight.normal_(0.0, shape.deviation, generator=generator)
        cos, sin = angles(shape.context, shape.width // shape.heads)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def hidden(self, ids: torch.Tensor, glu: Glu, watch: Watch | None = None) -> torch.Tensor:
        """What the embedding turns into logits."""
        x: torch.Tensor = self.embedding(ids)
        turn = self.cos[: ids.shape[1]], self.sin[: ids.shape[1]]
        for block in self.blocks:
            x = block(x, turn, glu, watch)
        return rms_norm(x, self.norm)

    def forward(self, ids: torch.Tensor, glu: Glu, watch: Watch | None = None) -> torch.Tensor:
        """Logits."""
        return functional.linear(self.hidden(ids, glu, watch), self.embedding.weight)


def losses(model: Decoder, windows: torch.Tensor, glu: Glu, watch: Watch | None = None) -> torch.Tensor:
    """The mean loss in nats of predicting each next token of windows of shape (batch, context + 1)."""
    logits = model(windows[:, :-1], glu, watch)
    return functional.cross_entropy(logits.flatten(0, 1).float(), windows[:, 1:].flatten())
