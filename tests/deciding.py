"""Statements with a known truth, each decided and compared: shared by the tests of the engine."""

from __future__ import annotations

from collections.abc import Iterable

from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Decision, Reading, Settings

HOLDS = ("proved", "certified")


def verdict(text: str) -> Decision:
    """The decision on one statement."""
    return decide(Reading("statement", text), Settings())


def cases(
    true: Iterable[str], false: Iterable[str], ill_posed: Iterable[str]
) -> list[tuple[str, tuple[str, ...]]]:
    """Each statement with the verdicts that are right for it."""
    rows = ((true, HOLDS), (false, ("refuted",)), (ill_posed, ("ill-posed",)))
    return [(text, allowed) for texts, allowed in rows for text in texts]


def check(text: str, allowed: tuple[str, ...]) -> None:
    """Fail unless the verdict is one of those allowed."""
    found = verdict(text)
    assert found.verdict in allowed, found.reason
