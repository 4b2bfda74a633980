"""One ``[[claim]]`` table: every key checked, every formula parsed, every fault named."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gateproof.proofs_check.evidence.criterion import parse as parse_criterion
from gateproof.proofs_check.files.places import Places
from gateproof.proofs_check.records import VERDICTS, ClaimSpec, Reading
from gateproof.theory.formula import Definition, FormulaError, define, parse_claim

FIRST_NAME = "as stated"

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_EVIDENCE = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}", re.ASCII)
_OF_READING = ("name", "formal", "pin", "controls", "meaning", "evidence", "criterion", "needs")
_OF_CLAIM = ("id", "paper", "where", "says", "latex", "correction", "uses", "ours", "define", "reading")
_KINDS: Mapping[type, str] = {
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "a table",
}


@dataclass(frozen=True)
class Cursor:
    """A table being read: where it stands, what it is called, where its faults go."""

    table: Mapping[str, Any]
    path: str
    places: Places
    faults: list[str]
    label: str
    claim: int
    reading: int | None = None

    def fault(self, text: str, key: str | None = None) -> None:
        """Note what is wrong, with the line of the key."""
        line = self.places.line(self.claim, self.reading, key)
        place = f"{self.path}:{line}" if line else self.path
        self.faults.append(f"{place}: {self.label}: {text}")

    def text(self, key: str) -> str:
        """Return a key that must be text."""
        value = self.table.get(key, "")
        if isinstance(value, str):
            return value
        kind = _KINDS.get(type(value), "a date")
        self.fault(f"{key} must be text in quotes, not {kind}", key)
        return ""

    def formula(
        self,
        text: str,
        what: str,
        extra: Mapping[str, Definition],
        read: Callable[[str, Mapping[str, Definition]], object] = parse_claim,
    ) -> object | None:
        """Parse a statement of the language, without deciding it."""
        key = "controls" if what.startswith("control ") else what
        try:
            return read(text, extra)
        except FormulaError as error:
            self.fault(f"{what}: {error}", key)
        except RecursionError:
            self.fault(f"{what}: nested too deeply", key)
        return None


def read_claim(
    table: Mapping[str, Any], path: str, places: Places, index: int, faults: list[str]
) -> ClaimSpec | None:
    """Return the claim of a table, or None once its faults are noted."""
    claim_id = table.get("id")
    at = Cursor(table, path, places, faults, f"claim {index + 1}", index)
    if not isinstance(claim_id, str) or not _ID.fullmatch(claim_id):
        what = "has no id" if claim_id is None else f"has the id {short(claim_id)}"
        at.fault(f"{what}; an id is letters, digits and . _ - (at most 100), in quotes", "id")
        return None
    at = replace(at, label=claim_id)
    before = len(faults)
    _unknown(at, _OF_CLAIM if "reading" in table else _OF_CLAIM[:-1] + _OF_READING)
    correction = table.get("correction")
    if correction is not None and correction != f"{claim_id}.corrected":
        rule = f"must be '{claim_id}.corrected', a claim of its own"
        at.fault(f"correction {rule}", "correction")
    extra, defined = _definitions(at)
    readings = _readings(at, extra, defined)
    claim = ClaimSpec(
        id=claim_id,
        readings=readings,
        paper=at.text("paper"),
        where=at.text("where"),
        says=at.text("says"),
        latex=at.text("latex"),
        correction=correction,
        file=path,
        line=places.line(index, None, "id") or 0,
        uses=_uses(at, claim_id),
        ours=_flag(at, "ours"),
    )
    return claim if len(faults) == before else None


def _uses(at: Cursor, claim_id: str) -> tuple[str, ...]:
    given = at.table.get("uses", [])
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        at.fault("uses must be a list of ids in quotes", "uses")
        return ()
    if claim_id in given:
        at.fault("uses: a claim cannot rest on itself", "uses")
    return tuple(dict.fromkeys(given))


def _flag(at: Cursor, key: str) -> bool:
    given = at.table.get(key, False)
    if not isinstance(given, bool):
        at.fault(f"{key} must be true or false", key)
    return given is True


def _unknown(at: Cursor, allowed: Sequence[str]) -> None:
    for key in at.table:
        if key in allowed:
            continue
        if at.reading is None and key in _OF_READING:
            at.fault(f"{key} stands beside [[claim.reading]]; move it into a reading", key)
        elif at.reading is not None and key in _OF_CLAIM:
            at.fault(f"{key} belongs to the claim, not to a reading", key)
        else:
            at.fault(f"unknown key {short(key)}; known are {', '.join(allowed)}", key)


def _definitions(at: Cursor) -> tuple[dict[str, Definition], dict[str, str]]:
    """Parse the claim's own functions; each may use those before it."""
    given = at.table.get("define", {})
    if not isinstance(given, dict):
        at.fault('define must be a table: define = { name = "formula in x" }', "define")
        return {}, {}
    extra: dict[str, Definition] = {}
    for name, text in given.items():
        if not isinstance(text, str):
            at.fault(f"define {short(name)} must be a formula in quotes", "define")
            continue
        try:
            extra[name] = define(name, text, extra)
        except FormulaError as error:
            at.fault(f"define {short(name)}: {error}", "define")
        except RecursionError:
            at.fault(f"define {short(name)}: nested too deeply", "define")
    return extra, {name: given[name] for name in extra}


