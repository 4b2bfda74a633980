"""The settings of the experiment ``depth``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from gateproof.kernels.runs.depth_parts.units import Unit

Set = Literal["digits", "fashion-mnist"]


@dataclass(frozen=True)
class Training:
    """How deep networks are trained, and when they count as trained (``criterion``).

    ``count`` training images (0: all); plain gradient descent with the rates eta/Theta (``nets``).
    """

    images: Set
    count: int
    width: int
    batch: int
    steps: int
    rates: tuple[float, ...]
    share: float

    def __post_init__(self) -> None:
        _positive(self, "width", "batch", "steps")
        if not 0 < self.share < 1:
            raise ValueError(f"share = {self.share!r}: a part of log 10, in (0, 1)")
        if not self.rates or min(self.rates) <= 0:
            raise ValueError(f"rates = {self.rates!r}: at least one, each > 0")


@dataclass(frozen=True)
class Edge:
    """Activations where ``gateproof meanfield --initialise`` begins at ``sigma_b2``, depth after depth."""

    activations: tuple[Unit, ...]
    sigma_b2: float
    depths: tuple[int, ...]
    seeds: tuple[int, ...]

    def __post_init__(self) -> None:
        _ascending("depths", self.depths)
        _seeds(self.seeds)
        labels = [u.label for u in self.activations]
        if len(set(labels)) < len(labels):
            raise ValueError("activations: one is given twice")


@dataclass(frozen=True)
class Phase:
    """One activation at ``ratios`` times its critical sigma_w^2; ``residual``: with skip connections.

    ``each`` ratios make one job.
    """

    activation: Unit
    sigma_b2: float
    ratios: tuple[float, ...]
    residual: tuple[float, ...]
    depths: tuple[int, ...]
    seeds: tuple[int, ...]
    each: int = 3

    def __post_init__(self) -> None:
        _ascending("depths", self.depths)
        _seeds(self.seeds)
        _positive(self, "each")
        if min(self.ratios + self.residual, default=1) <= 0:
            raise ValueError("ratios: numbers > 0")


@dataclass(frozen=True)
class Periodic:
    """``activations`` in the place of sin, the first being sin; one period and beyond (``periodic``)."""

    activations: tuple[Unit, ...]
    images: Set
    count: int
    sigma_b2: float
    width: int
    depth: int
    batch: int
    steps: int
    rate: float
    pictures: Set
    picture_width: int
    picture_layers: int
    picture_steps: int
    picture_rate: float
    seeds: tuple[int, ...]

    def __post_init__(self) -> None:
        _seeds(self.seeds)
        _positive(
            self, "width", "depth", "batch", "steps", "picture_width", "picture_layers", "picture_steps"
        )
        if not self.activations or self.activations[0].label != "sin":
            raise ValueError("activations: the first is sin, which the others are held against")


@dataclass(frozen=True)
class Scan:
    """Residual networks of K branches and several depths, in blocks (``scan``)."""

    images: Set
    count: int
    tested: int
    width: int
    batch: int
    steps: int
    rate: float
    branches: tuple[int, ...]
    depths: tuple[int, ...]
    seeds: tuple[int, ...]

    def __post_init__(self) -> None:
        _ascending("depths", self.depths)
        _ascending("branches", self.branches)
        _seeds(self.seeds)
        _positive(self, "width", "batch", "steps")


@dataclass(frozen=True)
class Settings:
    """``scale`` ends the names of the records: tg.depth.SCALE and so on."""

    scale: str
    training: Training
    edge: Edge
    phase: Phase
    periodic: Periodic
    scan: Scan


def _positive(of: object, *names: str) -> None:
    for name in names:
        if getattr(of, name) < 1:
            raise ValueError(f"{name} = {getattr(of, name)}: a whole number > 0")


def _ascending(name: str, values: Sequence[int]) -> None:
    if not values or list(values) != sorted(set(values)) or values[0] < 1:
        raise ValueError(f"{name} = {list(values)}: whole numbers > 0, ascending")


def _seeds(values: Sequence[int]) -> None:
    if len(set(values)) < 2 or len(set(values)) < len(values):
        raise ValueError(f"seeds = {list(values)}: at least two, all different, for an interval")
