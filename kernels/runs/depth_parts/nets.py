"""Deep networks of one shape, many at once, begun at a fixed point of the mean field.

With weights w and biases b drawn from N(0, 1), width N and n inputs of mean square 1,

    h_1 = a w_1 x/sqrt(n) + sigma_b b_1,    a^2 = q - sigma_b^2, so that h_1 has variance q
    h_(l+1) = sigma_w w phi(h_l)/sqrt(N) + sigma_b b        (residual: h_(l+1) = h_l + (..)/sqrt(L))
    logits = w phi(h_L)/sqrt(N E phi^2), of variance 1

and plain gradient descent on w and b with the rate eta/Theta, Theta the logits' tangent kernel in the wide
limit: so a rate means the same at every depth and variance. Networks of phi and of a phi(s x), begun at the
fixed points that rescaling takes into each other (sigma_w/(a s), sigma_b/s), are the same function of (w, b):
they train alike, whatever their kappa.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import torch
from torch.nn import functional as f

from gateproof.kernels.runs.data.images import Images
from gateproof.kernels.runs.depth_parts.loop import draws
from gateproof.kernels.runs.depth_parts.theory import Place
from gateproof.kernels.runs.depth_parts.units import Function

CLASSES = 10
#: Seeds of networks at another variance, that theirs be other draws.
_APART = 10_007


@dataclass(frozen=True, eq=False)
class Examples:
    """Inputs of mean square 1 about 0, (n, pixels), and classes."""

    train: torch.Tensor
    train_labels: torch.Tensor
    test: torch.Tensor
    test_labels: torch.Tensor


def examples(images: Images, count: int, tested: int) -> Examples:
    """The first ``count`` and ``tested`` images (0: all), less their mean, each of mean square 1."""
    train = images.train[: count or None].flatten(1)
    test = images.test[: tested or None].flatten(1)
    mean = train.mean(0)
    labels = images.train_labels[: count or None], images.test_labels[: tested or None]
    return Examples(_unit(train - mean), labels[0], _unit(test - mean), labels[1])


def _unit(x: torch.Tensor) -> torch.Tensor:
    size = x.square().mean(1, keepdim=True).sqrt()
    return x / size.clamp_min(1e-6)


class Nets:
    """places x seeds x rates networks, in this order; those that differ in the rate alone begin alike.

    ``before`` counts the places of other jobs, so that no two have the same draws.
    """

    def __init__(
        self, function: Function, places: Sequence[Place], seeds: Sequence[int], rates: Sequence[float],
        *, inputs: int, width: int, depth: int, residual: bool = False, before: int = 0,
    ) -> None:  # fmt: skip
        self.function, self.depth, self.residual = function, depth, residual
        self.seeds = seeds
        self.each = [(p, s, r) for p in range(len(places)) for s in seeds for r in rates]
        self.count, self.repeats = len(self.each), len(rates)
        generators = [
            torch.Generator().manual_seed(s + _APART * (before + p))
            for p in range(len(places))
            for s in seeds
        ]

        def drawn(*shape: int) -> torch.Tensor:
            each = [torch.randn(shape, generator=g) for g in generators]
            return torch.stack([t for t in each for _ in rates])

        self.weights: list[torch.Tensor] = []
        self.biases: list[torch.Tensor] = []
        for layer in range(depth):
            self.weights.append(drawn(inputs if layer == 0 else width, width))
            self.biases.append(drawn(1, width))
        self.readout = drawn(width, CLASSES)
        of = [places[p] for p, _, _ in self.each]
        self.sigma_w = _column([sqrt(p.sigma_w2 / width) for p in of])
        self.sigma_b = _column([sqrt(p.sigma_b2) for p in of])
        self.first = _column([sqrt((p.q - p.sigma_b2) / inputs) for p in of])
        self.last = _column([1 / sqrt(width * p.variance) for p in of])
        eta = [r / places[p].tangent(depth, residual=residual) for p, _, r in self.each]
        self.rates = torch.tensor(eta)

    @property
    def params(self) -> list[torch.Tensor]:
        """All that learns."""
        return [*self.weights, *self.biases, self.readout]

    def hidden(self, x: torch.Tensor) -> list[torch.Tensor]:
        """Pre-activations of each layer for inputs (networks or 1, batch, pixels)."""
        h = torch.baddbmm(
            self.sigma_b * self.biases[0], x.expand(self.count, -1, -1), self.first * self.weights[0]
        )
        found = [h]
        for w, b in zip(self.weights[1:], self.biases[1:], strict=True):
            new = torch.baddbmm(self.sigma_b * b, self.function(h), self.sigma_w * w)
            h = h + new / sqrt(self.depth) if self.residual else new
            found.append(h)
        return found

    def logits(self, x: torch.Tensor) -> torch.Tensor:
        """(networks, batch, classes)."""
        return torch.bmm(self.function(self.hidden(x)[-1]), self.readout) * self.last

    def batch_losses(self, data: Examples, batch: int, step: int) -> torch.Tensor:
        """Each network's loss on its batch of a step; networks of one seed see the same images."""
        x, y = batches(data, self.seeds, batch, step)
        places = self.count // (len(self.seeds) * self.repeats)
        x = x.repeat_interleave(self.repeats, 0).repeat(places, 1, 1)
        y = y.repeat_interleave(self.repeats, 0).repeat(places, 1)
        return losses(self.logits(x), y)

    def measured(self, x: torch.Tensor, y: torch.Tensor) -> tuple[list[float], list[float]]:
        """Each network's mean loss and share of right classes on given images."""
        with torch.no_grad():
            z = self.logits(x[None])
            right = (z.argmax(2) == y).float().mean(1)
            return losses(z, y.expand(self.count, -1)).tolist(), right.tolist()


def batches(data: Examples, seeds: Sequence[int], batch: int, step: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Images and classes of a step for each seed, (seeds, batch, pixels) and (seeds, batch)."""
    n = len(data.train)
    at = torch.stack([torch.randint(0, n, (batch,), generator=draws(s, step)) for s in seeds])
    return data.train[at], data.train_labels[at]


def losses(z: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Mean cross entropy in nats of each network, (networks,)."""
    return f.cross_entropy(z.transpose(1, 2), y, reduction="none").mean(1)


def _column(values: Sequence[float]) -> torch.Tensor:
    return torch.tensor(values)[:, None, None]
