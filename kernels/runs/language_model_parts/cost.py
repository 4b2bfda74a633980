"""Throughput and memory of a training step, arms side by side (MemGLU, Section 7.2).

Each gate is taken fused (one kernel, which keeps the two inputs) and plain (PyTorch's operations one by
one, as in the paper). Steps of the arms alternate, so that a change of the machine's speed meets all of them.
Memory is the most that is allocated at once within a step, gradients included, beside weights and optimiser:
on a CPU by the allocator's events, which do not depend on its speed; on a GPU by PyTorch's own count.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional

from gateproof.kernels.runs.experiment import Kept, Row
from gateproof.kernels.runs.language_model_parts.calibrate import calibrated
from gateproof.kernels.runs.language_model_parts.gates import Glu, glu
from gateproof.kernels.runs.language_model_parts.settings import Setup
from gateproof.kernels.runs.language_model_parts.train import Trainer

SEED = 1


def products(c0: float) -> dict[str, Glu]:
    """The arms that are measured."""
    return {
        "swiglu fused": glu("swiglu", 1.0),
        "memglu fused": glu("memglu", c0),
        "swiglu plain": lambda g, u: functional.silu(g) * u,
        "memglu plain": lambda g, u: c0 * torch.tanh(g) * (1 / torch.cosh(g)) * u,
    }


def cost(setup: Setup, rounds: int, steps: int, kept: Kept) -> list[Row]:
    """Rows of seconds a step, one an arm and round, and of the peak of a step."""
    c0 = calibrated(setup.corpora, setup.shape, setup.calibration).scale("memglu")
    trainer = Trainer(setup, SEED, glu("swiglu", 1.0))
    rows: list[Row] = []
    arms = products(c0)
    for name, product in arms.items():
        trainer.glu = product
        # What a first step sets up is no part of its peak.
        trainer.advance()
        rows.append(_row(name, 0, "peak_bytes", float(peak(trainer)), None))
    for number in range(rounds):
        for name, product in arms.items():
            trainer.glu = product
            _wait(trainer.device)
            start = time.perf_counter()
            for _ in range(steps):
                trainer.advance()
            _wait(trainer.device)
            rows.append(_row(name, number, "step", None, (time.perf_counter() - start) / steps))
        kept.say((number + 1) / rounds, "side by side")
    return rows


def _row(arm: str, number: int, metric: str, value: float | None, seconds: float | None) -> Row:
    return {
        "arm": arm,
        "seed": number,
        "steps": 0,
        "step": 0,
        "metric": metric,
        "value": value,
        "step_seconds": seconds,
    }


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def peak(trainer: Trainer) -> int:
    """Bytes that one step has allocated at once at most, beyond those held before it."""
    trainer.optimiser.zero_grad(set_to_none=True)
    if trainer.device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(trainer.device)
        before = torch.cuda.memory_allocated(trainer.device)
        trainer.advance()
        return torch.cuda.max_memory_allocated(trainer.device) - before
    # Read when a profiler first starts; below this it says on stderr that it does.
    os.environ.setdefault("KINETO_LOG_LEVEL", "6")
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True
    ) as profile:
        trainer.advance()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.json")
        profile.export_chrome_trace(str(path))
        events: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    held = most = 0
    memory = [e for e in events if e.get("name") == "[memory]"]
    for event in sorted(memory, key=lambda e: float(e["ts"])):
        held += int(event["args"]["Bytes"])
        most = max(most, held)
    return most
