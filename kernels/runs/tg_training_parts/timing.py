"""How long a step takes here: arms in turn, round after round, so that what disturbs hits all of them."""

from __future__ import annotations

from time import perf_counter

import torch

from gateproof.kernels.runs.experiment import Cell, Kept
from gateproof.kernels.runs.tg_training_parts.settings import ImageRun, Timing
from gateproof.kernels.runs.tg_training_parts.tasks import Classify


def times(run: ImageRun, timing: Timing, seed: int, kept: Kept) -> list[dict[str, Cell]]:
    """One row an arm and round: seconds of a step (forward, backward, Adam), mean over ``timing.steps``."""
    arms = []
    for arm in run.arms:
        task = Classify(run, arm, seed)
        arms.append((arm, task, torch.optim.Adam(task.model.parameters(), run.training.rate, fused=True)))
    rows: list[dict[str, Cell]] = []
    for turn in range(timing.rounds + 1):  # the first warms up
        for arm, task, optimiser in arms[turn % len(arms) :] + arms[: turn % len(arms)]:
            began = perf_counter()
            for step in range(timing.steps):
                loss = task.loss(step)
                optimiser.zero_grad(set_to_none=True)
                torch.autograd.backward(loss)
                optimiser.step()
            took = (perf_counter() - began) / timing.steps
            if turn:
                rows.append({"arm": arm, "round": turn, "step_seconds": took})
        kept.say((turn + 1) / (timing.rounds + 1))
    return rows
