"""Pretrained networks with their nonlinearities as gates: what conversion changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gateproof.proofs_check.evidence.record as records
from gateproof.proofs_check.figures.style import BLUE, GREEN, GREY, RED

SIZE = (7.2, 3.0)
NAMES = {
    "minilm": "MiniLM (BERT)",
    "smollm2": "SmolLM2",
    "crepe": "CREPE",
    "silero_eager": "Silero VAD",
    "g2p": "g2p (GRU)",
    "basicpitch": "Basic Pitch",
}
#: Half a unit in the last place of float64.
ROUNDING = 2.0**-53


def record() -> dict[str, Any]:
    """The committed record of pretrained networks, as it stands."""
    path = Path(records.__file__).resolve().parent / "records" / "tg.networks.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def numbers() -> dict[str, Any]:
    found = record()
    largest = {label: float(found["numbers"][f"{name}_largest"]) for name, label in NAMES.items()}
    calls = {label: int(found["numbers"][f"{name}_calls"]) for name, label in NAMES.items()}
    ends = {
        name: tuple(float(found["intervals"][name][end]) for end in ("lo", "hi"))
        for name in ("common", "three", "gain")
    }
    # Fitting to each layer's inputs lowers the change by a share whose interval the record holds.
    middle = sum(ends["common"]) / 2
    fitted = tuple(middle * (1 - gain / 100) for gain in reversed(ends["gain"]))
    moved = {
        "K = 2, sharpness 1.702": ends["common"],
        "K = 2, fitted": fitted,
        "K = 3, fitted": ends["three"],
    }
    return {
        "largest": largest,
        "calls": calls,
        "moved": moved,
        "sentences": found["intervals"]["common"]["n"],
    }


def draw(figure: Any, found: dict[str, Any]) -> None:
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    places = range(len(found["largest"]))
    sizes = list(found["largest"].values())
    floor = ROUNDING / 16
    for place, size in zip(places, sizes, strict=True):
        if size > 0:
            left.plot(size, place, "o", color=BLUE, ms=6)
        else:
            left.annotate("not a bit", (floor * 1.4, place), va="center", fontsize=8, color=GREY)
    for at, said, colour, dash in ((ROUNDING, "one rounding", GREY, "--"), (1e-12, "bar", RED, "-")):
        left.axvline(at, color=colour, lw=1, ls=dash)
        left.annotate(
            said, (at, 1.01), xycoords=("data", "axes fraction"), fontsize=8, color=colour, ha="center"
        )
    left.set_yticks(list(places), list(found["largest"]))
    left.set(
        xscale="log",
        xlim=(floor, 3e-12),
        ylim=(len(sizes) - 0.5, -0.5),
        xlabel="largest relative change, float64: exact gates",
    )
    left.grid(visible=False, axis="y")
    for place, (label, (lo, hi)) in enumerate(found["moved"].items()):
        right.plot([lo, hi], [place] * 2, color=GREEN, lw=3, solid_capstyle="butt")
        right.plot((lo + hi) / 2, place, "o", color=GREEN, ms=4)
        right.annotate(label, ((lo + hi) / 2, place + 0.22), fontsize=8, ha="center")
    right.set(
        xscale="log", xlim=(1e-5, 2e-2), ylim=(-0.4, 2.6), yticks=[],
        xlabel="1 - cosine of a sentence: gates of GELU",
    )  # fmt: skip


def caption(found: dict[str, Any]) -> str:
    calls = ", ".join(f"{name} {count}" for name, count in found["calls"].items())
    worst = max(found["largest"].values())
    return f"""
    Left: six pretrained networks with every nonlinearity replaced by its exact gates, in float64: the
    largest change of an output over its largest size, over all calls ({calls}). The largest is {worst:.1e};
    dashed, half a unit in the last place; red, the bar of the claims, 1e-12. Right: gates of GELU with two
    and three branches in MiniLM, 95 % intervals of the mean of 1 - cosine between a sentence's embedding
    before and after, over {found["sentences"]} sentences (narrower than the marks); the middle one is the
    first less the share by which fitting to each layer's inputs lowers it.

    Record tg.networks; claims tg.networks, tg.lossless, tg.calibration.
    """
