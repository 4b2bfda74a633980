"""What is timed: our operations, and what people write instead of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib.util import find_spec
from math import inf
from typing import Any

import torch
from torch.nn.functional import gelu, relu, silu

from gateproof.kernels import functional
from gateproof.kernels.choice import Code, use
from gateproof.kernels.formula_kernel import compile_kernel

Function = Callable[..., torch.Tensor]


@dataclass(frozen=True)
class Operation:
    """Ours, the textbook's form of it in PyTorch's operations, and how many tensors both take.

    ``liger`` names Liger-Kernel's operation of the same kind, where there is one.
    """

    name: str
    ours: Function
    textbook: Function
    tensors: int
    liger: str = ""


def _gate(
    thresholds: list[float], slopes: list[float], tau: float, height: float = 0.1
) -> tuple[Function, Function]:
    """A threshold gate, and its textbook form: differences of sigmoids times lines."""

    def ours(x: torch.Tensor) -> torch.Tensor:
        return functional.threshold_gate(x, tau, thresholds, slopes, [height] * len(slopes))

    def textbook(x: torch.Tensor) -> torch.Tensor:
        sides: list[Any] = [1.0, *(torch.sigmoid(tau * (x - h)) for h in thresholds), 0.0]
        total: Any = None
        for below, above, slope in zip(sides, sides[1:], slopes, strict=False):
            term = (below - above) * (slope * x + height)
            total = term if total is None else total + term
        found: torch.Tensor = total
        return found

    return ours, textbook


def _memglu(x: torch.Tensor) -> torch.Tensor:
    return torch.tanh(x) / torch.cosh(x)


def operations() -> list[Operation]:
    """All of them."""
    two, three = _gate([0.2], [0.0, 1.0], 1.5), _gate([-1.0, 1.0], [0.0, 0.5, 1.0], 1.5)
    exact, _ = _gate([0.0], [0.0, 1.0], 1.0, 0.0)
    hard, _ = _gate([0.0], [0.0, 1.0], inf, 0.0)
    return [
        Operation("threshold_gate SiLU", exact, silu, 1),
        Operation("threshold_gate K=2", *two, 1),
        Operation("threshold_gate K=3", *three, 1),
        Operation("threshold_gate ReLU", hard, relu, 1),
        Operation("memglu gate", compile_kernel("memglu(x)"), _memglu, 1),
        Operation("swiglu", functional.swiglu, lambda g, u: silu(g) * u, 2, "LigerSiLUMulFunction"),
        Operation("memglu", functional.memglu, lambda g, u: _memglu(g) * u, 2),
        Operation("geglu", functional.geglu, lambda g, u: gelu(g) * u, 2, "LigerGELUMulFunction"),
    ]


def names() -> list[str]:
    """Their names."""
    return [o.name for o in operations()]


def selected(patterns: Sequence[str]) -> list[Operation]:
    """Those whose name or its first word fits a pattern, all for none."""
    return [
        o
        for o in operations()
        if not patterns or any(fnmatchcase(n, p) for p in patterns for n in (o.name, o.name.split()[0]))
    ]


def chosen(function: Function, code: Code) -> Function:
    """The function with the code chosen that computes it."""

    def run(*args: torch.Tensor) -> torch.Tensor:
        with use(code):
            return function(*args)

    return run


def liger(operation: Operation) -> Function | None:
    """Liger-Kernel's function, if it has one and is installed."""
    if not operation.liger or find_spec("liger_kernel") is None:
        return None
    from importlib import import_module

    module = "swiglu" if "SiLU" in operation.liger else "geglu"
    found: Function = getattr(import_module(f"liger_kernel.ops.{module}"), operation.liger).apply
    return found
