"""The range of a function on R and its smallest Lipschitz constant, from its landmarks and its ends.

Between landmarks, kinks and the ends a function is monotone, so its supremum is the largest of
the values there and the limits at the ends. The same holds for f' with the inflections. Far out
f' is monotone as well, so where f(x)/x has a limit, f' has it too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise

from gateproof.numerics.errors import NumericsError
from gateproof.numerics.forms import Line
from gateproof.numerics.interval import lower_fraction, upper_fraction
from gateproof.numerics.landmarks import Landmark, landmarks
from gateproof.numerics.points import enclosure
from gateproof.numerics.precision import precision
from gateproof.theory.asymptotes import FASTER, PERIODIC, WAVES, Asymptote, NoAsymptote, as_expr, asymptote
from gateproof.theory.exact.derivative import derivative
from gateproof.theory.exact.domain import Assumptions
from gateproof.theory.exact.limits import limit
from gateproof.theory.exact.piecewise import Piece
from gateproof.theory.facts import kinks_of
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Const, Expr, Num, Where
from gateproof.theory.pieces import pieces_of
from gateproof.theory.undefined_parts import inner_point, undefined_parts
from gateproof.theory.zeros import order, tidy

_OO = Const("oo")


@dataclass(frozen=True)
class Bound:
    """A supremum or infimum in [lo, hi]; both None where it is infinite.

    ``exact`` is its closed form where there is one; ``attained`` is None where not decided.
    """

    lo: Fraction | None
    hi: Fraction | None
    exact: Expr | None
    attained: bool | None


@dataclass(frozen=True)
class Extent:
    """Infimum, supremum and smallest Lipschitz constant; None where not found, with the reason."""

    lower: Bound | None
    upper: Bound | None
    lipschitz: Bound | None
    reason: str = ""


@dataclass(frozen=True)
class _Candidate:
    lo: Fraction
    hi: Fraction
    exact: Expr | None
    is_value: bool


class _Unknown(Exception):
    """Something that is needed was not found."""


def extent(expr: Expr, var: str = "x", digits: int = 15) -> Extent:
    """The extent of a core expression with a value on all of R."""
    if undefined_parts(expr, var) != ():
        return Extent(None, None, None, "not seen to have a value everywhere")
    marks = landmarks(expr, var, digits + 5)
    pieces = pieces_of(expr, var)
    if pieces is None or marks.extrema is None or marks.inflections is None:
        return Extent(None, None, None, marks.reason or "the kinks were not placed")
    finders: tuple[Callable[[], Bound], ...] = (
        partial(_of_values, expr, var, pieces, marks.extrema, -1),
        partial(_of_values, expr, var, pieces, marks.extrema, 1),
        partial(_of_slopes, expr, var, pieces, marks.inflections),
    )
    results: list[Bound | None] = []
    reasons: list[str] = []
    for find in finders:
        try:
            results.append(find())
        except _Unknown as reason:
            results.append(None)
            reasons.append(str(reason))
    return Extent(results[0], results[1], results[2], "; ".join(dict.fromkeys(reasons)))


def _of_values(expr: Expr, var: str, pieces: Sequence[Piece], marks: Sequence[Landmark], side: int) -> Bound:
    """The supremum (side 1) or infimum (-1)."""
    # One value of each piece: a flat one need not have its value at a jump beside it.
    found = [_closed(substitute(p.expr, {var: _inside(p)}), is_value=True) for p in pieces]
    found += [_at_mark(expr, pieces, var, m) for m in marks]
    for left, right in pairwise(pieces):
        at = _cut(left)
        found.append(_closed(substitute(expr, {var: at}), is_value=True))
        found += [_closed(substitute(p.expr, {var: at}), is_value=False) for p in (left, right)]
    for end in ("-", "+"):
        value = _far(expr, var, end)
        if value is None:
            continue
        infinite = 1 if value == _OO else (-1 if value == App("neg", (_OO,)) else 0)
        if infinite == side:
            return Bound(None, None, None, attained=False)
        if not infinite:
            found.append(_closed(value, is_value=False))
    return _best(found, side)


def _of_slopes(expr: Expr, var: str, pieces: Sequence[Piece], marks: Sequence[Landmark]) -> Bound:
    """The supremum of |f'|; infinite at a jump."""
    kinks = kinks_of(expr, var)
    if kinks is None:
        raise _Unknown("the kinks were not placed")
    if any(k.order < 0 for k in kinks):
        return Bound(None, None, None, attained=False)
    slopes: list[Expr] = []
    for piece in pieces:
        slope = derivative(piece.expr, var)
        if slope is None:
            raise _Unknown("no derivative")
        slopes.append(slope)
    steep = [Piece(p.domain, App("abs", (s,))) for p, s in zip(pieces, slopes, strict=True)]
    # At a cut both slopes are looked at below.
    found = [_at_mark(expr, steep, var, m) for m in marks if any(_is_in(m, p) for p in steep)]
    for i, left in enumerate(steep[:-1]):
        at = {var: _cut(left)}
        found += [_closed(substitute(p.expr, at), is_value=False) for p in (left, steep[i + 1])]
    for end in ("-", "+"):
        line = asymptote(expr, var, end)
        if line is None or (isinstance(line, NoAsymptote) and line.slope is None and line.reason != FASTER):
            raise _Unknown("the slope far out was not found")
        if isinstance(line, NoAsymptote) and line.reason == FASTER:
            return Bound(None, None, None, attained=False)
        if isinstance(line, Asymptote) or line.reason not in (PERIODIC, WAVES):
            assert line.slope is not None
            found.append(_closed(App("abs", (as_expr(line.slope),)), is_value=False))
    best = _best(found, 1)
    return Bound(best.lo, best.hi, best.exact, None)


