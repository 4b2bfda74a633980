"""The scale c0 that matches MemGLU to SiLU, over the variance of the preactivations."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq

import gateproof
from gateproof.numerics.meanfield.depth_numbers import working
from gateproof.proofs_check.figures.style import BLUE, GREEN, GREY, RED

SIZE = (7.0, 3.4)
#: MemGLU, calibration: the scales as printed, and the widths d whose d (0.02)^2 is the variance.
PRINTED = {"9M": (0.6039096539628113, 192), "30M": (0.6990967290796867, 384)}
DEVIATION = 0.02
LABEL = r"$c_0(q)=\sqrt{E\,\mathrm{SiLU}(z)^2/E\,(\tanh z\,\mathrm{sech}\,z)^2}$"
#: Where the labels stand beside their dots, in points.
PLACES = {"9M": (-120, 10), "30M": (12, -20)}


def _ratio(silu: Any, gate: Any, q: float) -> float:
    """Sqrt(E silu(z)^2/E memglu(z)^2) with z normal of variance q."""
    values = []
    for engine in (silu, gate):
        with working(engine):
            values.append(float(engine.variance(engine.slope_energy(1) * 0 + q)))
    return (values[0] / values[1]) ** 0.5


def numbers() -> dict[str, Any]:
    silu, gate = (gateproof.meanfield(name).mp(15) for name in ("silu", "memglu"))
    q = np.geomspace(1e-3, 10, 41)
    return {
        "q": q,
        "c0": np.array([_ratio(silu, gate, float(v)) for v in q]),
        "series": 0.5 + 23 * q / 16,
        "printed": {
            n: {"c0": c, "q": brentq(lambda v, c=c: _ratio(silu, gate, v) - c, 1e-3, 1, xtol=1e-9)}
            for n, (c, _) in PRINTED.items()
        },
        "weights": {
            n: {"q": d * DEVIATION**2, "c0": _ratio(silu, gate, d * DEVIATION**2)}
            for n, (_, d) in PRINTED.items()
        },
    }


def draw(figure: Any, found: dict[str, Any]) -> None:
    axes = figure.add_subplot()
    q = found["q"]
    axes.plot(
        q,
        found["c0"],
        color=BLUE,
        label=LABEL,
    )
    axes.plot(q, found["series"], color=GREY, ls=":", label=r"$1/2+23q/16$, small $q$")
    for name, p in found["printed"].items():
        axes.plot([p["q"]], [p["c0"]], "o", color=RED, ms=5)
        axes.annotate(
            f"{name}: printed {p['c0']:.6f},\nso q = {p['q']:.5f}",
            (p["q"], p["c0"]),
            PLACES[name],
            textcoords="offset points",
            fontsize=8,
            color=RED,
        )
    for k, p in enumerate(found["weights"].values()):
        axes.plot(
            [p["q"]],
            [p["c0"]],
            "+",
            color=GREEN,
            ms=11,
            mew=1.6,
            label="weights of deviation 0.02" if k == 0 else None,
        )
    axes.set(
        xscale="log",
        yscale="log",
        xlim=(q[0], q[-1]),
        ylim=(0.45, 8),
        xlabel="variance q of the preactivations",
        ylabel="c0",
    )
    ticks = [0.5, 0.6, 0.7, 1, 2, 5]
    axes.set_yticks(ticks, [f"{t:g}" for t in ticks])
    axes.minorticks_off()
    axes.legend(loc="upper left")


def caption(found: dict[str, Any]) -> str:
    said = "; ".join(
        f"{n}: {p['c0']:.6f} belongs to q = {p['q']:.5f}, and q = {found['weights'][n]['q']:g} gives "
        f"{found['weights'][n]['c0']:.5f}"
        for n, p in found["printed"].items()
    )
    return f"""
    The scale at which c0 tanh(z) sech(z) has the mean square of SiLU(z) for z normal with mean 0 and
    variance q; no units. Dots: the two scales that the MemGLU paper prints, and the variances that they
    belong to. Crosses: what weights of standard deviation {DEVIATION:g} behind normalised inputs of width
    192 and 384 give. {said}.

    Computed to 15 digits by `gateproof.meanfield(NAME).mp(15)`; claims mem.c0 and mem.c0.corrected
    certify the crossings.
    """
