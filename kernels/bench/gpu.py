"""Times on a GPU: bandwidth beside a measured copy, and whole feed-forward layers.

    python -m gateproof.kernels.bench.gpu > figures.json

bfloat16 and float32, at the shapes of feed-forward layers, from a cold second-level cache, beside PyTorch's
operations one by one, torch.compile of the same text, and Liger-Kernel where it is installed. GB/s count each
input and output once, which is what a fused kernel must move; the copy moves as many bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import torch

from gateproof.kernels.bench import measure
from gateproof.kernels.bench.layers import layers
from gateproof.kernels.bench.operations import Operation, chosen, liger, selected

ROWS, WIDTHS = 8192, (2816, 8192, 14336)
TYPES = {"bf16": torch.bfloat16, "fp32": torch.float32}
DIRECTIONS = ("forward", "backward")
NO_GPU = "not measured: no GPU"


def present() -> bool:
    """Whether there is a GPU to measure on."""
    return torch.cuda.is_available()


def measured(patterns: Sequence[str], repeats: int) -> dict[str, Any]:
    """The document of a run; without a GPU its rows say that they were not measured."""
    chosen_ = selected(patterns)
    if not present():
        rows = [
            {"op": o.name, "direction": d, "dtype": t, "not_run": NO_GPU}
            for o in chosen_
            for t in TYPES
            for d in DIRECTIONS
        ]
        return {"device": "cuda", "name": None, "rows": rows, "layers": [], "not_run": NO_GPU}
    device = torch.device("cuda")
    properties = torch.cuda.get_device_properties(device)
    return {
        "device": "cuda",
        "name": properties.name,
        "versions": {name: _version(name) for name in ("torch", "triton", "liger_kernel")},
        "rows": bandwidths(chosen_, device, [(ROWS, width) for width in WIDTHS], repeats),
        "layers": layers(device, torch.bfloat16, repeats) if not patterns else [],
    }


def bandwidths(
    operations: Sequence[Operation],
    device: torch.device,
    shapes: Sequence[tuple[int, ...]],
    repeats: int,
    codes: Callable[[Operation], dict[str, Any]] | None = None,
) -> list[dict[str, Any]]:
    """The rows of the operations in every type, shape and direction; on any device."""
    clock, found = measure.Clock(device), []
    for operation in operations:
        candidates = (_codes if codes is None else codes)(operation)
        for kind, dtype in TYPES.items():
            for shape in shapes:
                for direction in DIRECTIONS:
                    place = (operation, kind, dtype, shape, direction)
                    found += _rows(place, candidates, device, clock, repeats)
    return found


def _codes(operation: Operation) -> dict[str, Any]:
    found: dict[str, Any] = {
        "ours": chosen(operation.ours, "triton"),
        "eager": operation.textbook,
        "torch.compile": torch.compile(operation.textbook, dynamic=False),
    }
    other = liger(operation)
    # Its GELU is the form with tanh.
    label = "Liger-Kernel, tanh" if operation.name == "geglu" else "Liger-Kernel"
    return found if other is None else {**found, label: other}


def _rows(
    place: tuple[Operation, str, torch.dtype, tuple[int, ...], str],
    candidates: dict[str, Any],
    device: torch.device,
    clock: measure.Clock,
    repeats: int,
) -> list[dict[str, Any]]:
    operation, kind, dtype, shape, direction = place
    given = [
        torch.randn(shape, dtype=dtype, device=device, requires_grad=True) for _ in range(operation.tensors)
    ]
    # Each its own: some libraries write their gradients into what they were given.
    own = {name: [t.detach().clone().requires_grad_() for t in given] for name in candidates}
    moved = operation.tensors + 1 if direction == "forward" else 2 * operation.tensors + 1
    total = moved * given[0].numel() * given[0].element_size()
    # As many bytes in all: half of them read, half written.
    source = torch.zeros(total // 2, dtype=torch.int8, device=device)
    target = torch.empty_like(source)
    run = measure.DIRECTIONS[direction]
    calls: dict[str, Callable[[], float]] = {
        name: partial(run, f, own[name], clock) for name, f in candidates.items()
    }
    calls["copy"] = lambda: clock.seconds(lambda: target.copy_(source))
    times = measure.timed(calls, repeats)
    copy = times.pop("copy")
    named = {"op": operation.name, "direction": direction, "dtype": kind, "shape": list(shape)}
    return [
        {
            **named,
            "code": code,
            **found,
            "gb_s": total / found["median"] / 1e9,
            "copy_gb_s": total / copy["median"] / 1e9,
            "of_copy": copy["median"] / found["median"],
            "peak_bytes": clock.peak(partial(run, candidates[code], own[code], clock)),
        }
        for code, found in times.items()
    ]


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


if __name__ == "__main__":
    print(json.dumps(measured([], 20), indent=1))
