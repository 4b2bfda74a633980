"""Residual networks of dense layers whose gates have one, two or three branches, at several depths.

h_0 = W x/sqrt(n), h_(l+1) = h_l + 1/sqrt(L) (sum_k W_k g_k(h_l) h_l/sqrt(N) + b), L blocks: each a layer of
the paper's tier TG_W, with K weight matrices, a bias, and thresholds and one sharpness that learn and are
shared by the layer. With one branch the network is linear. Thresholds begin at equal normal probabilities
(K = 2: 0, K = 3: -0.43 and 0.43), the sharpness at 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log, sqrt
from statistics import NormalDist
from typing import Any

import torch

from gateproof.kernels.functional import threshold_gate
from gateproof.kernels.runs.data import images
from gateproof.kernels.runs.depth_parts.loop import Work
from gateproof.kernels.runs.depth_parts.nets import CLASSES, batches, examples, losses
from gateproof.kernels.runs.experiment import Kept, Row

SHARPNESS = 2.0
#: Test images that are classified at once.
_AT_ONCE = 500


class Residual:
    """One network a seed, of K branches and ``blocks`` blocks."""

    def __init__(self, branches: int, blocks: int, width: int, inputs: int, seeds: list[int]) -> None:
        self.branches, self.blocks, self.width, self.count = branches, blocks, width, len(seeds)
        generators = [torch.Generator().manual_seed(s) for s in seeds]

        def drawn(*shape: int, scale: float = 1.0) -> torch.Tensor:
            return torch.stack([scale * torch.randn(shape, generator=g) for g in generators])

        # Drawn branch by branch: networks with more of them begin with the same first ones.
        self.enter = drawn(inputs, width, scale=1 / sqrt(inputs))
        self.leave = drawn(width, CLASSES, scale=1 / sqrt(width))
        self.weights = [
            [drawn(width, width, scale=1 / sqrt(width)) for _ in range(blocks)] for _ in range(branches)
        ]
        self.biases = [torch.zeros(self.count, 1, width) for _ in range(blocks)]
        normal = NormalDist()
        theta = torch.tensor([normal.inv_cdf(k / branches) for k in range(1, branches)])
        self.theta = [theta.repeat(self.count, 1) for _ in range(blocks)]
        self.log_tau = [torch.full((self.count, 1), log(SHARPNESS)) for _ in range(blocks)]

    @property
    def params(self) -> list[torch.Tensor]:
        """All that learns."""
        gates = [*self.theta, *self.log_tau] if self.branches > 1 else []
        return [self.enter, self.leave, *(w for ws in self.weights for w in ws), *self.biases, *gates]

    def logits(self, x: torch.Tensor) -> torch.Tensor:
        """(seeds, batch, classes) of inputs (seeds or 1, batch, pixels)."""
        h = torch.bmm(x.expand(self.count, -1, -1), self.enter)
        for block in range(self.blocks):
            new = self.biases[block]
            rest = h
            for k in range(self.branches - 1):
                one = [float(j == k) for j in range(self.branches)]
                part = threshold_gate(
                    h, self.log_tau[block].exp(), self.theta[block], one, [0.0] * self.branches, channel_dim=0
                )
                new = torch.baddbmm(new, part, self.weights[k][block])
                rest = rest - part
            # The gates sum to 1: what the others leave is the last one's.
            new = torch.baddbmm(new, rest, self.weights[-1][block])
            h = h + new / sqrt(self.blocks)
        return torch.bmm(h, self.leave)


def scan(settings: Mapping[str, Any], kept: Kept) -> list[Row]:
    """All seeds of one K and depth, by Adam; test accuracy in percent."""
    data = examples(images.load(settings["images"]), settings["count"], settings["tested"])
    seeds = settings["seeds"]
    net = Residual(settings["branches"], settings["blocks"], settings["width"], data.train.shape[1], seeds)
    work = Work(kept, [1.0])
    if work.done:
        return work.rows

    def on_batch(step: int) -> torch.Tensor:
        x, y = batches(data, seeds, settings["batch"], step)
        return losses(net.logits(x), y)

    rates = torch.full((len(seeds),), settings["rate"])
    work.train(on_batch, net.params, rates, settings["steps"], adam=True)
    right, n = torch.zeros(len(seeds), dtype=torch.float64), len(data.test_labels)
    with torch.no_grad():
        for k in range(0, n, _AT_ONCE):
            x, y = data.test[k : k + _AT_ONCE], data.test_labels[k : k + _AT_ONCE]
            right += (net.logits(x[None]).argmax(2) == y).sum(1)
    work.finished([
        {"part": "scan", "branches": settings["branches"], "depth": settings["blocks"], "seed": s,
         "accuracy": 100 * r / n, "weights": sum(p[0].numel() for p in net.params)}
        for s, r in zip(seeds, right.tolist(), strict=True)
    ])  # fmt: skip
    return work.rows
