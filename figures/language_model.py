"""Paired pretraining of SwiGLU, MemGLU and the gates between them."""

from __future__ import annotations

from typing import Any

from gateproof.proofs_check.figures import runs

made = runs.made


def numbers() -> dict[str, Any]:
    return runs.run("language-model")


def caption(found: dict[str, Any]) -> str:
    return f"""
    Top: validation loss in nats a token over steps (95 % bands over seeds), the paired difference to
    SwiGLU, and relative differences at the end with 95 % intervals over paired seeds. Bottom: occupancy
    and energy shares beyond MemGLU's peak, what the three interventions cost a trained SwiGLU, and
    throughput and memory.

    {runs.said(found)}
    """
