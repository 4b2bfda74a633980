"""What the two kinds of jobs train on."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import inf

import torch
from torch.nn import functional as f

from gateproof.kernels.runs.data import images
from gateproof.kernels.runs.experiment import Cell
from gateproof.kernels.runs.tg_training_parts import strips
from gateproof.kernels.runs.tg_training_parts.lstm import LSTM
from gateproof.kernels.runs.tg_training_parts.resmlp import ARMS, ResMLP, Shape, patches
from gateproof.kernels.runs.tg_training_parts.settings import ImageRun, StripRun
from gateproof.kernels.runs.tg_training_parts.streams import stream

_AT_ONCE = 2000


def shape_of(run: ImageRun) -> Shape:
    """The network's sizes."""
    return Shape(8 if run.data == "digits" else 28, run.patch, run.width, run.blocks)


@lru_cache(maxsize=1)
def standardised(name: str) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Training and test images with the training pixels' mean 0 and variance 1, each with its labels."""
    found = images.load(name)
    mean, deviation = found.train.mean(), found.train.std()
    return (
        (found.train - mean) / deviation,
        found.train_labels,
        (found.test - mean) / deviation,
        found.test_labels,
    )


@lru_cache(maxsize=2)
def _order(count: int, seed: int, epoch: int) -> torch.Tensor:
    return torch.randperm(count, generator=stream("order", seed, epoch))


def batch(count: int, size: int, seed: int, step: int) -> torch.Tensor:
    """Which of ``count`` images step 0, 1, ... takes: a new order each epoch, by the seed alone."""
    start, parts = step * size, []
    while size:
        epoch, at = divmod(start, count)
        part = _order(count, seed, epoch)[at : at + size]
        parts.append(part)
        start, size = start + len(part), size - len(part)
    return torch.cat(parts)


class Classify:
    """A ResMLP on images: ``accuracy`` of the watched test images, at the end ``test`` of all, in percent."""

    clip = inf

    def __init__(self, run: ImageRun, arm: str, seed: int) -> None:
        self.run, self.seed, self.training = run, seed, run.training
        self.model = ResMLP(ARMS[arm], shape_of(run), seed)
        x, self.labels, test, self.test_labels = standardised(run.data)
        self.x, self.test = patches(x, run.patch), patches(test, run.patch)

    def loss(self, step: int) -> torch.Tensor:
        """Cross-entropy in nats."""
        chosen = batch(len(self.x), self.training.batch, self.seed, step)
        return f.cross_entropy(self.model(self.x[chosen]), self.labels[chosen])

    def measure(self, *, last: bool) -> Mapping[str, Cell]:
        """Accuracies."""
        found: dict[str, Cell] = {"accuracy": self._accuracy(self.run.watch), "test": None}
        if last:
            found["test"] = self._accuracy(len(self.test))
        return found

    def _accuracy(self, count: int) -> float:
        right = 0
        for k in range(0, min(count, len(self.test)), _AT_ONCE):
            some = slice(k, min(k + _AT_ONCE, count))
            right += int((self.model(self.test[some]).argmax(-1) == self.test_labels[some]).sum())
        return 100 * right / min(count, len(self.test))


class Read:
    """An LSTM on strips of digits: ``error`` in percent of the digits."""

    def __init__(self, run: StripRun, family: str, width: int, seed: int) -> None:
        self.run, self.seed, self.training, self.clip = run, seed, run.training, run.clip
        self.x, self.labels, test, test_labels = standardised("digits")
        self.model = LSTM(family, 8 * run.columns, width, strips.SYMBOLS, seed)
        self.test, self.digits = strips.drawn(test, test_labels, run.tests, run.length, run.columns, "test")

    def loss(self, step: int) -> torch.Tensor:
        """Of new strips."""
        frames, digits = strips.drawn(
            self.x, self.labels, self.training.batch, self.run.length, self.run.columns,
            f"train {self.seed} {step}",
        )  # fmt: skip
        return strips.loss(self.model(frames), digits)

    def measure(self, *, last: bool) -> Mapping[str, Cell]:
        """The error rate."""
        del last
        return {"error": strips.error_rate(self.model(self.test), self.digits)}
