"""Which activations have closed means over a normal pair, and the forms in a space of numbers.

One formula a family, whatever numbers it is evaluated in (:mod:`closed_forms_space`).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from gateproof.numerics.meanfield.activation import Phi, X
from gateproof.numerics.meanfield.closed_forms_bell import Bell
from gateproof.numerics.meanfield.closed_forms_erf import ErrorFunction, ErrorLinear
from gateproof.numerics.meanfield.closed_forms_lines import PiecewiseLinear, TwoSlopes
from gateproof.numerics.meanfield.closed_forms_polynomial import Polynomial
from gateproof.numerics.meanfield.closed_forms_space import Space
from gateproof.numerics.meanfield.closed_forms_waves import Exponential, Waves
from gateproof.numerics.points import compare, enclosure
from gateproof.theory.exact.kernels import (
    PI,
    ZERO,
    Kernel,
    kernels,
    linear_in,
    minus,
    over,
    plus,
    times,
)
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Num, num

Form = TwoSlopes | PiecewiseLinear | ErrorFunction | ErrorLinear | Bell | Waves | Exponential | Polynomial
Maker = Callable[[Space], Form]

_HALF = num(Fraction(1, 2))


@lru_cache(maxsize=256)
def closed_form(phi: Phi) -> Maker | None:
    """What makes the closed form of an activation in a space, or None where none is known.

    A form's numbers are made with it: in mpmath, at the precision of that moment.
    """
    if len(phi.branches) == 1:
        found = kernels(phi.branches[0].expr, X)
        return None if found is None else _smooth(found)
    if phi.piecewise_linear and not phi.has_jump:
        return _lines(phi)
    return None


def _smooth(found: list[Kernel]) -> Maker | None:
    line: dict[int, Expr] = {}
    rest: list[Kernel] = []
    for term in found:
        if term.erfs or term.wave or term.quad != ZERO or term.lin != ZERO:
            rest.append(term)
        else:
            line[term.k] = plus(line.get(term.k, ZERO), term.c)
    line = {k: c for k, c in line.items() if c != ZERO}
    if not rest:
        return _polynomial(line)
    degree = max(line, default=0)
    if all(t.wave and not t.erfs and t.k == 0 and t.quad == ZERO == t.lin for t in rest):
        return _waves(line, rest) if degree <= 1 else None
    kinds = {(t.k, t.quad, t.lin, t.erfs, t.wave) for t in rest}
    if len(kinds) != 1 or rest[0].wave:
        return None
    scale = plus(*(t.c for t in rest))
    return _one(line, degree, rest[0], scale)


def _one(line: dict[int, Expr], degree: int, kind: Kernel, scale: Expr) -> Maker | None:
    """A line with one more kind of term."""
    level = line.get(0, ZERO)
    if kind.erfs:
        (rate, offset), *others = kind.erfs
        if others or offset != ZERO or kind.quad != ZERO or kind.lin != ZERO:
            return None
        if kind.k == 0 and degree == 0:
            return lambda s: ErrorFunction(s, s.number(level), s.number(scale), s.number(rate))
        if kind.k == 1 and set(line) <= {1}:
            slope = line.get(1, ZERO)
            return lambda s: ErrorLinear(s, s.number(slope), s.number(scale), s.number(rate))
        return None
    if kind.k or degree:
        return None
    if kind.lin == ZERO and compare(kind.quad, ZERO) == 1:
        return lambda s: Bell(s, s.number(level), s.number(scale), s.number(kind.quad))
    if kind.quad == ZERO:
        return lambda s: Exponential(s, s.number(level), s.number(scale), s.number(kind.lin))
    return None


def _polynomial(line: dict[int, Expr]) -> Maker:
    degree = max(line, default=0)
    parts = tuple(line.get(k, ZERO) for k in range(degree + 1))
    if degree <= 1:
        level, slope = parts[0], parts[1] if degree else ZERO
        return lambda s: TwoSlopes(s, s.number(level), s.number(slope), s.number(ZERO))
    return lambda s: Polynomial(s, tuple(s.number(p) for p in parts))


def _waves(line: dict[int, Expr], rest: list[Kernel]) -> Maker | None:
    terms: list[tuple[Expr, Expr, Expr]] = []
    for term in rest:
        assert term.wave is not None
        rate, phase = term.wave
        side = compare(rate, ZERO)
        if not side:
            return None
        if side < 0:
            rate, phase = minus(rate), minus(phase)
        # cos(w x + p) = cos p cos(w x) - sin p sin(w x)
        sine, cosine = minus(times(term.c, _turned(phase, 1))), times(term.c, _turned(phase, 0))
        terms.append((rate, sine, cosine))
    level, slope = line.get(0, ZERO), line.get(1, ZERO)

    def make(space: Space) -> Waves:
        n = space.number
        return Waves(space, n(level), n(slope), tuple((n(w), n(a), n(b)) for w, a, b in terms))

    return make


def _turned(phase: Expr, quarter: int) -> Expr:
    """cos (0) or sin (1) of a phase, exact at multiples of pi/2."""
    lo, hi = enclosure(over(times(num(2), phase), PI), 512)
    turns = round((lo + hi) / 2)
    if max(abs(lo - turns), abs(hi - turns)) < Fraction(1, 2**400):
        return num((1, 0, -1, 0)[(turns - quarter) % 4])
    return App("sin" if quarter else "cos", (phase,))


def _lines(phi: Phi) -> Maker | None:
    parts = [linear_in(b.expr, X) for b in phi.branches]
    lines = [p for p in parts if p is not None]
    if len(lines) != len(parts):
        return None
    if len(phi.kinks) == 1 and phi.kinks[0].at == ZERO:
        (left, level), (right, _) = lines
        line, bend = times(_HALF, plus(left, right)), times(_HALF, plus(right, minus(left)))
        return lambda s: TwoSlopes(s, s.number(level), s.number(line), s.number(bend))
    at = [k.at for k in phi.kinks]
    home = sum(1 for place in at if compare(place, ZERO) == -1)
    level, slope = substitute(phi.expr, {X: Num(Fraction(0))}), lines[home][0]
    jumps = [plus(right[0], minus(left[0])) for left, right in pairwise(lines)]

    def make(space: Space) -> PiecewiseLinear:
        n = space.number
        kinks = tuple((n(a), n(j)) for a, j in zip(at, jumps, strict=True))
        return PiecewiseLinear(space, n(level), n(slope), kinks)

    return make
