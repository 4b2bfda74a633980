"""``--weight``: a formula in x, not negative on the domain; it multiplies an error, or is a density."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gateproof.numerics.backends import prepare
from gateproof.numerics.backends.formula import formula
from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.target import RefusedTarget, Target, values_of
from gateproof.numerics.fits.target_kinks import features
from gateproof.numerics.fits.target_window import sample
from gateproof.theory.formula import FormulaError, parse_expr
from gateproof.theory.formula.nodes import App, Expr, num

#: A target that falls below this share of its largest value has no relative error in doubles.
TINY = 1e-10
Weight = tuple[Callable[[Array], Array], Expr, tuple[float, ...]]


def checked_weight(text: str, target: Target) -> Weight:
    """The weight, its core expression, and the places where one of its arguments is 0. Raises RefusedTarget.

    Looked at on a sample of the domain: finite there, nowhere negative, somewhere positive.
    """
    if not isinstance(text, str):
        raise RefusedTarget(f"--weight {text!r:.40}: give a formula in x as text")
    try:
        found = formula(text.strip())
        core = prepare.core(parse_expr(text.strip()))
    except (FormulaError, RecursionError) as error:
        raise RefusedTarget(f"--weight {text!r:.60}: {error}") from None
    other = sorted(set(found.names) - {"x"})
    if other:
        raise RefusedTarget(f"--weight {text!r:.60}: {other[0]!r} is not x; give a formula in x")
    run, cuts = values_of(found), tuple(at for at, _ in features(core))
    x = sample(target.lo, target.hi, target.kinks)
    x = np.union1d(x, [c for c in cuts if x[0] <= c <= x[-1]])
    with np.errstate(all="ignore"):
        y = run(x)
    for bad, what in ((~np.isfinite(y), "has no finite value"), (y < 0, "is negative")):
        if bad.any():
            at = float(x[bad][np.argmin(np.abs(x[bad]))])
            raise RefusedTarget(
                f"--weight {text!r:.60} {what} at x = {at:.6g}; it must be positive on the domain"
            )
    if not (y > 0).any():
        raise RefusedTarget(f"--weight {text!r:.60} is 0 on the whole domain")
    return run, core, cuts


def weighted(target: Target, norm: str = "sup", weight: str | None = None) -> Target:
    """The target with the weight that multiplies its error in the sup norm. Raises RefusedTarget.

    ``norm`` 'sup' with a formula, or 'relative': 1/|f|, which is refused where f is 0, or tends to 0 at an
    infinite end. There a gate's error, which falls like exp(-tau |x|), has another order than f, so that the
    relative error is 1 or more, whatever the gate.
    """
    if norm == "relative":
        return _relative(target)
    if weight is None or norm != "sup":
        return target
    run, core, _ = checked_weight(weight, target)
    return replace(target, weight=run, weight_expr=core)


def _root(target: Target, lo: float, hi: float) -> float:
    """The place between where the sign changes."""
    rising = target.function(np.array([hi]))[0] > 0
    for _ in range(100):
        middle = (lo + hi) / 2
        above = target.function(np.array([middle]))[0] > 0
        lo, hi = (lo, middle) if above == rising else (middle, hi)
    return hi


def _relative(target: Target) -> Target:
    shown = target.name if target.kind == "formula" else "f(x)"
    instead = f'--weight "1/max(abs({shown:.60}), 0.01)" bounds it by the absolute error where it is small'
    if target.kind != "formula":
        instead = "take the sup norm, or an interval without"
    for line, end in ((target.left, "-oo"), (target.right, "oo")):
        if line is not None and line.slope == line.intercept == num(0):
            why = f"{target.name:.60} tends to 0 for x -> {end}, where a gate's relative error is 1 or more"
            raise RefusedTarget(f"--norm relative: {why}; {instead}")
    x = sample(target.lo, target.hi, target.kinks) if target.points is None else target.points.x
    with np.errstate(all="ignore"):
        y = target.function(x)
    zero = np.concatenate([x[y == 0], x[:-1][y[1:] * y[:-1] < 0]])
    if len(zero):
        at = float(zero[0])
        if target.points is None and target.function(zero[:1])[0]:
            at = _root(target, at, float(x[np.searchsorted(x, at) + 1]))
        raise RefusedTarget(f"--norm relative: {target.name:.60} is 0 near x = {at:.6g}; {instead}")
    least = int(np.argmin(np.abs(y)))
    if abs(y[least]) <= TINY * np.abs(y).max():
        most = float(np.abs(y).max())
        where = f"falls to {y[least]:.2g} at x = {x[least]:.6g}, too small beside {most:.2g} for doubles"
        raise RefusedTarget(f"--norm relative: {target.name:.60} {where}; {instead}")
    function = target.function

    def run(x: Array) -> Array:
        return np.asarray(1.0 / np.abs(function(x)))

    core = None if target.expr is None else App("div", (num(1), App("abs", (target.expr,))))
    return replace(target, weight=run, weight_expr=core)