def _readings(at: Cursor, extra: Mapping[str, Definition], defined: Mapping[str, str]) -> tuple[Reading, ...]:
    if "reading" not in at.table:
        return (_reading(at, extra, defined),)
    given = at.table["reading"]
    if not isinstance(given, list) or not given or not all(isinstance(r, dict) for r in given):
        at.fault("write each reading as [[claim.reading]]", "reading")
        return ()
    found: list[Reading] = []
    for number, table in enumerate(given):
        name = table.get("name")
        label = f"{at.label} ({short(name)})" if isinstance(name, str) else at.label
        inner = replace(at, table=table, reading=number, label=label)
        _unknown(inner, _OF_READING)
        reading = _reading(inner, extra, defined)
        if reading.name in {r.name for r in found}:
            inner.fault("the name of another reading; give each its own", "name")
        found.append(reading)
    return tuple(found)


def _reading(at: Cursor, extra: Mapping[str, Definition], defined: Mapping[str, str]) -> Reading:
    key = "criterion" if "criterion" in at.table else "formal"
    evidence, needs = _evidence(at, key)
    formal = at.text(key)
    read = parse_criterion if key == "criterion" else parse_claim
    parsed = None
    if key not in at.table:
        at.fault('no formal statement; add formal = "..."')
    elif isinstance(at.table[key], str):
        parsed = at.formula(formal, key, extra, read)
    controls = at.table.get("controls", [])
    if not isinstance(controls, list) or not all(isinstance(c, str) for c in controls):
        at.fault("controls must be a list of statements in quotes", "controls")
        controls = []
    for number, text in enumerate(controls, 1):
        control = at.formula(text, f"control {number}", extra, read)
        if control is not None and control == parsed:
            rule = "a control is a near miss that must be decided the other way"
            at.fault(f"control {number} is the statement itself; {rule}", "controls")
    pin = at.table.get("pin")
    if pin is not None and pin not in VERDICTS:
        at.fault(f"pin {short(pin)} is no verdict; the verdicts are {', '.join(VERDICTS)}", "pin")
    return Reading(
        name=at.text("name") or FIRST_NAME,
        formal=formal,
        pin=pin,
        controls=tuple(controls),
        meaning=at.text("meaning"),
        define=dict(defined),
        evidence=evidence,
        needs=needs,
        by_criterion=key == "criterion",
    )


def _evidence(at: Cursor, key: str) -> tuple[str, str]:
    """The evidence that a reading names, and what makes it."""
    evidence, needs = at.text("evidence"), at.text("needs")
    if key == "criterion" and "formal" in at.table:
        at.fault("formal and criterion; a criterion is the formal statement of a run", "criterion")
    if "evidence" in at.table and isinstance(at.table["evidence"], str):
        if not _EVIDENCE.fullmatch(evidence):
            rule = "small letters, digits and . _ - (at most 80): a name, no path"
            at.fault(f"evidence {short(evidence)}; write {rule}", "evidence")
        if not needs.strip():
            at.fault('evidence without needs; say in words what makes it: needs = "..."', "evidence")
    for word in ("criterion", "needs"):
        if word in at.table and "evidence" not in at.table:
            at.fault(f"{word} without evidence; name the record that it is about", word)
    return evidence, needs


def short(value: object) -> str:
    """Return a value as it may stand in an error line."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
