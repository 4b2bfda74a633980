"""Certificates for relations that were decided by enclosed integrals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from gateproof.numerics.certificate import ratio
from gateproof.numerics.integral import Range, Value
from gateproof.numerics.means import as_range, certificate_within
from gateproof.proofs_check.engine.boxes import accept
from gateproof.proofs_check.engine.outcome import composite
from gateproof.theory.exact.means import Mean
from gateproof.theory.formula.nodes import App, Expr, Node, Rel, Var, rebuild
from gateproof.theory.formula.serial import to_json

#: Relative tolerances tried in turn: a coarse certificate is quickly checked.
_LADDER = (Fraction(1, 4), *(Fraction(1, 10**k) for k in (2, 4, 7, 10, 14, 18, 22)))
_BITS = 160


def certified_values(
    relation: Rel, values: Mapping[Node, Value]
) -> tuple[Mapping[str, Any], Fraction] | None:
    """Accepted certificates of all integrals, fine enough to decide the relation once more; else None.

    The sides are compared anew, with MPFR, from what the certificates state. The number is the relative
    tolerance to which they do so.
    """
    a, b = relation.terms
    gap = App("add", (a, App("neg", (b,))))
    for tolerance in _LADDER:
        widened = {node: _widened(value, tolerance) for node, value in values.items()}
        if signs_of(gap, widened) not in ({1}, {-1}):
            continue
        found = [_accepted(node, widened[node]) for node in values if isinstance(node, Mean)]
        documents = [dict(d) for d in found if d is not None]
        whole = composite(documents) if len(documents) == len(found) else None
        return None if whole is None else (whole, tolerance)
    return None


def _widened(value: Value, tolerance: Fraction) -> tuple[Fraction, Fraction]:
    assert value.enclosure is not None
    lo, hi = value.enclosure
    reach = max(abs(lo), abs(hi)) * tolerance * Fraction(102, 100) + Fraction(1, 10**60)
    return lo - reach, hi + reach


def signs_of(gap: Expr, ends: Mapping[Node, tuple[Fraction, Fraction]]) -> set[int]:
    """The signs that the difference can have, by the checker's interval arithmetic."""
    from gmpy2 import mpq

    from gateproof.proofs_check.checker.algebra import Rejected
    from gateproof.proofs_check.checker.evaluate import Program
    from gateproof.proofs_check.checker.interval import Interval, Intervals

    names = {node: f"mean {k}" for k, node in enumerate(ends)}

    def visit(part: Node) -> Node:
        found = Var(names[part]) if part in names else rebuild(part, visit)
        assert isinstance(found, Node)
        return found

    plain, field = visit(gap), Intervals(_BITS)
    assert isinstance(plain, Expr)
    values = {}
    for node, (lo, hi) in ends.items():
        low, high = (field.number(mpq(e.numerator, e.denominator)) for e in (lo, hi))
        values[names[node]] = Interval(low.lo, high.hi)
    try:
        return field.signs(Program(to_json(plain), frozenset(values)).evaluate(field, values))
    except Rejected:
        return {-1, 0, 1}


@lru_cache(maxsize=256)
def _accepted(node: Mean, ends: tuple[Fraction, Fraction]) -> Mapping[str, Any] | None:
    """A certificate for these ends that the checker accepts, or None."""
    middle, reach = (ends[0] + ends[1]) / 2, (ends[1] - ends[0]) / 2
    made = None if reach == 0 else certificate_within(node, (middle, middle), reach * Fraction(99, 100))
    if made is None:
        return None
    document, (low, high) = made
    on = as_range(node)
    whole = on is None or _tiled(on, document.get("parts", (document,)))
    return document if whole and ends[0] <= low and high <= ends[1] and accept(document) is None else None


def _tiled(on: Range, parts: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the domains of the integrals follow each other from end to end of the range."""
    at = "-oo" if on.lo is None else ratio(on.lo)
    for part in parts:
        if part["kind"] != "integral":
            continue
        domain = part["domain"].get(on.var)
        if domain is None or domain["lo"] != at:
            return False
        at = domain["hi"]
    return bool(at == ("oo" if on.hi is None else ratio(on.hi)))
