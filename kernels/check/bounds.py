"""Memory that Triton kernels may touch: nothing beside their tensors, and all of tensors past 2**31 elements.

Runs in the interpreter, where a store beside a tensor is silent: tensors stand in guard zones whose contents
are looked at afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from gateproof.kernels import launch
from gateproof.kernels.check.result import Result, Row
from gateproof.kernels.graph import Graph

SIZES = (1, 7, 8, 9, 1023, 1025)
_GUARD, _MARK = 4096, -77.0


def guarded(name: str, graphs: Sequence[Graph], numbers: Sequence[float] = ()) -> Iterator[Result]:
    """One row: the value and the gradients at lengths that no block divides, between guard zones."""
    row = Row(name, "bounds", "float32", "triton")
    for graph in graphs:
        for size in SIZES:
            said = _guarded(graph, numbers, size)
            if said:
                yield row.failed(f"{said}, with {size} elements")
                return
    yield Result(name, "bounds", "float32", "triton", True, inputs=len(SIZES))


def _guarded(graph: Graph, numbers: Sequence[float], size: int) -> str:
    count = graph.inputs - len(numbers)
    outs = [torch.full((size + 2 * _GUARD,), _MARK) for _ in graph.results]
    # Beside the inputs stand numbers that would show in a result.
    ins = [torch.full((size + 2 * _GUARD,), torch.nan) for _ in range(count)]
    for k, t in enumerate(ins):
        t[_GUARD : _GUARD + size] = torch.linspace(-3.0, 3.0, size) + 0.25 * k
    inside = slice(_GUARD, _GUARD + size)
    launch.launch(graph, [o[inside] for o in outs], [i[inside] for i in ins], numbers, torch.float32)
    for o in outs:
        if not bool((o[:_GUARD] == _MARK).all() and (o[_GUARD + size :] == _MARK).all()):
            return "a store beside the tensor"
        if not bool(torch.isfinite(o[inside]).all()):
            return "a load beside the tensor"
    return ""


def far(name: str, graph: Graph) -> Iterator[Result]:
    """One row: the last elements of a tensor of more than 2**31 (4 GiB of address space, never touched)."""
    row = Row(name, "64-bit indices", "bfloat16", "triton")
    count = 2**31 + 8192 + 1000
    try:
        x, y = (torch.empty(count, dtype=torch.bfloat16) for _ in range(2))
    except RuntimeError as error:
        yield row.not_run(f"no address space for it: {error}".splitlines()[0][:120])
        return
    x[-2000:] = torch.linspace(-3, 3, 2000).to(torch.bfloat16)
    y[-2000:] = _MARK
    right = torch.empty(2000, dtype=torch.bfloat16)
    launch.launch(graph, [right], [x[-2000:].clone()], (), torch.float32)
    try:
        with _LastPrograms():
            launch.launch(graph, [y], [x], (), torch.float32)
    except Exception as error:
        yield row.failed(f"{type(error).__name__}: {error}".splitlines()[0][:200])
        return
    if torch.equal(y[-2000:], right):
        yield Result(name, "64-bit indices", "bfloat16", "triton", True, inputs=2000)
    else:
        yield row.failed("the last elements of a tensor past 2**31 are wrong")


class _LastPrograms:
    """Only the last two programs of a launch run, and a 32-bit integer that overflows raises."""

    def __enter__(self) -> None:
        from triton.runtime import interpreter

        self.options = interpreter.interpreter_builder.options
        self.kernel_of = launch.kernel_of
        interpreter.interpreter_builder.options = interpreter.InterpreterOptions(debug=True)
        made = self.kernel_of
        launch.kernel_of = lambda *a: _Last(made(*a))  # type: ignore[assignment]

    def __exit__(self, *_: object) -> None:
        from triton.runtime import interpreter

        interpreter.interpreter_builder.options = self.options
        launch.kernel_of = self.kernel_of


class _Last:
    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def __getitem__(self, grid: tuple[int]) -> Any:
        from triton.runtime.interpreter import interpreter_builder as builder

        def run(*args: Any, **keywords: Any) -> None:
            before = builder.set_grid_idx
            builder.set_grid_idx = lambda x, y, z: setattr(builder, "grid_idx", (grid[0] - 2 + x, y, z))
            try:
                self.kernel[(2,)](*args, **keywords)
            finally:
                builder.set_grid_idx = before

        return run
