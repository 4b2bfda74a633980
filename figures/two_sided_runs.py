"""Training with two-sided gates: events, loss and operations."""

from __future__ import annotations

from typing import Any

from gateproof.proofs_check.figures import runs

made = runs.made


def numbers() -> dict[str, Any]:
    return runs.run("two-sided")


def caption(found: dict[str, Any]) -> str:
    return f"""
    Loss over tokens and over effective forward multiply-adds, events that are left, rates of zeros by
    projection, for dense, fixed and trained thresholds.

    {runs.said(found)}
    """
