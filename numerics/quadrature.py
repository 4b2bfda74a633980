"""Rigorous integrals over compact intervals by Arb: Gauss-Legendre rules with bounds off the real line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from flint import acb, arb

from gateproof.numerics import interval as iv
from gateproof.numerics.complex_ball import compiled_complex
from gateproof.numerics.precision import precision
from gateproof.numerics.special import special_points
from gateproof.theory.formula.nodes import Expr

#: Evaluations of the integrand between two cuts.
EVALUATIONS = 40_000


@dataclass(frozen=True)
class Path:
    """The integral of ``body`` over ``var`` from lo to hi, rational ends, perhaps with fixed other names."""

    body: Expr
    var: str
    lo: Fraction
    hi: Fraction


def integrate(
    path: Path,
    bits: int,
    tolerance: arb,
    fixed: Mapping[str, arb] | None = None,
    evaluations: int = EVALUATIONS,
) -> arb:
    """A ball that holds the integral; not finite where the work did not suffice.

    The integrand must be defined, as a real function, on the whole interval. ``fixed`` gives other
    names as balls: the result then holds the integrals for all of their values. The tolerance (an
    absolute error aimed at) only steers the work.
    """
    with precision(bits):
        cuts = [k for k in special_points(path.body, path.var) if path.lo < k < path.hi]
        ends = [path.lo, *cuts, path.hi]
        share = tolerance / len(ends)
        total = arb(0)
        for lo, hi in pairwise(ends):
            total += _piece(path, lo, hi, share, fixed or {}, evaluations)
            if not total.is_finite():
                break
        return total


def _piece(
    path: Path, lo: Fraction, hi: Fraction, tolerance: arb, fixed: Mapping[str, arb], evaluations: int
) -> arb:
    run = compiled_complex(path.body)
    env = {name: acb(ball) for name, ball in fixed.items()}
    start, width = iv.rational(lo), iv.rational(hi - lo)
    name = path.var

    def integrand(t: acb, analytic: bool) -> acb:
        env[name] = start + width * t
        return run(env, bool(analytic))

    # From 0 to 1: both ends exact, rounding of the given ends inside of the integrand.
    goal = tolerance / width
    found = acb.integral(integrand, acb(0), acb(1), rel_tol=arb(0), abs_tol=goal, eval_limit=evaluations)
    return found.real * width
