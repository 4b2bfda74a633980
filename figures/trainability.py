"""How deep networks train: trained depth over weight variance, and what predicts it."""

from __future__ import annotations

from typing import Any

from gateproof.proofs_check.figures import runs

made = runs.made


def numbers() -> dict[str, Any]:
    return runs.run("depth")


def caption(found: dict[str, Any]) -> str:
    return f"""
    Top left: the loss after training over depth and the variance of the weights, tanh, mean over seeds
    at the best rate; lines are multiples of the depth scale xi_c of mean field theory. Top right and
    bottom left: trained depth on the edge of chaos over the depth rate beta_q and over kappa at the
    central inflection, an activation each. Bottom right: residual networks of one, two and three
    branches.

    {runs.said(found)}
    """
