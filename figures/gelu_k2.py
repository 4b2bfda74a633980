"""GELU by two branches: what is printed, what is true, what is best."""

from __future__ import annotations

from typing import Any

import numpy as np

import gateproof
from gateproof.proofs_check.figures.style import BLUE, GREEN, GREY, RED, at_least, at_most

SIZE = (7.0, 3.4)


def numbers() -> dict[str, Any]:
    x = np.linspace(-6, 6, 601)
    truth = gateproof.certify("sup(abs(x*sigmoid(1.702*x) - gelu(x)), x in R)")
    best = gateproof.fit("gelu", 2)
    lower = best.lower_bound
    assert lower is not None
    return {
        "x": x,
        "printed gate": gateproof.formula("x*sigmoid(1.702*x) - gelu(x)").numpy(x),
        "fitted gate": gateproof.formula(f"{best.gate.text} - gelu(x)").numpy(x),
        "printed bound": 0.003,
        "truth": float(truth["value"]["hi"]),
        "at": [float(p["hi"]) for p in truth["points"]],
        "fit": float(best.error.hi),
        "tau": float(best.gate.tau[0].value),
        "lower": float(lower),
    }


def draw(figure: Any, found: dict[str, Any]) -> None:
    axes = figure.add_subplot()
    x = found["x"]
    for sign in (1, -1):
        axes.axhline(sign * found["truth"], color=RED, lw=0.9, ls=":")
        axes.axhline(sign * found["lower"], color=BLUE, lw=0.9, ls=":")
    axes.axhspan(-found["printed bound"], found["printed bound"], color=GREEN, alpha=0.25, lw=0)
    axes.plot(x, found["printed gate"], color=RED, ls="--", label=r"$x\,\sigma(1.702x)$, the printed gate")
    axes.plot(x, found["fitted gate"], color=BLUE, label=rf"$x\,\sigma({found['tau']:.5f}x)$, the best fit")
    for at in found["at"]:
        value = float(np.interp(at, x, found["printed gate"]))
        axes.plot([at], [value], "o", ms=4, color=RED)
    axes.set(xlim=(-6, 6), ylim=(-0.026, 0.033), xlabel="x", ylabel="gate − GELU(x)")
    axes.annotate(
        f"printed: at most {found['printed bound']:g}", (0, -0.0036), ha="center", va="top", fontsize=8
    )
    axes.annotate(
        f"true supremum {at_most(found['truth'], 6)}",
        (5.9, found["truth"] + 0.0004),
        ha="right",
        va="bottom",
        color=RED,
        fontsize=8,
    )
    axes.annotate(
        f"no two-branch gate is below {at_least(found['lower'], 6)}",
        (5.9, found["lower"] + 0.0004),
        ha="right",
        va="bottom",
        color=BLUE,
        fontsize=8,
    )
    axes.legend(loc="upper left", ncols=2)
    axes.axhline(0, color=GREY, lw=0.6)


def caption(found: dict[str, Any]) -> str:
    return f"""
    The error of two-branch gates for GELU over the input, both without unit. The threshold-gating paper
    (Method, key design 1) prints a global error of at most {found["printed bound"]:g} (green band) for
    the sharpness 1.702; its supremum over R is {at_most(found["truth"], 6)}, certified, at x =
    ±{max(found["at"]):.4f}. The best sharpness, {found["tau"]:.6f}, reaches {at_most(found["fit"], 6)},
    certified; no gate of two branches whose lines are the asymptotes of GELU comes below
    {at_least(found["lower"], 6)}, proved.

    Made by `gateproof figures gelu_k2` from `gateproof certify "sup(abs(x*sigmoid(1.702*x) - gelu(x)), x
    in R)"` and `gateproof fit gelu -k 2`.
    """
