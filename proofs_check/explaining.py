"""Why a reading came out as it did, and what would decide it: tried, not guessed.

Each proposal for an undecided or ill-posed statement is decided by the engine before it is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from gateproof.proofs_check.decision_json import CRASHED, FAULT, TIME
from gateproof.proofs_check.one import OneByOne
from gateproof.proofs_check.records import Decision, Reading, Settings
from gateproof.theory.formula import (
    Claim,
    FormulaError,
    define_all,
    expand_node,
    parse_claim,
    to_text,
)
from gateproof.theory.formula.nodes import App, Bind, Const, Expr, IntervalSet, NamedSet, Rel, Scope, num

#: Budgets that are tried for what ran out, as multiples of the given ones.
MORE_BOXES, MORE_DIGITS = 10, 4
#: Where a line of one variable is cut to see which part is undecided.
CUTS = (Fraction(-10), Fraction(-1), Fraction(0), Fraction(1), Fraction(10))
SECONDS = 20.0
MINUS_OO = App("neg", (Const("oo"),))
DECIDED = ("proved", "certified", "refuted")
_WHY = {
    "proved": "a derivation holds for all values in scope; the steps below are all of it",
    "certified": "the whole domain is covered; the certificate can be checked without the engine",
    "refuted": "a place was found where it fails, exactly or enclosed, and a second engine sees it fail too",
    "supported": "a record meets the criterion that was fixed before its run",
    "unsupported": "a record misses the criterion that was fixed before its run",
    "ill-posed": "a part has no value somewhere in scope, so the statement says nothing there",
    "inconclusive": "the engine's methods or budget ended first; this is no sign of either outcome",
    "not-run": "it needs evidence that is not here, or no longer fits",
}


@dataclass(frozen=True)
class Tried:
    """A statement or a budget that was tried, and what came of it."""

    what: str
    verdict: str
    formal: str = ""
    reason: str = ""


def explain(
    entry: Mapping[str, Any], reading: Reading, settings: Settings, deciding: OneByOne
) -> dict[str, Any]:
    """What is to be said of a decided reading: ``why``, ``reason``, what was ``tried``, ``advice``."""
    found: dict[str, Any] = {"verdict": entry["verdict"], "why": _WHY[entry["verdict"]]}
    if entry["reason"]:
        found["reason"] = entry["reason"]
    tried: list[Tried] = []
    if entry["verdict"] in ("inconclusive", "ill-posed") and not reading.by_criterion:
        tried = list(_tries(entry, reading, settings, deciding))
        found["tried"] = [vars(one) for one in tried]
    found["advice"] = list(_advice(entry, reading, tried))
    return found


def _tries(
    entry: Mapping[str, Any], reading: Reading, settings: Settings, deciding: OneByOne
) -> Iterator[Tried]:
    """Larger budgets, then parts of the domain, then the domain on which it has a value."""

    def decided(formal: str, chosen: Settings) -> Decision:
        stated = replace(reading, formal=formal, controls=(), pin=None)
        return deciding.statement(stated, replace(chosen, wall_seconds=SECONDS))

    if entry["verdict"] == "inconclusive" and entry["reason"] != TIME:
        more = replace(
            settings, boxes=MORE_BOXES * settings.boxes, digits=MORE_DIGITS * settings.digits, max_bits=None
        )
        out = decided(reading.formal, more)
        yield Tried(f"with {more.boxes} boxes and {more.digits} digits", out.verdict, reason=out.reason)
        if out.verdict in DECIDED:
            return
    try:
        claim = parse_claim(reading.formal, define_all(reading.define))
    except FormulaError:
        return
    if claim.format:
        return
    if entry["verdict"] == "ill-posed":
        domains = _sound_parts(claim, reading)
    else:
        domains = _parts(claim)
    for within in domains:
        narrowed = _narrowed(claim, within)
        out = decided(narrowed, settings)
        yield Tried(f"on {to_text(within)} alone", out.verdict, narrowed, out.reason)


def _only_line(claim: Claim) -> Bind | None:
    """The bind of a statement on one variable over all of R."""
    binds = claim.scope.binds
    if len(binds) != 1 or claim.scope.conditions:
        return None
    within = binds[0].within
    return binds[0] if isinstance(within, NamedSet) and within.name == "R" else None


def _parts(claim: Claim) -> Iterator[IntervalSet]:
    if _only_line(claim) is None:
        return
    ends = [Const("oo"), *map(num, CUTS), Const("oo")]
    for place, (lo, hi) in enumerate(pairwise(ends)):
        first, last = place == 0, place == len(ends) - 2
        low = MINUS_OO if first else lo
        yield IntervalSet(low, hi, lo_closed=not first, hi_closed=not last)


def _sound_parts(claim: Claim, reading: Reading) -> Iterator[IntervalSet]:
    """The intervals between the places at which a side has no value."""
    from gateproof.theory.undefined_parts import undefined_parts

    bind = _only_line(claim)
    if bind is None or not isinstance(claim.body, Rel):
        return
    # What a bound or a limit binds itself is not a place on the line.
    cuts: list[tuple[Expr | None, Expr | None, bool, bool]] = []
    for term in claim.body.terms:
        expanded = expand_node(term, define_all(reading.define))
        assert isinstance(expanded, Expr)
        try:
            parts = undefined_parts(expanded, bind.name)
        except (TypeError, ValueError, NotImplementedError, AssertionError):
            return
        if parts is None:
            return
        cuts += [(p.lo, p.hi, p.lo_in, p.hi_in) for p in parts]
    if len(set(cuts)) != 1:
        return
    lo, hi, lo_in, hi_in = cuts[0]
    if lo is not None:
        yield IntervalSet(MINUS_OO, lo, lo_closed=False, hi_closed=not lo_in)
    if hi is not None:
        yield IntervalSet(hi, Const("oo"), lo_closed=not hi_in, hi_closed=False)


def _narrowed(claim: Claim, within: IntervalSet) -> str:
    bind = claim.scope.binds[0]
    return to_text(replace(claim, scope=Scope((Bind(bind.name, within),), ())))


def _advice(entry: Mapping[str, Any], reading: Reading, tried: list[Tried]) -> Iterator[str]:
    verdict, reason = entry["verdict"], entry["reason"]
    good = [one for one in tried if one.verdict in DECIDED]
    if verdict in ("inconclusive", "ill-posed") and good:
        left = [one for one in tried if one.verdict not in DECIDED and one.formal]
        wrong = [one for one in good if one.verdict == "refuted" and one.formal]
        if any(not one.formal for one in good):
            yield f"a larger budget decides it: {good[0].what} it is {good[0].verdict}"
        elif verdict == "inconclusive" and wrong:
            parts = ", ".join(one.what.removesuffix(" alone") for one in wrong)
            yield f"it fails as stated, since it fails {parts}: change the statement, or leave that out"
        elif left:
            yield "what is left is " + ", ".join(one.what.removesuffix(" alone") for one in left)
        elif verdict == "ill-posed":
            yield "say where it is meant: " + "; ".join(f"{one.formal} is {one.verdict}" for one in good)
        else:
            words = sorted({one.verdict for one in good})
            yield f"every part is decided ({', '.join(words)}): write it as one reading a part"
    elif verdict == "inconclusive":
        yield from _for_reason(reason)
    if verdict == "refuted" and entry.get("nearest"):
        yield f"true instead: {entry['nearest']['formal']} ({entry['nearest']['verdict']})"
    if verdict in ("not-run", "unsupported") and reading.needs:
        yield f"what it needs: {reading.needs}"
    missed = entry["controls"].get("missed", ())
    if missed:
        yield f"a control was not decided the other way: {'; '.join(missed)}; correct it, or the reading"


def _for_reason(reason: str) -> Iterator[str]:
    if reason == TIME:
        yield "the clock ended it: give --timeout, or narrow the domain"
    elif reason.startswith((CRASHED, FAULT)):
        yield "the worker ended: less at once, as a smaller domain or fewer digits; please report it"
    elif "agree to" in reason:
        yield "agreeing digits prove nothing: state a bound on the difference of the sides instead"
    elif "several variables" in reason:
        yield "give every variable a bounded range, or bound one by the others' extremum, as sup(f, x in R)"
    elif "not implemented" in reason:
        yield "rewrite that part in functions that the language lists (docs/claim-language.md)"
    else:
        yield "give a narrower domain, or an equivalent form; docs/claim-language.md says what is decided"
