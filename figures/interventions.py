"""Three interventions on SiLU beyond MemGLU's peak, and how much each of them changes."""

from __future__ import annotations

import itertools
from math import log
from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq

import gateproof
from gateproof.proofs_check.figures.style import BLUE, GREEN, GREY, RED

SIZE = (7.4, 3.3)
SHOWN = {
    "silu_hard_removal": ("hard removal", RED, "--"),
    "silu_positive_cap": ("positive cap", GREEN, "-."),
    "silu_smooth_attenuation": ("smooth attenuation", BLUE, "-"),
}
PEAK = float(np.arcsinh(1))


def changed(name: str, q: float) -> float:
    """E (SiLU(z) - its intervention)^2 for z normal with variance q; they differ beyond the peak only."""
    gap = gateproof.formula(f"({name}(x) - silu(x))**2*exp(-x**2/(2*{q!r}))/sqrt(2*pi*{q!r})")
    ends = (PEAK, PEAK + 0.5, PEAK + 2, PEAK + 0.5 + 12 * q**0.5)
    at = gap.numpy
    return sum(
        quad(lambda x: float(at(x)), a, b, epsabs=1e-18, epsrel=1e-10)[0] for a, b in itertools.pairwise(ends)
    )


def _lead(q: float) -> float:
    return log(changed("silu_smooth_attenuation", q) / changed("silu_positive_cap", q))


def numbers() -> dict[str, Any]:
    x, q = np.linspace(-3, 6, 361), np.geomspace(0.03, 10, 25)
    return {
        "x": x,
        "q": q,
        "silu": gateproof.formula("silu(x)").numpy(x),
        "curves": {name: gateproof.formula(f"{name}(x)").numpy(x) for name in SHOWN},
        "crossing": float(brentq(_lead, 0.03, 1, xtol=1e-10)),
        "changed": {name: np.array([changed(name, float(v)) for v in q]) for name in SHOWN},
    }


def draw(figure: Any, found: dict[str, Any]) -> None:
    left, right = figure.subplots(1, 2)
    left.plot(found["x"], found["silu"], color="0.7", lw=3.5, label="SiLU")
    for name, (label, colour, dashes) in SHOWN.items():
        left.plot(found["x"], found["curves"][name], color=colour, ls=dashes, label=label)
        right.plot(found["q"], found["changed"][name], color=colour, ls=dashes, label=label)
    left.axvline(PEAK, color=GREY, lw=0.8, ls=":")
    left.annotate("arsinh 1", (PEAK, -0.55), (4, 0), textcoords="offset points", fontsize=8)
    left.set(xlim=(-3, 6), ylim=(-0.6, 3), xlabel="x", title="the gate")
    left.legend(loc="upper left")
    right.set(
        xscale="log",
        yscale="log",
        ylim=(1e-9, 30),
        xlabel="variance q",
        title="mean squared change of the gate",
    )
    right.legend(loc="lower right")


def caption(found: dict[str, Any]) -> str:
    return f"""
    Left: SiLU and the three interventions of the MemGLU paper (Appendix E), which begin at arsinh 1 =
    {PEAK:.4f}, where MemGLU has its peak. Right: the mean squared difference from SiLU for normal
    preactivations of mean 0 and variance q, without unit. Attenuation changes less than the cap below q =
    {found["crossing"]:.4f} and more above it.

    Formulas of `theory/activations/silu_*.py`; claims mem.interventions.* decide their order.
    """
