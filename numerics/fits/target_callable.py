"""Targets that are Python functions, looked at closely.

A function has no proof: it is refused where it is seen not to be one of a single real number, and its
asymptotes on R are estimates (:mod:`...fits.target_tails`).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.target import DOUBLE, Line, RefusedTarget, Target
from gateproof.numerics.fits.target_breaks import breaks
from gateproof.numerics.fits.target_calling import ALONE, Function, callee, raised, real
from gateproof.numerics.fits.target_domain import Domain
from gateproof.numerics.fits.target_tails import no_line, tail
from gateproof.numerics.fits.target_user import user_code
from gateproof.numerics.fits.target_window import sample, window_notes

#: Errors of values above this share of them are told.
ROUGH = 2.0**-44


def of_callable(given: Any, domain: Domain | None = None, name: str = "") -> Target:
    """The target of a function of one number, of arrays, or of tensors. Raises RefusedTarget.

    Without a domain it is R if the function approaches lines to nine digits at both ends; else R is refused.
    """
    name = name or name_of(given)
    lo, hi, notes = (None, None, ()) if domain is None else (domain.lo, domain.hi, domain.notes)
    x = sample(lo, hi)
    try:
        called = callee(given, name, _few(x))
        function = _guarded(called.run, name)
        y = function(x)
    except RefusedTarget as error:
        if domain is not None or " raised " not in str(error) or "SystemExit" in str(error):
            raise
        instead = "on all of R it is asked for values; give an interval with --domain '[-8, 8]'"
        raise RefusedTarget(f"{error}: {instead}") from None
    _must_be_finite(name, x, y, infinite=lo is None or hi is None)
    _must_be_repeatable(name, function, x, y)
    _must_be_pointwise(name, function, x, y, called.resolution)
    resolution = max(called.resolution, _roughness(function, x, y))
    if resolution > max(called.resolution, ROUGH):
        notes = (*notes, f"values of {name} are seen to be off by {resolution:.1g} of their size")
    left = _line(function, name, "-", lo, hi, resolution) if lo is None else None
    right = _line(function, name, "+", lo, hi, resolution) if hi is None else None
    said = [f"{end}: {_said(line)}" for end, line in (("left", left), ("right", right)) if line is not None]
    if said:
        notes = (*notes, f"the asymptotes are estimated from values ({'; '.join(said)}), not proved")
    target = Target(name, function, None, lo, hi, left, right, kind="callable", resolution=resolution)
    found = breaks(function, lo, hi, resolution)
    return replace(target, kinks=found, notes=(*called.notes, *notes, *window_notes(target)))


def _line(
    function: Function, name: str, side: str, lo: Fraction | None, hi: Fraction | None, resolution: float
) -> Line:
    start = lo if lo is not None else hi if hi is not None else Fraction(0)
    found = tail(function, side, float(start), resolution)
    if found is None:
        raise RefusedTarget(no_line(name, side, lo, hi))
    return found


def name_of(given: Any) -> str:
    """What a function calls itself."""
    own = getattr(given, "__name__", "") or type(given).__name__
    return "the function" if own == "<lambda>" else f"{own}"


def _said(line: Line) -> str:
    slope = {0.0: "", 1.0: "x", -1.0: "-x"}.get(line.m, f"{line.m:.12g}*x")
    if not slope or not line.b:
        return slope or f"{line.b:.12g}"
    return f"{slope} {'-' if line.b < 0 else '+'} {abs(line.b):.12g}"


def _few(x: Array) -> Array:
    """Seven different points, none of them special."""
    inner = x[np.linspace(len(x) * 0.3, len(x) * 0.7, 7).astype(int)]
    return np.asarray(inner + (x[-1] - x[0]) * 1e-9 * np.arange(1, 8) / 7 * (np.abs(inner) < 1))


def _guarded(run: Function, name: str) -> Function:
    """The function with one line for what it raises, and float64 arrays of the right shape out."""

    def function(x: Array) -> Array:
        flat = np.ascontiguousarray(x, dtype=np.float64).ravel()
        if not len(flat):
            return np.zeros(x.shape)
        try:
            with np.errstate(all="ignore"), user_code():
                values, _ = real(run(flat), flat)
        except RefusedTarget as error:
            raise RefusedTarget(f"{name}: {error}") from None
        except Exception as error:
            raise RefusedTarget(f"{name} raised {raised(error)}") from None
        return values.reshape(x.shape)

    return function


def _roughness(function: Function, x: Array, y: Array) -> float:
    """How far values are off a cubic on a width of 3e-5 of x, as a share of them; the least of three."""
    large = np.flatnonzero((np.abs(y) >= np.median(np.abs(y))) & (np.abs(x) > 1e-3) & (np.abs(x) < 1e3))
    steps, found = np.linspace(-1.0, 1.0, 33), []
    for k in large[np.linspace(0, len(large) - 1, 3).astype(int)] if len(large) else []:
        values = function(x[k] * (1 + 2.0**-16 * steps))
        if y[k] and np.isfinite(values).all():
            off = values - np.polyval(np.polyfit(steps, values, 3), steps)
            found.append(float(np.abs(off).max() / np.abs(y[k])))
    rough = min(found, default=0.0)
    return rough if rough > ROUGH else DOUBLE


# --- whether it is a function of x ----------------------------------------------


def _must_be_finite(name: str, x: Array, y: Array, *, infinite: bool) -> None:
    bad = np.flatnonzero(~np.isfinite(y))
    if not len(bad):
        return
    at = float(x[bad[np.argmin(np.abs(x[bad]))]])
    advice = 'give an interval inside of where it has values, as --domain "[-8, 8]"'
    if infinite and len(bad) < len(x):
        cuts = np.flatnonzero(np.diff(np.concatenate([[0], np.isfinite(y).astype(int), [0]])))
        lo, hi = max(cuts.reshape(-1, 2), key=lambda run: run[1] - run[0])
        advice = f"it has values from about {x[lo]:.3g} to {x[hi - 1]:.3g}; {advice}"
    raise RefusedTarget(f"{name} is {float(y[x == at][0])} at x = {at:.6g}: {advice}")


def _must_be_repeatable(name: str, function: Function, x: Array, y: Array) -> None:
    again = function(x)
    bad = np.flatnonzero(again != y)
    if len(bad):
        k = bad[0]
        raise RefusedTarget(
            f"{name} gives {y[k]:.6g} and then {again[k]:.6g} at x = {x[k]:.6g}: it is random or remembers; "
            f"{ALONE}"
        )


def _must_be_pointwise(name: str, function: Function, x: Array, y: Array, resolution: float) -> None:
    """Refuse a function whose value at one x depends on the others in the array."""
    allowed = 1e-9 if resolution == DOUBLE else 64 * resolution
    middle = len(x) // 2
    for part in (
        slice(None, None, -1),
        slice(None, None, 3),
        slice(middle, middle + 1),
        slice(middle - 9, middle),
    ):
        apart = np.abs(function(x[part]) - y[part])
        bad = np.flatnonzero(apart > allowed * (np.abs(y[part]) + np.median(np.abs(y))))
        if len(bad):
            raise RefusedTarget(
                f"{name}: its value at x = {x[part][bad[0]]:.6g} depends on the other numbers given with it; "
                f"{ALONE}"
            )
