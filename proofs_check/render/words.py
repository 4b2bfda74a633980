"""How verdicts, places and enclosures are shown, the same in every rendering."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any

from gateproof.proofs_check.status import readings, state


@dataclass(frozen=True)
class Look:
    """One verdict's sign, its sign in ASCII, and its colour in a terminal."""

    sign: str
    plain: str
    colour: int
    meaning: str


VERDICTS: Mapping[str, Look] = {
    "proved": Look("∎", "+", 32, "derived for all values in scope, exactly"),
    "certified": Look(
        "✓",
        "+",
        32,
        "bounds on the whole domain, or every point of it; re-checked where the trust base has mpfr",
    ),
    "refuted": Look("✗", "x", 31, "the negation is proved or certified"),
    "supported": Look("◐", "~", 36, "sampling or statistics met a criterion fixed beforehand"),
    "unsupported": Look("◌", "~", 35, "sampling or statistics missed that criterion"),
    "ill-posed": Look("⊘", "!", 35, "has no meaning as stated"),
    "inconclusive": Look("?", "?", 33, "not decided within the budget"),
    "not-run": Look("–", "-", 90, "something it needs is missing"),
}
#: What a nearest true statement changes, by its kind.
NEAREST: Mapping[str, str] = {
    "attained": "the bound is attained",
    "constant": "the right constant",
    "value": "the right value",
    "set": "the right set",
    "domain": "where it holds",
    "sign": "the other sign",
    "factor": "with a factor",
    "direction": "the other way round",
    "distance": "how far apart at most",
}
#: What a verdict lists in its trust base.
TRUST: Mapping[str, str] = {
    "arb": "ball arithmetic of Arb, which searches and encloses",
    "mpfr": "MPFR and a small checker without search, which accepted the certificate",
    "flint": "exact polynomials and algebraic numbers of FLINT",
    "fractions": "exact rational arithmetic of Python",
    "sampling": "samples or training runs, with what they can show only",
}
NO_PAPER = "other claims"
_FRACTION = re.compile(r"-?[0-9]+/[0-9]{3,}")


def by_paper(document: Mapping[str, Any]) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """Group the claims by paper, in the order of the document."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for claim in document["claims"]:
        groups.setdefault(claim["paper"], []).append(claim)
    return list(groups.items())


def paper_name(paper: str) -> str:
    """Return a heading for a paper."""
    return paper or NO_PAPER


def pinned(reading: Mapping[str, Any]) -> str:
    """Say how a reading stands to its pin."""
    pin = reading["pin"]
    return {
        "ok": "as pinned" if pin else "not pinned",
        "drift": f"DRIFT from {pin}",
        "failed": "FAILED: not pinned",
        "open": f"open: pinned {pin}",
    }[state(reading)]


def enclosure(value: Mapping[str, str] | None) -> str:
    """Return an enclosure as one text."""
    if value is None:
        return ""
    lo, hi = value["lo"], value["hi"]
    return lo if lo == hi else f"[{lo}, {hi}]"


def witness(found: Mapping[str, str] | None) -> str:
    """Return a witness as one text; a long fraction with its size beside it."""
    return ", ".join(f"{name} = {value}{_size(value)}" for name, value in (found or {}).items())


def _size(value: str) -> str:
    """Return `` (1.9224)`` for 3937/2048: a rounded decimal, for the eye only."""
    if not _FRACTION.fullmatch(value) or len(value) > 2_000:
        return ""
    over, _, below = value.partition("/")
    with localcontext() as context:
        context.prec = 5
        return f" ({Decimal(over) / Decimal(below):g})"


def nearest(reading: Mapping[str, Any]) -> str:
    """Return the nearest true statement with its verdict and what was changed; empty where there is none."""
    found = reading.get("nearest")
    return f"{found['formal']}  ({NEAREST[found['kind']]}; {found['verdict']})" if found else ""


def effective(reading: Mapping[str, Any]) -> str:
    """Say what a reading is worth by what its claim rests on, where that is less than its verdict."""
    found = reading.get("effective")
    return f"effectively {found}, as a reading of what the claim rests on is" if found else ""


def controls(found: Mapping[str, Any]) -> str:
    """Say how many near misses were caught, and which were not."""
    if not found["planted"]:
        return "none planted"
    text = f"{found['caught']} of {found['planted']} caught"
    missed: Sequence[str] = found.get("missed", ())
    return text + (f"; missed: {'; '.join(missed)}" if missed else "")


def shown_verdicts(document: Mapping[str, Any]) -> list[str]:
    """List the verdicts that occur, in their usual order."""
    counts = document["counts"]["verdicts"]
    return [verdict for verdict in VERDICTS if counts[verdict]]


def shown_trust(document: Mapping[str, Any]) -> list[str]:
    """List the parts of trust bases that occur and have a meaning, in their usual order."""
    found = {part for _, reading in readings(document) for part in reading["trust"]}
    return [part for part in TRUST if part in found]


def accepted(document: Mapping[str, Any]) -> str:
    """Say how the readings of a document without drift, failure or open ones stand to their pins."""
    unpinned = sum(reading["pin"] is None for _, reading in readings(document))
    total = document["counts"]["readings"]
    if not unpinned:
        return "every verdict is the accepted one"
    passing = (
        "proved or certified, none of them pinned" if unpinned == total else "as pinned, proved or certified"
    )
    return f"every reading is {passing}" + ("" if unpinned == total else f"; {unpinned} not pinned")


def headline(document: Mapping[str, Any]) -> str:
    """Sum up a document in one line."""
    counts = document["counts"]
    parts = [f"{counts['claims']} claims", f"{counts['readings']} readings"]
    parts += [f"{counts['verdicts'][v]} {v}" for v in shown_verdicts(document)]
    parts += [f"{counts[name]} {name}" for name in ("drift", "failed", "open") if counts[name]]
    return ", ".join(parts)


def cited(claim: Mapping[str, Any], version: str, report: str) -> str:
    """Return a claim as a reference: which tool, which statement, what came out, which report."""
    verdicts = list(dict.fromkeys(reading["verdict"] for reading in claim["readings"]))
    parts = [f"gateproof {version}", f"claim {claim['id']}"]
    parts += [part for part in (claim["paper"], claim["where"]) if part]
    return f"{'; '.join(parts)}: {', '.join(verdicts)}. Report sha256 {report}."
