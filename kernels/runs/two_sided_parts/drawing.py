"""The figure: curves of the loss, rates of zeros by projection, loss against zeros."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gateproof.kernels.runs.experiment import Row, Summary
from gateproof.kernels.runs.statistics import band
from gateproof.kernels.runs.two_sided_parts.compared import Found, sorted_out
from gateproof.kernels.runs.two_sided_parts.settings import Settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Okabe and Ito's colours.
_COLOURS = {
    "dense": "#000000",
    "trained": "#0072B2",
    "fixed": "#D55E00",
    "matched": "#56B4E9",
    "trained more": "#009E73",
}


def figure(s: Settings, rows: Sequence[Row], summary: Summary) -> Figure:
    """A row of three panels for each model."""
    from matplotlib.figure import Figure as Made

    found = sorted_out(rows)
    made = Made(figsize=(13, 3.9 * len(s.families)), layout="constrained")
    axes = made.subplots(len(s.families), 3, squeeze=False)
    for line, family in zip(axes, s.families, strict=True):
        _curves(line[0], found, family)
        _zeros(line[1], [r for r in summary.tables["projections"] if r["family"] == family])
        _trade(line[2], [r for r in summary.tables["arms"] if r["family"] == family])
    return made


def _curves(axes: Axes, found: Found, family: str) -> None:
    later: list[Any] = []
    for name, colour in _COLOURS.items():
        trained = list(found.get((family, name), {}).values())
        if not trained:
            continue
        spent = np.array([[float(r["spent"]) for r in t["curve"]] for t in trained]) / 1e9  # type: ignore[arg-type]
        losses = np.array([[float(r["loss"]) for r in t["curve"]] for t in trained])  # type: ignore[arg-type]
        if len(trained) > 1:
            mean, lo, hi = band(losses)
            axes.fill_between(spent.mean(0), lo, hi, color=colour, alpha=0.15, linewidth=0)
        else:
            mean = losses[0]
        axes.plot(spent.mean(0), mean, color=colour, label=name)
        later += mean[len(mean) // 2 :].tolist()
    axes.set(title=f"{family}: loss at equal operations", xlabel="forward multiply-adds spent, 10⁹")
    axes.set_ylabel("held-out loss, nats a token")
    if later:
        # The start, the same for all, would hide what differs at the end.
        axes.set_ylim(min(later) - 0.05, max(later) + 0.05)
    _legend(axes)


def _zeros(axes: Axes, rows: Sequence[Row]) -> None:
    names = list(dict.fromkeys(str(r["projection"]) for r in rows))
    for name, colour in _COLOURS.items():
        own: dict[str, Any] = {str(r["projection"]): r for r in rows if r["arm"] == name}
        if name == "dense" or not own:
            continue
        places = [names.index(p) for p in own]
        rates = np.array([r["zeros"] for r in own.values()])
        reach = np.array([[r["zeros"] - r["least"], r["most"] - r["zeros"]] for r in own.values()]).T
        axes.errorbar(
            places, rates, np.maximum(reach, 0), fmt="o", color=colour, label=name, capsize=2, markersize=4
        )
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right")
    axes.set(title="zeros by projection, range over batches and seeds", ylabel="share of zeros", ylim=(0, 1))
    _legend(axes)


def _trade(axes: Axes, rows: Sequence[Row]) -> None:
    ordered: list[Any] = sorted(rows, key=lambda row: float(row["zeros"] or 0))
    for i, r in enumerate(ordered):
        d, zeros = r["loss_minus_dense"], r["zeros"]
        if d is None:
            continue
        reach = [[d - r["lo"]], [r["hi"] - d]] if np.isfinite([r["lo"], r["hi"]]).all() else None
        colour = _COLOURS.get(r["arm"], "#888888")
        axes.errorbar([zeros], [d], reach, fmt="o", color=colour, capsize=2, markersize=4)
        axes.annotate(
            r["arm"], (zeros, d), xytext=(4, (3, -9)[i % 2]), textcoords="offset points", fontsize=7
        )
    axes.axhline(np.log(1.01), color="#CC79A7", linewidth=1, label="1 % perplexity")
    axes.axhline(0, color="black", linewidth=0.6)
    axes.axvline(0.5, color="#CC79A7", linewidth=1, linestyle=":", label="events halved")
    axes.set(
        title="loss against zeros, 95 % intervals", xlabel="share of zeros", ylabel="loss minus dense, nats"
    )
    axes.set_xlim(-0.02, 1)
    _legend(axes)


def _legend(axes: Axes) -> None:
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=7)
