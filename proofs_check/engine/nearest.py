"""The nearest true statement to a refuted one, decided by the same engine before it is shown.

Proposals are made in a fixed order: a bound that is attained, the sharp constant or the right
value, the largest domain, the right sign or direction. (A bound by 0 is a statement about a sign,
so there the domain comes before the constant.) The first that is proved or certified, controls
included, is given; where none is, nothing is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.judge import decide_reading, definitions_of
from gateproof.proofs_check.engine.logic import links_of
from gateproof.proofs_check.engine.nearest_constants import (
    bound_changes,
    distance_changes,
    membership_changes,
)
from gateproof.proofs_check.engine.nearest_domains import predicate_domains, scope_changes
from gateproof.proofs_check.engine.nearest_question import STOPS, Change, Question, holds_extremum, is_literal
from gateproof.proofs_check.engine.nearest_signs import (
    attained_changes,
    converse_changes,
    direction_changes,
    identity_changes,
    predicate_changes,
)
from gateproof.proofs_check.engine.nearest_values import closed_changes, polynomial_changes
from gateproof.proofs_check.records import Reading, Settings
from gateproof.theory.formula import Definition, parse_claim, to_text
from gateproof.theory.formula.apart import apart, definitions_apart
from gateproof.theory.formula.nodes import And, Claim, Implies, In, Not, Num, Or, Pred, Rel, Scope, Stmt, Var
from gateproof.theory.formula.scopes import free_names

#: Proposals decided for one reading, and boxes and bits that each may use.
MAX_TRIED = 12
BOXES, MAX_BITS = 4_000, 1_024
PASSING = ("proved", "certified")
#: A proposal longer than this is no help to a reader.
MAX_TEXT = 400


def nearest(reading: Reading, settings: Settings) -> Mapping[str, str] | None:
    """``{"formal", "verdict", "kind"}`` of the nearest true statement that was found, or None.

    The reading must have been refuted. Work is bounded by counts, so the answer is the same each time.
    """
    given = definitions_of(reading)
    parsed = parse_claim(reading.formal, given)
    if parsed.format:
        from gateproof.proofs_check.floating.nearest import nearest as nearest_floating

        return nearest_floating(reading, parsed, given, settings)
    claim = apart(parsed)
    assert isinstance(claim, Claim)
    extra = definitions_apart(claim, given)
    bits = min(settings.max_bits or MAX_BITS, MAX_BITS)
    search = _Search(reading, replace(settings, boxes=min(settings.boxes, BOXES), max_bits=bits), extra)
    return search.of(claim)


class _Search:
    def __init__(self, reading: Reading, settings: Settings, extra: dict[str, Definition]) -> None:
        self.reading, self.settings, self.extra = reading, settings, extra
        self.context = Context(settings)
        self.left = MAX_TRIED
        self.seen = {reading.formal}

    def of(self, claim: Claim) -> Mapping[str, str] | None:
        parts = _parts(claim.body)
        if len(parts) == 1:
            return self._first(claim.scope, parts, 0)
        wrong = [k for k, part in enumerate(parts) if self._verdict(Claim(claim.scope, part)) == "refuted"]
        if len(wrong) == 1:
            return self._first(claim.scope, parts, wrong[0])
        # Several wrong parts: each is put right alone, over the scope as it is.
        found = list(parts)
        kinds: list[str] = []
        for k in wrong:
            change = self._alone(claim.scope, parts[k])
            if change is None:
                return None
            found[k] = change.part
            kinds.append(change.kind)
        if not wrong:
            return None
        return self._accepted(Claim(claim.scope, _joined(found)), kinds[0])

    def _first(self, scope: Scope, parts: Sequence[Stmt], k: int) -> Mapping[str, str] | None:
        for change in self._changes(scope, parts[k]):
            body = _joined([*parts[:k], change.part, *parts[k + 1 :]])
            found = self._accepted(Claim(change.scope, body), change.kind)
            if found is not None or self.left <= 0:
                return found
        return None

    def _alone(self, scope: Scope, part: Stmt) -> Change | None:
        for change in self._changes(scope, part):
            if change.scope == scope and self._verdict(Claim(scope, change.part)) in PASSING:
                return change
            if self.left <= 0:
                break
        return None

    def _accepted(self, claim: Claim, kind: str) -> Mapping[str, str] | None:
        verdict = self._verdict(claim)
        return {"formal": to_text(claim), "verdict": verdict, "kind": kind} if verdict in PASSING else None

    def _verdict(self, claim: Claim) -> str:
        """The verdict on a statement by its text, as a user would get it."""
        text = to_text(claim)
        if self.left <= 0 or len(text) > MAX_TEXT or text in self.seen:
            return ""
        self.left -= 1
        self.seen.add(text)
        try:
            return decide_reading(Reading("", text, define=self.reading.define), self.settings).verdict
        except STOPS:
            return ""

    def _changes(self, scope: Scope, part: Stmt) -> Iterator[Change]:
        ask = Question(scope, part, self.extra, self.context)
        if isinstance(part, Rel):
            yield from _relation(ask, part)
        elif isinstance(part, Pred):
            yield from predicate_changes(ask, part)
            yield from predicate_domains(ask, part)
        elif isinstance(part, In):
            yield from membership_changes(ask, part)
        elif isinstance(part, Or | Not):
            yield from scope_changes(ask, part)
        elif isinstance(part, Implies):
            inner = Scope(scope.binds, (*scope.conditions, part.left))
            for change in self._changes(inner, part.right):
                if change.scope == inner and not _about_name(change.part):
                    yield ask.change(change.kind, Implies(part.left, change.part))
            yield from converse_changes(ask, part)


def _relation(ask: Question, part: Rel) -> Iterator[Change]:
    (op,), (a, b) = part.ops, part.terms
    names = set(ask.scope.names())
    closed = not free_names(part) & names
    if closed and op in ("<", ">") and not holds_extremum(part):
        # Two numbers are not below each other because they are equal.
        yield ask.change("value", Rel(("==",), (a, b)))
    yield from attained_changes(ask, op, a, b)
    if closed:
        if isinstance(a, Num) or not (is_literal(a) or is_literal(b)):
            yield from direction_changes(ask, op, a, b)
        yield from closed_changes(ask, op, a, b)
        yield from direction_changes(ask, op, a, b)
        return
    yield from polynomial_changes(ask, op, a, b)
    if holds_extremum(part):
        return
    if op == "==":
        yield from identity_changes(ask, a, b)
        yield from scope_changes(ask, part)
        yield from distance_changes(ask, a, b)
        return
    about_sign = any(isinstance(t, Num) and t.value == 0 for t in (a, b))
    if about_sign:
        yield from scope_changes(ask, part)
    yield from bound_changes(ask, op, a, b)
    if not about_sign:
        yield from scope_changes(ask, part)
    yield from direction_changes(ask, op, a, b)


def _about_name(part: Stmt) -> bool:
    """Whether a relation only says where a name ranges: behind ``=>`` it would repeat the premise."""
    return isinstance(part, Rel) and any(isinstance(t, Var) for t in part.terms)


def _parts(body: Stmt) -> list[Stmt]:
    """What a statement says at once: the parts of ``and`` and the links of chains."""
    if isinstance(body, And):
        return [p for part in body.parts for p in _parts(part)]
    if isinstance(body, Rel):
        return list(links_of(body))
    return [body]


def _joined(parts: Sequence[Stmt]) -> Stmt:
    """The parts as one statement, links with a common term as a chain."""
    joined: list[Stmt] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, Rel) and isinstance(last, Rel) and last.terms[-1] == part.terms[0]:
            joined[-1] = Rel((*last.ops, *part.ops), (*last.terms, *part.terms[1:]))
        else:
            joined.append(part)
    return joined[0] if len(joined) == 1 else And(tuple(joined))
