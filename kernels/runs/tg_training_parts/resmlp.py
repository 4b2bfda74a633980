"""A ResMLP (Touvron et al. 2021, arXiv:2105.03404) with dense or gated channel layers, and its exact cost.

x + a mix(aff(x)) across tokens, x + b W_2 act(W_1 aff(x)) across channels, with affine maps aff and diagonal
scales a, b that start at 0.1. In TG_W and TG_A both channel layers read their inputs through gates: the
second starts as the activation, the first as the identity, so that a network of a tier is the dense one of
its activation before the first step. TG_W of expansion 1 has the matrices of the dense one of expansion 2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Literal

import torch
from torch import nn
from torch.nn import functional as f

from gateproof.kernels.runs.tg_training_parts.layers import IDENTITY, STARTS, GatedInputs, TwoMatrices
from gateproof.kernels.runs.tg_training_parts.streams import stream
from gateproof.theory.cost_ladder import Cost, Layer, cost, plain, total

CLASSES = 10
SCALE = 0.1
_TIERS: dict[str, type[TwoMatrices] | type[GatedInputs]] = {"TG_W": TwoMatrices, "TG_A": GatedInputs}
_ACTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {"relu": f.relu, "silu": f.silu, "gelu": f.gelu}


@dataclass(frozen=True)
class Arm:
    """What the channel layers are. ``drawn``: two independent matrices in place of the activation's start."""

    activation: str
    expansion: int
    tier: Literal["TG_W", "TG_A"] | None = None
    drawn: bool = False


ARMS: dict[str, Arm] = {
    "silu x1": Arm("silu", 1),
    "silu x2": Arm("silu", 2),
    "gelu x1": Arm("gelu", 1),
    "relu x1": Arm("relu", 1),
    "relu x2": Arm("relu", 2),
    "relu x3": Arm("relu", 3),
    "TG_W x1": Arm("silu", 1, "TG_W"),
    "TG_W x1 from gelu": Arm("gelu", 1, "TG_W"),
    "TG_W x1 drawn": Arm("silu", 1, "TG_W", drawn=True),
    "TG_A x1": Arm("silu", 1, "TG_A"),
}


@dataclass(frozen=True)
class Shape:
    """Patches of ``patch`` pixels a side of images of ``side``; ``width`` channels, ``blocks`` blocks."""

    side: int
    patch: int
    width: int
    blocks: int

    def __post_init__(self) -> None:
        """Patches tile the image."""
        if min(self.side, self.patch, self.width, self.blocks) < 1 or self.side % self.patch:
            raise ValueError(
                f"patches of {self.patch} pixels do not tile images of {self.side}: give a divisor of it"
            )

    @property
    def tokens(self) -> int:
        """Patches of an image."""
        return (self.side // self.patch) ** 2


def cost_of(arm: Arm, shape: Shape) -> Cost:
    """Exact parameters and multiply-adds of one image."""
    d, t = shape.width, shape.tokens
    outer = [plain(Layer("embed", d, shape.patch**2, positions=t)), plain(Layer("head", CLASSES, d))]
    channels = (
        Layer("in", arm.expansion * d, d, positions=t, reads=t),
        Layer("out", d, arm.expansion * d, positions=t, reads=t),
    )
    block = [plain(Layer("mix", t, t, positions=d)), Cost(6 * d, 0, 0, 0, 0)]  # two affine maps, two scales
    block += [plain(layer) if arm.tier is None else cost(layer, arm.tier) for layer in channels]
    return total([*outer, *block * shape.blocks, Cost(2 * d, 0, 0, 0, 0)])


class Affine(nn.Module):
    """alpha x + beta a channel."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.alpha, self.beta = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The map."""
        return torch.addcmul(self.beta, self.alpha, x)


class Block(nn.Module):
    """Tokens, then channels."""

    def __init__(self, arm: Arm, shape: Shape, seed: int, name: str) -> None:
        super().__init__()
        d, h = shape.width, arm.expansion * shape.width
        self.before, self.between = Affine(d), Affine(d)
        self.mix = linear(shape.tokens, shape.tokens, seed, f"{name} mix")
        self.scale_mix = nn.Parameter(torch.full((d,), SCALE))
        self.scale = nn.Parameter(torch.full((d,), SCALE))
        first, second = linear(d, h, seed, f"{name} in"), linear(h, d, seed, f"{name} out")
        self.act: Callable[[torch.Tensor], torch.Tensor] | None = None
        self.first: nn.Module = first
        self.second: nn.Module = second
        if arm.tier is None:
            self.act = _ACTS[arm.activation]
        else:
            kind = _TIERS[arm.tier]
            self.first, self.second = kind(first, IDENTITY), kind(second, STARTS[arm.activation])
            if arm.drawn:
                for layer, end in ((self.first, "in"), (self.second, "out")):
                    draw(layer.weight[0], layer.weight.shape[-1], seed, f"{name} {end} closed")
                    draw(layer.weight[1], layer.weight.shape[-1], seed, f"{name} {end}")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Of (images, tokens, channels)."""
        mixed = self.mix(self.before(x).transpose(1, 2)).transpose(1, 2)
        x = torch.addcmul(x, self.scale_mix, mixed)
        inner = self.first(self.between(x))
        return torch.addcmul(x, self.scale, self.second(inner if self.act is None else self.act(inner)))


class ResMLP(nn.Module):
    """Logits of (images, tokens, pixels). The same seed draws the same numbers for what arms share."""

    def __init__(self, arm: Arm, shape: Shape, seed: int) -> None:
        super().__init__()
        self.embed = linear(shape.patch**2, shape.width, seed, "embed")
        self.blocks = nn.Sequential(*(Block(arm, shape, seed, f"block {k}") for k in range(shape.blocks)))
        self.last = Affine(shape.width)
        self.head = linear(shape.width, CLASSES, seed, "head")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Class scores."""
        scores: torch.Tensor = self.head(self.last(self.blocks(self.embed(x))).mean(1))
        return scores


def linear(inputs: int, outputs: int, seed: int, name: str) -> nn.Linear:
    """A dense layer with PyTorch's distribution, uniform within 1/sqrt(inputs), drawn by seed and name."""
    with torch.device("meta"):
        layer = nn.Linear(inputs, outputs)
    layer.to_empty(device="cpu")
    draw(layer.weight, inputs, seed, name)
    draw(layer.bias, inputs, seed, f"{name} bias")
    return layer


def draw(value: torch.Tensor, inputs: int, seed: int, name: str) -> None:
    """Fill a tensor in place."""
    with torch.no_grad():
        value.uniform_(-1 / sqrt(inputs), 1 / sqrt(inputs), generator=stream("weights", seed, name))


def patches(images: torch.Tensor, patch: int) -> torch.Tensor:
    """(n, side, side) as (n, tokens, pixels)."""
    n, side = images.shape[0], images.shape[1]
    cut = images.reshape(n, side // patch, patch, side // patch, patch)
    return cut.transpose(2, 3).reshape(n, (side // patch) ** 2, patch**2)
