"""The opening page: statements by paper, what fails and what is true instead, what is right.

A *statement* is a claim of a paper, neither a correction nor a finding of ours. Its first reading
is how it stands in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gateproof.proofs_check.render import words
from gateproof.proofs_check.status import PASSING, unreached

FAILS = ("refuted", "ill-posed", "unsupported")
#: The groups of statements in order, with their titles and what they mean.
GROUPS: Mapping[str, tuple[str, str]] = {
    "right": ("right", "Holds in every reading: proved or certified."),
    "supported": ("supported", "Holds in every reading, in some by a sample or a run only."),
    "partly": ("in part", "Holds as stated, and fails in another natural reading."),
    "fails": ("fail", "Fails as stated."),
    "waits": ("wait", "Needs a run or a sample; what can be decided around it is decided."),
    "open": ("undecided", "Not decided as stated."),
}


@dataclass(frozen=True)
class Opening:
    """Claims by paper and group; findings of ours apart, whatever became of them."""

    papers: tuple[str, ...]
    groups: Mapping[str, Mapping[str, list[Mapping[str, Any]]]]
    ours: list[Mapping[str, Any]]
    claims: Mapping[str, Mapping[str, Any]]

    @property
    def shown(self) -> list[str]:
        """The groups that have a statement."""
        return [group for group in GROUPS if any(self.groups[paper][group] for paper in self.papers)]

    def count(self, group: str) -> int:
        """How many statements a group has."""
        return sum(len(self.groups[paper][group]) for paper in self.papers)

    def total(self, paper: str) -> int:
        """How many statements of a paper there are."""
        return sum(map(len, self.groups[paper].values()))

    def instead(self, claim: Mapping[str, Any]) -> str:
        """What is true instead of a statement: what its correction says, else the nearest true statement."""
        correction = self.claims.get(claim["correction"] or "")
        if correction is not None and correction["says"]:
            return said(correction)
        found = (words.nearest(reading) for reading in claim["readings"])
        return next((text for text in found if text), "no correction")


def group(claim: Mapping[str, Any]) -> str:
    """The group of a statement."""
    # What an interrupted run did not reach waits for no evidence.
    verdicts = ["inconclusive" if unreached(r) else r["verdict"] for r in claim["readings"]]
    if verdicts[0] in FAILS:
        return "fails"
    if verdicts[0] == "not-run":
        return "waits"
    if verdicts[0] == "inconclusive":
        return "open"
    if any(verdict in FAILS for verdict in verdicts):
        return "partly"
    if all(verdict in PASSING for verdict in verdicts):
        return "right"
    if all(verdict in (*PASSING, "supported") for verdict in verdicts):
        return "supported"
    return "waits" if "not-run" in verdicts else "open"


def said(claim: Mapping[str, Any]) -> str:
    """What a claim says, and behind it what became of it where it is not right, and what it is worth."""
    name = group(claim)
    stands = {"right": "", "supported": "", "partly": "in part"}.get(name, claim["readings"][0]["verdict"])
    worth = next((found for reading in claim["readings"] if (found := words.effective(reading))), "")
    notes = "; ".join(note for note in (stands, worth) if note)
    text = stated(claim)
    return f"{text} ({notes})" if notes else text


def stated(claim: Mapping[str, Any]) -> str:
    """What a claim says, in words where it has any and formally where not."""
    return str(claim["says"] or claim["readings"][0]["formal"])


def failing(claim: Mapping[str, Any]) -> int:
    """How many readings of a claim fail."""
    return sum(reading["verdict"] in FAILS for reading in claim["readings"])


def needs(claim: Mapping[str, Any]) -> list[str]:
    """What a claim's readings that were not run need."""
    waiting = [r for r in claim["readings"] if r["verdict"] == "not-run" and not unreached(r)]
    return list(dict.fromkeys(reading["reason"] for reading in waiting))


def opening(document: Mapping[str, Any]) -> Opening:
    """Sort the claims of a document."""
    claims = {claim["id"]: claim for claim in document["claims"]}
    corrections = {claim["correction"] for claim in document["claims"]}
    groups: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    ours = []
    for claim in document["claims"]:
        if claim["id"] in corrections:
            continue
        if claim.get("ours"):
            ours.append(claim)
            continue
        inside = groups.setdefault(claim["paper"], {name: [] for name in GROUPS})
        inside[group(claim)].append(claim)
    return Opening(tuple(groups), groups, ours, claims)
