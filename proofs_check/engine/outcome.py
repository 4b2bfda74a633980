"""What deciding a statement gives, and how outcomes combine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gateproof.numerics.certificate import composite_document

PROVED, CERTIFIED = "proved", "certified"


class IllPosedError(Exception):
    """The statement has no truth value; the message says which part has no meaning."""


class VacuousError(IllPosedError):
    """No value meets the conditions, so the statement says nothing."""


class UndecidedError(Exception):
    """A part could not be treated; the message is the reason."""


class NotYetError(Exception):
    """An operator that cannot be decided yet, by name."""


@dataclass(frozen=True)
class Outcome:
    """``truth`` is True, False or None (not decided, see ``reason``)."""

    truth: bool | None
    rigor: str = CERTIFIED
    method: str = ""
    trust: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    value: Mapping[str, str] | None = None
    witness: Mapping[str, str] | None = None
    certificate: Mapping[str, Any] | None = None
    reason: str = ""
    ill_posed: bool = False

    @property
    def verdict(self) -> str:
        """The verdict this outcome stands for."""
        if self.ill_posed:
            return "ill-posed"
        if self.truth is None:
            return "inconclusive"
        return self.rigor if self.truth else "refuted"


def undecided(reason: str) -> Outcome:
    """Nothing decided, and why."""
    return Outcome(None, reason=reason)


def ill_posed(reason: str, witness: Mapping[str, str] | None = None) -> Outcome:
    """No meaning, and why."""
    return Outcome(None, reason=reason, ill_posed=True, method="definedness", witness=witness)


def negation(outcome: Outcome) -> Outcome:
    """The outcome of the negated closed statement."""
    return outcome if outcome.truth is None else replace(outcome, truth=not outcome.truth)


def merged_trust(*outcomes: Outcome) -> tuple[str, ...]:
    """All that the outcomes rest on, each once, in order."""
    return tuple(dict.fromkeys(t for o in outcomes for t in o.trust))


def conjunction(outcomes: list[Outcome]) -> Outcome:
    """All of the parts: ill-posed beats false, false beats undecided."""
    for found in outcomes:
        if found.ill_posed:
            return found
    for found in outcomes:
        if found.truth is False:
            return found
    for found in outcomes:
        if found.truth is None:
            return found
    if len(outcomes) == 1:
        return outcomes[0]
    certificates = [dict(o.certificate) for o in outcomes if o.certificate is not None]
    return Outcome(
        True,
        rigor=PROVED if all(o.rigor == PROVED for o in outcomes) else CERTIFIED,
        method="; ".join(dict.fromkeys(o.method for o in outcomes)),
        trust=merged_trust(*outcomes),
        steps=tuple(f"part {k}: {s}" for k, o in enumerate(outcomes, 1) for s in o.steps),
        value=next((o.value for o in outcomes if o.value is not None), None),
        certificate=composite(certificates),
    )


def composite(
    certificates: list[dict[str, Any]], conclusion: str = "all parts hold"
) -> Mapping[str, Any] | None:
    """One document for several certificates."""
    if not certificates:
        return None
    if len(certificates) == 1:
        return certificates[0]
    parts: list[dict[str, Any]] = []
    for document in certificates:
        parts += document["parts"] if document["kind"] == "composite" else [document]
    return composite_document(parts, conclusion)
