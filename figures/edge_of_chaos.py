"""The edge of chaos of six activations, and which of its points a network can reach."""

from __future__ import annotations

from typing import Any

import numpy as np

import gateproof
from gateproof.numerics.meanfield.kappa_law import EdgeCurve
from gateproof.proofs_check.figures.style import COLOURS

SIZE = (7.0, 3.8)
NAMES = ("tanh", "memglu", "gelu", "silu", "mish", "elu")
#: The variances of the preactivations along which each curve is followed.
Q = (0.002, 400.0)
POINTS = 150
RIGHT = 1.2
#: The bias variance at which each name is written, and its offset from the curve in points.
PLACES = {
    "tanh": (0.9, (0, -13)),
    "memglu": (0.9, (0, 6)),
    "gelu": (0.016, (16, 14)),
    "silu": (0.06, (18, 8)),
    "mish": (0.18, (0, -11)),
    "elu": (0.9, (0, -13)),
}


def numbers() -> dict[str, Any]:
    curves = {}
    for name in NAMES:
        field = gateproof.meanfield(name)
        curve = EdgeCurve(field.mp(15), field.phi)
        points = [curve.at(float(q)) for q in np.geomspace(*Q, POINTS)]
        curves[name] = {
            "sigma_b2": np.array([p.sigma_b2 for p in points], float),
            "sigma_w2": np.array([p.sigma_w2 for p in points], float),
            "stable": np.array([abs(p.chi_parallel) < 1 for p in points]),
        }
    return {"curves": curves}


def draw(figure: Any, found: dict[str, Any]) -> None:
    from matplotlib.lines import Line2D

    axes = figure.add_subplot()
    for (name, curve), colour in zip(found["curves"].items(), COLOURS, strict=False):
        bias, weight, stable = curve["sigma_b2"], curve["sigma_w2"], curve["stable"]
        real = bias >= 0
        for which, dashes in ((True, "-"), (False, (0, (2, 1.5)))):
            # A step belongs to the kind of both its ends; where they differ it is drawn as unstable.
            kind = real & (stable if which else ~stable)
            if not which:
                kind = kind | (real & (np.roll(kind, 1) | np.roll(kind, -1)))
            axes.plot(np.where(kind, bias, np.nan), weight, color=colour, ls=dashes, lw=1.8 if which else 1.2)

        # The name stands on its curve: gelu, silu and mish end as good as together, but begin apart.
        at, side = PLACES[name]
        place = int(np.argmin(np.where(real, np.abs(bias - at), np.inf)))
        axes.annotate(
            name,
            (bias[place], weight[place]),
            xytext=side,
            textcoords="offset points",
            color=colour,
            ha="center",
        )
    axes.set(xlim=(0, RIGHT), ylim=(0.8, 5), xlabel=r"$\sigma_b^2$", ylabel=r"$\sigma_w^2$")
    kinds = [
        Line2D([], [], color="0.3", lw=1.8, label="stable: networks reach it"),
        Line2D([], [], color="0.3", lw=1.2, ls=(0, (2, 1.5)), label="unstable: variances run away from it"),
    ]
    axes.legend(handles=kinds, loc="lower right")


def caption(found: dict[str, Any]) -> str:
    unstable = ", ".join(n for n, c in found["curves"].items() if not c["stable"][c["sigma_b2"] >= 0].all())
    return f"""
    Pairs of bias variance σ_b² and weight variance σ_w² (times the fan-in; both without unit) at which χ₁
    = 1, so that gradients neither vanish nor explode. Dashed where the fixed point of the variance is
    unstable (|χ_∥| ≥ 1), which is so on parts of the curves of {unstable}: an iteration never finds these
    points and no network reaches them.

    Mean field theory after Poole et al. (2016) and Schoenholz et al. (2017); `gateproof meanfield NAME
    --eoc` certifies single points of the curves (docs/meanfield.md).
    """
