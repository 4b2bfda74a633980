"""Paired pretraining of SwiGLU, MemGLU and the gates between them."""

from __future__ import annotations

from typing import Any

from gateproof.proofs_check.figures import runs
from gateproof.proofs_check.figures.style import DASHES

SIZE = (9.2, 5.8)


def made(found: dict[str, Any]) -> Any:
    figure = runs.made(found, SIZE)
    curves, mechanism = figure.axes[0], figure.axes[3]
    for line, dashes in zip(curves.lines, DASHES, strict=False):
        line.set_linestyle(dashes)
    curves.legend(fontsize=7)
    mechanism.set_xticks(
        mechanism.get_xticks(), ["occupancy", "energy of\nthe gate", "energy of\nthe product"]
    )
    return figure


def numbers() -> dict[str, Any]:
    return runs.run("language-model")


def caption(found: dict[str, Any]) -> str:
    return f"""
    Top: validation loss in nats a token over steps, mean over seeds; MemGLU's less SwiGLU's, paired, with
    its 95 % band; and relative differences at the end with 95 % intervals over paired seeds (grey: the
    margin within which two gates count as equal). Bottom: occupancy and energy shares beyond MemGLU's peak
    with the standard deviation over seeds; what the three interventions cost a trained SwiGLU, with 95 %
    intervals; and the memory that a training step takes at its peak.

    {runs.said(found)}
    """
