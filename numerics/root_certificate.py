"""Root certificates (docs/certificates.md): all zeros of a formula on an interval.

The zeros are known already; here boxes are chosen on each of which one rule shows that there is none, or
exactly the one that it names, so that a checker searches nothing. With

    f = sum_{j<n} c_j(m) h^j + c_n(box) h^n

on a box, f' lies in sum_{0<j<n} j c_j(m) h^(j-1) + n c_n(box) h^(n-1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor
from typing import Any

from gateproof.numerics import interval as iv
from gateproof.numerics.certificate import Tree, composite_document, ratio
from gateproof.numerics.cover import split_point
from gateproof.numerics.decimals import magnitude
from gateproof.numerics.ends import End, EndExpr, end
from gateproof.numerics.errors import MaybeUndefined, NotReal, NotSmooth, Undefined
from gateproof.numerics.interval import Interval
from gateproof.numerics.jets import ORDER, jet, multiplicity, side
from gateproof.numerics.piece_lines import PieceLines
from gateproof.numerics.precision import precision
from gateproof.numerics.results import Enclosure
from gateproof.numerics.root_document import root_document
from gateproof.numerics.tailcut import STARTS
from gateproof.theory.exact.tail_levels import far_sign
from gateproof.theory.exact.tails import grows_slowly, tail_sign
from gateproof.theory.formula.nodes import Expr
from gateproof.theory.formula.printer import to_text

MAX_BOXES, MAX_DIGITS = 1_000, 500
#: A part of a rule's width that is left to the rounding of another program.
_SPARE = 2


class _None(ArithmeticError):
    """There is no certificate."""


@dataclass(frozen=True, order=True)
class _Spot:
    """One zero in [lo, hi]; ``order`` above 0: exactly at lo == hi, of that multiplicity."""

    lo: Fraction
    hi: Fraction
    order: int = 0


def root_certificate(
    expr: Expr,
    var: str,
    ends: tuple[EndExpr, EndExpr],
    places: Sequence[Enclosure],
    digits: int,
    text: str = "",
) -> dict[str, Any] | None:
    """The document that ``places`` are all zeros between two ends (None: infinite); None where none is found.

    The places are written with one digit more than ``digits``. Open ends count as closed ones.
    A tail that only our own arithmetic decides (Gaussians, say) is left out: the document is then
    a composite which says so.
    """
    digits = min(digits, MAX_DIGITS)
    for bits in (digits * 10 // 3 + 80, digits * 20 // 3 + 160):
        try:
            with precision(bits):
                return _Search(expr, var, ends, places, digits, bits).document(text or to_text(expr))
        except (_None, Undefined, NotReal):
            continue
    return None


def crossing_certificate(expr: Expr, var: str, lo: Fraction, hi: Fraction, text: str = "") -> dict[str, Any]:
    """The document that a formula which changes sign between lo and hi has at least one zero there."""
    return root_document(
        expr, var, (lo, hi), [(lo, hi)], None, complete=False, bits=128, text=text or to_text(expr)
    )


class _Search:
    def __init__(
        self,
        expr: Expr,
        var: str,
        ends: tuple[EndExpr, EndExpr],
        places: Sequence[Enclosure],
        digits: int,
        bits: int,
    ) -> None:
        self.expr, self.var, self.bits, self.left = expr, var, bits, MAX_BOXES
        self.pieces = PieceLines(expr, var)
        self.line, self.kinks = self.pieces.whole, self.pieces.kinks
        self.ends = end(ends[0], -1, True), end(ends[1], 1, True)
        self.domain = _short(self.ends[0], digits, floor), _short(self.ends[1], digits, ceil)
        gaps = [b[0] - a[1] for a, b in pairwise(places)]
        closest = [magnitude(min(gaps)) - 1] if gaps and min(gaps) > 0 else []
        spots = [self._spot(lo, hi, digits, closest) for lo, hi in (*places, *self._beyond(places))]
        self.spots = sorted([*spots, *self._at_ends(places)])

    def document(self, text: str) -> dict[str, Any]:
        """The certificate. Raises _None."""
        cuts: list[Fraction | None] = [None, None]
        unseen = False
        for i, name in enumerate("-+"):
            if self.domain[i] is None:
                cut, checkable = self._cut(name)
                cuts[i] = -cut if name == "-" else cut
                unseen = unseen or not checkable
        lo, hi = (d if d is not None else c for d, c in zip(self.domain, cuts, strict=True))
        assert lo is not None
        assert hi is not None
        if lo >= hi:
            raise _None
        self.wide = max(abs(lo), abs(hi))
        tree = self._tree(lo, hi)
        domain = (lo, hi) if unseen else (self.domain[0], self.domain[1])
        document = root_document(
            self.expr, self.var, domain, [(s.lo, s.hi) for s in self.spots], tree, complete=True,
            cuts=(None, None) if unseen else (cuts[0], cuts[1]), bits=self.bits + 16, text=text,
        )  # fmt: skip
        if not unseen:
            return document
        beyond = f"for {self.var} outside [{lo}, {hi}] the expansion at infinity keeps its sign"
        return composite_document([document], f"these are all zeros; {beyond}")

    def _beyond(self, places: Sequence[Enclosure]) -> list[Enclosure]:
        """Irrational ends at which there may be a zero that the set leaves out."""
        found: list[Enclosure] = []
        for e in self.ends:
            if e.inner is not None and e.outer is not None and e.inner != e.outer:
                lo, hi = min(e.inner, e.outer), max(e.inner, e.outer)
                if not self._natural(lo, hi) and not any(a <= hi and lo <= b for a, b in places):
                    found.append((lo, hi))
        return found

    def _at_ends(self, places: Sequence[Enclosure]) -> list[_Spot]:
        """Zeros exactly at ends that the set leaves out. Raises _None where there is no value."""
        found: list[_Spot] = []
        for e in dict.fromkeys(d for d in self.domain if d is not None):
            try:
                value = self.line.value(e)
            except (Undefined, MaybeUndefined):
                raise _None from None
            if value == (iv.ZERO, iv.ZERO) and not any(lo <= e <= hi for lo, hi in places):
                found.append(_Spot(e, e, multiplicity(self.line, e)))
        return found

    def _spot(self, lo: Fraction, hi: Fraction, digits: int, finest: list[int]) -> _Spot:
        """The zero between short decimals, or exactly at a rational where the balls see it to be 0."""
        if lo == hi:
            order = multiplicity(self.line, lo)
            if order:
                return _Spot(lo, lo, order)
        unit = Fraction(10) ** min([magnitude(max(abs(lo), abs(hi))) - digits, *finest])
        if lo == hi:
            return self._inside(_Spot(lo - unit, hi + unit))
        return self._inside(_Spot(lo // unit * unit, -(-hi // unit) * unit))

    def _inside(self, spot: _Spot) -> _Spot:
        lo, hi = self.domain
        low = spot.lo if lo is None else max(lo, spot.lo)
        return _Spot(low, spot.hi if hi is None else min(hi, spot.hi))

    def _cut(self, name: str) -> tuple[Fraction, bool]:
        """Where a tail of one sign begins, and whether plain tail arithmetic shows it."""
        known = [*self.kinks, *(e for s in self.spots for e in (s.lo, s.hi)), *self.domain]
        beyond = max([Fraction(1), *(abs(e) for e in known if e is not None)])
        starts = [s for s in (*STARTS, 2 * beyond) if s > beyond]
        signed = (k for k, s in enumerate(starts) if far_sign(self.expr, self.var, name, s) in (1, -1))
        first = next(signed, None)
        if first is None:
            raise _None
        for start in starts[first : first + 2]:
            plain = tail_sign(self.expr, self.var, name, start)
            if plain in (1, -1) and not grows_slowly(self.expr, self.var, name, start):
                return start, True
        return starts[first], False

    def _tree(self, lo: Fraction, hi: Fraction) -> Tree:
        tree: Tree = []
        stack: list[tuple[Fraction, Fraction, Tree]] = [(lo, hi, tree)]
        while stack:
            a, b, node = stack.pop()
            self.left -= 1
            inside = [s for s in self.spots if s.lo <= b and a <= s.hi]
            if self.left < 0 or b - a <= self.wide / 2**self.bits:
                raise _None
            if any(s.lo < a or b < s.hi for s in inside):
                raise _None
            rule = self._rule(a, b, inside)
            if rule is not None:
                node[:] = ["leaf", rule]
                continue
            at = self._split(a, b, inside)
            below: Tree = []
            above: Tree = []
            node[:] = ["split", self.var, ratio(at), below, above]
            stack += [(at, b, above), (a, at, below)]
        return tree

    def _rule(self, lo: Fraction, hi: Fraction, inside: list[_Spot]) -> str | list[str | int] | None:
        """What shows that the box holds exactly the zeros inside; None where nothing does."""
        if any(lo < k < hi for k in self.kinks) or len(inside) > 1:
            return None
        if inside and inside[0].order > 1:
            return self._multiple(lo, hi, inside[0])
        if not inside and self._natural(lo, hi):
            return "natural"
        found = jet(self.pieces.beside(lo), lo, hi)
        if found is not None:
            if not inside and side(_spared(found.value)):
                return ["taylor", ORDER]
            if side(_spared(found.slope)):
                if not inside:
                    return ["monotone", ORDER] if self._sides(lo, hi) == 1 else None
                spot = inside[0]
                if spot.order or self._sides(spot.lo, spot.hi) == -1:
                    return ["root", ratio(spot.lo), ratio(spot.hi), ORDER]
        return None

    def _natural(self, lo: Fraction, hi: Fraction) -> int:
        try:
            return side(_spared(self.line.natural(lo, hi)))
        except MaybeUndefined:
            return 0

    def _multiple(self, lo: Fraction, hi: Fraction, spot: _Spot) -> list[str | int] | None:
        box = iv.down(iv.rational(lo)), iv.up(iv.rational(hi))
        try:
            slope = self.line.series({self.var: box}, spot.order)[spot.order]
        except (NotSmooth, MaybeUndefined):
            return None
        n = spot.order
        return ["zero", ratio(spot.lo), n, n] if side(_spared(iv.of_ball(slope))) else None

    def _sides(self, lo: Fraction, hi: Fraction) -> int:
        """The product of the signs at two points; 0 where one is not seen."""
        try:
            return side(self.line.value(lo)) * side(self.line.value(hi))
        except (Undefined, MaybeUndefined):
            return 0

    def _split(self, lo: Fraction, hi: Fraction, inside: list[_Spot]) -> Fraction:
        """A kink, a point between two zeros, or one near the middle and away from the zero."""
        for kink in self.kinks:
            if lo < kink < hi:
                return kink
        if len(inside) > 1:
            k = (len(inside) - 1) // 2
            if inside[k].hi >= inside[k + 1].lo:
                raise _None
            return split_point(inside[k].hi, inside[k + 1].lo)
        at = split_point(lo, hi)
        for spot in inside:
            room = (hi - lo) / 16
            if spot.lo - room < at < spot.hi + room:
                left, right = spot.lo - lo, hi - spot.hi
                at = split_point(lo, spot.lo) if left > right else split_point(spot.hi, hi)
        return at


def _short(e: End, digits: int, outward: Callable[[Fraction], int]) -> Fraction | None:
    """A rational end, or a short decimal beyond one that is not rational."""
    if e.outer is None or e.inner == e.outer:
        return e.outer
    scale = Fraction(10) ** (digits - magnitude(e.outer))
    return Fraction(outward(e.outer * scale)) / scale


def _spared(x: Interval) -> Interval:
    """A little wider: another program's enclosure may be."""
    margin = iv.up((x[1] - x[0]) / _SPARE)
    return iv.down(x[0] - margin), iv.up(x[1] + margin)