def _cut(piece: Piece) -> Expr:
    assert piece.domain.hi is not None
    return piece.domain.hi


def _inside(piece: Piece) -> Expr:
    point = inner_point(piece.domain.lo, piece.domain.hi)
    if point is None:
        raise _Unknown("no point between two kinks was found")
    return Num(point)


def _far(expr: Expr, var: str, end: str) -> Expr | None:
    """The limit at an end; None for a wave about a level, which its extrema bound."""
    line = asymptote(expr, var, end)
    point = _OO if end == "+" else App("neg", (_OO,))
    if isinstance(line, NoAsymptote) and line.reason == PERIODIC:
        return None
    if isinstance(line, Asymptote) or (line is not None and line.reason == WAVES):
        slope = enclosure(as_expr(line.slope)) if line.slope is not None else (Fraction(0), Fraction(0))
        if slope[0] > 0 or slope[1] < 0:
            rising = (slope[0] > 0) == (end == "+")
            return _OO if rising else App("neg", (_OO,))
        if isinstance(line, Asymptote) and line.slope == 0:
            return as_expr(line.intercept)
    found = limit(expr, var, point, "", Assumptions())
    if not isinstance(found, tuple):
        raise _Unknown("a limit at an end was not found")
    return found[0]


def _closed(value: Expr, *, is_value: bool) -> _Candidate:
    if any(isinstance(n, Where) for n in value.walk()):
        # At a switch balls cannot tell the branch; exact algebra can.
        value = tidy(value)
        if any(isinstance(n, Where) for n in value.walk()):
            raise _Unknown("the branch at a kink was not told")
    try:
        lo, hi = enclosure(value, 512)
    except NumericsError as error:
        raise _Unknown(f"a value at a kink: {error}") from error
    return _Candidate(lo, hi, value, is_value)


def _is_in(mark: Landmark, piece: Piece) -> bool:
    """Whether a landmark lies inside a piece, not at a cut."""
    above = piece.domain.lo is None or enclosure(piece.domain.lo)[1] < mark.lo
    return above and (piece.domain.hi is None or mark.hi < enclosure(piece.domain.hi)[0])


def _at_mark(expr: Expr, pieces: Sequence[Piece], var: str, mark: Landmark) -> _Candidate:
    """The value at a landmark: of the piece that it lies in, or of the whole at a cut."""
    expr = next((p.expr for p in pieces if _is_in(mark, p)), expr)
    if mark.exact is not None:
        return _closed(substitute(expr, {var: mark.exact}), is_value=True)
    with precision(512):
        try:
            value = Line(expr, var).natural(mark.lo, mark.hi)
        except NumericsError as error:
            raise _Unknown(f"a value at a landmark: {error}") from error
        return _Candidate(lower_fraction(value[0]), upper_fraction(value[1]), None, is_value=True)


def _best(found: Sequence[_Candidate], side: int) -> Bound:
    """The largest (side 1) or smallest candidate."""
    pick: Callable[..., Fraction] = max if side > 0 else min
    lo, hi = pick(c.lo for c in found), pick(c.hi for c in found)
    rivals = [c for c in found if (c.hi >= lo if side > 0 else c.lo <= hi)]
    top = next((c for c in rivals if c.exact is not None and _leads(c, rivals, side)), None)
    if top is None:
        only = rivals[0].is_value if len(rivals) == 1 else None
        return Bound(lo, hi, None, only)
    assert top.exact is not None
    level = [c for c in rivals if c is top or (c.exact and order(c.exact, top.exact) == 0)]
    return Bound(top.lo, top.hi, tidy(top.exact), any(c.is_value for c in level))


def _leads(candidate: _Candidate, rivals: Sequence[_Candidate], side: int) -> bool:
    """Whether no rival is beyond the candidate, by exact comparison."""
    for other in rivals:
        if other is candidate:
            continue
        if other.exact is None or candidate.exact is None:
            return False
        found = order(candidate.exact, other.exact)
        if found is None or found * side < 0:
            return False
    return True
