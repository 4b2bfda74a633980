"""Depth on the edge of chaos against what 1/kappa² predicts, under every reading of kappa."""

from __future__ import annotations

from typing import Any

import gateproof
from gateproof.numerics.meanfield.kappa_law import EdgeCurve
from gateproof.numerics.meanfield.kappa_readings import central, kappa_readings
from gateproof.proofs_check.figures.style import BLUE, GREEN, GREY, RED

SIZE = (7.0, 3.8)
NAMES = ("tanh", "sigmoid", "erf", "arctan", "softsign", "memglu", "silu", "gelu", "mish", "softplus")
SIGMA_B2 = 0.05
#: Mark, its size, colour, label; larger ones first, since readings coincide for odd activations.
MARKS = {
    "gate threshold": ("s", 10, RED, "gate threshold 0"),
    "extremum": ("^", 7, GREEN, "extremum"),
    "inflection": ("o", 5, BLUE, "central inflection"),
}
#: Where a name goes beside its mark, in points; the others stand above, to the right.
PLACES = {"arctan": (0, 9), "tanh": (8, -3), "erf": (-9, -14), "silu": (-10, 8)}


def numbers() -> dict[str, Any]:
    rows = []
    for name in NAMES:
        field = gateproof.meanfield(name)
        point = EdgeCurve(field.mp(15), field.phi).chosen(SIGMA_B2)
        if point is None:
            continue
        for reading, found in central(kappa_readings(field.phi)).items():
            if found.kappa is not None and reading in MARKS:
                rows.append(
                    {
                        "name": name,
                        "reading": reading,
                        "law": found.kappa**-2,
                        "beta_q": float(point.beta_q),
                        "stable": abs(point.chi_parallel) < 1,
                    }
                )
    return {"rows": rows, "without": [n for n in NAMES if all(r["name"] != n for r in rows)]}


def draw(figure: Any, found: dict[str, Any]) -> None:
    axes = figure.add_subplot()
    rows = found["rows"]
    for reading, (mark, size, colour, label) in MARKS.items():
        for stable in (True, False):
            some = [r for r in rows if r["reading"] == reading and r["stable"] == stable]
            axes.plot(
                [r["law"] for r in some],
                [r["beta_q"] for r in some],
                mark,
                color=colour,
                ms=size,
                mfc=colour if stable else "white",
                label=label if stable else None,
                ls="none",
            )
    for r in rows:
        if r["reading"] != "gate threshold" or r["name"] == "mish":
            where = {"inflection": PLACES.get(r["name"], (4, 7)), "gate threshold": (-6, -15)}.get(
                r["reading"], (4, 7)
            )
            axes.annotate(r["name"], (r["law"], r["beta_q"]), where, textcoords="offset points", fontsize=7)
    reference = next(r for r in rows if r["name"] == "tanh" and r["reading"] == "inflection")
    ends = (min(r["law"] for r in rows) / 2, max(r["law"] for r in rows) * 2)
    axes.plot(
        ends,
        [reference["beta_q"] * e / reference["law"] for e in ends],
        color=GREY,
        lw=1,
        ls="--",
        label=r"$\propto 1/\kappa^2$ through tanh",
    )
    axes.set(
        xscale="log",
        yscale="log",
        xlabel=r"$1/\kappa_f^2$",
        ylabel=r"depth rate $\beta_q$, layers",
        xlim=ends,
        ylim=(1, 60),
    )
    axes.legend(loc="upper left")


def caption(found: dict[str, Any]) -> str:
    return f"""
    The depth rate β_q of the critical point at σ_b² = {SIGMA_B2:g} (layers: 1 − correlation falls like
    β_q divided by the number of layers) against 1/κ_f², κ_f = |f'''(θ_f)|, for each point at which the
    threshold-gating paper's words let θ_f be read. Were the trainable depth proportional to 1/κ_f²,
    points would lie on a line of the slope of the dashed one. Hollow: the critical point is unstable.
    Readings with κ_f = 0 or none are left out, and so are activations without a critical point there
    ({", ".join(found["without"]) or "none"}).

    Threshold-gating paper, Method, key design 2; `gateproof meanfield NAME --kappa` (docs/meanfield.md).
    """
