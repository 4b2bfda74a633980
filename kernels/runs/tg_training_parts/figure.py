"""Four panels: curves, steps, width, families."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from gateproof.kernels.runs.experiment import Row, Summary
from gateproof.kernels.runs.statistics import band
from gateproof.kernels.runs.tg_training_parts.results import AGAIN, results
from gateproof.kernels.runs.tg_training_parts.settings import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Errors in percent from which on a family is named and not drawn.
LOST = 50.0
_SHOWN = {"silu x1": "0.35", "silu x2": "C0", "TG_W x1": "C1", "TG_A x1": "C2"}


def figure(settings: Settings, rows: Sequence[Row], summary: Summary) -> Figure:
    """Draws what there is."""
    from matplotlib.figure import Figure

    made = Figure(figsize=(11, 8), layout="constrained")
    curves, steps, width, family = made.subplots(2, 2).flat
    _curves(curves, settings, rows)
    _steps(steps, summary.tables.get("steps", ()))
    _width(width, summary.tables.get("accuracy", ()))
    _family(family, summary.tables.get("families", ()))
    return made


def _curves(axes: Any, settings: Settings, rows: Sequence[Row]) -> None:
    found = results(rows, settings.images.training.steps)
    low = []
    for arm, colour in _SHOWN.items():
        kept = list(found.curves.get(arm, {}).values())
        if len(kept) < 2:
            continue
        mean, lo, hi = band([c.accuracy for c in kept])
        axes.plot(kept[0].steps, mean, color=colour, label=arm)
        axes.fill_between(kept[0].steps, lo, hi, color=colour, alpha=0.2, linewidth=0)
        low.append(float(mean[len(mean) // 4]))
    if low:
        axes.set_ylim(bottom=min(low) - 2)
        axes.legend(frameon=False)
    axes.set(title="Accuracy, mean and 95 % band over seeds", xlabel="step", ylabel="test accuracy, %")


def _steps(axes: Any, table: Sequence[Row]) -> None:
    for y, row in enumerate(table):
        _dot(axes, row, "steps", y, _colour(row))
        if row["multiply_adds"] is not None:
            axes.plot([float(str(row["multiply_adds"]))], [y], "x", color="C3")
    axes.axvline(1, color="0.8", zorder=0)
    axes.set_yticks(range(len(table)), [f"{r['arm']}\nagainst {r['dense']}" for r in table], fontsize=7)
    axes.invert_yaxis()
    axes.set(
        title="How many times fewer to the dense accuracy",
        xlabel="o steps with 95 % interval, × multiply-adds",
    )


def _width(axes: Any, table: Sequence[Row]) -> None:
    shown = sorted(
        (r for r in table if r["arm"] != AGAIN), key=lambda r: (float(str(r["multiply_adds"])), str(r["arm"]))
    )
    for y, row in enumerate(shown):
        _dot(axes, row, "test", y, _colour(row))
    names = [f"{r['arm']}, {float(str(r['multiply_adds'])) / 1000:.0f}k" for r in shown]
    axes.set_yticks(range(len(names)), names, fontsize=7)
    axes.invert_yaxis()
    axes.set(title="Final accuracy by arm and multiply-adds of an image", xlabel="test accuracy, %")


def _family(axes: Any, table: Sequence[Row]) -> None:
    shown = [r for r in table if r["mean"] is not None and float(str(r["error"])) < LOST]
    for y, row in enumerate(shown):
        _dot(axes, row, "mean", y, "C1")
    axes.axvline(0, color="0.8", zorder=0)
    axes.set_yticks(range(len(shown)), [f"{r['family']}, {r['width']}" for r in shown], fontsize=7)
    axes.invert_yaxis()
    lost = [f"{r['family']}, {r['width']}" for r in table if float(str(r["error"])) >= LOST]
    axes.set(
        title="LSTM gates by family and units: error less the baseline's",
        xlabel="points of digit error rate" + "".join(f"\nbeyond the axis: {name}" for name in lost),
    )


def _dot(axes: Any, row: Row, value: str, y: int, colour: str) -> None:
    lo, hi = float(str(row["lo"])), float(str(row["hi"]))
    if isfinite(lo) and isfinite(hi):
        axes.plot([lo, hi], [y, y], color=colour)
    axes.plot([float(str(row[value]))], [y], "o", color=colour)


def _colour(row: Row) -> str:
    return "C1" if "TG" in str(row["arm"]) else "0.35"
