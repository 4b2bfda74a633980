"""A tiny experiment for the tests of the engine: noisy descents of w^2/2, a job a seed."""

from __future__ import annotations

import errno
import os
import signal
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch

from gateproof.kernels.runs.experiment import Experiment, Finding, Interval, Job, Summary


@contextmanager
def torch_as_before():
    """Undo what a job sets for its process: other tests run in it too."""
    threads = torch.get_num_threads()
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)
        torch.set_num_threads(threads)


@dataclass(frozen=True)
class Arm:
    """One step size."""

    rate: float
    name: str = "plain"


@dataclass(frozen=True)
class Settings:
    """What a run of it depends on, and what goes wrong in it: once, while ``marker`` does not exist."""

    seeds: tuple[int, ...]
    steps: int = 20
    arm: Arm = Arm(0.1)
    others: tuple[Arm, ...] = ()
    mishap: Literal["none", "killed", "full", "fails", "waits"] = "none"
    marker: str = ""
    record: str = "mem.lm.tiny"

    def __post_init__(self):
        if self.steps < 1:
            raise ValueError("steps: give 1 or more")


def jobs(settings):
    """A job a seed."""
    plain = {"steps": settings.steps, "rate": settings.arm.rate}
    mishap = {"mishap": settings.mishap, "marker": settings.marker}
    return [Job(f"seed={s}", {"seed": s, **plain, **mishap}) for s in settings.seeds]


def run(given, kept):
    """w <- w - rate (w + noise), with momentum, from 1; a row a step."""
    draw = torch.Generator().manual_seed(given["seed"])
    w = torch.ones((), requires_grad=True)
    made = torch.optim.SGD([w], lr=given["rate"], momentum=0.9)
    at, rows = 0, []
    state = kept.load()
    if state is not None:
        at, rows = state["at"], list(state["rows"])
        draw.set_state(state["draw"])
        made.load_state_dict(state["made"])
        with torch.no_grad():
            w.copy_(state["w"])
    if given["marker"]:
        with Path(f"{given['marker']}.{given['seed']}").open("a") as starts:
            starts.write(f"{at}\n")
    while at < given["steps"]:
        made.zero_grad()
        loss = (w + torch.randn((), generator=draw)) ** 2 / 2
        loss.backward()
        made.step()
        at += 1
        rows.append({"step": at, "loss": loss.item(), "w": w.item()})
        kept.say(at / given["steps"], f"loss {loss.item():.3f}")
        if kept.due() or at == given["steps"] // 2:
            state = {"at": at, "rows": rows, "draw": draw.get_state(), "made": made.state_dict()}
            kept.save({**state, "w": w.detach()})
        if at == given["steps"] // 2 + 1:
            _mishap(given, kept)
    return rows


def _mishap(given, kept):
    marker = Path(given["marker"])
    if given["mishap"] == "none" or marker.exists():
        return
    if given["mishap"] == "waits":
        while not marker.exists():
            time.sleep(0.05)
            if kept.due():
                kept.save(kept.load())
    elif given["seed"] == 0 and given["mishap"] == "killed":
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    elif given["seed"] == 1 and given["mishap"] == "fails":
        marker.touch()
        raise ArithmeticError("the loss is no number")
    elif given["seed"] == 1 and given["mishap"] == "full":
        marker.touch()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def summarise(settings, rows):
    """The last losses."""
    last = [row for row in rows if row["step"] == settings.steps]
    losses = [row["loss"] for row in last]
    ends = Interval(min(losses), max(losses), 0.5, "range", len(losses))
    numbers, ranges = {"most": max(losses)}, {"walks": "few"}
    finding = Finding(settings.record, "Walks.", {"gap": ends}, numbers, ranges, settings.seeds)
    table = [{"job": row["job"], "loss": row["loss"]} for row in last]
    return Summary({"last": table}, [finding], ["A toy."])


def figure(settings, rows, summary):
    """The losses."""
    from matplotlib.figure import Figure

    drawn = Figure()
    drawn.subplots().plot([row["loss"] for row in rows])
    return drawn


EXPERIMENT = Experiment(
    "walks", "Noisy descents.", Settings, jobs, run, summarise, figure,
    sources=("numerics/atomic.py",), operations=("relu",),
)  # fmt: skip
