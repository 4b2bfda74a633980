"""All checks of kernels: which there are, and running them here or in a process of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any

from gateproof.kernels import choice
from gateproof.kernels.check import attention_rows, bounds, formulas, gates, softmax_rows
from gateproof.kernels.check.operations import CHECKED, SEVERAL, call_of
from gateproof.kernels.check.registered import registered, registered_gate
from gateproof.kernels.check.result import Result, Row
from gateproof.numerics.backends.formula import formula

DTYPES = ("float32", "bfloat16", "float16")
CODES = ("torch", "compiled", "triton")


def names() -> list[str]:
    """The operations that can be checked."""
    return [
        *(c.name for c in CHECKED),
        *(g.name for g in gates.GATES),
        *softmax_rows.NAMES,
        attention_rows.NAME,
    ]


def selected(patterns: Sequence[str]) -> list[str]:
    """The operations whose names fit one of the patterns, all for none."""
    every = names()
    return [n for n in every if not patterns or any(fnmatchcase(n, p) for p in patterns)]


def check(
    operations: Sequence[str], codes: Sequence[str], dtypes: Sequence[str] = DTYPES
) -> Iterator[Result]:
    """Results in the order in which they are found."""
    for code in codes:
        if code != "triton":
            yield from here(operations, code, dtypes)
        elif not choice.has_triton():
            for name in operations:
                yield Row(name, "all", "all", code).not_run("Triton is not installed: pip install triton")
        else:
            yield from elsewhere(operations, dtypes)


def here(operations: Sequence[str], code: str, dtypes: Sequence[str]) -> Iterator[Result]:
    """In this process."""
    for checked in CHECKED:
        if checked.name in operations:
            found = formula(checked.text).names
            call: Any = call_of(checked)
            yield from _guarded(
                checked.name,
                code,
                lambda c=checked, f=found, k=call: formulas.rows(  # type: ignore[misc]
                    c.name, c.text, f, k, c.budget, code, dtypes, c.kinks, dict(c.slopes)
                ),
            )
            if code == "triton" and "float32" in dtypes:
                operation = getattr(call, "operation", None)
                if operation is not None and checked.everywhere:
                    yield from bounds.guarded(checked.name, call.graphs)
                if checked.name == "silu":
                    yield from bounds.far(checked.name, call.graphs[0])
            if code == "torch" and "float32" in dtypes:
                yield from registered(
                    checked.name,
                    call,
                    len(found),
                    surrogate=bool(checked.slopes),
                    everywhere=checked.everywhere,
                )
    for gate in gates.GATES:
        if gate.name in operations:
            yield from _guarded(gate.name, code, lambda g=gate: gates.rows(g, code, dtypes))  # type: ignore[misc]
            if code == "torch" and "float32" in dtypes:
                yield from registered_gate(gate)
    for name in softmax_rows.NAMES:
        if name in operations and "float32" in dtypes:
            yield from _guarded(name, code, lambda n=name: softmax_rows.rows(n, code))  # type: ignore[misc]
    if attention_rows.NAME in operations and "float32" in dtypes:
        yield from _guarded(attention_rows.NAME, code, lambda: attention_rows.rows(code))


def _guarded(name: str, code: str, rows: Callable[[], Iterator[Result]]) -> Iterator[Result]:
    """The rows; an operation that raises has failed."""
    try:
        yield from rows()
    except Exception as error:
        said = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        yield Row(name, "all", "all", code).failed(said)


def elsewhere(operations: Sequence[str], dtypes: Sequence[str]) -> Iterator[Result]:
    """Triton's interpreter, in a process of its own: it is chosen before Triton is imported."""
    command = [sys.executable, "-P", "-m", "gateproof.kernels.check.in_interpreter", ",".join(dtypes)]
    environment = {**os.environ, "TRITON_INTERPRET": "1", choice.VARIABLE: "auto"}
    with subprocess.Popen(
        [*command, *operations], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            for text in process.stdout:
                found: dict[str, Any] = json.loads(text)
                yield Result(**{**found, "worst": tuple(found["worst"])})
        except BaseException:
            process.kill()
            raise
        said = process.stderr.read().strip().splitlines()
        if process.wait():
            last = said[-1][:200] if said else "no reason given"
            yield Row("interpreter", "all", "all", "triton").failed(f"the process ended: {last}")


def of_kernel(kernel: Any, code: str = "torch") -> list[Result]:
    """The results of a kernel made by ``compile_kernel``, with the budget of several functions."""
    if kernel.parameters:
        raise ValueError(f"{kernel!r} has numbers by keyword: write them into the formula to check it")
    one = len(kernel.names) == 1
    dtypes = DTYPES if one else ("float32",)
    return list(formulas.rows(kernel.text, kernel.text, kernel.names, kernel, SEVERAL, code, dtypes))
