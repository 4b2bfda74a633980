"""The root mean square error of a gate: by quadrature to about twelve digits, and as a proved enclosure."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt, sqrt

import numpy as np

from gateproof.numerics.backends import prepare
from gateproof.numerics.backends.formula import Formula
from gateproof.numerics.backends.numbers import to_float
from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.measure import Measure, root_mean
from gateproof.numerics.fits.measure_rule import cuts_of, must_converge, panels, rounding, weighted_integrand
from gateproof.numerics.fits.target import Target, values_of
from gateproof.theory.formula.nodes import App, Const, Expr, Num, Var, num
from gateproof.theory.gate import Gate

_X = Var("x")


def rms(gate: Gate, target: Target, measure: Measure) -> float:
    """The root of the mean of (gate - target)^2 under a distribution; at the points for data and samples.

    Raises RefusedTarget where the mean is infinite.
    """
    whole = gate.expression()
    run = values_of(Formula("the gate", whole, ("x",), {}, prepare.core(whole)))
    if measure.x is not None and measure.weight is not None:
        return root_mean(measure.weight, run(measure.x) - target.function(measure.x))
    assert measure.density is not None
    places = []
    for tau, theta in zip(gate.tau, gate.theta, strict=True):
        at = to_float(theta)
        places.append((at, 0.0 if tau == Const("oo") else 1.0 / to_float(tau)))
    width = 1.0 if measure.kind == "density" and not places else max([w for _, w in places] or [1.0])
    cuts = cuts_of(measure, target, places, places[0][0] if places else 0.0, width or 1.0)

    def squared(x: Array) -> Array:
        return np.asarray((run(x.ravel()) - target.function(x.ravel())) ** 2).reshape(1, *x.shape)

    name = "the root mean square"
    largest = float(measure.density(cuts).max())
    integrand = weighted_integrand(measure, squared, largest, name)
    edges, values = panels(integrand, cuts, noise=rounding(measure, target, cuts), name=name)
    must_converge(values, edges, target, measure, name)
    return sqrt(max(float(values[1].sum()) / float(values[0].sum()), 0.0))


def rms_enclosure(
    gate: Gate, target: Target, measure: Measure, digits: int = 6
) -> tuple[Fraction, Fraction] | None:
    """Proved bounds of the root mean square; None for what has no formula, or where they were not found.

    Under a normal or uniform distribution or a density given as a formula.
    """
    if target.expr is None or measure.kind not in ("normal", "uniform", "density"):
        return None
    from gateproof.numerics.errors import NumericsError
    from gateproof.theory.formula import FormulaError

    try:
        bounds = _mean_square(gate, target, measure, digits)
    except (NumericsError, FormulaError, ArithmeticError, RecursionError, NotImplementedError):
        return None
    return None if bounds is None else (_root(bounds[0], up=False), _root(bounds[1], up=True))


def _mean_square(
    gate: Gate, target: Target, measure: Measure, digits: int
) -> tuple[Fraction, Fraction] | None:
    from gateproof.numerics.gauss import gaussian
    from gateproof.numerics.integral import Value, integral
    from gateproof.theory.exact.kernels import exponential

    assert target.expr is not None
    apart = App("add", (gate.expression(), App("neg", (target.expr,))))
    body = App("pow", (apart, num(2)))
    lo: Expr = App("neg", (Const("oo"),)) if target.lo is None else Num(target.lo)
    hi: Expr = Const("oo") if target.hi is None else Num(target.hi)

    def enclosed(value: Value) -> tuple[Fraction, Fraction] | None:
        return value.enclosure if value.status == "ok" else None

    variance = Num(measure.sigma**2)
    if measure.kind == "normal" and target.lo is None and target.hi is None:
        return enclosed(gaussian(body, "x", variance, Num(measure.mu), digits))
    if measure.kind == "uniform":
        assert target.lo is not None
        assert target.hi is not None
        found = enclosed(integral(body, "x", lo, hi, digits))
        width = target.hi - target.lo
        return None if found is None else (found[0] / width, found[1] / width)
    if measure.kind == "normal":
        off = App("pow", (App("add", (_X, Num(-measure.mu))), num(2)))
        density: Expr = exponential(App("div", (App("neg", (off,)), Num(2 * measure.sigma**2))))
    else:
        assert measure.expr is not None
        density = measure.expr
    mass = enclosed(integral(density, "x", lo, hi, digits + 2))
    found = enclosed(integral(App("mul", (density, body)), "x", lo, hi, digits))
    if mass is None or found is None or mass[0] <= 0:
        return None
    return found[0] / (mass[1] if found[0] > 0 else mass[0]), found[1] / mass[0]


def _root(value: Fraction, *, up: bool) -> Fraction:
    """A rational at most 2**-60 of itself below or above the square root; 0 for what is not positive."""
    if value <= 0:
        return Fraction(0)
    shift = max(0, 140 - (value.numerator.bit_length() - value.denominator.bit_length())) // 2 + 2
    whole = (value.numerator << 2 * shift) // value.denominator
    found = isqrt(whole) + (1 if up else 0)
    # floor twice loses at most one unit: (found + 1)^2 is above the value times 4**shift.
    return Fraction(found, 1 << shift)
