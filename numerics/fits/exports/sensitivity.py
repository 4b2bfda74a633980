"""How far the gate moves with each of its parameters: by samples, over the domain."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gateproof.numerics.fits.exports.arrays import Evaluated
from gateproof.numerics.fits.exports.form import Form
from gateproof.numerics.fits.exports.formats import DOUBLE, nearest
from gateproof.numerics.fits.gates import Array

KEYS = ("tau", "theta", "slope", "intercept")
#: The sharpness that all thresholds have, as one parameter.
SHARED = "shared tau"
#: Points z about each soft threshold.
_Z = 0.5 * np.sinh(np.linspace(-5.2, 5.2, 521))
PERCENT = 0.01


@dataclass(frozen=True)
class Sensitivity:
    """Of a parameter p: ``derivative`` sup |dy/dp|, ``percent`` sup |y(p +- 1 %) - y(p)|, at x = ``where``.

    Suprema over the domain, of samples, good to about three digits; infinite where they are. A hard gate's
    tau has neither (None); moving a hard threshold at which y jumps has an infinite derivative.
    """

    derivative: float | None
    percent: float | None
    where: float | None


def sensitivities(
    gate: Evaluated, lo: float | None = None, hi: float | None = None
) -> dict[str, list[Sensitivity]]:
    """For every parameter, by key and place; the domain ends at lo and hi where they are given.

    Under :data:`SHARED` stands the sensitivity to the common sharpness of two thresholds or more, all soft;
    without one, nothing.
    """
    found = {key: [_one(gate, key, k, lo, hi) for k in range(len(getattr(gate.form, key)))] for key in KEYS}
    return {**found, SHARED: [_one(gate, "tau", 0, lo, hi, all_of=True)] if gate.form.one_sharpness else []}


def _one(
    gate: Evaluated, key: str, k: int, lo: float | None, hi: float | None, *, all_of: bool = False
) -> Sensitivity:
    form = gate.form
    if key == "tau" and form.hard[k]:
        return Sensitivity(None, None, None)
    parameter = nearest(getattr(form.gate, key)[k], DOUBLE)
    for place, end, far in ((0, lo, -math.inf), (form.branches - 1, hi, math.inf)):
        if key == "slope" and k == place and end is None:
            return Sensitivity(math.inf, math.inf if parameter else 0.0, far)
    step = 1e-5 * _unit(form, key, parameter)
    x = _points(form, key, k, parameter, step, lo, hi)
    if key in ("slope", "intercept"):
        # y is linear in these: dy/dp is the gate, or x times it.
        slope = np.abs(gate.gates(x)[k] * (x if key == "slope" else 1.0))
        return Sensitivity(
            float(slope.max()), PERCENT * abs(parameter) * float(slope.max()), _place(x, slope, lo, hi)
        )
    places = range(len(form.tau)) if all_of else (k,)
    ahead, behind = gate.changed(key, places, step), gate.changed(key, places, -step)
    slope = np.abs(ahead(x) - behind(x)) / (2 * step)
    if key == "theta" and form.hard[k]:
        slope = np.maximum(slope, np.abs(ahead(x) - gate(x)) / step)
        if _jumps(gate, k, lo, hi):
            slope[np.searchsorted(x, form.theta[k])] = math.inf
    moved = [np.abs(gate.changed(key, places, s * PERCENT * parameter)(x) - gate(x)) for s in (1, -1)]
    change = np.maximum(*moved) if parameter else np.zeros_like(x)
    where = _place(x, change if parameter else slope, lo, hi)
    return Sensitivity(float(slope.max()), float(change.max()), where)


def _place(x: Array, size: Array, lo: float | None, hi: float | None) -> float:
    """Where the size is largest; infinite where that is only in the limit."""
    top = size.max()
    if lo is None and size[0] == top:
        return -math.inf
    if hi is None and size[-1] == top:
        return math.inf
    return float(x[np.argmax(size)])


def _unit(form: Form, key: str, parameter: float) -> float:
    """A size on which y is smooth in the parameter."""
    soft = [1 / t for t in form.tau if t < math.inf]
    if key == "theta" and soft:
        return min(soft)
    return abs(parameter) or 1.0


def _points(
    form: Form, key: str, k: int, parameter: float, step: float, lo: float | None, hi: float | None
) -> Array:
    """Ascending points of the domain, dense about the thresholds and where the changed one goes."""
    # Far out on both sides the outer lines alone are left: an intercept moves y by its whole change.
    ends = [form.centre - form.reach if lo is None else lo, form.centre + form.reach if hi is None else hi]
    found = [np.linspace(max(ends[0], -1.0), min(ends[1], 1.0), 5), np.array(ends)]
    for place, (tau, theta) in enumerate(zip(form.tau, form.theta, strict=True)):
        if form.hard[place]:
            found.append(np.array([theta, np.nextafter(theta, np.inf)]))
        else:
            found.append(form.centre + theta + _Z / tau)
    if key == "theta":
        moved = parameter + np.array([-PERCENT * parameter, PERCENT * parameter, -step, step])
        found += [moved, np.nextafter(moved, np.inf), np.linspace(moved[0], moved[1], 201)]
        if not form.hard[k]:
            found += [m + _Z / form.tau[k] for m in moved[:2]]
    x = np.unique(np.concatenate(found))
    return x[(x >= ends[0]) & (x <= ends[1])]


def _jumps(gate: Evaluated, k: int, lo: float | None, hi: float | None) -> bool:
    """Whether y jumps at a hard threshold inside of the domain."""
    theta = gate.form.theta[k]
    if (lo is not None and theta < lo) or (hi is not None and theta >= hi):
        return False
    beside = float(np.nextafter(theta, np.inf))
    left, right = gate(np.array([theta, beside]))
    size = max(abs(s * theta) + abs(c) for s, c in zip(gate.form.slope, gate.form.intercept, strict=True))
    # At 0 lines through 0 have no size, and y rises over the smallest number.
    steepest = max(map(abs, gate.form.slope)) * (beside - theta)
    return bool(abs(right - left) > 1e-9 * size + 4 * steepest)
