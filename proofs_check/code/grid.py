"""The inputs that code is called on: floating-point numbers of the scope, the awkward ones first."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import copysign, inf, isfinite, log2

import numpy as np

from gateproof.numerics.points import truth_at
from gateproof.numerics.special import special_points
from gateproof.proofs_check.code.floats import Format
from gateproof.proofs_check.code.statement import Held, end
from gateproof.theory.formula import FormulaError
from gateproof.theory.formula.nodes import App, IntervalSet, Num, SetExpr, SetMinus

#: All numbers of a format of 16 bits are tried where there is one name.
EVERY = 1 << 16
#: Combinations of the awkward numbers of several names.
MOST_COMBINED = 4096
#: log2(1 + 2**BIG) is BIG.
BIG = 60.0
#: Half of what is drawn in R is of such a size: where functions turn.
NEAR = 32.0

#: Where functions of floating-point numbers go wrong first: 1, ends of exponentials, the middle.
NUMBERS = (1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 8.0, -8.0, 16.0, -16.0, 88.0, -88.0, 104.0, -104.0, 709.0, -709.0)
STEP = 7

Point = tuple[float, ...]


def points(held: Held, form: Format, count: int, seed: int) -> tuple[list[Point], str]:
    """Points that fulfil all conditions, and what they are in words. Raises FormulaError where none does."""
    spans = [_span(b.within, form) for b in held.binds]
    holes = [_holes(b.within) for b in held.binds]
    for bind, (lo, hi) in zip(held.binds, spans, strict=True):
        if lo > hi:
            raise FormulaError(f"{bind.name}: no number of {form.name} lies in its set", name=bind.name)
    rng = np.random.default_rng(seed)
    if len(spans) == 1 and form.bits <= 11:
        found: list[Point] = [(v,) for v in _every(form) if spans[0][0] <= v <= spans[0][1]]
        words = f"all numbers of {form.name} in the scope"
    else:
        turns = [_turns(held, b.name) for b in held.binds]
        awkward = [_awkward(form, span, own) for span, own in zip(spans, turns, strict=True)]
        several = [_thinned(a, rng, len(spans)) for a in awkward]
        drawn = [_drawn(form, span, count, rng) for span in spans]
        found = [*product(*several), *zip(*drawn, strict=True)]
        words = f"ends, zeros, powers of two, kinks and their neighbours, and {count} drawn (seed {seed})"
    kept = [p for p in dict.fromkeys(found) if _inside(p, held, holes)]
    if len({p for p in found if 0.0 in p}):
        # 0.0 and -0.0 are equal, so that one of them was dropped.
        kept += [tuple(-0.0 if v == 0 else v for v in p) for p in kept if 0.0 in p]
    if not kept:
        raise FormulaError(
            f"no point of {form.name} fulfils the conditions among {len(found)} that were tried"
        )
    return kept, words


def _span(within: SetExpr, form: Format) -> tuple[float, float]:
    """The least and the greatest number of the format in a set."""
    while isinstance(within, SetMinus):
        within = within.base
    if not isinstance(within, IntervalSet):
        return -form.largest, form.largest
    lo, hi = end(within.lo, 1), end(within.hi, -1)
    low = -form.largest if lo is None else form.up(lo)
    high = form.largest if hi is None else form.down(hi)
    if lo is not None and not within.lo_closed and Fraction(low) == lo:
        low = form.neighbours(low)[-1]
    if hi is not None and not within.hi_closed and Fraction(high) == hi:
        high = form.neighbours(high)[0]
    return low, high


def _holes(within: SetExpr) -> set[Fraction]:
    found: set[Fraction] = set()
    while isinstance(within, SetMinus):
        found |= {p.value for p in within.points if isinstance(p, Num)}
        found |= {
            -p.args[0].value for p in within.points if isinstance(p, App) and isinstance(p.args[0], Num)
        }
        within = within.base
    return found


def _inside(point: Point, held: Held, holes: Sequence[set[Fraction]]) -> bool:
    exact = {n: Fraction(v) for n, v in zip(held.names, point, strict=True)}
    if any(exact[n] in own for n, own in zip(held.names, holes, strict=True)):
        return False
    return all(truth_at(c, exact) is True for c in held.conditions)


def _every(form: Format) -> list[float]:
    codes = np.arange(EVERY, dtype=np.uint32)
    if form.name == "float16":
        values = codes.astype(np.uint16).view(np.float16).astype(np.float64)
    else:
        values = (codes << 16).view(np.float32).astype(np.float64)
    return [float(v) for v in values if isfinite(v)]


def _turns(held: Held, name: str) -> list[Fraction]:
    """Where the statement's formulas may turn, as far as that is rational."""
    return sorted({p for node in (*held.relations, *held.conditions) for p in special_points(node, name)})


def _awkward(form: Format, span: tuple[float, float], turns: Sequence[Fraction]) -> list[float]:
    lo, hi = span
    tried = [lo, hi, 0.0, form.least, -form.least, 2.0**form.lowest, -(2.0**form.lowest), *NUMBERS]
    tried += [(-1.0) ** s * 2.0**e for e in range(form.lowest, form.highest + 1, STEP) for s in (0, 1)]
    tried += [float(v) for t in turns for v in (form.down(t), form.up(t))]
    near = [v for t in tried if isfinite(t) and form.holds(Fraction(t)) for v in form.neighbours(t)]
    return sorted({v for v in near if lo <= v <= hi})


def _thinned(awkward: list[float], rng: np.random.Generator, names: int) -> list[float]:
    most = int(MOST_COMBINED ** (1 / names)) if names > 1 else len(awkward)
    if len(awkward) <= most:
        return awkward
    return sorted(rng.choice(np.array(awkward), most, replace=False).tolist())


def _drawn(form: Format, span: tuple[float, float], count: int, rng: np.random.Generator) -> list[float]:
    """Half of them uniform over the part that is not far out, half over all magnitudes."""
    lo, hi = span
    low, high = max(lo, min(-NEAR, hi)), min(hi, max(NEAR, lo))
    if low >= high:
        low, high = lo, hi
    with np.errstate(over="ignore"):
        width = high - low if isfinite(high - low) else inf
    u = rng.random(count)
    near = low + u * width if isfinite(width) else low * (1 - u) + high * u
    far = _by_magnitude(form, span, rng.random(count))
    mixed = np.where(rng.random(count) < 0.5, near, far)
    found = [form.down(Fraction(float(v))) for v in mixed]
    return [min(max(v, lo), hi) for v in found]


def _by_magnitude(form: Format, span: tuple[float, float], u: np.ndarray) -> np.ndarray:
    """Uniform in sign(x) log2(1 + abs(x)/least), so that all magnitudes of the span come alike."""
    lo, hi = (_magnitude(v, form) for v in span)
    t = lo + u * (hi - lo)
    with np.errstate(over="ignore"):
        size = form.least * (np.exp2(np.abs(t)) - 1)
    return np.asarray(np.sign(t) * np.minimum(size, form.largest))


def _magnitude(value: float, form: Format) -> float:
    size = log2(abs(value)) - log2(form.least) if value else 0.0
    return copysign(log2(1 + 2.0**size) if size < BIG else size, value)
