"""Extrema, argmax and zeros over integers, and relations that hold at integers only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

from gateproof.numerics.errors import NumericsError, Undefined
from gateproof.numerics.integers import MAX_INTEGERS, Largest, largest, zeros_over
from gateproof.numerics.points import compare, difference_sign, enclosure
from gateproof.proofs_check.engine.integer_certificates import never_zero_but, others_below
from gateproof.proofs_check.engine.outcome import (
    CERTIFIED,
    IllPosedError,
    NotYetError,
    Outcome,
    composite,
    conjunction,
    undecided,
)
from gateproof.proofs_check.engine.space import Space, finite_values, infinite_sign
from gateproof.proofs_check.engine.unbounded import unbounded_certificate
from gateproof.theory.exact.critical import equal_constants
from gateproof.theory.exact.domain import Domain
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Extremum, Num, Rel, num
from gateproof.theory.formula.printer import to_text

#: How often the integers of a relation are split in two.
MAX_SPLITS = 8
#: Equal values that are proved equal.
MAX_TIES = 50
Decide = Callable[[Space, Rel], Outcome]


def over_integers(space: Space) -> bool:
    """Whether all names of an extremum range over integers."""
    return bool(space.domains) and all(d.integer for d in space.domains.values())


def decide_integer_extremum(node: Extremum, body: Expr, space: Space, op: str, bound: Expr) -> Outcome:
    """Decide ``node op bound`` for sup, inf, max, min over integers: the value where it is reached."""
    from gateproof.proofs_check.engine.closed import decide_constants

    up = node.op in ("sup", "max")
    try:
        found, value, where, points = _value_of(body, space, up)
    except Undefined as error:
        raise IllPosedError(f"{to_text(node)}: a part has no value, {error}") from None
    if found.status == "infinite":
        if node.op in ("max", "min"):
            raise IllPosedError(f"{to_text(node)}: unbounded, so there is no {node.op}")
        own, sign = (1 if up else -1), infinite_sign(bound)
        order = (own > sign) - (own < sign)
        truth = {"==": order == 0, "!=": order != 0, "<": order < 0, "<=": order <= 0}
        truth |= {">": order > 0, ">=": order >= 0}
        # A function of a real x that grows without bound does so on the whole numbers.
        real = None
        if len(space.domains) == 1:
            ((name, domain),) = space.domains.items()
            real = unbounded_certificate(body, name, replace(domain, integer=False), up)
        bases = ("arb", "mpfr") if real is not None else ("arb",)
        step = f"{to_text(node)} is unbounded"
        return Outcome(truth[op], CERTIFIED, "unbounded", bases, (step,), certificate=real)
    if value is None:
        return undecided(f"{to_text(node)}: {found.reason}")
    if found.limit is not None and node.op in ("max", "min"):
        raise IllPosedError(f"{to_text(node)}: not attained, so there is no {node.op}")
    outcome = decide_constants(op, value, bound)
    step = f"{to_text(node)} = {to_text(value)}, {where}"
    known = _others(body, space, up, value, points)
    trust = [t for t in (*outcome.trust, "arb") if t != "mpfr"]
    return replace(
        outcome,
        steps=(step, *outcome.steps),
        trust=tuple(dict.fromkeys([*trust, "mpfr"] if known is not None else trust)),
        rigor=CERTIFIED,
        method="integers one by one",
        certificate=composite([dict(c) for c in (known, outcome.certificate) if c is not None]),
    )


def _others(
    body: Expr, space: Space, up: bool, value: Expr, points: Sequence[Mapping[str, int]]
) -> Mapping[str, Any] | None:
    """An accepted certificate that no whole numbers but these reach the extremum; or None."""
    gap = App("add", (body, App("neg", (value,))))
    ranges = {name: ends(domain) for name, domain in space.domains.items()}
    if len(ranges) == 1:
        ((name, domain),) = space.domains.items()
        points = [*points, *({name: int(v)} for v in _holes(domain))]
    # Among several names equal values are not collected.
    return others_below(gap if up else App("neg", (gap,)), ranges, points, ties=len(ranges) > 1)


_Found = tuple[Largest, Expr | None, str, Sequence[Mapping[str, int]]]


def _value_of(body: Expr, space: Space, up: bool) -> _Found:
    """What was found, the exact value of the extremum, where it is in words, and the points."""
    if len(space.domains) != 1:
        return _of_several(body, space, up)
    found = _search(body, space, up)
    ((name, _),) = space.domains.items()
    if found.limit is not None:
        value = found.limit if up else -found.limit
        return found, Num(value), f"approached for {name} far out and not reached", ()
    if not found.points:
        return found, None, "", ()
    if len(found.points) > MAX_TIES:
        return replace(found, reason="too many equal values"), None, "", ()
    values = [substitute(body, {name: num(n)}) for n in found.points]
    if any(not _same(v, values[0]) for v in values[1:]):
        return replace(found, reason="several values were not told apart"), None, "", ()
    where = f"reached at {name} = {', '.join(map(str, found.points))}"
    return found, values[0], where, [{name: n} for n in found.points]


def _same(a: Expr, b: Expr) -> bool:
    return a == b or equal_constants(a, b) is True


def _search(body: Expr, space: Space, up: bool) -> Largest:
    ((name, domain),) = space.domains.items()
    if space.facts:
        return Largest("unknown", reason="conditions over integers are not implemented")
    first, last = ends(domain)
    holes = [int(v) for v in _holes(domain)]
    return largest(body if up else App("neg", (body,)), name, first, last, holes)


def _of_several(body: Expr, space: Space, up: bool) -> _Found:
    """All combinations of finite ranges, compared in turn."""
    if space.facts or space.vectors:
        raise NotYetError("an extremum over several names with conditions")
    columns: dict[str, list[Fraction]] = {}
    size = 1
    for name, domain in space.domains.items():
        values = finite_values(domain)
        if values is None:
            raise NotYetError("an extremum over several names with an infinite range of integers")
        columns[name] = values
        size *= len(values)
    if size > MAX_INTEGERS:
        raise NotYetError(f"more than {MAX_INTEGERS} combinations of integers")
    best: tuple[Expr, dict[str, Fraction]] | None = None
    for combination in product(*columns.values()):
        point = dict(zip(columns, combination, strict=True))
        value = substitute(body, {n: Num(v) for n, v in point.items()})
        if best is None:
            best = value, point
            continue
        order = difference_sign(value, best[0], {})
        if order is None and not _same(value, best[0]):
            return Largest("unknown", reason="two values were not told apart"), None, "", ()
        if order == (1 if up else -1):
            best = value, point
    if best is None:
        return Largest("unknown", reason="no combination of integers"), None, "", ()
    where = ", ".join(f"{n} = {v}" for n, v in best[1].items())
    at = {n: int(v) for n, v in best[1].items()}
    return Largest("ok"), best[0], f"reached at {where}, of {size} combinations", (at,)


def decide_integer_set(node: Extremum, body: Expr, space: Space, items: tuple[Expr, ...]) -> Outcome:
    """Decide ``node == {items}`` for argmax, argmin or zeros over integers of one name."""
    if len(space.domains) != 1:
        raise NotYetError(f"{node.op} over several names")
    ((name, domain),) = space.domains.items()
    if node.op == "zeros":
        if space.facts:
            raise NotYetError("zeros with conditions")
        first, last = ends(domain)
        try:
            found = zeros_over(body, name, first, last, [int(v) for v in _holes(domain)])
        except Undefined as error:
            raise IllPosedError(f"{to_text(node)}: a part has no value, {error}") from None
        if isinstance(found, str):
            return undecided(f"zeros: {found}")
        for n in found:
            if equal_constants(substitute(body, {name: num(n)}), num(0)) is not True:
                return undecided(f"that the value at {n} is 0 was not proved")
        points = found
        at_holes = [*found, *(int(v) for v in _holes(domain))]
        known = never_zero_but(body, {name: (first, last)}, [{name: n} for n in at_holes])
    else:
        try:
            at = _search(body, space, node.op == "argmax")
        except Undefined as error:
            raise IllPosedError(f"{to_text(node)}: a part has no value, {error}") from None
        if at.status == "infinite" or at.limit is not None:
            raise IllPosedError(f"{to_text(node)} is empty: the extremum is not attained")
        values = [substitute(body, {name: num(n)}) for n in at.points[: MAX_TIES + 1]]
        if len(values) > MAX_TIES:
            return undecided(f"{node.op}: too many equal values")
        if not values or any(not _same(v, values[0]) for v in values[1:]):
            return undecided(f"{node.op}: {at.reason or 'several values were not told apart'}")
        points = at.points
        known = _others(body, space, node.op == "argmax", values[0], [{name: n} for n in points])
    return _compared(node, points, items, known)


def _compared(
    node: Extremum, points: Sequence[int], items: tuple[Expr, ...], known: Mapping[str, Any] | None
) -> Outcome:
    shown = "{" + ", ".join(map(str, points)) + "}"
    step, method = f"{to_text(node)} = {shown}", "integers one by one"
    trust = ("arb", "mpfr") if known is not None else ("arb",)
    matched: set[int] = set()
    for item in items:
        lo, hi = enclosure(item)
        near = [n for n in points if lo <= n <= hi]
        if not near:
            text = f"{to_text(item)} is not in it"
            witness = {"points": shown}
            return Outcome(False, CERTIFIED, method, trust, (step, text), witness=witness, certificate=known)
        if equal_constants(item, num(near[0])) is not True:
            return undecided(f"whether {to_text(item)} is {near[0]} was not decided")
        matched.add(near[0])
    truth = len(matched) == len(points)
    return Outcome(
        truth,
        CERTIFIED,
        method,
        (*trust, "flint"),
        (step,),
        witness=None if truth else {"points": shown},
        certificate=known,
    )


def ends(domain: Domain) -> tuple[int | None, int | None]:
    """The first and the last integer of a domain; None where there is none."""
    first = last = None
    if domain.lo is not None:
        lo, hi = enclosure(domain.lo)
        first = -(-lo.numerator // lo.denominator)
        if first <= hi and not (domain.lo_closed and compare(domain.lo, num(first)) == 0):
            order = compare(domain.lo, num(first))
            if order is None:
                raise NotYetError(f"whether {to_text(domain.lo)} is an integer")
            first += order in (0, 1)
    if domain.hi is not None:
        lo, hi = enclosure(domain.hi)
        last = hi.numerator // hi.denominator
        if last >= lo and not (domain.hi_closed and compare(domain.hi, num(last)) == 0):
            order = compare(domain.hi, num(last))
            if order is None:
                raise NotYetError(f"whether {to_text(domain.hi)} is an integer")
            last -= order in (0, -1)
    return first, last


def _holes(domain: Domain) -> list[Fraction]:
    found = []
    for hole in domain.without:
        lo, hi = enclosure(hole)
        if lo == hi:
            if lo.denominator == 1:
                found.append(lo)
        elif -(-lo.numerator // lo.denominator) <= hi:
            raise NotYetError(f"whether {to_text(hole)} is an integer")
    return found


def at_integers(space: Space, relation: Rel, decide: Decide) -> Outcome:
    """The relation over the reals where that decides it, else over the integers below and above a gap."""
    return _split(space, relation, decide, MAX_SPLITS)


def _split(space: Space, relation: Rel, decide: Decide, left: int) -> Outcome:
    found = decide(space, relation)
    whole = [n for n, d in space.domains.items() if d.integer and n not in space.vectors]
    if found.truth is not None or found.ill_posed or len(whole) != 1 or len(space.domains) != 1 or not left:
        return found
    (name,) = whole
    if space.facts or name in space.index_ranges:
        return found
    domain = space.domains[name]
    if relation.ops == ("!=",):
        return _never_equal(relation, name, domain) or found
    at = _gap(relation, name, domain)
    if at is None:
        return found
    parts = [
        replace(domain, hi=num(at), hi_closed=True),
        replace(domain, lo=num(at + 1), lo_closed=True),
    ]
    outcomes = []
    for part in parts:
        outcomes.append(_split(space.with_domain(name, part), relation, decide, left - 1))
        if outcomes[-1].truth is not True:
            return outcomes[-1] if outcomes[-1].truth is False else found
    step = f"{name} <= {at} and {name} >= {at + 1} in turn"
    together = conjunction(outcomes)
    return replace(together, steps=(step, *together.steps))


def _never_equal(relation: Rel, name: str, domain: Domain) -> Outcome | None:
    """The sides differ at every integer: one by one, and far out by the sign of their difference."""
    a, b = relation.terms
    first, last = ends(domain)
    found = zeros_over(App("add", (a, App("neg", (b,)))), name, first, last, [int(v) for v in _holes(domain)])
    if found != ():
        return None
    step = f"no integer makes the sides of {to_text(relation)} equal; far out their difference has a sign"
    gap = App("add", (a, App("neg", (b,))))
    known = never_zero_but(gap, {name: (first, last)}, [{name: int(v)} for v in _holes(domain)])
    trust = ("arb", "mpfr") if known is not None else ("arb",)
    return Outcome(True, CERTIFIED, "integers one by one", trust, (step,), certificate=known)


def _gap(relation: Rel, name: str, domain: Domain) -> int | None:
    """An integer n such that the relation fails at a real number between n and n + 1."""
    from gateproof.numerics.points import SIGN_TESTS

    (op,), (a, b) = relation.ops, relation.terms
    first, last = ends(domain)
    start = first if first is not None else -30 if last is None else last - 60
    stop = last if last is not None else start + 60
    for n in range(start, min(stop, start + 60)):
        for part in (Fraction(1, 2), Fraction(1, 8), Fraction(7, 8), Fraction(1, 64), Fraction(63, 64)):
            try:
                sign = difference_sign(a, b, {name: n + part}, 256)
            except NumericsError:
                continue
            if sign is not None and not SIGN_TESTS[op](sign):
                return n
    return None
