"""What is asked of a fit, and the sampled problem that it makes of a target in normal coordinates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gateproof.numerics.fits.embedding import Embedding
from gateproof.numerics.fits.families import bind_family
from gateproof.numerics.fits.gates import Array, Gates
from gateproof.numerics.fits.inequalities import bounded_intercepts, rising, together
from gateproof.numerics.fits.normal import Normal
from gateproof.numerics.fits.sampled import Sampled

SHARPNESS, ENDS = ("shared", "free", "hard"), ("pinned", "slopes", "free")
#: Bounds of log tau in normal coordinates, where features have width 1.
FLAT, STEEP = np.log(1e-2), np.log(1e4)
#: Share of a bound that is kept clear: a step of the search may break its rows by 1e-8 of their size, and the
#: bound holds after a change of coordinates in floats.
CLEAR = 1e-7


@dataclass(frozen=True)
class Setting:
    """Branches, how their sharpness and the outer lines are bound, and the gate algebra.

    ``largest`` bounds |slope| and |intercept| in normal coordinates, ``max_coefficient`` in the target's.
    ``symmetric``: the gate is made as even or odd as the target. ``monotone``: 1 for a gate that nowhere
    falls, -1 for one that nowhere rises.
    """

    branches: int
    sharpness: str = "shared"
    ends: str = "pinned"
    algebra: str = "difference"
    family: str = "general"
    largest: float = 1e3
    symmetric: bool = False
    max_coefficient: float | None = None
    monotone: int = 0

    def with_branches(self, branches: int) -> Setting:
        """The same with another number of branches."""
        return replace(self, branches=branches)


def problem(
    found: Normal,
    setting: Setting,
    x: Array,
    gates: Gates | None = None,
    more: Callable[[Embedding], None] | None = None,
) -> Sampled:
    """The error on the points x (in normal coordinates; for a symmetric gate those >= 0 are kept).

    ``gates``: another parametrisation with the layout of the setting's; ``more`` binds parameters further.
    Contradiction where no gate satisfies the setting.
    """
    gates = gates or Gates(setting.branches, setting.algebra)
    tied, target = embedding(found, setting, gates), found.target
    weight, whole = getattr(target, "weight", None), x
    if setting.symmetric and weight is None:
        x = x[x >= 0]
    if more is not None:
        more(tied)
    base, basis = tied.matrices()
    low, high = _bounds(gates, basis, base, *_limits(found, setting))
    rows = []
    if setting.max_coefficient is not None and gates.algebra != "product":
        rows.append(bounded_intercepts(found, gates, base, basis, setting.max_coefficient * (1 - CLEAR)))
    if setting.monotone:
        rows.append(rising(found, gates, base, basis, whole, setting.monotone))
    return Sampled(
        gates,
        base,
        basis,
        x,
        found.function(x),
        None if getattr(target, "points", None) is not None else found.function,
        None if weight is None else lambda u: weight(found.centre + found.width * u),
        low,
        high,
        together(rows) if rows else None,
    )


def embedding(found: Normal, setting: Setting, gates: Gates) -> Embedding:
    """The conditions of a setting that are equations. Contradiction where they leave no gate."""
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
    bind_family(tied, found, setting.family)
    return tied


def _mirror(tied: Embedding, sign: float) -> None:
    """y(-u) = y(u) (sign -1) or -y(u) (sign 1): branches and thresholds in reverse order."""
    n, at = tied.gates.branches, tied.gates.place
    for k in range(n - 1):
        tied.tie(at("sharpness", n - 2 - k), at("sharpness", k))
        tied.tie(at("theta", n - 2 - k), at("theta", k), -1.0)
    for k in range(n):
        tied.tie(at("slope", n - 1 - k), at("slope", k), sign)
        tied.tie(at("intercept", n - 1 - k), at("intercept", k), -sign)


def _limits(found: Normal, setting: Setting) -> tuple[tuple[float, float], tuple[float, float]]:
    """Bounds of the slopes and of the intercepts in normal coordinates."""
    slopes = intercepts = (-setting.largest, setting.largest)
    if setting.max_coefficient is not None:
        most = setting.max_coefficient * (1 - CLEAR)
        scale = found.width / found.height
        slopes = (max(slopes[0], (-most - found.m) * scale), min(slopes[1], (most - found.m) * scale))
    return slopes, intercepts


def _bounds(
    gates: Gates,
    basis: Array,
    base: Array,
    slopes: tuple[float, float],
    intercepts: tuple[float, float],
) -> tuple[Array, Array]:
    low, high = np.full(basis.shape[1], -np.inf), np.full(basis.shape[1], np.inf)
    first, second = gates.place("slope", 0), gates.place("intercept", 0)
    for i, row in enumerate(basis):
        for j in np.flatnonzero(row):
            ends = (FLAT, STEEP) if i < gates.branches - 1 else None
            if i >= first:
                ends = slopes if i < second else intercepts
            if ends is not None:
                reach = sorted((e - base[i]) / row[j] for e in ends)
                low[j], high[j] = max(low[j], reach[0]), min(high[j], reach[1])
    return low, high
