"""What a preset of the language-model experiment sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gateproof.kernels.runs.data import text
from gateproof.kernels.runs.language_model_parts.gates import ARMS, REFERENCE


@dataclass(frozen=True)
class Shape:
    """A decoder: RMSNorm, rotary positions, causal attention, gated FFN, tied embedding, no biases."""

    vocabulary: int
    layers: int
    width: int
    heads: int
    hidden: int
    context: int
    deviation: float
    """Standard deviation of all initial matrices, the embedding included."""

    def __post_init__(self) -> None:
        """Heads have a whole, even width."""
        if min(self.layers, self.width, self.heads, self.hidden, self.context) < 1 or self.deviation <= 0:
            raise ValueError("shape: all numbers are positive")
        if self.width % (2 * self.heads):
            raise ValueError(f"shape: width {self.width} is no even multiple of {self.heads} heads")

    @property
    def parameters(self) -> int:
        """V d + L (4 d^2 + 3 d f + 2 d) + d (MemGLU, Table B1; the claim mem.params)."""
        d, f = self.width, self.hidden
        return self.vocabulary * d + self.layers * (4 * d * d + 3 * d * f + 2 * d) + d


@dataclass(frozen=True)
class Training:
    """AdamW as in Appendix B; batches are whole numbers of contexts, each split into equal micro-batches."""

    steps: int
    batch: int
    """Sequences a step."""
    micro_batch: int
    """Sequences at once on the device."""
    warmup: int
    """Steps of linear warm-up."""
    learning_rate: float
    evaluations: int
    """How often validation loss is taken, at equal distances; the last at the end."""
    validation_tokens: int
    last_validation_tokens: int
    """For the loss after the last step; all diagnostics use as many tokens."""

    def __post_init__(self) -> None:
        """Everything divides as it has to."""
        if min(self.steps, self.batch, self.micro_batch, self.evaluations) < 1 or self.learning_rate <= 0:
            raise ValueError("training: all numbers are positive")
        if self.batch % self.micro_batch:
            raise ValueError(f"training: batch {self.batch} is no multiple of micro_batch {self.micro_batch}")
        if not 0 <= self.warmup < self.steps:
            raise ValueError(f"training: warmup {self.warmup} is not in 0 to {self.steps - 1}")
        if self.evaluations > self.steps:
            raise ValueError(f"training: {self.evaluations} evaluations in {self.steps} steps")


@dataclass(frozen=True)
class Calibration:
    """c0 from random models on windows of training tokens (Section 4 and Appendix B)."""

    models: int
    sequences: int
    """Windows of one context that each model sees."""

    def __post_init__(self) -> None:
        """A spread over models needs two."""
        if self.models < 2 or self.sequences < 1:
            raise ValueError("calibration: give 2 models or more, and 1 sequence or more")


@dataclass(frozen=True)
class Printed:
    """A shape of the paper whose c0 is estimated here, and the printed one."""

    name: str
    shape: Shape
    calibration: Calibration
    c0: float


@dataclass(frozen=True)
class Setup:
    """What one training depends on beside its arm, seed and length."""

    corpora: tuple[str, ...]
    shape: Shape
    training: Training
    calibration: Calibration
    precision: Literal["float32", "bfloat16", "float16"]
    device: Literal["auto", "cpu", "cuda"]


@dataclass(frozen=True)
class Settings:
    """All of a run; ``scale`` names its record, ``mem.lm.SCALE``."""

    scale: str
    corpora: tuple[str, ...]
    seeds: tuple[int, ...]
    arms: tuple[str, ...]
    shape: Shape
    training: Training
    calibration: Calibration
    precision: Literal["float32", "bfloat16", "float16"]
    device: Literal["auto", "cpu", "cuda"]
    short: float
    """Pairs of the same kind with this share of the steps, for tokens a parameter alone; 0 for none."""
    cost_rounds: int
    """Rounds of the side-by-side measurement of throughput; 0 for none."""
    cost_steps: int
    """Steps of one arm in a round."""
    printed: tuple[Printed, ...] = ()

    def __post_init__(self) -> None:
        """Names are known and the pair of the paper is there."""
        for arm in self.arms:
            if arm not in ARMS:
                raise ValueError(f"arm {arm!r}: give {', '.join(ARMS)}")
        if REFERENCE not in self.arms or "memglu" not in self.arms:
            raise ValueError(f"arms: {REFERENCE} and memglu are the pair that is compared")
        if len(set(self.seeds)) < len(self.seeds) or len(set(self.arms)) < len(self.arms):
            raise ValueError("seeds and arms: each once")
        if len(self.seeds) < 2:
            raise ValueError("seeds: intervals need 2 or more")
        # PyTorch's generators take 32 bits of a seed; batches need 20 of them for the epoch.
        if not all(0 <= seed < 4096 for seed in self.seeds):
            raise ValueError("seeds: give numbers from 0 to 4095")
        if not 0 <= self.short < 1:
            raise ValueError(f"short = {self.short}: a share of the steps below 1, or 0")
        if self.cost_rounds == 1 or self.cost_rounds < 0 or self.cost_steps < 1:
            raise ValueError("cost_rounds: 0 or 2 and more; cost_steps: 1 and more")
        for name in self.corpora:
            if name not in text.CORPORA:
                raise ValueError(f"corpus {name!r}: give {', '.join(text.CORPORA)}")
        if not self.corpora:
            raise ValueError("corpora: give one or more")

    @property
    def setup(self) -> Setup:
        """The part that each training is given."""
        return Setup(self.corpora, self.shape, self.training, self.calibration, self.precision, self.device)
