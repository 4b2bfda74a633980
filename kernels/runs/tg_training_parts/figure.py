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
    names = [f"{r['arm']}\nagainst {r['dense']}" for r in table]
    for y, row in enumerate(table):
        ratio, lo, hi = (float(str(row[c])) for c in ("steps", "lo", "hi"))
        axes.plot([ratio], [y], "o", color="C1" if "TG" in str(row["arm"]) else "0.35")
        if isfinite(lo) and isfinite(hi):
            axes.plot([lo, hi], [y, y], color="C1" if "TG" in str(row["arm"]) else "0.35")
        if row["multiply_adds"] is not None:
            axes.plot([float(str(row["multiply_adds"]))], [y], "x", color="C3")
    axes.axvline(1, color="0.8", zorder=0)
    axes.set_yticks(range(len(names)), names, fontsize=7)
    axes.invert_yaxis()
    axes.set(
        title="How many times fewer to the dense accuracy",
        xlabel="o steps with 95 % interval, × multiply-adds",
    )


def _width(axes: Any, table: Sequence[Row]) -> None:
    for row in table:
        if row["arm"] == AGAIN:
            continue
        x, y = float(str(row["multiply_adds"])) / 1000, float(str(row["test"]))
        colour = "C1" if "TG" in str(row["arm"]) else "0.35"
        lo, hi = float(str(row["lo"])), float(str(row["hi"]))
        if isfinite(lo) and isfinite(hi):
            axes.plot([x, x], [lo, hi], color=colour, alpha=0.4)
        axes.plot([x], [y], "o", color=colour)
        axes.annotate(str(row["arm"]), (x, y), xytext=(4, 2), textcoords="offset points", fontsize=7)
    axes.set(
        title="Final accuracy and cost", xlabel="thousand multiply-adds an image", ylabel="test accuracy, %"
    )


def _family(axes: Any, table: Sequence[Row]) -> None:
    shown = [r for r in table if r["mean"] is not None and float(str(r["error"])) < 100]
    for y, row in enumerate(shown):
        axes.plot([float(str(row["mean"]))], [y], "o", color="C1")
        lo, hi = float(str(row["lo"])), float(str(row["hi"]))
        if isfinite(lo) and isfinite(hi):
            axes.plot([lo, hi], [y, y], color="C1")
    axes.axvline(0, color="0.8", zorder=0)
    axes.set_yticks(range(len(shown)), [f"{r['family']}, {r['width']} units" for r in shown], fontsize=8)
    axes.invert_yaxis()
    lost = [f"{r['family']}, {r['width']} units" for r in table if float(str(r["error"])) >= 100]
    axes.set(
        title="Error of LSTM gates less the baseline's"
        + (f"\n(not shown, 100 %: {'; '.join(lost)})" if lost else ""),
        xlabel="points of digit error rate",
    )
