"""The figure of a run: curves and their paired difference, effects, use of the gate, interventions."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from gateproof.kernels.runs import statistics
from gateproof.kernels.runs.experiment import Row, Summary
from gateproof.kernels.runs.language_model_parts.findings import MARGIN
from gateproof.kernels.runs.language_model_parts.gates import REFERENCE
from gateproof.kernels.runs.language_model_parts.results import Results
from gateproof.kernels.runs.language_model_parts.settings import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_INTERVENTIONS = ("cap", "smooth", "hard")
_MECHANISM = ("occupancy", "share_q", "share_h")


def figure(settings: Settings, rows: Sequence[Row], summary: Summary) -> Figure:
    """Six panels; one without data stays empty."""
    from matplotlib.figure import Figure

    results = Results(rows)
    effects = {str(row["effect"]): row for row in summary.tables.get("effects", ())}
    drawn = Figure(figsize=(11, 6.5), layout="constrained")
    (curves, difference, losses), (mechanism, tail, cost) = drawn.subplots(2, 3)
    _curves(curves, settings, results)
    _difference(difference, settings, results)
    _forest(losses, [row for row in effects.values() if row["unit"] == "% of loss"])
    _mechanism(mechanism, settings, results)
    _bars(tail, effects)
    _cost(cost, summary.tables.get("cost", ()))
    return drawn


def _matrix(settings: Settings, results: Results, arm: str) -> tuple[list[int], dict[int, list[float]]]:
    found = results.curve(arm, settings.training.steps, "validation_nll")
    steps = sorted(set.intersection(*(set(at) for at in found.values()))) if found else []
    return steps, {seed: [at[step] for step in steps] for seed, at in found.items()}


def _curves(axes: Any, settings: Settings, results: Results) -> None:
    for arm in settings.arms:
        steps, values = _matrix(settings, results, arm)
        if steps:
            axes.plot(steps, np.mean(list(values.values()), axis=0), label=arm, linewidth=1)
    axes.set(title="validation loss, mean over seeds", xlabel="step", ylabel="nats a token")
    if axes.lines:
        axes.legend(fontsize=7)


def _difference(axes: Any, settings: Settings, results: Results) -> None:
    steps, base = _matrix(settings, results, REFERENCE)
    other_steps, other = _matrix(settings, results, "memglu")
    seeds = sorted(set(base) & set(other))
    if steps == other_steps and len(seeds) > 1:
        gaps = np.array([100 * (np.array(other[s]) / np.array(base[s]) - 1) for s in seeds])
        mean, low, high = statistics.band(gaps)
        axes.fill_between(steps, low, high, alpha=0.25, label="95 % interval, pointwise")
        axes.plot(steps, mean, label="mean")
        axes.legend(fontsize=7)
    _margin(axes.axhspan, axes.axhline)
    axes.set(title="memglu against swiglu", xlabel="step", ylabel="% of loss")


def _margin(span: Any, line: Any) -> None:
    span(-MARGIN, MARGIN, color="0.85", zorder=0)
    line(0, color="0.5", linewidth=0.8)


def _forest(axes: Any, rows: list[Row]) -> None:
    for place, row in enumerate(reversed(rows)):
        low, high = float(row["lo"] or 0), float(row["hi"] or 0)
        if isfinite(low) and isfinite(high):
            axes.plot([low, high], [place, place], color="C0")
        axes.plot(float(row["mean"] or 0), place, "o", color="C0", markersize=4)
    axes.set_yticks(range(len(rows)), [str(row["effect"]) for row in reversed(rows)], fontsize=7)
    _margin(axes.axvspan, axes.axvline)
    axes.set(title="effects on the final loss, 95 %", xlabel=f"% of loss; grey: {MARGIN} %")


def _mechanism(axes: Any, settings: Settings, results: Results) -> None:
    width = 0.8 / len(settings.arms)
    for number, arm in enumerate(settings.arms):
        means, spreads = [], []
        for metric in _MECHANISM:
            values = 100 * np.array(
                list(results.last(arm, settings.training.steps, metric).values()) or [np.nan]
            )
            means.append(values.mean())
            spreads.append(values.std(ddof=1) if len(values) > 1 else 0)
        places = np.arange(len(_MECHANISM)) + number * width
        axes.bar(places, means, width, yerr=spreads, label=arm, error_kw={"linewidth": 0.8})
    axes.set_xticks(np.arange(len(_MECHANISM)) + 0.4 - width / 2, _MECHANISM)
    axes.set(title="beyond the peak of memglu", ylabel="%")
    axes.legend(fontsize=6)


def _bars(axes: Any, effects: dict[str, Row]) -> None:
    rows = [effects[name] for name in _INTERVENTIONS if name in effects]
    if rows:
        means = [float(row["mean"] or 0) for row in rows]
        ends = [[m - float(r["lo"] or 0), float(r["hi"] or 0) - m] for m, r in zip(means, rows, strict=True)]
        finite = np.where(np.isfinite(ends), ends, 0).T
        axes.bar([str(row["effect"]) for row in rows], means, yerr=finite)
    axes.set(title="trained swiglu, tail changed", ylabel="increase of loss, nats")


def _cost(axes: Any, rows: Sequence[Row]) -> None:
    names = [f"{row['gate']}\n{row['kind']}" for row in rows]
    axes.bar(names, [float(row["peak_megabytes"] or 0) for row in rows], color="C1")
    axes.tick_params(axis="x", labelsize=7)
    axes.set(title="peak of a training step", ylabel="MB")
