"""The right value in place of a wrong one: closed values, sets of points, polynomials and derivatives."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from gateproof.numerics.certify import certify
from gateproof.numerics.points import enclosure
from gateproof.proofs_check.engine import nearest_numbers as numbers
from gateproof.proofs_check.engine.field_values import settled, the_set
from gateproof.proofs_check.engine.nearest_question import (
    DIGITS,
    STOPS,
    Change,
    Question,
    Value,
    holds_extremum,
    is_literal,
    is_plain,
)
from gateproof.proofs_check.engine.space import build
from gateproof.theory.exact.critical import exact_extremum_candidates
from gateproof.theory.exact.limits import limit
from gateproof.theory.formula import expand_node, to_text
from gateproof.theory.formula.nodes import (
    App,
    At,
    Const,
    Diff,
    Expr,
    Extremum,
    FiniteSet,
    Limit,
    MeanField,
    Node,
    Num,
    Printed,
    Rel,
    Taylor,
    num,
    rebuild,
)
from gateproof.theory.formula.powers import constant_value

SETS = ("argmax", "argmin", "zeros")
#: An exact value longer than this is no help to a reader.
_LONGEST, _LONGEST_FORM = 60, 20
#: A rational value with more digits than this is rounded.
_MOST_DIGITS = 15
_FLIP = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def closed_changes(ask: Question, op: str, a: Expr, b: Expr) -> Iterator[Change]:
    """Proposals for a refuted relation of two closed values."""
    subject, other, flipped = a, b, False
    if is_literal(a) and not is_literal(b):
        subject, other, flipped = b, a, True
        op = _FLIP[op]

    def related(sign: str, value: Expr) -> Rel:
        return Rel((_FLIP[sign],), (value, subject)) if flipped else Rel((sign,), (subject, value))

    if isinstance(subject, Extremum) and subject.op in SETS:
        if op == "==":
            for points in _sets(ask, subject):
                yield ask.change("set", related("==", points))
        return
    if isinstance(subject, MeanField) and op == "==":
        listed = _listed(ask, subject, one=isinstance(other, FiniteSet))
        if listed is not None:
            yield ask.change("set", related("==", listed))
    if isinstance(other, FiniteSet) or op == "!=" or isinstance(subject, Num):
        return
    if any(isinstance(n, Printed) for n in (*a.walk(), *b.walk())):
        for value in _printed(ask, subject, other):
            yield ask.change("value", related("==", value))
        return
    found = ask.value(subject)
    if found is None:
        return
    if found.infinite:
        end: Expr = Const("oo")
        yield ask.change("value", related("==", end if found.infinite > 0 else App("neg", (end,))))
        return
    kind = "constant" if holds_extremum(subject) else "value"
    # A number is not said to be equal to itself.
    itself = to_text(subject)
    exact = [numbers.styled(v, other) for v in _exact(ask, subject, found) if to_text(v) != itself]
    if op == "==":
        for value in exact:
            yield ask.change(kind, related("==", value))
        rounded = numbers.printed(found.lo, found.hi)
        if rounded is not None:
            yield ask.change(kind, related("==", rounded))
        ends = numbers.decimal(found.lo, up=False), numbers.decimal(found.hi, up=True)
        yield ask.change(kind, Rel(("<=", "<="), (ends[0], subject, ends[1])))
        return
    up = op[0] == "<"
    loose = "<=" if up else ">="
    for value in exact:
        yield ask.change(kind, related(loose, value))
    yield ask.change(kind, related(loose, numbers.decimal(found.hi if up else found.lo, up=up)))


def _listed(ask: Question, node: MeanField, *, one: bool) -> Expr | None:
    """The numbers of a set of the mean field, exact or rounded; a single one only if ``one``, else None."""
    expanded = expand_node(node, ask.extra)
    assert isinstance(expanded, MeanField)
    try:
        whole = settled(Rel(("==",), (expanded, num(0))), ask.context).terms[0]
        assert isinstance(whole, MeanField)
        found = the_set(whole, DIGITS)
    except STOPS:
        return None
    single = len(found.elements) == 1 and not one
    if found.every or not found.complete or single or len(found.elements) > 8:
        return None
    items = [e.exact or numbers.printed(e.lo, e.hi) for e in found.elements]
    return None if any(i is None for i in items) else FiniteSet(tuple(i for i in items if i is not None))


def _exact(ask: Question, subject: Expr, found: Value) -> list[Expr]:
    """Exact forms of a value: short names first, then what the exact methods found."""
    values = numbers.names_of(found.lo, found.hi)
    rational = constant_value(found.exact) if found.exact is not None else None
    if rational is not None:
        short = len(str(rational.numerator)) + len(str(rational.denominator)) <= _MOST_DIGITS
        return [numbers.number(rational)] if short else []
    if isinstance(subject, Extremum):
        values += extremum_forms(ask, subject, found)
    if found.exact is not None and not is_literal(subject):
        text = to_text(found.exact)
        if len(text) <= _LONGEST and found.exact != subject:
            values.append(found.exact)
    return list(dict.fromkeys(values))


def extremum_forms(ask: Question, node: Extremum, found: Value) -> list[Expr]:
    """Exact values at critical points and limits at the ends that lie in the enclosure of an extremum."""
    try:
        space = build(node.scope)
        (name,) = space.domains
        body = ask.core(node.body, space)
        given = space.assumptions()
        values = [
            ask.core(_put(body, name, point)) for point in exact_extremum_candidates(body, name, given) or ()
        ]
        domain = space.domains[name]
        for end, side in ((domain.hi or Const("oo"), "-"), (domain.lo or App("neg", (Const("oo"),)), "+")):
            infinite = (domain.hi if side == "-" else domain.lo) is None
            there = limit(body, name, end, "" if infinite else side, given)
            if isinstance(there, tuple):
                values.append(there[0])
    except (*STOPS, ValueError):
        return []
    return [v for v in values if _within(v, found) and len(to_text(v)) <= _LONGEST_FORM]


def _within(value: Expr, found: Value) -> bool:
    if not is_plain(value) or any(isinstance(n, Const) and n.name == "oo" for n in value.walk()):
        return False
    try:
        lo, hi = enclosure(value)
    except STOPS:
        return False
    return lo <= found.hi and found.lo <= hi


def _put(body: Expr, name: str, point: Expr) -> Expr:
    from gateproof.theory.formula.library import substitute

    return substitute(body, {name: point})


def _sets(ask: Question, node: Extremum) -> Iterator[Expr]:
    """The right set of points: exact, or one point rounded."""
    try:
        work = ask.core(node)
        found = certify(work, 20, ask.context.budget())
    except STOPS:
        return
    places = found.get("points") or []
    if found["kind"] != "set" or not 0 < len(places) <= 8:
        return
    ends = [(Fraction(p["lo"]), Fraction(p["hi"])) for p in places]
    exact = _exact_points(ask, node)
    items: list[Expr] = []
    for lo, hi in ends:
        fits = [p for p in (*numbers.names_of(lo, hi), *exact) if _meets(p, lo, hi)]
        fits.sort(key=lambda p: len(to_text(p)))
        if not fits:
            break
        items.append(fits[0])
    if len(items) == len(ends):
        yield items[0] if len(items) == 1 else FiniteSet(tuple(items))
    if len(ends) == 1:
        rounded = numbers.printed(*ends[0])
        if rounded is not None:
            yield rounded


def _exact_points(ask: Question, node: Extremum) -> list[Expr]:
    try:
        space = build(node.scope)
        (name,) = space.domains
        body = ask.core(node.body, space)
        if node.op == "zeros":
            # The zeros of a body are the kinks of its absolute value.
            body = App("abs", (body,))
        return list(exact_extremum_candidates(body, name, space.assumptions()) or ())
    except (*STOPS, ValueError):
        return []


def _meets(point: Expr, lo: Fraction, hi: Fraction) -> bool:
    try:
        a, b = enclosure(point)
    except STOPS:
        return False
    return a <= hi and lo <= b


def _printed(ask: Question, subject: Expr, other: Expr) -> Iterator[Expr]:
    """The other side, a printed number, as it would have been printed for this subject."""
    if not isinstance(other, Printed):
        return

    def middle(node: Node) -> Node:
        if isinstance(node, Printed):
            return Num((node.lo + node.hi) / 2)
        found = rebuild(node, middle)
        assert isinstance(found, Node)
        return found

    plain = middle(subject)
    assert isinstance(plain, Expr)
    found = ask.value(plain)
    if found is None or found.infinite:
        return
    mantissa, _, exponent = other.text.lower().partition("e")
    places = len(mantissa.partition(".")[2]) - int(exponent or 0)
    value = numbers.printed_to(found.lo, found.hi, places)
    if value is not None:
        yield value


def polynomial_changes(ask: Question, op: str, a: Expr, b: Expr) -> Iterator[Change]:
    """``taylor(...) == wrong`` and ``diff(...) == wrong``: the right side found exactly."""
    if op != "==":
        return
    for subject, flipped in ((a, False), (b, True)):
        if not isinstance(subject, Taylor | Diff | Limit | At):
            continue
        try:
            found = ask.core(subject, ask.space())
        except STOPS:
            continue
        if len(to_text(found)) > 2 * _LONGEST or found == subject or not is_plain(found):
            continue
        yield ask.change("value", Rel(("==",), (found, subject) if flipped else (subject, found)))
