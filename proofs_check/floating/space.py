"""What the names of a floating-point claim range over: places of a format between two of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import prod

from gateproof.numerics.points import enclosure
from gateproof.proofs_check.engine.logic import links_of
from gateproof.proofs_check.engine.outcome import NotYetError, VacuousError
from gateproof.proofs_check.engine.space import infinite_sign
from gateproof.proofs_check.floating.program import closed
from gateproof.theory.formats import FORMATS, Format
from gateproof.theory.formula import Claim
from gateproof.theory.formula.nodes import (
    And,
    App,
    Expr,
    In,
    IntervalSet,
    IntRange,
    NamedSet,
    Not,
    Num,
    Or,
    Rel,
    SetExpr,
    SetMinus,
    Stmt,
    Var,
)
from gateproof.theory.formula.scopes import free_names

#: Bits at which an end that is no rational is told from the numbers of the format.
_BITS = 2_048
Places = tuple[int, int]
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
#: What has a value for all numbers.
_TOTAL = (Rel, In, And, Or, Not, NamedSet, Num, Var, App)
_TOTAL_HEADS = frozenset({"add", "mul", "neg", "abs", "max", "min"})
#: Relations of a name to a number that bound it from below (1) or above (-1).
_ENDS = {">": 1, ">=": 1, "<": -1, "<=": -1}


@dataclass(frozen=True)
class Space:
    """A box of places (:meth:`Format.number`), both ends in, and conditions on its points."""

    format: Format
    names: tuple[str, ...]
    box: tuple[Places, ...]
    conditions: tuple[Stmt, ...] = ()

    @property
    def whole(self) -> tuple[bool, ...]:
        """Which names are whole numbers."""
        kept = {c.item for c in self.conditions if isinstance(c, In)}
        return tuple(Var(name) in kept for name in self.names)

    @property
    def count(self) -> int:
        """How many points the box has, of whole numbers those that are."""
        return prod(
            _whole_count(self.format, *ends) if whole else ends[1] - ends[0] + 1
            for ends, whole in zip(self.box, self.whole, strict=True)
        )

    def places(self) -> Iterator[tuple[int, ...]]:
        """The points that ``count`` counts."""
        return product(
            *(
                _whole_places(self.format, *ends) if whole else range(ends[0], ends[1] + 1)
                for ends, whole in zip(self.box, self.whole, strict=True)
            )
        )

    def within(self, box: tuple[Places, ...]) -> Space:
        """The space with another box."""
        return replace(self, box=box)

    def numbers(self, places: tuple[int, ...]) -> tuple[Fraction, ...]:
        """The point at some places."""
        return tuple(map(self.format.number, places))

    def point(self, places: tuple[int, ...]) -> dict[str, str]:
        """The same by name, as text."""
        return dict(zip(self.names, map(str, self.numbers(places)), strict=True))


def _whole_ends(form: Format, lo: int, hi: int) -> tuple[int, int]:
    """The first and the last whole number between two places."""
    return int(-(-form.number(lo) // 1)), int(form.number(hi) // 1)


def _whole_count(form: Format, lo: int, hi: int) -> int:
    """How many whole numbers lie between two places: all of them up to 2^p, all places beyond."""
    dense = form.at_most(Fraction(2**form.bits)) if form.bits <= form.highest else form.last
    first, last = _whole_ends(form, max(lo, -dense), min(hi, dense))
    return max(last - first + 1, 0) + max(hi - max(dense, lo - 1), 0) + max(min(-dense, hi + 1) - lo, 0)


def _whole_places(form: Format, lo: int, hi: int) -> Iterator[int]:
    """The places of the whole numbers between two places."""
    place = form.at_least(Fraction(_whole_ends(form, lo, hi)[0]))
    while place <= hi:
        yield place
        value = form.number(place)
        place = form.at_least(value + 1) if place < form.last else hi + 1


def build(claim: Claim) -> Space:
    """The space of a written claim. Raises VacuousError where a name has no value."""
    form = FORMATS[claim.format]
    box: list[Places] = []
    conditions: list[Stmt] = []
    for bind in claim.scope.binds:
        within = bind.within
        while isinstance(within, SetMinus):
            conditions += [Rel(("!=",), (Var(bind.name), point)) for point in within.points]
            within = within.base
        if isinstance(within, IntRange) or (isinstance(within, NamedSet) and within.name != "R"):
            conditions.append(In(Var(bind.name), NamedSet("Z")))
        if free_names(within):
            raise NotYetError(f"the set of {bind.name} depends on other names; write a condition")
        lo, hi = _places(within, form)
        if lo > hi:
            raise VacuousError(
                f"no number of {form.name} is in the set of {bind.name}: the statement is vacuous"
            )
        box.append((lo, hi))
    space = Space(form, claim.scope.names(), tuple(box), (*conditions, *claim.scope.conditions))
    return _narrowed(space)


def _narrowed(space: Space) -> Space:
    """The space between the numbers that its conditions compare a name with; the conditions stay.

    A condition counts only if those before it have values everywhere.
    """
    box = dict(zip(space.names, space.box, strict=True))
    for condition in space.conditions:
        heads = {n.head for n in condition.walk() if isinstance(n, App)}
        if not (heads <= _TOTAL_HEADS and all(isinstance(n, _TOTAL) for n in condition.walk())):
            break
        links = links_of(condition) if isinstance(condition, Rel) else []
        for link in links:
            (op,), (a, b) = link.ops, link.terms
            for name, other, side in ((a, b, op), (b, a, _TURNED[op])):
                if (
                    isinstance(name, Var)
                    and side in _ENDS
                    and (value := closed(other, space.format)) is not None
                ):
                    lo, hi = box[name.name]
                    if _ENDS[side] > 0:
                        lo = max(lo, space.format.at_least(value))
                    else:
                        hi = min(hi, space.format.at_most(value))
                    box[name.name] = lo, hi
    empty = next((name for name, (lo, hi) in box.items() if lo > hi), None)
    if empty is not None:
        raise VacuousError(f"no number of {space.format.name} meets the conditions: the statement is vacuous")
    return space.within(tuple(box.values()))


def _places(within: SetExpr, form: Format) -> Places:
    if isinstance(within, NamedSet):
        least = {"N": 0, "N1": form.at_least(Fraction(1))}
        return least.get(within.name, -form.last), form.last
    if isinstance(within, IntRange):
        return _end(within.lo, 1, True, form), _end(within.hi, -1, True, form)
    assert isinstance(within, IntervalSet)
    return _end(within.lo, 1, within.lo_closed, form), _end(within.hi, -1, within.hi_closed, form)


def _end(end: Expr, side: int, closed: bool, form: Format) -> int:
    """The first place inside of a lower (``side`` 1) or upper (-1) end."""
    infinite = infinite_sign(end)
    if infinite:
        return side * (form.last + 1) if infinite == side else -side * form.last
    lo, hi = enclosure(end, _BITS)
    first = form.at_least if side > 0 else form.at_most
    found, other = first(lo), first(hi)
    if found != other:
        raise NotYetError("an end of a set is too near to a number of the format")
    touches = abs(found) <= form.last and lo <= form.number(found) <= hi
    if touches and lo != hi:
        raise NotYetError("an end of a set is too near to a number of the format")
    return found + (side if touches and not closed else 0)
