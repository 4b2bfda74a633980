"""Training with threshold gates: steps, width, families and time."""

from __future__ import annotations

from typing import Any

from gateproof.proofs_check.figures import runs

made = runs.made


def numbers() -> dict[str, Any]:
    return runs.run("tg-training")


def caption(found: dict[str, Any]) -> str:
    return f"""
    Steps to the dense network's final accuracy, accuracy over width, error rates of LSTMs by the family
    of their gates, and step times, with 95 % intervals over paired seeds.

    {runs.said(found)}
    """
