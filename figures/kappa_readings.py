"""The activation complexity kappa_f at every point where it may be read."""

from __future__ import annotations

from typing import Any

import gateproof
from gateproof.numerics.meanfield.kappa_readings import kappa_readings
from gateproof.proofs_check.figures.style import BLUE, GREEN, GREY, RED

SIZE = (7.0, 4.0)
NAMES = ("tanh", "sigmoid", "erf", "arctan", "softsign", "memglu", "silu", "gelu", "mish", "softplus", "elu")
MARKS = {
    "gate threshold": ("s", 9, RED, "gate threshold 0"),
    "extremum": ("^", 7, GREEN, "extremum"),
    "inflection": ("o", 5, BLUE, "inflection"),
}
NONE, ZERO = 0.012, 0.02


def numbers() -> dict[str, Any]:
    rows = []
    for name in NAMES:
        for r in kappa_readings(gateproof.meanfield(name).phi):
            zero = r.kappa is None and "is 0" in r.reason
            rows.append(
                {
                    "name": name,
                    "reading": r.reading,
                    "theta": r.theta,
                    "kappa": 0.0 if zero else r.kappa,
                    "reason": r.reason,
                }
            )
    return {"rows": rows}


def draw(figure: Any, found: dict[str, Any]) -> None:
    axes = figure.add_subplot()
    for reading, (mark, size, colour, label) in MARKS.items():
        some = [r for r in found["rows"] if r["reading"] == reading and r["kappa"] is not None]
        axes.plot(
            [r["kappa"] or ZERO for r in some],
            [NAMES.index(r["name"]) for r in some],
            mark,
            color=colour,
            ms=size,
            label=label,
            ls="none",
        )
    for row, name in enumerate(NAMES):
        if all(r["kappa"] is None for r in found["rows"] if r["name"] == name):
            axes.annotate("no third derivative", (ZERO * 1.1, row), va="center", fontsize=8, color=GREY)
    axes.axvline(ZERO, color="0.6", lw=0.8)
    ticks = [ZERO, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10]
    axes.set(
        xscale="log", xlim=(0.015, 12), ylim=(len(NAMES) - 0.4, -0.6), xlabel=r"$\kappa_f=|f'''(\theta_f)|$"
    )
    axes.set_yticks(range(len(NAMES)), NAMES)
    axes.set_xticks(ticks, ["0", *(f"{t:g}" for t in ticks[1:])])
    axes.minorticks_off()
    axes.legend(loc="upper center", bbox_to_anchor=(0.45, 1.12), ncols=3)


def caption(found: dict[str, Any]) -> str:
    kinks = sorted({r["name"] for r in found["rows"] if r["kappa"] is None})
    return f"""
    κ_f = |f'''(θ_f)| (no unit) of each activation, for each θ_f that the words "the central inflection"
    and "the gate threshold" of the threshold-gating paper may mean, and at extrema beside them. Where
    marks of one row lie apart, the complexity depends on the reading: GELU and SiLU have 0 at the
    threshold 0, which is no inflection of theirs. Some points of these activations have no third
    derivative and are left out: {", ".join(kinks) or "none"}.

    Enclosures of `gateproof.numerics.kappa`; threshold-gating paper, Method, key design 2; claims
    tg.kappa.
    """
