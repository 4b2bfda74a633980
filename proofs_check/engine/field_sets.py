"""Sets of the mean field against lists of numbers, and against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from gateproof.numerics.decimals import agreed_digits
from gateproof.numerics.meanfield.number_set import Element, NumberSet
from gateproof.proofs_check.engine.closed import closed_value
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.field_values import Numbers, apart, as_element, holds_field
from gateproof.proofs_check.engine.outcome import IllPosedError, NotYetError
from gateproof.proofs_check.engine.printed import printed_in
from gateproof.proofs_check.engine.space import infinite_sign
from gateproof.theory.exact.critical import equal_constants
from gateproof.theory.formula.nodes import Expr, FiniteSet, Printed


@dataclass(frozen=True)
class Item:
    """A number that a set is held against; ``printed`` where it is any number of its enclosure."""

    at: Element
    printed: bool = False


def items_of(given: Sequence[Expr], digits: int, context: Context) -> list[Item] | None:
    """The numbers of a list, exact ones once; None where one is not enclosed at this precision."""
    found: list[Item] = []
    for expr in given:
        if isinstance(expr, FiniteSet):
            raise IllPosedError("a set of points is compared with a value that is not a set")
        if isinstance(expr, Printed):
            item = Item(Element(expr.lo, expr.hi), printed=True)
            if item not in found:
                found.append(item)
            continue
        if printed_in(expr):
            raise NotYetError("printed numbers inside arithmetic with a set of the mean field")
        if infinite_sign(expr):
            raise NotYetError("a set of the mean field beside infinity")
        if holds_field(expr):
            raise NotYetError("a set of the mean field inside of a list of numbers")
        value = closed_value(expr)
        ends = Numbers(digits, context, {}).interval(value)
        if ends is None:
            return None
        item = Item(replace(as_element(*ends), exact=value))
        if not any(_are_equal(item.at, other.at) for other in found):
            found.append(item)
    return found


def _are_equal(a: Element, b: Element) -> bool:
    if a.exact is None or b.exact is None or apart(a, b):
        return False
    return a.exact == b.exact or equal_constants(a.exact, b.exact) is True


def matches(found: NumberSet, items: list[Item]) -> tuple[bool | None, str]:
    """Whether the set is that of the items, and why; None where it is not proved."""
    if found.every:
        return False, "no list of numbers is a whole stretch"
    for element in found.elements:
        if all(apart(element, i.at) for i in items):
            return False, "one of its numbers is apart from all that are given" if items else ""
    if found.complete and any(all(apart(i.at, e) for e in found.elements) for i in items):
        return False, "a given number is apart from all of its numbers"
    for a, b in combinations(found.elements, 2):
        near = [i for i in items if not apart(i.at, a)], [i for i in items if not apart(i.at, b)]
        if apart(a, b) and len(near[0]) == 1 and near[0] == near[1]:
            return False, "two of its numbers lie where one is given"
    if not found.complete:
        return None, f"whether there are others was not proved: {found.searched}"
    pairs = [[i for i in items if is_item(e, i)] for e in found.elements]
    if all(len(p) == 1 for p in pairs) and len(items) == len(pairs) == len({id(p[0]) for p in pairs}):
        return True, ""
    digits = [
        agreed_digits(min(e.lo, i.at.lo), max(e.hi, i.at.hi))
        for e in found.elements
        for i in items
        if not apart(e, i.at)
    ]
    return None, f"agree to {max(digits, default=0)} digits; equality was not proved"


def is_item(element: Element, item: Item) -> bool:
    """Whether a number of a set is the item, proved."""
    if item.printed:
        return item.at.lo <= element.lo and element.hi <= item.at.hi
    return _are_equal(element, item.at)


def compared(same: bool, a: NumberSet, b: NumberSet) -> tuple[bool | None, str]:
    """Whether two sets are the same, and why; ``same`` where they are asked for in the same words."""
    if same or (a.every and b.every):
        return True, "both are the same set"
    if a.every != b.every:
        known = b.complete if a.every else a.complete
        return (False, "one is a whole stretch, and the other is not") if known else (None, "")
    for first, second in ((a, b), (b, a)):
        if second.complete and any(all(apart(e, x) for x in second.elements) for e in first.elements):
            return False, "a number of one set is apart from all of the other"
    if not (a.complete and b.complete):
        return None, ""
    each = all(any(_are_equal(e, x) for x in b.elements) for e in a.elements)
    back = all(any(_are_equal(e, x) for x in a.elements) for e in b.elements)
    return (True, "both are the same set") if each and back else (None, "")
