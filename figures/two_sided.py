"""The two-sided gate, what stands in for its derivatives, and the function that has them."""

from __future__ import annotations

from typing import Any

import numpy as np

import gateproof
from gateproof.proofs_check.figures.style import BLUE, GREEN, GREY, RED
from gateproof.theory import two_sided
from gateproof.theory.formula import to_text

SIZE = (7.4, 3.2)
DELTA, SHARPNESS = 0.5, 4.0
SET = {"d": DELTA, "c": SHARPNESS}


def numbers() -> dict[str, Any]:
    x = np.linspace(-2, 2, 401)

    def at(text: str, **given: float) -> Any:
        return gateproof.formula(text, **given).numpy(x)

    return {
        "x": x,
        "gate": at("soft_threshold(x, d)", d=DELTA),
        "potential": at("two_sided_potential(x, d, c)", **SET),
        "x exact": at("where(abs(x) > d, 1, 0)", d=DELTA),
        "x surrogate": at("two_sided_surrogate(x, d, c)", **SET),
        "delta exact": at("where(abs(x) > d, -sign(x), 0)", d=DELTA),
        "delta surrogate": at("two_sided_surrogate_delta(x, d, c)", **SET),
        "delta debiased": at("two_sided_surrogate_delta_debiased(x, d, c)", **SET),
        "jump": float(gateproof.formula(to_text(two_sided.jump()), C=SHARPNESS, D=DELTA).numpy()),
    }


def draw(figure: Any, found: dict[str, Any]) -> None:
    value, in_x, in_delta = figure.subplots(1, 3)
    x = found["x"]
    value.plot(x, found["gate"], color="0.6", lw=3, label="gate")
    value.plot(x, found["potential"], color=BLUE, label="potential")
    value.set(title="value", xlabel="x")
    in_x.plot(x, found["x exact"], color="0.6", lw=3, label="exact")
    in_x.plot(x, found["x surrogate"], color=RED, ls="--", label="surrogate")
    in_x.set(title="derivative in x", xlabel="x", ylim=(-0.05, 1.3))
    in_delta.plot(x, found["delta exact"], color="0.6", lw=3, label="exact")
    in_delta.plot(x, found["delta surrogate"], color=RED, ls="--", label="surrogate, printed")
    in_delta.plot(x, found["delta debiased"], color=GREEN, ls="-.", label="debiased")
    in_delta.set(title="derivative in δ", xlabel="x", ylim=(-1.1, 1.9))
    for axes in (value, in_x, in_delta):
        for side in (-DELTA, DELTA):
            axes.axvline(side, color=GREY, lw=0.7, ls=":")
        axes.legend(loc="upper left")


def caption(found: dict[str, Any]) -> str:
    return f"""
    Left: the two-sided gate with δ = {DELTA:g} (dotted) and the potential whose derivatives are the
    surrogate in x and the debiased one in δ, for the sharpness c = {SHARPNESS:g}. Middle and right: the
    derivatives of the gate and what training takes in their place. The printed surrogate in δ jumps by
    {found["jump"]:.4f} at x = 0, so that no one function has it and the surrogate in x as its
    derivatives; debiased it does not jump. No units.

    Two-sided gate paper, formulas 1 to 3; `theory/two_sided.py`, claims two.gradient.* and
    two.potential.*.
    """
