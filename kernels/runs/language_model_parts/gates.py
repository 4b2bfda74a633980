"""The arms: gates that differ in one thing at a time, each a fused product of the gate and the value branch.

SiLU(g) = g sigmoid(g) = (g/2)(1 + tanh(g/2)): an odd core g/2 times a side factor that turns one side off.
MemGLU's gate is an odd core b(g) = tanh(g) sech(g) alone. So the two differ in *tail* (the core: g goes on, b
comes back to 0) and in *parity* (with or without the side factor), and there are two gates between them:

                      core g (open tail)            core b (closed tail)
    with side factor  swiglu     g sigmoid(g)       one-sided  2 b(g) sigmoid(g)
    odd               odd        g                  memglu     b(g)

``odd`` is the odd part of SiLU (the bilinear gate of Shazeer 2020) up to scale, and so is b that of
``one-sided``. From one gate to its neighbour a single factor changes, and all four begin with the same root
mean square, by one calibration. Taylor: 2 b sigmoid = g + g^2/2 + ..., twice SiLU's first two terms.

*Scale*: a factor in front of a gate can be moved into the value weights, so it changes no function that the
layer can express, only where training starts. ``memglu-unscaled`` has c = 1, ``swiglu-scaled`` is SiLU times
1/c0: it starts with the root mean square of the unscaled MemGLU. With ``swiglu`` and ``memglu`` these are a
second square, shape by scale. (The odd arms also differ in slope at 0 after matching; no scale matches both.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import sqrt
from typing import Literal

import numpy as np
import torch

from gateproof.kernels import functional
from gateproof.kernels.pointwise import Pointwise
from gateproof.numerics.backends.formula import formula

Glu = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
REFERENCE = "swiglu"


@dataclass(frozen=True)
class Arm:
    """A gate: its formula in g before scaling, and how its scale is found.

    scale: "one"; "matched" to the root mean square of SiLU at the start; "inverse" of MemGLU's matched one.
    """

    gate: str
    scale: Literal["one", "matched", "inverse"]
    about: str


ARMS = {
    "swiglu": Arm("silu(g)", "one", "SiLU: open tail, one-sided"),
    "memglu": Arm("memglu(g)", "matched", "tanh sech: closed tail, odd; RMS-matched"),
    "memglu-unscaled": Arm("memglu(g)", "one", "tanh sech without scale"),
    "swiglu-scaled": Arm("silu(g)", "inverse", "SiLU/c0: the scale of the unscaled MemGLU"),
    "odd": Arm("g", "matched", "odd part of SiLU: open tail, odd; RMS-matched"),
    "one-sided": Arm("2*memglu(g)*sigmoid(g)", "matched", "closed tail, one-sided; RMS-matched"),
}


@cache
def _scaled(gate: str) -> Pointwise:
    name = {"silu(g)": "silu", "g": "odd", "2*memglu(g)*sigmoid(g)": "one_sided"}[gate]
    return Pointwise(f"scaled_{name}_glu", f"c*({gate})*u", ("g", "u"), ("c",))


def glu(arm: str, scale: float) -> Glu:
    """The product scale*gate(g)*u of an arm; its first and second factors are tensors of one shape."""
    gate = ARMS[arm].gate
    if gate == "memglu(g)":
        return lambda g, u: functional.memglu(g, u, scale)
    if gate == "silu(g)" and scale == 1:
        return functional.swiglu
    product = _scaled(gate)
    return lambda g, u: product(g, u, scale)


def squares(g: torch.Tensor, arms: tuple[str, ...] = tuple(ARMS)) -> dict[str, float]:
    """Sums over pre-activations, in float64: of the squares of each arm's gate before scaling, and of g."""
    one = torch.ones_like(g)
    found = {"g": float(g.square().sum(dtype=torch.float64))}
    for arm in arms:
        gate = ARMS[arm].gate
        if gate not in found:
            found[gate] = float(glu(arm, 1.0)(g, one).square().sum(dtype=torch.float64))
    return found


def scale_of(arm: str, sums: dict[str, float]) -> float:
    """The scale of an arm from sums of squares: sqrt(sum SiLU^2/sum gate^2) where matched (Section 4)."""
    kind, gate = ARMS[arm].scale, ARMS[arm].gate
    if kind == "one":
        return 1.0
    if kind == "matched":
        return sqrt(sums["silu(g)"] / sums[gate])
    return sqrt(sums["memglu(g)"] / sums["silu(g)"])


def mean_field(variance: float) -> dict[str, float]:
    """E gate(g)^2 for each gate, g centred and normal with that variance.

    By Gauss-Hermite with 256 nodes: for variances below 1 its error is below 1e-9, since the nearest poles,
    those of sech at i pi/2, are more than 1.5 deviations away.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(256)
    g = nodes * sqrt(variance)
    return {
        arm.gate: float((weights * formula(arm.gate).numpy(g) ** 2).sum() / weights.sum())
        for arm in ARMS.values()
    }
