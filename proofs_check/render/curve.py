"""The curve behind a bound: what stands inside ``sup(abs(...))``, the printed bound, and the witness.

A drawing by floating point for the eye; the verdict rests on none of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from gateproof.numerics.points import enclosure
from gateproof.proofs_check.render.number_line import end_of
from gateproof.proofs_check.render.svg import Line
from gateproof.theory.formula.errors import FormulaError
from gateproof.theory.formula.expand import expand
from gateproof.theory.formula.library import Definition
from gateproof.theory.formula.nodes import App, Const, Expr, Extremum, IntervalSet, NamedSet, Rel
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.read import parse_claim

WIDTH, HEIGHT, SIDE = 320, 96, 6
POINTS = 161
#: How far out a curve on all of R is drawn at least and at most, in x.
NEAR, FAR = 4, 12


def draw(reading: Mapping[str, Any], definitions: Mapping[str, Definition]) -> str:
    """The picture as SVG, empty where the reading is no bound on one curve."""
    if reading["verdict"] not in ("certified", "proved", "refuted"):
        return ""
    try:
        found = _bounded(parse_claim(reading["formal"], definitions).body)
        if found is None:
            return ""
        body, var, lo, hi, bound = found
        function = _function(to_text(expand(body, definitions)), var)
    except (FormulaError, ValueError, TypeError, ArithmeticError, ImportError):
        return ""
    place = _place(reading["witness"], var)
    wide = float(min(max(NEAR, math.ceil(2.5 * abs(place or 0))), FAR))
    domain = (-wide if lo is None else float(lo), wide if hi is None else float(hi))
    return _svg(function, domain, float(bound), place, var) if domain[0] < domain[1] else ""


def _bounded(body: object) -> tuple[Expr, str, Fraction | None, Fraction | None, Fraction] | None:
    """What is bounded, its variable, its domain (None for an infinite end) and the bound's size."""
    if not isinstance(body, Rel) or len(body.terms) != 2 or body.ops[0] not in ("<=", "<", "=="):
        return None
    left, bound = body.terms[0], end_of(body.terms[1])
    if (
        bound is None
        or bound < 0
        or not isinstance(left, Extremum)
        or left.op != "sup"
        or left.scope.conditions
    ):
        return None
    if len(left.scope.binds) != 1 or not isinstance(left.body, App) or left.body.head != "abs":
        return None
    bind = left.scope.binds[0]
    if isinstance(bind.within, NamedSet) and bind.within.name == "R":
        return left.body.args[0], bind.name, None, None, bound
    if not isinstance(bind.within, IntervalSet):
        return None
    return left.body.args[0], bind.name, _end(bind.within.lo), _end(bind.within.hi), bound


def _end(term: Expr) -> Fraction | None:
    """An end of the domain; None for an infinite one. Raises ValueError for one that is no number."""
    if any(isinstance(part, Const) and part.name == "oo" for part in term.walk()):
        return None
    lo, hi = enclosure(expand(term))
    return (lo + hi) / 2


def _function(text: str, var: str) -> Callable[[Any], Any]:
    import numpy as np

    from gateproof.numerics.backends.formula import formula

    found = formula(text)
    if found.names != (var,):
        raise ValueError("more names than one")

    def values(x: Any) -> Any:
        with np.errstate(all="ignore"):
            return np.broadcast_to(np.asarray(found.numpy(x), dtype=float), x.shape)

    return values


def _place(witness: Mapping[str, str] | None, var: str) -> float | None:
    try:
        return float(Fraction((witness or {})[var]))
    except (KeyError, ValueError, ZeroDivisionError, OverflowError):
        return None


def _svg(
    function: Callable[[Any], Any], domain: tuple[float, float], bound: float, place: float | None, var: str
) -> str:
    import numpy as np

    lo, hi = domain
    xs = np.linspace(lo, hi, POINTS)
    if place is not None and lo <= place <= hi:
        # A peak may be narrower than the grid.
        xs = np.sort(np.append(xs, place))
    ys = function(xs)
    if not np.all(np.isfinite(ys)):
        return ""
    top = max(float(np.max(np.abs(ys))), abs(bound)) * 1.08
    if not 0 < top < math.inf:
        return ""

    def across(x: float) -> float:
        return round(SIDE + (x - lo) / (hi - lo) * (WIDTH - 2 * SIDE), 1)

    def down(y: float) -> float:
        return round((HEIGHT - 14) * (0.5 - y / top / 2), 1)

    picture = Line(WIDTH, HEIGHT)
    picture.segment(SIDE, down(0), WIDTH - SIDE, down(0), "axis")
    for level in (bound, -bound):
        picture.segment(SIDE, down(level), WIDTH - SIDE, down(level), "bound")
    picture.curve([(across(x), down(y)) for x, y in zip(xs.tolist(), ys.tolist(), strict=True)], "curve")
    if place is not None and lo <= place <= hi:
        height = float(function(np.array([place]))[0])
        picture.bar(across(place), across(place), down(height) - 3, 6, "value", least=6)
    for x in (lo, hi):
        picture.text(across(x), HEIGHT - 2, f"{var} = {x:g}", "label")
    picture.text(WIDTH / 2, HEIGHT - 2, f"dashed: the bound, {bound:.4g}", "label")
    return picture.done(
        f"Curve of the difference on [{lo:g}, {hi:g}], between plus and minus the bound {bound:.4g}"
        + (f"; marked: {var} = {place:.4g}" if place is not None else "")
    )
