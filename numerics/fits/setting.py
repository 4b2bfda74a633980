"""What is asked of a fit, and the sampled problem that it makes of a target in normal coordinates."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gateproof.numerics.fits.embedding import Embedding
from gateproof.numerics.fits.gates import Array, Gates
from gateproof.numerics.fits.levelling import Sampled
from gateproof.numerics.fits.normal import Normal

SHARPNESS, ENDS = ("shared", "free", "hard"), ("pinned", "slopes", "free")
FAMILIES = ("general", "multiplicative", "constant")
#: Bounds of log tau in normal coordinates, where features have width 1.
FLAT, STEEP = np.log(1e-2), np.log(1e4)


@dataclass(frozen=True)
class Setting:
    """Branches, how their sharpness and the outer lines are bound, and the gate algebra.

    ``largest`` bounds |slope| and |intercept| in normal coordinates. ``symmetric``: the gate is made as even
    or odd as the target.
    """

    branches: int
    sharpness: str = "shared"
    ends: str = "pinned"
    algebra: str = "difference"
    family: str = "general"
    largest: float = 1e3
    symmetric: bool = False

    def with_branches(self, branches: int) -> Setting:
        """The same with another number of branches."""
        return replace(self, branches=branches)


def problem(found: Normal, setting: Setting, x: Array) -> Sampled:
    """The error on the points x (in normal coordinates; for a symmetric gate those >= 0 are kept)."""
    gates = Gates(setting.branches, setting.algebra)
    tied, n, at = Embedding(gates), setting.branches, gates.place
    for k, line in ((0, found.target.left), (n - 1, found.target.right)):
        if line is None or setting.ends == "free":
            continue
        slope, intercept = found.line(line.m, line.b)
        tied.fix(at("slope", k), slope)
        if setting.ends == "pinned":
            tied.fix(at("intercept", k), intercept)
    if setting.sharpness == "shared":
        for k in range(1, n - 1):
            tied.tie(at("sharpness", k), at("sharpness", 0))
    if setting.symmetric:
        _mirror(tied, -1.0 if found.symmetry == "even" else 1.0)
        x = x[x >= 0]
    base, basis = tied.matrices()
    low, high = _bounds(gates, basis, base, setting.largest)
    return Sampled(gates, base, basis, x, found.function(x), found.function, low=low, high=high)


def _mirror(tied: Embedding, sign: float) -> None:
    """y(-u) = y(u) (sign -1) or -y(u) (sign 1): branches and thresholds in reverse order."""
    n, at = tied.gates.branches, tied.gates.place
    for k in range(n - 1):
        tied.tie(at("sharpness", n - 2 - k), at("sharpness", k))
        tied.tie(at("theta", n - 2 - k), at("theta", k), -1.0)
    for k in range(n):
        tied.tie(at("slope", n - 1 - k), at("slope", k), sign)
        tied.tie(at("intercept", n - 1 - k), at("intercept", k), -sign)


def _bounds(gates: Gates, basis: Array, base: Array, largest: float) -> tuple[Array, Array]:
    low, high = np.full(basis.shape[1], -np.inf), np.full(basis.shape[1], np.inf)
    lines = gates.place("slope", 0)
    for i, row in enumerate(basis):
        for j in np.flatnonzero(row):
            ends = (FLAT, STEEP) if i < gates.branches - 1 else (-largest, largest) if i >= lines else None
            if ends is not None:
                reach = sorted((e - base[i]) * row[j] for e in ends)
                low[j], high[j] = max(low[j], reach[0]), min(high[j], reach[1])
    return low, high
