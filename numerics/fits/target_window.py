"""Points of a domain; and a window that the target does not bend in: what is left of it there."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.target import Target

#: A departure from a line below this share of the values is nothing that one fits.
FLAT = 1e-9


def window_notes(target: Target) -> tuple[str, ...]:
    """A warning where the target is a line to nine digits on its interval, but no exact line."""
    if target.lo is None or target.hi is None:
        return ()
    lo, hi = float(target.lo), float(target.hi)
    x = np.linspace(lo, hi, 2001)
    with np.errstate(all="ignore"):
        y = target.function(x)
    size = float(np.abs(y).max())
    if not np.isfinite(size) or size == 0:
        return ()
    spread, middle = float(np.ptp(y)), float(np.median(y))
    if spread <= FLAT * size:
        line, far = f"the constant {middle:.9g}", float(np.abs(y - float(f"{middle:.9g}")).max())
    else:
        slope, intercept = np.polyfit(x, y, 1)
        shown = 0.0 if abs(intercept) < FLAT * size else intercept
        line = f"the line {slope:.9g}*x + {shown:.9g}"
        far = float(np.abs(y - slope * x - intercept).max())
    if not 64 * target.resolution * size < far <= FLAT * size or spread == 0:
        return ()
    where = f"on {target.domain} {target.name:.60}"
    return (f"{where} is {line} to {far:.2g}: its thresholds lie outside of the window",)


def sample(lo: Fraction | None, hi: Fraction | None, kinks: tuple[Fraction, ...] = ()) -> Array:
    """Points of a domain: equally far apart on an interval, over 16 decades towards an infinite end."""
    inner = [float(k) for k in kinks]
    if lo is not None and hi is not None:
        return np.union1d(np.linspace(float(lo), float(hi), 2001), inner)
    far = np.concatenate([[0.0], np.geomspace(1e-8, 1e6, 801)])
    if lo is not None:
        return np.union1d(float(lo) + far, inner)
    if hi is not None:
        return np.union1d(float(hi) - far, inner)
    return np.union1d(np.concatenate([-far, far]), inner)
