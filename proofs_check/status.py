"""What a verdict means for a guard: drift, failure, and the exit code of a run.

All of it is computed from report.json's document, so that every rendering of it and
every exit code agree. ``docs/exit-codes.md`` gives the reasons.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gateproof.proofs_check.decision_json import INTERRUPTED, TIME
from gateproof.proofs_check.refused import FAILED, INCONCLUSIVE, OK

PASSING = ("proved", "certified")
#: From strong to weak: what a statement is worth to those that rest on it.
STRENGTH = {
    "proved": 0,
    "certified": 1,
    "supported": 2,
    "not-run": 3,
    "inconclusive": 3,
    "unsupported": 4,
    "ill-posed": 5,
    "refuted": 6,
}


def is_drift(pin: str | None, verdict: str, reason: str) -> bool:
    """Tell whether a verdict differs from the accepted one for a reason in the statement.

    Wall clock and Ctrl-C say something about the machine and the day only.
    """
    if pin is None or verdict == pin:
        return False
    return (verdict, reason) not in (("inconclusive", TIME), ("not-run", INTERRUPTED))


def state(reading: Mapping[str, Any]) -> str:
    """Return what a reading of the document means: ok, drift, failed or open.

    ``open`` is a pinned reading that was stopped by the clock or by Ctrl-C; an
    unpinned one that is neither proved nor certified has ``failed``.
    """
    if reading["drift"]:
        return "drift"
    if reading["pin"] is None:
        return "ok" if reading["verdict"] in PASSING else "failed"
    return "ok" if reading["verdict"] == reading["pin"] else "open"


def readings(document: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Yield every claim and reading of a document, in order."""
    for claim in document["claims"]:
        for reading in claim["readings"]:
            yield claim, reading


def ancestors(uses: Mapping[str, Sequence[str]], claim: str) -> list[str]:
    """The claims that a claim rests on, directly or through others; ``uses`` has no cycles."""
    found: dict[str, None] = {}
    waiting = list(uses.get(claim, ()))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = None
            waiting += uses.get(name, ())
    return list(found)


def set_effective(claims: Sequence[dict[str, Any]]) -> None:
    """Give readings that hold the weakest verdict among all readings that their claim rests on.

    Only where it is weaker than their own, and only where all that they rest on was decided too.
    """
    uses = {claim["id"]: claim.get("uses", ()) for claim in claims}
    verdicts = {claim["id"]: [reading["verdict"] for reading in claim["readings"]] for claim in claims}
    for claim in claims:
        behind = ancestors(uses, claim["id"])
        if not behind or not all(name in verdicts for name in behind):
            continue
        weakest = max((v for name in behind for v in verdicts[name]), key=STRENGTH.__getitem__)
        for reading in claim["readings"]:
            holds = reading["verdict"] in (*PASSING, "supported")
            if holds and STRENGTH[weakest] > STRENGTH[reading["verdict"]]:
                reading["effective"] = weakest


def unreached(reading: Mapping[str, Any]) -> bool:
    """Whether the run was interrupted before this reading."""
    return bool(reading["verdict"] == "not-run" and reading["reason"] == INTERRUPTED)


def exit_code(document: Mapping[str, Any], *, strict: bool = False) -> int:
    """Return 0, 1 or, with ``strict``, 4; 1 beats 4."""
    code = OK
    for _, reading in readings(document):
        inconclusive = reading["verdict"] == "inconclusive"
        if strict and inconclusive and not reading["drift"]:
            code = INCONCLUSIVE
        elif unreached(reading) or state(reading) in ("drift", "failed"):
            return FAILED
    return code
