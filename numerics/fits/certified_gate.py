"""From floats to the numbers that are printed: decimals as short as the error allows, exact ends as they are.

A slope of pi/2 stays pi/2: with a decimal in its place the error on R would be infinite.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from gateproof.numerics.backends.numbers import to_float
from gateproof.numerics.fits.driver import Found
from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.normal import ROUNDING, Normal
from gateproof.numerics.fits.setting import Setting
from gateproof.numerics.fits.target import DOUBLE
from gateproof.theory.formula.nodes import Expr, Num, num
from gateproof.theory.gate import Gate

#: Significant digits tried, and the relative loss that shorter numbers may cost.
DIGITS, LOSS = (7, 9, 11, 13, 15), 1e-7


def decimal_gate(normal: Normal, found: Found) -> Gate:
    """The gate in the target's coordinates with the shortest decimals that are as good."""
    setting = found.setting
    found = replace(found, full=found.gates.ordered(found.full))
    parts = normal.inverse(found.gates, found.full)
    fixed = _fixed(normal, setting)
    if normal.width > 0 and math.isfinite(normal.height):
        x = normal.grid()
        right = normal.function(x)
        weight = _weight(normal, x)
        allowed = _allowed(normal, x, _errors(found, found.full, x, right, weight))
        for digits in DIGITS:
            plain = _rounded(normal, parts, digits)
            for rounded in (_mirrored(normal, plain), plain):
                if rounded is None:
                    continue
                if any(a >= b for a, b in pairwise(rounded[1])) and setting.algebra == "difference":
                    continue
                off = _errors(found, _back(normal, found, rounded, fixed), x, right, weight)
                if (off <= allowed).all():
                    return _gate(rounded, fixed, setting)
    exact = [[Fraction(repr(float(v))) for v in values] for values in parts]
    return _gate(exact, fixed, setting)


Exact = dict[tuple[str, int], Expr]


def _fixed(normal: Normal, setting: Setting) -> Exact:
    """The lines' coefficients that are known exactly, by kind and place."""
    target, n = normal.target, setting.branches
    found: Exact = {}
    for k in range(n):
        if setting.family == "multiplicative":
            found["intercept", k] = num(0)
        if setting.family == "constant":
            found["slope", k] = num(0)
    if setting.ends == "free":
        return found
    for k, line in ((0, target.left), (n - 1, target.right)):
        if line is not None:
            found["slope", k] = line.slope
            if setting.ends == "pinned":
                found["intercept", k] = line.intercept
    return found


def _rounded(normal: Normal, parts: tuple[Array, Array, Array, Array], digits: int) -> list[list[Fraction]]:
    """Multiples of a power of ten: that of the parameter's own size, but of the target's scale near 0."""
    tau, theta, slope, intercept = parts
    scales = (0.0, normal.width, normal.height / normal.width, normal.height)
    if normal.target.weight is not None:
        # A weight may be large where a small line counts.
        scales = (0.0, normal.width, 0.0, 0.0)
    return [
        [nearest(float(v), scale, digits) for v in values]
        for values, scale in zip((tau, theta, slope, intercept), scales, strict=True)
    ]


def _mirrored(normal: Normal, numbers: list[list[Fraction]]) -> list[list[Fraction]] | None:
    """The numbers with those on the right made the mirror image of those on the left; None if there is none.

    A gate as symmetric as its target reaches its error on both sides, and two of its numbers are one.
    """
    if not normal.symmetry or normal.centre:
        return None
    tau, theta, slope, intercept = (list(values) for values in numbers)
    m, b = Fraction(repr(float(normal.m))), Fraction(repr(float(normal.b)))
    even = normal.symmetry == "even"
    last = len(slope) - 1
    for k in range(last):
        j = last - 1 - k
        if k <= j:
            tau[j], theta[j] = tau[k], (-theta[k] if j > k else Fraction(0))
    for k in range(last + 1):
        j = last - k
        if k == j:
            slope[k], intercept[k] = (m, intercept[k]) if even else (slope[k], b)
        elif k < j:
            slope[j] = 2 * m - slope[k] if even else slope[k]
            intercept[j] = intercept[k] if even else 2 * b - intercept[k]
    return [tau, theta, slope, intercept]


