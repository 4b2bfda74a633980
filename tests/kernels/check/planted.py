"""Faults planted in kernels: prints what rows find, as JSON, with Triton in its interpreter.

Run as ``TRITON_INTERPRET=1 python planted.py``: a process of its own, since Triton reads the variable once.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from gateproof.kernels import gate_graph, launch
from gateproof.kernels.check import bounds, run
from gateproof.kernels.check.interpreter import repair
from gateproof.kernels.formula_kernel import compile_kernel

Patch = pytest.MonkeyPatch


def source(old: str, new: str) -> Callable[[Patch], None]:
    """Change the text of all kernels."""
    made = launch.kernel_source

    def plant(patch: Patch) -> None:
        patch.setattr(launch, "kernel_source", lambda *args: made(*args).replace(old, new))

    return plant


def swapped(patch: Patch) -> None:
    sides = gate_graph.Gate._sides

    def turned(self: object, z: object) -> object:
        up, down, *rest = sides(self, z)
        return down, up, *rest

    patch.setattr(gate_graph.Gate, "_sides", turned)


def unguarded(patch: Patch) -> None:
    patch.setattr(gate_graph, "product0", lambda _, falling, growing: falling * growing)


def nothing(_: Patch) -> None:
    """No fault."""


#: The first is that of the interpreter itself, before it is put right.
FAULTS = {
    "a cast that truncates": (nothing, "silu", "bfloat16"),
    "none": (nothing, "silu tg_k3", "float32"),
    "a store without its mask": (source("element_ty), mask=mask)", "element_ty))"), "silu", "float32"),
    "a program id of 32 bits": (
        source("tl.program_id(0).to(tl.int64)", "tl.program_id(0)"),
        "silu",
        "float32",
    ),
    "g and 1 - g swapped": (swapped, "tg_k3", "float32"),
    "no guard at -infinity": (unguarded, "tg_k3", "float32"),
}


@contextmanager
def planted(plant: Callable[[Patch], None]) -> Iterator[None]:
    """The fault, and nothing made before or with it kept."""
    caches = (gate_graph._values.clear, gate_graph._gradients.clear, launch.kernel_of.cache_clear)
    with pytest.MonkeyPatch.context() as patch:
        for clear in caches:
            clear()
        plant(patch)
        try:
            yield
        finally:
            for clear in caches:
                clear()


def main() -> None:
    warnings.simplefilter("ignore")
    launch.BLOCK = 8192
    found = {}
    for name, (plant, operations, dtype) in FAULTS.items():
        if name == "none":
            repair()
        with planted(plant):
            # Without a mask other rows would write where no guard zone is.
            rows = list(
                bounds.guarded("silu", compile_kernel("silu(x)").graphs)
                if name == "a store without its mask"
                else run.here(operations.split(), "triton", [dtype])
            )
        found[name] = {f"{r.op} {r.direction}": r.reason for r in rows if not r.passed}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
