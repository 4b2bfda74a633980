"""Speed of elementwise operations on the CPU: ours beside PyTorch's and the textbook formulas.

    python tests/bench/kernels.py [--elements 16777216] [--repeats 7] [--busy]

float32, forward and forward with backward, each the least of its repeats, taken in turn so that other load
hits all alike. Ratios are to F.silu and to a copy. The allocator matters more than the code: with glibc's
default, fresh outputs of 64 MiB are page faults. Here it keeps what it was given: the script starts itself
again with MALLOC_MMAP_THRESHOLD_ and MALLOC_TRIM_THRESHOLD_ set, for all rows alike. With --busy the
processors' time is counted instead of the clock's, for a machine that others use: what is short is
interrupted less often.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Callable
from typing import Any

_ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": "4294967296", "MALLOC_TRIM_THRESHOLD_": "8589934592"}
#: Most times F.silu's forward and backward that compiled code may take.
GOALS = {"threshold_gate K=2": 1.9, "threshold_gate K=3": 3.6, "memglu": 1.9}


def _rows() -> dict[str, tuple[Callable[..., Any], int]]:
    """Names, functions and how many tensors they take."""
    import torch
    from torch.nn.functional import silu

    from gateproof.kernels import choice, functional
    from gateproof.kernels.pointwise import Pointwise

    activation = Pointwise("memglu_gate", "memglu(g)", ("g",))

    def textbook(x: Any, theta: list[float], slope: list[float]) -> Any:
        sides = [torch.sigmoid(1.5 * (x - h)) for h in theta]
        gates = [a - b for a, b in zip([1.0, *sides], [*sides, 0.0], strict=True)]
        return sum(g * (s * x + 0.1) for g, s in zip(gates, slope, strict=True))

    def two(x: Any) -> Any:
        return functional.threshold_gate(x, 1.5, [0.2], [0.0, 1.0], [0.1, 0.1])

    def exact(x: Any) -> Any:
        return functional.threshold_gate(x, 1.0, [0.0], [0.0, 1.0], [0.0, 0.0])

    def three(x: Any) -> Any:
        return functional.threshold_gate(x, 1.5, [-1.0, 1.0], [0.0, 0.5, 1.0], [0.1, 0.1, 0.1])

    def book2(x: Any) -> Any:
        return textbook(x, [0.2], [0.0, 1.0])

    def book3(x: Any) -> Any:
        return textbook(x, [-1.0, 1.0], [0.0, 0.5, 1.0])

    def book_mem(x: Any) -> Any:
        return torch.tanh(x) / torch.cosh(x)

    def fused(f: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any) -> Any:
            with choice.use("compiled"):
                return f(*args)

        return run

    def ours(name: str, f: Callable[..., Any], book: Callable[..., Any], n: int) -> dict[str, Any]:
        return {
            f"{name}, compiled": (fused(f), n),
            f"{name}, PyTorch's operations": (f, n),
            f"{name}, textbook": (book, n),
            f"{name}, textbook, torch.compile": (torch.compile(book), n),
        }

    return {
        "copy": (lambda x: x.clone(), 1),
        "F.silu": (silu, 1),
        **ours("threshold_gate K=2", two, book2, 1),
        **ours("threshold_gate SiLU", exact, silu, 1),
        **ours("threshold_gate K=3", three, book3, 1),
        **ours("memglu", activation, book_mem, 1),
        **ours("swiglu", functional.swiglu, lambda g, u: silu(g) * u, 2),
        **ours("memglu product", functional.memglu, lambda g, u: book_mem(g) * u, 2),
    }


def measured(
    elements: int, repeats: int, only: str, clock: Callable[[], float]
) -> dict[str, tuple[float, float]]:
    """Seconds of forward, and of forward with backward."""
    import torch

    g = torch.randn(elements)
    u = torch.randn(elements)
    dy = torch.randn(elements)
    leaves = [t.clone().requires_grad_() for t in (g, u)]
    rows = {k: v for k, v in _rows().items() if only in k or k in ("copy", "F.silu")}
    found = {name: [math.inf, math.inf] for name in rows}
    for repeat in range(repeats + 2):
        for name, (f, n) in rows.items():
            start = clock()
            with torch.no_grad():
                f(*(g, u)[:n])
            forward = clock() - start
            start = clock()
            torch.autograd.grad(f(*leaves[:n]), leaves[:n], dy)
            both = clock() - start
            if repeat >= 2:
                found[name] = [min(a, b) for a, b in zip(found[name], (forward, both), strict=True)]
    return {name: (a, b) for name, (a, b) in found.items()}


def main() -> int:
    """Print the table; 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description="speed of elementwise operations on the CPU")
    parser.add_argument("--elements", type=int, default=1 << 24)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--only", default="", help="rows whose name holds this")
    parser.add_argument("--busy", action="store_true", help="count the processors' time")
    given = parser.parse_args()
    if any(os.environ.get(k) != v for k, v in _ALLOCATOR.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **_ALLOCATOR})
    import torch

    found = measured(
        given.elements, given.repeats, given.only, time.process_time if given.busy else time.perf_counter
    )
    copy, silu = found["copy"], found["F.silu"]
    print(
        f"torch {torch.__version__}, {torch.get_num_threads()} threads, {given.elements} float32 elements, "
    )
    print(f"glibc's allocator with {', '.join(f'{k}={v}' for k, v in _ALLOCATOR.items())}")
    print(f"{'':44}{'forward':>10}{'/copy':>7}{'/silu':>7}{'with backward':>15}{'/copy':>7}{'/silu':>7}")
    missed = []
    for name, (a, b) in found.items():
        print(
            f"{name:44}{a * 1e3:7.1f} ms{a / copy[0]:7.2f}{a / silu[0]:7.2f}"
            f"{b * 1e3:12.1f} ms{b / copy[1]:7.2f}{b / silu[1]:7.2f}"
        )
        goal = GOALS.get(name.removesuffix(", compiled")) if name.endswith(", compiled") else None
        if goal is not None and b / silu[1] > goal:
            missed.append(f"{name}: {b / silu[1]:.2f} times F.silu with backward, at most {goal} is the goal")
    print("\n".join(missed))
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
