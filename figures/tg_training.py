"""Training with threshold gates: steps, width, families and time."""

from __future__ import annotations

from typing import Any

from gateproof.proofs_check.figures import runs
from gateproof.proofs_check.figures.style import BLACK

SIZE = (9.2, 6.8)


def made(found: dict[str, Any]) -> Any:
    figure = runs.made(found, SIZE)
    _, steps, _, family = figure.axes
    for line in steps.lines:
        if line.get_marker() == "x":
            line.set_color(BLACK)
    family.set_title("LSTM gates by family and units")
    family.set_xlabel(family.get_xlabel().replace("digit error rate", "digit error rate above the baseline"))
    return figure


def numbers() -> dict[str, Any]:
    return runs.run("tg-training")


def caption(found: dict[str, Any]) -> str:
    return f"""
    Top: test accuracy over steps, and how many times fewer steps (dots, with 95 % intervals over paired
    seeds) and multiply-adds (crosses) lead to the dense network's final accuracy. Bottom: final accuracy of
    networks by their multiply-adds an image, and error rates of LSTMs by the family of their gates and
    their units, less those of the baseline, in percentage points.

    {runs.said(found)}
    """
