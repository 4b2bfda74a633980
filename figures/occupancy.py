"""Occupancy and energy beyond MemGLU's peak: the printed shares beside a normal distribution."""

from __future__ import annotations

from math import erfc, sqrt
from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq

import gateproof
from gateproof.proofs_check.figures.style import BLUE, RED

SIZE = (7.0, 3.6)
PEAK = float(np.arcsinh(1))
#: MemGLU, section 6.1: percent of preactivations beyond the peak, and of the gate's energy.
PRINTED = {
    "SwiGLU 9M": ("silu", 2.688, 33.736),
    "MemGLU 9M": ("memglu", 5.230, 10.129),
    "SwiGLU 30M": ("silu", 5.002, 50.857),
    "MemGLU 30M": ("memglu", 3.954, 8.209),
}
STYLE = {"silu": (RED, "s", "SiLU"), "memglu": (BLUE, "o", "tanh·sech")}


def occupancy(q: float) -> float:
    """Percent of a normal distribution of mean 0 and variance q beyond the peak."""
    return 50 * erfc(PEAK / sqrt(2 * q))


def energy(name: str, q: float) -> float:
    """Percent of E gate(z)^2 that comes from beyond the peak."""
    square = gateproof.formula(f"{name}(x)**2*exp(-x**2/(2*{q!r}))").numpy
    far = PEAK + 12 * sqrt(q)
    low, beyond = (
        quad(lambda x: float(square(x)), *ends, epsabs=1e-13)[0] for ends in ((-far, PEAK), (PEAK, far))
    )
    return 100 * beyond / (low + beyond)


def numbers() -> dict[str, Any]:
    q = np.geomspace(0.08, 0.6, 21)
    rows = {}
    for label, (name, share, printed) in PRINTED.items():
        variance = float(brentq(lambda v, s=share: occupancy(v) - s, 0.01, 5))
        rows[label] = {
            "gate": name,
            "occupancy": share,
            "printed": printed,
            "q": variance,
            "model": energy(name, variance),
        }
    return {
        "occupancy": np.array([occupancy(float(v)) for v in q]),
        "curves": {name: np.array([energy(name, float(v)) for v in q]) for name in STYLE},
        "rows": rows,
    }


def draw(figure: Any, found: dict[str, Any]) -> None:
    axes = figure.add_subplot()
    for name, (colour, mark, label) in STYLE.items():
        axes.plot(
            found["occupancy"], found["curves"][name], color=colour, label=f"{label}, normal preactivations"
        )
        some = {k: r for k, r in found["rows"].items() if r["gate"] == name}
        axes.plot(
            [r["occupancy"] for r in some.values()],
            [r["printed"] for r in some.values()],
            mark,
            color=colour,
            label=f"{label}, printed",
        )
        for k, r in some.items():
            axes.plot([r["occupancy"]] * 2, [r["model"], r["printed"]], color=colour, lw=0.9, ls=":")
            axes.annotate(
                k,
                (r["occupancy"], r["printed"]),
                (-7, 5) if name == "silu" else (7, -13),
                textcoords="offset points",
                fontsize=8,
                color=colour,
                ha="right" if name == "silu" else "left",
            )
    axes.set(
        xlim=(0, 8),
        ylim=(0, 65),
        xlabel="preactivations beyond arsinh 1, %",
        ylabel="energy of the gate from there, %",
    )
    axes.legend(loc="upper left")


def caption(found: dict[str, Any]) -> str:
    said = ", ".join(f"{k}: {r['model']:.1f} for {r['printed']:.1f}" for k, r in found["rows"].items())
    return f"""
    The share of the gate's mean square that comes from preactivations beyond MemGLU's peak, over the
    share of preactivations there, both in percent. Lines: normal preactivations of mean 0, the variance
    running along the line. Marks: the trained models of the MemGLU paper (section 6.1). At equal
    occupancy the shapes alone put the gates far apart; the models with SwiGLU lie above their line, with
    heavier positive tails than a normal distribution has. In percent, model for printed: {said}.

    Claims mem.occupancy and mem.energy decide what follows from the printed figures.
    """
