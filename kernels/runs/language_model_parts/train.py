"""One training: same weights and same batches for every arm of a seed; what is measured after it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from functools import lru_cache
from math import cos, pi
from typing import Any

import torch

from gateproof.kernels.runs.data import text
from gateproof.kernels.runs.experiment import Cell, Kept, Row
from gateproof.kernels.runs.language_model_parts.calibrate import calibrated
from gateproof.kernels.runs.language_model_parts.gates import REFERENCE, Glu, glu
from gateproof.kernels.runs.language_model_parts.model import Decoder, losses
from gateproof.kernels.runs.language_model_parts.probe import INTERVENTIONS, probe
from gateproof.kernels.runs.language_model_parts.settings import Setup, Training

BETAS, DECAY, CLIP, FLOOR = (0.9, 0.95), 0.1, 1.0, 0.1


def rate(training: Training, step: int) -> float:
    """The learning rate of step 0, 1, ...: linear warm-up, then a cosine down to a tenth at the last step."""
    if step < training.warmup:
        return training.learning_rate * (step + 1) / training.warmup
    length = max(training.steps - 1 - training.warmup, 1)
    done = (step - training.warmup) / length
    return training.learning_rate * (FLOOR + (1 - FLOOR) * (1 + cos(pi * done)) / 2)


def batch(count: int, size: int, seed: int, step: int) -> torch.Tensor:
    """Which of ``count`` windows step 0, 1, ... takes: a new permutation each epoch, by the seed alone."""
    places = range(step * size, (step + 1) * size)
    return torch.tensor([int(_permutation(count, seed, p // count)[p % count]) for p in places])


@lru_cache(maxsize=2)
def _permutation(count: int, seed: int, epoch: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed((seed << 20) + epoch)
    return torch.randperm(count, generator=generator)


def evaluation_steps(training: Training) -> list[int]:
    """After how many steps the validation loss is taken."""
    n = training.evaluations
    return [-(-training.steps * (k + 1) // n) for k in range(n)]


def device_of(setup: Setup) -> torch.device:
    """The device of a setup; "auto" takes a GPU if there is one."""
    name = setup.device
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


def optimiser(model: Decoder, learning_rate: float) -> torch.optim.AdamW:
    """AdamW of Appendix B; weight decay on matrices, the embedding included, not on norms."""
    weights = list(model.parameters())
    groups = [
        {"params": [w for w in weights if w.dim() > 1], "weight_decay": DECAY},
        {"params": [w for w in weights if w.dim() == 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=learning_rate, betas=BETAS, fused=True)


class Trainer:
    """Model, optimiser and data of one training; ``state`` and ``load`` hold all of it."""

    def __init__(self, setup: Setup, seed: int, product: Glu) -> None:
        self.setup, self.seed, self.glu = setup, seed, product
        self.device = device_of(setup)
        self.tokens = text.tokens(setup.corpora, setup.shape.vocabulary)
        self.model = Decoder(setup.shape, seed).to(self.device)
        self.optimiser = optimiser(self.model, setup.training.learning_rate)
        self.scaler = torch.amp.GradScaler(self.device.type, enabled=setup.precision == "float16")
        self.step = 0
        self.loss = torch.zeros((), dtype=torch.float64, device=self.device)
        self.counted = 0

    def state(self) -> dict[str, Any]:
        """All that the next step depends on."""
        return {
            "step": self.step,
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "scaler": self.scaler.state_dict(),
            "loss": self.loss,
            "counted": self.counted,
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from a state."""
        self.step, self.counted = int(state["step"]), int(state["counted"])
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.scaler.load_state_dict(state["scaler"])
        self.loss = state["loss"].clone().to(self.device)

    def autocast(self) -> Any:
        """The context of forward passes."""
        if self.setup.precision == "float32":
            return nullcontext()
        return torch.autocast(self.device.type, getattr(torch, self.setup.precision))

    def advance(self) -> None:
        """One step of the optimiser."""
        training, shape = self.setup.training, self.setup.shape
        count = (len(self.tokens.train) - 1) // shape.context
        chosen = batch(count, training.batch, self.seed, self.step) * shape.context
        parts = training.batch // training.micro_batch
        for group in self.optimiser.param_groups:
            group["lr"] = rate(training, self.step)
        self.optimiser.zero_grad(set_to_none=True)
        for starts in chosen.chunk(parts):
            ids = text.windows(self.tokens.train, starts, shape.context + 1).to(self.device)
            with self.autocast():
                loss = losses(self.model, ids, self.glu) / parts
            torch.autograd.backward(self.scaler.scale(loss))
            self.loss += loss.detach().double()
        self.scaler.unscale_(self.optimiser)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), CLIP)
        self.scaler.step(self.optimiser)
        self.scaler.update()
        self.step += 1
        self.counted += 1

    def validation(self, tokens: int) -> Iterator[torch.Tensor]:
        """The first windows of the validation shard, a micro-batch at a time; always the same."""
        context = self.setup.shape.context
        have = (len(self.tokens.validation) - 1) // context
        starts = torch.arange(min(max(tokens // context, 1), have)) * context
        for some in torch.split(starts, self.setup.training.micro_batch):
            yield text.windows(self.tokens.validation, some, context + 1).to(self.device)

    @torch.no_grad()
    def nll(self, tokens: int, product: Glu | None = None) -> float:
        """Mean validation loss in nats, with another gate if one is given."""
        total = seen = 0.0
        for ids in self.validation(tokens):
            with self.autocast():
                loss = losses(self.model, ids, product or self.glu)
            total, seen = total + float(loss) * len(ids), seen + len(ids)
        return total / seen

    @torch.no_grad()
    def probed(self, tokens: int) -> dict[str, float]:
        """The mechanism metrics of Appendix D over so many validation tokens."""
        with self.autocast():
            return probe(self.model, self.validation(tokens), self.glu)


def train(setup: Setup, arm: str, seed: int, kept: Kept) -> list[Row]:
    """Train one arm with one seed; rows of losses on the way and of everything measured at the end."""
    training = setup.training
    scale = calibrated(setup.corpora, setup.shape, setup.calibration).scale(arm)
    trainer = Trainer(setup, seed, glu(arm, scale))
    rows: list[Row] = []

    def note(metric: str, value: float) -> None:
        cells: dict[str, Cell] = {"arm": arm, "seed": seed, "steps": training.steps, "step": trainer.step}
        rows.append({**cells, "metric": metric, "value": value, "step_seconds": None})

    state = kept.load()
    if state is None:
        note("scale", scale)
        for name, value in trainer.probed(training.validation_tokens).items():
            note(f"start_{name}", value)
    else:
        trainer.load(state)
        rows.extend(state["rows"])
    points, often = set(evaluation_steps(training)), max(1, training.steps // 100)
    while trainer.step < training.steps:
        trainer.advance()
        if trainer.step in points:
            note("train_loss", float(trainer.loss) / trainer.counted)
            note("validation_nll", trainer.nll(training.validation_tokens))
            trainer.loss, trainer.counted = torch.zeros_like(trainer.loss), 0
        if trainer.step % often == 0:
            kept.say(trainer.step / training.steps, f"step {trainer.step}")
        if kept.due():
            kept.save({**trainer.state(), "rows": rows})
    last = training.last_validation_tokens
    note("final_nll", trainer.nll(last))
    for name, value in trainer.probed(last).items():
        note(name, value)
    if arm == REFERENCE:
        for name, product in INTERVENTIONS.items():
            note(f"nll_{name}", trainer.nll(last, product))
    return rows
