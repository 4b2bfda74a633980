"""The answer of ``certify`` for a supremum or infimum over several names: enclosure, place, certificate."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from gateproof.numerics.bounds import Budget
from gateproof.numerics.certify_nested import ranges_of
from gateproof.numerics.decimals import decimal_enclosure
from gateproof.numerics.errors import NotImplementedOperator
from gateproof.numerics.points import enclosure
from gateproof.numerics.ranges import Range, hull
from gateproof.numerics.tolerance import decimal
from gateproof.numerics.worst_case import Limits, WorstCase, worst_case
from gateproof.theory.exact.means import holds_mean
from gateproof.theory.exact.piecewise import may_jump
from gateproof.theory.formula.nodes import Extremum
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.printer import to_text


def joint_extremum(node: Extremum, digits: int, budget: Budget) -> dict[str, Any] | None:
    """The answer for sup or inf over several names, of which one at most is unbounded; None: not this way."""
    if node.op not in ("sup", "inf") or holds_mean(node.body):
        return None
    if any(isinstance(n, Extremum) for n in node.body.walk()):
        return None
    try:
        ranges = ranges_of(node)
    except NotImplementedOperator:
        return None
    limits: Limits = {n: outer_ends(r) for n, r in ranges}
    if any(lo is not None and hi is not None and lo > hi for lo, hi in limits.values()):
        return None
    inner = {n: inner_ends(r) for n, r in ranges}
    if any(empty(inner[n], (r.lo_closed, r.hi_closed)) for n, r in ranges):
        return None
    if may_jump(node.body) and not all(map(closed, (r for _, r in ranges))):
        # The value at an end that is left out is not near those beside it.
        return None
    found = worst_case(node.body, limits, digits, budget, which=node.op, inner=inner, text=to_text(node.body))
    if found.status == "unknown":
        return None
    attained = found.attained if all(map(closed, (r for _, r in ranges))) else None
    domain = "; ".join(f"{b.name} in {to_text(b.within)}" for b in node.scope.binds)
    known = {**answer(found, digits), "attained": attained, "domain": domain}
    if known["kind"] == "infinite":
        end = "oo" if node.op == "sup" else "-oo"
        known |= {"value": {"lo": end, "hi": end}, "attained": False}
    return known


def answer(found: WorstCase, digits: int) -> dict[str, Any]:
    """The part of the contract that a worst case fills."""
    if found.status == "infinite" or found.value is None:
        return {"kind": "infinite", "value": None, "place": place(found.point, digits)}
    reached = min(found.digits, digits)
    short = {"reason": found.reason} if found.reason else {}
    return {
        "kind": "value",
        "value": decimal_enclosure(*found.value, digits),
        "digits": reached,
        "place": place(found.point, digits),
        "certificate": found.certificate,
        **short,
    }


def place(point: Mapping[str, Fraction], digits: int) -> dict[str, dict[str, str]]:
    """An exact point as decimals, outward rounded."""
    return {n: shown(v, digits) for n, v in point.items()}


def shown(value: Fraction, digits: int, most: int = 0) -> dict[str, str]:
    """A number as a decimal, exactly where it has a short one: digits and two more signs, or ``most``."""
    short = decimal(value)
    if len(short) <= max(digits + 2, most) and "/" not in short:
        return {"lo": short, "hi": short}
    return decimal_enclosure(value, value, digits)


def closed(within: Range) -> bool:
    """Whether the finite ends belong to the range."""
    return (within.lo is None or within.lo_closed) and (within.hi is None or within.hi_closed)


def empty(ends: tuple[Fraction | None, Fraction | None], closed: tuple[bool, bool] = (True, True)) -> bool:
    """Whether no number lies between the ends, ``closed`` where they belong to the interval."""
    lo, hi = ends
    return lo is not None and hi is not None and (lo > hi or (lo == hi and not all(closed)))


def outer_ends(within: Range) -> tuple[Fraction | None, Fraction | None]:
    """Rational ends of an interval that holds the range; exact where they are rational."""
    lo, hi = (None if e is None else constant_value(e) for e in (within.lo, within.hi))
    wide = hull(within)
    return (wide[0] if lo is None else lo), (wide[1] if hi is None else hi)


def inner_ends(within: Range) -> tuple[Fraction | None, Fraction | None]:
    """Rational ends of an interval that lies in the closed range."""
    lo, hi = (None if e is None else constant_value(e) for e in (within.lo, within.hi))
    if within.lo is not None and lo is None:
        lo = enclosure(within.lo)[1]
    if within.hi is not None and hi is None:
        hi = enclosure(within.hi)[0]
    return lo, hi
