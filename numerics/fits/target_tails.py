"""The lines that a function without a formula approaches, estimated from values far out.

The slope comes from two far points, the intercept from two octaves on which the values lie on the line to
1e-9 of what they depart from it elsewhere; every point beyond, up to 2**40, must be on it as well but
for rounding. Functions that oscillate, grow, or approach slower than 1/x do not pass.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.target import DOUBLE, Line, RefusedTarget
from gateproof.theory.formula.nodes import Num

#: How close to the line, as a share of the departure from it; digits of its coefficients where these do.
CLEAN, DIGITS = 1e-9, 12
#: Points in a run of two octaves.
RUN = 7
#: Not powers of two alone: a function of period 1 would look like a line.
_PARTS = np.array([1.0, 1.27182818284590, 1.61803398874989])


def tail(
    function: Callable[[Array], Array], side: str, start: float = 0.0, resolution: float = DOUBLE
) -> Line | None:
    """The line at '-' or '+' infinity, in decimals; None where none is approached cleanly.

    Values of float32 are looked at up to 2**21, where numbers still have places behind the point.
    """
    powers, parts = np.arange(-20, 41), _PARTS
    if resolution > DOUBLE:
        powers, parts = powers[:42], _PARTS.astype(np.float32).astype(np.float64)
    far = np.asarray(2.0 ** powers[:, None] * parts, dtype=np.float64).ravel()
    x = np.asarray(start + (1.0 if side == "+" else -1.0) * far, dtype=np.float64)
    try:
        y = function(x)
    except RefusedTarget:
        return None
    if not np.isfinite(y).all():
        return None
    raw = float((y[-1] - y[-4]) / (x[-1] - x[-4]))
    for slope in dict.fromkeys((_short(raw, float(np.abs(np.diff(y) / np.diff(x)).max())), raw)):
        rest, noise = y - slope * x, 8 * resolution * (np.abs(slope * x) + np.abs(y))
        for k in range(len(x) - RUN + 1):
            run = rest[k : k + RUN]
            intercept = float(np.median(run))
            departure = np.maximum(np.abs(rest - intercept) - noise, 0.0)
            size = float(departure.max())
            allowed = max(CLEAN * size, 32 * resolution * float(np.abs(y[departure.argmax()])))
            if np.abs(run - intercept).max() > allowed:
                continue
            for b in (_short(intercept, size), intercept):
                if (np.abs(rest[k:] - b) <= allowed + noise[k:]).all():
                    return Line(_number(slope), _number(b), slope, b)
    return None


def _short(value: float, size: float) -> float:
    """The number with 12 digits, and 0 where it is nothing beside ``size``."""
    return 0.0 if abs(value) <= 1e-12 * size or abs(value) < 1e-300 else float(f"{value:.{DIGITS}g}")


def _number(value: float) -> Num:
    return Num(Fraction(repr(value)))


def no_line(name: str, side: str, lo: Fraction | None, hi: Fraction | None) -> str:
    """Why R, or a half line, is refused."""
    place = "R" if lo is None and hi is None else "a half line"
    span = f"[{lo}, {lo + 8}]" if lo is not None else f"[{hi - 8}, {hi}]" if hi is not None else "[-8, 8]"
    end = "-oo" if side == "-" else "oo"
    return (
        f"{name} cannot be fitted on {place}: its values for x -> {end} are on no line to nine digits, and "
        f'nothing is known beyond them; give an interval, as --domain "{span}", or a formula'
    )