def nearest(value: float, scale: float, digits: int) -> Fraction:
    """The multiple of a power of ten: so many digits of the value, or of the scale if that is larger."""
    size = max(abs(value), scale)
    if not size:
        return Fraction(0)
    unit = Fraction(10) ** (math.floor(math.log10(size)) - digits + 1)
    return round(Fraction(value) / unit) * unit


def _back(normal: Normal, found: Found, rounded: list[list[Fraction]], fixed: Exact) -> Array:
    """The rounded numbers in normal coordinates."""
    n, at = found.gates.branches, found.gates.place
    tau, theta, slope, intercept = ([float(v) for v in values] for values in rounded)
    full = np.zeros(found.gates.size)
    for k in range(n - 1):
        full[at("sharpness", k)] = math.log(tau[k] * normal.width) if tau[k] > 0 else -math.inf
        full[at("theta", k)] = (theta[k] - normal.centre) / normal.width
    for k in range(n):
        m = to_float(fixed["slope", k]) if ("slope", k) in fixed else slope[k]
        b = to_float(fixed["intercept", k]) if ("intercept", k) in fixed else intercept[k]
        full[at("slope", k)], full[at("intercept", k)] = normal.line(m, b)
    return full


def _weight(normal: Normal, u: Array) -> Array:
    weight = normal.target.weight
    return np.ones_like(u) if weight is None else np.asarray(weight(normal.centre + normal.width * u))


def _errors(found: Found, full: Array, x: Array, right: Array, weight: Array) -> Array:
    with np.errstate(all="ignore"):
        off = np.abs(weight * (found.gates.values(full, x) - right))
    return np.where(np.isfinite(off), off, np.inf)


def weighted_noise(normal: Normal, u: Array) -> Array:
    """What rounding of the target, and of a gate with lines of size 1, may have changed the error by."""
    return np.abs(_weight(normal, u)) * (normal.noise(u) + ROUNDING * DOUBLE)


def _allowed(normal: Normal, x: Array, best: Array) -> Array:
    """The error that shorter numbers may have at each point.

    Of a function or data that the gate meets to rounding, anything within it: its own last digits are none.
    """
    most = np.full_like(best, best.max() * (1 + LOSS))
    noise = weighted_noise(normal, x)
    rounding = normal.target.expr is None and bool((best <= noise).all())
    return np.maximum(most, noise) if rounding else most


def _gate(numbers: list[list[Fraction]], fixed: Exact, setting: Setting) -> Gate:
    tau, theta, slope, intercept = numbers

    def lines(kind: str, values: list[Fraction]) -> tuple[Expr, ...]:
        return tuple(fixed.get((kind, k), Num(v)) for k, v in enumerate(values))

    return Gate(
        tuple(Num(t) for t in tau),
        tuple(Num(t) for t in theta),
        lines("slope", slope),
        lines("intercept", intercept),
        setting.algebra,
    )


def shorter(gate: Gate, normal: Normal, error: Callable[[Gate], float]) -> Gate:
    """The gate with its rational numbers rounded as far as the error, which is given in floats, allows."""
    most = error(gate) * (1 + LOSS)
    scales = (normal.width, normal.height / normal.width, normal.height)
    for digits in DIGITS:
        theta, slope, intercept = (
            tuple(_short(v, scale, digits) for v in values)
            for values, scale in zip((gate.theta, gate.slope, gate.intercept), scales, strict=True)
        )
        made = replace(gate, theta=theta, slope=slope, intercept=intercept)
        places = [v.value for v in made.theta if isinstance(v, Num)]
        if all(a < b for a, b in pairwise(places)) and error(made) <= most:
            return made
    return gate


def _short(value: Expr, scale: float, digits: int) -> Expr:
    if not isinstance(value, Num):
        return value
    return Num(nearest(float(value.value), scale, digits))
