"""What a preset of tg-training sets."""

from __future__ import annotations

from dataclasses import dataclass

from gateproof.kernels.runs.data import images
from gateproof.kernels.runs.tg_training_parts.lstm import FAMILIES
from gateproof.kernels.runs.tg_training_parts.resmlp import ARMS


@dataclass(frozen=True)
class Schedule:
    """Adam with a linear warm-up and half a cosine to 0, the same for every arm."""

    steps: int
    every: int
    """Steps between evaluations; the resolution of steps to a target."""
    batch: int
    rate: float
    warmup: int

    def __post_init__(self) -> None:
        """Evaluations end with the last step."""
        if min(self.steps, self.every, self.batch) < 1 or self.rate <= 0:
            raise ValueError("schedule: steps, every, batch and rate are positive")
        if self.steps % self.every:
            raise ValueError(f"schedule: every = {self.every} does not divide steps = {self.steps}")
        if not 0 <= self.warmup < self.steps:
            raise ValueError(f"schedule: warmup = {self.warmup} is not in 0 to {self.steps - 1}")


@dataclass(frozen=True)
class ImageRun:
    """ResMLPs on images (steps, compute, width, time)."""

    data: str
    patch: int
    width: int
    blocks: int
    watch: int
    """Test images that the curve is taken on, the first ones; the final accuracy is of all."""
    training: Schedule
    arms: tuple[str, ...] = tuple(ARMS)

    def __post_init__(self) -> None:
        """Arms are known."""
        if self.data not in images.NAMES:
            raise ValueError(f"images.data = {self.data!r:.40}: there are {' and '.join(images.NAMES)}")
        _known("images.arms", self.arms, tuple(ARMS))
        if self.watch < 1:
            raise ValueError("images.watch is at least 1")


@dataclass(frozen=True)
class StripRun:
    """LSTMs that read strips of digits (families)."""

    length: int
    columns: int
    tests: int
    """Test strips."""
    widths: tuple[int, ...]
    clip: float
    """The norm that gradients are cut to."""
    training: Schedule
    families: tuple[str, ...] = FAMILIES

    def __post_init__(self) -> None:
        """Two frames a digit at least, so that repeated ones can be told apart."""
        _known("strips.families", self.families, FAMILIES)
        if min((self.length, self.tests, *self.widths)) < 1 or not self.clip > 0 or not self.widths:
            raise ValueError("strips: length, tests, widths and clip are positive")
        if self.columns not in (1, 2, 4):
            raise ValueError(f"strips.columns = {self.columns}: digits are 8 columns wide, give 1, 2 or 4")


@dataclass(frozen=True)
class Timing:
    """Step times, arms in turn, so that a disturbance hits all of them."""

    rounds: int
    steps: int

    def __post_init__(self) -> None:
        """A median needs some."""
        if self.rounds < 1 or self.steps < 1:
            raise ValueError("timing: rounds and steps are at least 1")


@dataclass(frozen=True)
class Settings:
    """All of it. ``scale`` ends the names of the records (tg.steps.tiny); "" is for the paper's own size."""

    scale: str
    seeds: tuple[int, ...]
    images: ImageRun
    strips: StripRun
    timing: Timing

    def __post_init__(self) -> None:
        """Seeds are pairs; two are needed for a spread."""
        if len(set(self.seeds)) != len(self.seeds) or len(self.seeds) < 2 or min(self.seeds) < 0:
            raise ValueError("seeds: give two or more different whole numbers from 0")
        if max(self.seeds) >= OTHER:
            raise ValueError(f"seeds: give numbers below {OTHER}; seed + {OTHER} trains the control")
        if self.scale and not self.scale.isidentifier():
            raise ValueError(f"scale = {self.scale!r:.40}: a name such as tiny is expected")


#: Added to the seed of the dense control that differs by its seed only.
OTHER = 1000


def _known(what: str, given: tuple[str, ...], known: tuple[str, ...]) -> None:
    for name in given:
        if name not in known:
            raise ValueError(f"{what}: {name!r:.40} is none of {', '.join(known)}")
    if len(set(given)) != len(given) or not given:
        raise ValueError(f"{what}: give some of {', '.join(known)}, each once")
