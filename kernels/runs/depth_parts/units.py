"""Activations of the networks: names of the zoo, stretched copies, gates given or fitted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal

import torch
from torch.nn import functional as f

from gateproof.kernels.functional import threshold_gate
from gateproof.numerics.points import enclosure
from gateproof.theory.formula.nodes import Expr

Function = Callable[[torch.Tensor], torch.Tensor]

#: By the zoo's names, as functions of PyTorch that cost little to differentiate.
NATIVE: dict[str, Function] = {
    "tanh": torch.tanh,
    "erf": torch.erf,
    "sin": torch.sin,
    "arctan": torch.atan,
    "asinh": torch.asinh,
    "sigmoid": torch.sigmoid,
    "softsign": f.softsign,
    "gelu": f.gelu,
    "silu": f.silu,
    "mish": f.mish,
    "elu": f.elu,
    "relu": torch.relu,
    "hardtanh": f.hardtanh,
    "isru": lambda x: x * torch.rsqrt(1 + x * x),
    "telu": lambda x: x * torch.tanh(torch.exp(x)),
    "resech": lambda x: x / torch.cosh(x),
    "memglu": lambda x: torch.tanh(x) / torch.cosh(x),
    "gaussian": lambda x: torch.exp(-(x * x)),
    "snake": lambda x: x + torch.sin(x) ** 2,
}


@dataclass(frozen=True)
class Gate:
    """A threshold gate: one sharpness, K - 1 thresholds, K slopes, K constants."""

    tau: float
    theta: tuple[float, ...]
    slope: tuple[float, ...]
    intercept: tuple[float, ...]

    @property
    def formula(self) -> str:
        """In the claim language."""
        parts = (", ".join(repr(v) for v in values) for values in (self.theta, self.slope, self.intercept))
        theta, slope, intercept = parts
        return f"tg(x, tau={self.tau!r}, theta=[{theta}], slope=[{slope}], intercept=[{intercept}])"


@dataclass(frozen=True)
class Unit:
    """An activation: one of the zoo, stretched to phi(stretch x); or a gate, given or fitted to it.

    ``branches`` > 0 is the minimax fit of that many branches, on ``domain`` ("[-pi, pi]"; R where it is
    empty). ``group``: "zoo" enters the correlations, "copy" and "gate" are compared among themselves.
    """

    name: str
    stretch: float = 1.0
    branches: int = 0
    domain: str = ""
    gate: Gate | None = None
    group: Literal["zoo", "copy", "gate"] = "zoo"

    def __post_init__(self) -> None:
        if self.gate is None and self.name not in NATIVE:
            raise ValueError(f"name {self.name!r:.40}: there are {', '.join(NATIVE)}, or give a gate")
        if not self.stretch > 0 or (self.stretch != 1 and (self.branches or self.gate is not None)):
            raise ValueError(f"stretch = {self.stretch!r}: a number > 0, of an activation of the zoo")
        if not 0 <= self.branches <= 16 or (self.branches and self.gate is not None):
            raise ValueError(f"branches = {self.branches}: 2 to 16 of a fit, 0 for none")

    @property
    def label(self) -> str:
        """How tables call it."""
        if self.branches:
            return f"{self.name} K={self.branches}"
        return self.name if self.stretch == 1 else f"{self.name}({self.stretch:g}x)"

    def known(self) -> tuple[str, Function]:
        """Its formula, as mean field theory takes it, and the function. A fit takes seconds, once a process.

        Raises ValueError where there is no fit.
        """
        gate = _fitted(self.name, self.branches, self.domain) if self.branches else self.gate
        if gate is not None:
            numbers = (gate.tau, gate.theta, gate.slope, gate.intercept)
            return gate.formula, lambda x: threshold_gate(x, *numbers)
        own, by = NATIVE[self.name], self.stretch
        if by == 1:
            return f"{self.name}(x)", own
        return f"{self.name}({by!r}*x)", lambda x: own(by * x)


@cache
def _fitted(name: str, branches: int, domain: str) -> Gate:
    from gateproof.kernels.convert.fitted import solved
    from gateproof.numerics.fits.request import Request

    found = solved(f"{name}(x)", Request(branches), domain or None)
    if isinstance(found, str):
        raise ValueError(f"{name}: no gate of {branches} branches: {found}")
    tau, theta, slope, intercept = (
        tuple(middle(e) for e in part)
        for part in (found.gate.tau, found.gate.theta, found.gate.slope, found.gate.intercept)
    )
    if len(set(tau)) != 1:
        raise ValueError(f"{name}: the fit of {branches} branches has more than one sharpness")
    return Gate(tau[0], theta, slope, intercept)


def middle(number: Expr) -> float:
    """The float nearest to an exact number."""
    lo, hi = enclosure(number)
    return float((lo + hi) / 2)
