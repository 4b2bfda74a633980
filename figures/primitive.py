"""The threshold gate: six activations, their branches and the gate that blends them."""

from __future__ import annotations

from typing import Any

import numpy as np

import gateproof
from gateproof.proofs_check.figures.style import BLUE, COLOURS, GREY, at_most

SIZE = (7.4, 4.6)
#: Name, branches, sharpness, and the half width that is drawn.
SHOWN = (
    ("relu", 2, "hard", 3.0),
    ("silu", 2, "shared", 6.0),
    ("gelu", 3, "shared", 4.0),
    ("tanh", 2, "shared", 3.0),
    ("hardtanh", 3, "hard", 2.5),
    ("mish", 2, "shared", 6.0),
)
NAMES = {
    "relu": "ReLU",
    "silu": "SiLU",
    "gelu": "GELU",
    "tanh": "tanh",
    "hardtanh": "HardTanh",
    "mish": "Mish",
}


def numbers() -> dict[str, Any]:
    return {"panels": [_panel(*shown) for shown in SHOWN]}


def _panel(name: str, k: int, sharpness: str, half: float) -> dict[str, Any]:
    x = np.linspace(-half, half, 301)
    fit = gateproof.fit(name, k, sharpness=sharpness)
    gate = fit.gate
    lines = zip(gate.slope, gate.intercept, strict=True)
    return {
        "name": name,
        "k": k,
        "x": x,
        "target": gateproof.formula(f"{name}(x)").numpy(x),
        "gate": np.asarray(fit.numpy(x)),
        "lines": [(float(a.value), float(b.value)) for a, b in lines],
        "theta": [float(t.value) for t in gate.theta],
        "error": float(fit.error.hi),
        "text": gate.text,
    }


def draw(figure: Any, found: dict[str, Any]) -> None:
    for axes, panel in zip(figure.subplots(2, 3).flat, found["panels"], strict=True):
        x, target = panel["x"], panel["target"]
        lo, hi = float(target.min()), float(target.max())
        for (slope, intercept), colour in zip(panel["lines"], COLOURS[1:], strict=False):
            axes.plot(x, slope * x + intercept, color=colour, lw=1.0, ls="--")
        for theta in panel["theta"]:
            axes.axvline(theta, color=GREY, lw=0.8, ls=":")
        axes.plot(x, target, color="0.75", lw=4)
        axes.plot(x, panel["gate"], color=BLUE)
        room = 0.12 * (hi - lo)
        axes.locator_params(axis="x", nbins=5, integer=True)
        axes.set(xlim=(x[0], x[-1]), ylim=(lo - room, hi + room))
        error = "exact" if panel["error"] == 0 else f"error ≤ {at_most(panel['error'], 3)}"
        axes.set_title(f"{NAMES[panel['name']]}, K = {panel['k']}, {error}")
    figure.supxlabel("x", fontsize=9)
    figure.supylabel("y", fontsize=9)


def caption(found: dict[str, Any]) -> str:
    parts = "; ".join(f"{NAMES[p['name']]}: `{p['text']}`" for p in found["panels"])
    return f"""
    Each activation (grey) and the threshold gate that `gateproof fit` finds for it (blue): K lines
    (dashed, one colour each, left to right) blended by gates that change over at the thresholds (dotted).
    Inputs and outputs without unit; the error is the supremum of |gate − activation| over R, certified.
    The primitive is that of the threshold-gating paper, Method.

    {parts}.
    """
