"""One training: steps, evaluations, and where it goes on after a stop."""

from __future__ import annotations

from collections.abc import Mapping
from math import cos, isfinite, pi
from typing import Any, Protocol

import torch
from torch import nn

from gateproof.kernels.runs.experiment import Cell, Kept
from gateproof.kernels.runs.tg_training_parts.settings import Schedule


class Task(Protocol):
    """What is trained. Batches are functions of the step alone, so a stop needs no state of the data."""

    training: Schedule
    clip: float

    @property
    def model(self) -> nn.Module:
        """The network."""
        raise NotImplementedError

    def loss(self, step: int) -> torch.Tensor:
        """Of the batch of step 0, 1, ..."""
        raise NotImplementedError

    def measure(self, *, last: bool) -> Mapping[str, Cell]:
        """Columns of a row, without gradients."""
        raise NotImplementedError


def rate(training: Schedule, step: int) -> float:
    """The learning rate of step 0, 1, ...: linear warm-up, then half a cosine that would be 0 at the end."""
    if step < training.warmup:
        return training.rate * (step + 1) / training.warmup
    done = (step - training.warmup) / (training.steps - training.warmup)
    return training.rate * (1 + cos(pi * done)) / 2


def train(task: Task, kept: Kept) -> list[dict[str, Cell]]:
    """One row an evaluation: step, loss (the mean since the last row) and what the task measures.

    A loss that is not finite ends the updates: the network stays as it is, and its rows say so.
    """
    training = task.training
    learned = [p for p in task.model.parameters() if p.requires_grad]
    optimiser = torch.optim.Adam(learned, training.rate, fused=True)
    step, total, alive = 0, 0.0, True
    rows: list[dict[str, Cell]] = []
    state = kept.load()
    if state is not None:
        task.model.load_state_dict(state["model"])
        optimiser.load_state_dict(state["optimiser"])
        step, total, alive = int(state["step"]), float(state["total"]), bool(state["alive"])
        rows = [dict(r) for r in state["rows"]]
    while step < training.steps:
        if alive:
            value = _update(task, optimiser, learned, step)
            alive = isfinite(value)
            total += value
        else:
            total = float("nan")
        step += 1
        if step % training.every == 0:
            with torch.no_grad():
                found = task.measure(last=step == training.steps)
            rows.append({"step": step, "loss": total / training.every, **found})
            total = 0.0
            kept.say(step / training.steps, " ".join(f"{k} {v:.4g}" for k, v in found.items() if v))
        if step < training.steps and kept.due():
            kept.save(_state(task, optimiser, step, total, alive, rows))
    return rows


def _update(task: Task, optimiser: torch.optim.Optimizer, learned: list[nn.Parameter], step: int) -> float:
    for group in optimiser.param_groups:
        group["lr"] = rate(task.training, step)
    loss = task.loss(step)
    value = float(loss.detach())
    if not isfinite(value):
        return value
    optimiser.zero_grad(set_to_none=True)
    torch.autograd.backward(loss)
    norm = float(nn.utils.clip_grad_norm_(learned, task.clip))
    if not isfinite(norm):
        return float("nan")
    optimiser.step()
    return value


def _state(
    task: Task, optimiser: torch.optim.Optimizer, step: int, total: float, alive: bool, rows: list[Any]
) -> dict[str, Any]:
    return {
        "model": task.model.state_dict(),
        "optimiser": optimiser.state_dict(),
        "step": step,
        "total": total,
        "alive": alive,
        "rows": rows,
    }
