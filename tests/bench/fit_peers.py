"""Other ways to gates and curves: each gives a function of x in NumPy, or None if it is not installed.

All have as many free parameters as the gate, and the same grid on [-8, 8]. Nelder-Mead on the root mean
square under N(0, 1) is how the threshold-gating paper calibrates ("Calibration": per-layer pre-activations).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from bench.common import Sollya
from numpy.typing import NDArray
from scipy.optimize import least_squares, minimize

Array = NDArray[np.float64]
Curve = Callable[[Array], Array]
LO, HI = -8.0, 8.0
GRID = np.linspace(LO, HI, 2001)


def sup_error(curve: Curve, target: Curve) -> float:
    """The largest |curve - target| on [-8, 8], by a dense grid."""
    x = np.linspace(LO, HI, 400_001)
    return float(np.abs(curve(x) - target(x)).max())


def _sigmoid(z: Array) -> Array:
    return 0.5 * (1.0 + np.tanh(z / 2))


def gate(p: Sequence[float], x: Array, branches: int, shared: bool, ends: tuple[float, ...]) -> Array:
    """A difference gate with outer lines ``ends``: slope, intercept on the left and on the right."""
    sharp, n = 1 if shared else branches - 1, branches - 1
    tau, theta, lines = np.exp(p[:sharp]), np.asarray(p[sharp : sharp + n]), np.asarray(p[sharp + n :])
    slope = np.concatenate([[ends[0]], lines[: branches - 2], [ends[2]]])
    intercept = np.concatenate([[ends[1]], lines[branches - 2 :], [ends[3]]])
    above = [_sigmoid((tau[0] if shared else tau[k]) * (x - theta[k])) for k in range(n)]
    y = slope[0] * x + intercept[0]
    for k in range(n):
        y = y + above[k] * ((slope[k + 1] - slope[k]) * x + intercept[k + 1] - intercept[k])
    return np.asarray(y)


def parameters(branches: int, shared: bool) -> int:
    """Free ones of a gate with pinned ends."""
    return (1 if shared else branches - 1) + branches - 1 + 2 * (branches - 2)


def start(branches: int, shared: bool, ends: tuple[float, ...], rng: Any = None) -> Array:
    """Thresholds spread evenly, lines between the outer ones; at random with a generator."""
    theta = np.linspace(-1, 1, branches + 1)[1:-1] if branches > 2 else np.zeros(1)
    t = np.linspace(0, 1, branches)[1:-1]
    lines = np.concatenate([ends[0] + t * (ends[2] - ends[0]), ends[1] + t * (ends[3] - ends[1])])
    p = np.concatenate([np.full(1 if shared else branches - 1, math.log(1.7)), theta, lines])
    return p if rng is None else p + rng.normal(0, 0.7, len(p))


def nelder_mead(target: Curve, branches: int, shared: bool, ends: tuple[float, ...]) -> Curve:
    """SciPy's Nelder-Mead on the root mean square under N(0, 1), until it stops by itself."""
    y, weight = target(GRID), np.exp(-(GRID**2) / 2)

    def square(p: Array) -> float:
        return float(np.mean(weight * (gate(p, GRID, branches, shared, ends) - y) ** 2))

    options = {"maxiter": 40_000, "maxfev": 40_000, "xatol": 1e-9, "fatol": 1e-16, "adaptive": True}
    with np.errstate(all="ignore"):
        best = minimize(square, start(branches, shared, ends), method="Nelder-Mead", options=options).x
    return lambda x: gate(best, x, branches, shared, ends)


def squares(
    target: Curve, branches: int, shared: bool, ends: tuple[float, ...], starts: int, seed: int = 0
) -> Curve:
    """The best of several runs of SciPy's least_squares over the grid, by the sup error there."""
    y, rng = target(GRID), np.random.default_rng(seed)
    found: list[tuple[float, Array]] = []
    for k in range(starts):
        p = start(branches, shared, ends, rng if k else None)
        with np.errstate(all="ignore"):
            result = least_squares(lambda p: gate(p, GRID, branches, shared, ends) - y, p, max_nfev=300)
        found.append((float(np.abs(result.fun).max()), result.x))
    best = min(found, key=lambda f: f[0])[1]
    return lambda x: gate(best, x, branches, shared, ends)


def pieces(target: Curve, free: int) -> Curve | None:
    """pwlf's continuous lines; n of them have n - 1 breaks and n + 1 values, at least ``free`` in all."""
    try:
        import pwlf
    except ImportError:
        return None
    x = GRID[::4]
    model = pwlf.PiecewiseLinFit(x, target(x), seed=0)
    model.fit(math.ceil(free / 2))
    return lambda x: np.asarray(model.predict(x), dtype=np.float64)


def remez(sollya: Sollya, text: str, free: int) -> tuple[float, float]:
    """CPU seconds and the sup error on [-8, 8] of Sollya's minimax polynomial with ``free`` coefficients."""
    sollya.ask(f"prec=165!; f = {text};")
    seconds = sollya.timed(f"p = remez(f, {free - 1}, [-8;8]);")
    (error,) = sollya.numbers("print(round(dirtyinfnorm(p-f, [-8;8]), 60, RN));")
    return seconds, float(error)
