"""Times on a CPU, in float32, beside F.silu and a copy.

The allocator matters more than the code: with glibc's default, fresh outputs of 64 MiB are page faults. The
process that measures keeps what it was given, for all candidates alike (MALLOC_MMAP_THRESHOLD_ and
MALLOC_TRIM_THRESHOLD_, set before it starts).
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

from gateproof.kernels.bench.operations import Operation, chosen, selected

ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": "4294967296", "MALLOC_TRIM_THRESHOLD_": "8589934592"}
#: Most times F.silu's time that code is meant to take: by operation, code and direction.
GOALS = {
    ("threshold_gate K=2", "compiled", "both"): 1.9,
    ("threshold_gate K=3", "compiled", "both"): 3.6,
    ("memglu gate", "compiled", "both"): 1.9,
    ("threshold_gate K=2", "operations", "forward"): 6.0,
}
DIRECTIONS = ("forward", "both")


def measured(patterns: Sequence[str], repeats: int, elements: int, busy: bool = False) -> dict[str, Any]:
    """The document of a run in a process with the allocator set."""
    given = json.dumps({"patterns": list(patterns), "repeats": repeats, "elements": elements, "busy": busy})
    words = [sys.executable, "-P", "-m", "gateproof.kernels.bench.cpu", given]
    done = subprocess.run(
        words, env={**os.environ, **ALLOCATOR}, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"the process that measures ended with {done.returncode}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def here(patterns: Sequence[str], repeats: int, elements: int, busy: bool = False) -> dict[str, Any]:
    """The document of a run in this process; ratios are those of the least times."""
    import torch
    from torch.nn.functional import silu

    from gateproof.kernels.bench import measure

    given = [torch.randn(elements).requires_grad_() for _ in range(2)]
    clock = measure.Clock(given[0].device, busy=busy)
    candidates: dict[tuple[str, str], tuple[Any, int]] = {
        ("copy", "PyTorch"): (torch.clone, 1),
        ("F.silu", "PyTorch"): (silu, 1),
    }
    for operation in selected(patterns):
        for code, function in _codes(operation).items():
            candidates[operation.name, code] = (function, operation.tensors)
    calls: dict[str, Any] = {
        "\t".join((*key, direction)): partial(measure.DIRECTIONS[direction], f, given[:n], clock)
        for key, (f, n) in candidates.items()
        for direction in DIRECTIONS
    }
    times = measure.timed(calls, repeats)
    rows = [_row(name, times) for name in times]
    return {
        "device": "cpu",
        "name": platform.processor() or platform.machine(),
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "elements": elements,
        "clock": "processors' time" if busy else "wall clock",
        "allocator": {k: os.environ.get(k, "") for k in ALLOCATOR},
        "rows": rows,
    }


def _codes(operation: Operation) -> dict[str, Any]:
    import torch

    return {
        "compiled": chosen(operation.ours, "compiled"),
        "operations": chosen(operation.ours, "torch"),
        "textbook": operation.textbook,
        "textbook, torch.compile": torch.compile(operation.textbook, dynamic=False),
    }


def _row(name: str, times: dict[str, dict[str, float]]) -> dict[str, Any]:
    op, code, direction = name.split("\t")
    found = times[name]
    row: dict[str, Any] = {"op": op, "code": code, "direction": direction, "dtype": "fp32", **found}
    row["to_copy"] = found["least"] / times[f"copy\tPyTorch\t{direction}"]["least"]
    row["to_silu"] = found["least"] / times[f"F.silu\tPyTorch\t{direction}"]["least"]
    goal = GOALS.get((op, code, direction))
    if goal is not None:
        row["goal"], row["met"] = goal, row["to_silu"] <= goal
    return row


if __name__ == "__main__":
    print(json.dumps(here(**json.loads(sys.argv[1]))))
