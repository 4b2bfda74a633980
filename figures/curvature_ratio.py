"""Curvature under Gaussian preactivations: what kappa² says of it, over the variance."""

from __future__ import annotations

from typing import Any

import numpy as np

import gateproof
from gateproof.numerics.meanfield.kappa_readings import central, kappa_predictions
from gateproof.proofs_check.figures.style import COLOURS, DASHES, GREY

SIZE = (7.0, 3.6)
NAMES = ("tanh", "erf", "sigmoid", "memglu", "silu", "gelu", "mish")


def numbers() -> dict[str, Any]:
    q = np.geomspace(0.01, 10, 21)
    ratios = {}
    for name in NAMES:
        field = gateproof.meanfield(name)
        engine = field.mp(15)
        unit = engine.slope_energy(1) * 0
        found = []
        for v in q:
            predictions = kappa_predictions(engine, field.phi, unit + float(v))
            at = central(tuple(p.reading for p in predictions))["inflection"]
            found.append(next(float(p.curvature_ratio) for p in predictions if p.reading == at))
        ratios[name] = np.array(found)
    return {"q": q, "ratios": ratios}


def draw(figure: Any, found: dict[str, Any]) -> None:
    axes = figure.add_subplot()
    axes.axhline(1, color=GREY, lw=1)
    for (name, ratio), colour, dashes in zip(found["ratios"].items(), COLOURS, DASHES, strict=False):
        axes.plot(found["q"], ratio, color=colour, ls=dashes, label=name)
    axes.set(
        xscale="log",
        yscale="log",
        xlim=(0.01, 10),
        xlabel="variance q of the preactivations",
        ylabel=r"$\kappa_f^2\,(q+\theta_f^2)\,/\,E\,f''(z)^2$",
    )
    axes.annotate(
        "1: the step is right", (0.0105, 1), (0, -4), textcoords="offset points", fontsize=8, va="top"
    )
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


def caption(found: dict[str, Any]) -> str:
    ends = {n: float(r.max()) for n, r in found["ratios"].items()}
    worst = max(ends, key=lambda n: ends[n])
    return f"""
    The curvature that the threshold-gating paper takes for E f''(z)², κ_f²(q + θ_f²) at the central
    inflection, divided by the true one, for z normal with mean 0 and variance q; no units. It is right at
    most where q is small and θ_f = 0; the largest of the ratios drawn is {ends[worst]:.3g} ({worst}).

    Threshold-gating paper, Method, key design 2; claims tg.curvature and tg.curvature.critical;
    `gateproof meanfield NAME --kappa`.
    """
