"""Gates fitted to one period of sin in its place, where inputs stay in that period and where they do not.

``within``: networks of ``nets`` on images, begun at the critical point of sin for all (pre-activations have a
variance of 0.55, so that 1 in 10,000 lies beyond pi). ``beyond``: sinusoidal networks as by Sitzmann et
al. (2020, arXiv:2006.09661, Section 3.2), first layer phi(30 (w x + b)), that learn one image from its
coordinates; there the first layer's inputs reach to about 30. Both say what share of inputs lies outside of
the interval of the fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import isfinite, log10, pi, sqrt
from typing import Any

import torch

from gateproof.kernels.runs.data import images
from gateproof.kernels.runs.depth_parts.deep import unit_of
from gateproof.kernels.runs.depth_parts.loop import Work
from gateproof.kernels.runs.depth_parts.nets import Nets, examples
from gateproof.kernels.runs.depth_parts.theory import begin
from gateproof.kernels.runs.depth_parts.units import Function
from gateproof.kernels.runs.experiment import Kept, Row

OMEGA = 30.0
TARGET = "sin(x)"


def within(settings: Mapping[str, Any], kept: Kept) -> list[Row]:
    """Test loss in nats, and accuracy, of classifiers with one activation in the place of sin."""
    _, function = unit_of(settings["unit"]).known()
    place, _ = begin(TARGET, settings["sigma_b2"])
    data = examples(images.load(settings["images"]), settings["count"], 0)
    nets = Nets(
        function, [place], settings["seeds"], [settings["rate"]], inputs=data.train.shape[1],
        width=settings["width"], depth=settings["depth"],
    )  # fmt: skip
    work = Work(kept, [1.0])
    if work.done:
        return work.rows

    def on_batch(step: int) -> torch.Tensor:
        return nets.batch_losses(data, settings["batch"], step)

    work.train(on_batch, nets.params, nets.rates, settings["steps"])
    loss, right = nets.measured(data.test, data.test_labels)
    with torch.no_grad():
        outside = _outside(nets.hidden(data.test[None]))
    work.finished(_rows("within", settings, loss, outside, right))
    return work.rows


class Sinusoidal:
    """One network a seed from coordinates in [-1, 1]^2 to a grey value, ``layers`` hidden ones."""

    def __init__(self, function: Function, width: int, layers: int, seeds: Sequence[int]) -> None:
        self.function, self.count = function, len(seeds)
        generators = [torch.Generator().manual_seed(s) for s in seeds]

        def uniform(limit: float, *shape: int) -> torch.Tensor:
            each = [limit * (2 * torch.rand(shape, generator=g) - 1) for g in generators]
            return torch.stack(each)

        sizes = [2, *[width] * layers, 1]
        self.weights, self.biases = [], []
        for k, (n, m) in enumerate(pairwise(sizes)):
            self.weights.append(uniform(1 / n if k == 0 else sqrt(6 / n) / OMEGA, n, m))
            self.biases.append(uniform(1 / sqrt(n), 1, m))

    @property
    def params(self) -> list[torch.Tensor]:
        """All that learns."""
        return [*self.weights, *self.biases]

    def hidden(self, x: torch.Tensor) -> list[torch.Tensor]:
        """What the activations are given."""
        found: list[torch.Tensor] = []
        h = x.expand(self.count, -1, -1)
        for w, b in zip(self.weights[:-1], self.biases[:-1], strict=True):
            found.append(OMEGA * torch.baddbmm(b, h, w))
            h = self.function(found[-1])
        return found

    def values(self, x: torch.Tensor) -> torch.Tensor:
        """(seeds, pixels)."""
        return torch.baddbmm(self.biases[-1], self.function(self.hidden(x)[-1]), self.weights[-1])[..., 0]


def beyond(settings: Mapping[str, Any], kept: Kept) -> list[Row]:
    """Peak signal to noise in dB of images learned from coordinates: that of seed s is test image s.

    A network that is worse than the best constant, or diverged, counts as that constant.
    """
    _, function = unit_of(settings["unit"]).known()
    found, seeds = images.load(settings["images"]), settings["seeds"]
    wanted = found.test[torch.tensor(seeds)].flatten(1)
    side = found.test.shape[1]
    line = torch.linspace(-1, 1, side)
    places = torch.cartesian_prod(line, line)[None]
    net = Sinusoidal(function, settings["width"], settings["layers"], seeds)
    work = Work(kept, [1.0])
    if work.done:
        return work.rows

    def on_image(_: int) -> torch.Tensor:
        return (net.values(places) - wanted).square().mean(1)

    rates = torch.full((len(seeds),), settings["rate"])
    work.train(on_image, net.params, rates, settings["steps"], adam=True)
    with torch.no_grad():
        errors = (net.values(places) - wanted).square().mean(1).tolist()
        outside = _outside(net.hidden(places))
    least = wanted.var(1, unbiased=False).tolist()
    quality = [-10 * log10(min(e, v) if isfinite(e) else v) for e, v in zip(errors, least, strict=True)]
    work.finished(_rows("beyond", settings, quality, outside))
    return work.rows


def _outside(hidden: Sequence[torch.Tensor]) -> list[float]:
    """Each network's percentage of inputs of its activations beyond [-pi, pi], or that are no numbers."""
    inside = torch.stack([(h.abs() <= pi).float().mean((1, 2)) for h in hidden]).mean(0)
    return (100 * (1 - inside)).tolist()


def _rows(
    task: str,
    settings: Mapping[str, Any],
    quality: Sequence[float],
    outside: Sequence[float],
    right: Sequence[float] | None = None,
) -> list[Row]:
    label, seeds = unit_of(settings["unit"]).label, settings["seeds"]
    return [
        {"part": "periodic", "task": task, "activation": label, "seed": seed, "quality": quality[k],
         "outside": outside[k], "accuracy": None if right is None else 100 * right[k]}
        for k, seed in enumerate(seeds)
    ]  # fmt: skip
