"""The figure of the experiment ``depth``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import inf, isfinite, log
from typing import TYPE_CHECKING, Any

from gateproof.kernels.runs.depth_parts.criterion import CHANCE
from gateproof.kernels.runs.depth_parts.setting import Settings
from gateproof.kernels.runs.depth_parts.summary import Trained, trained
from gateproof.kernels.runs.experiment import Row, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Multiples of xi_c that are drawn over the heat map: Schoenholz et al. (2017) find about 6.
MULTIPLES = (1, 6)


def figure(settings: Settings, rows: Sequence[Row], summary: Summary) -> Figure:
    """Heat map with predicted lines, depth against beta_q and against kappa, branches by depth."""
    from matplotlib.figure import Figure

    made = Figure(figsize=(10, 7.5), layout="constrained")
    axes = made.subplots(2, 2)
    _heat(axes[0][0], made, settings, rows)
    zoo = list(trained(rows, "edge", settings.training.share).values())
    _scatter(axes[0][1], zoo, "beta_q", "beta_q, depth rate by mean field theory", 1)
    _scatter(axes[1][0], zoo, "kappa_inflection", "kappa at the central inflection", -2)
    _branches(axes[1][1], summary)
    return made


def _heat(axes: Axes, made: Figure, settings: Settings, rows: Sequence[Row]) -> None:
    """Mean loss over seeds, of the best rate; a cell is as wide as the way to its neighbours."""
    best: dict[tuple[float, int], dict[Any, float]] = defaultdict(dict)
    for row in rows:
        if row.get("part") == "phase" and row["row"] == "trained" and row["network"] == "plain":
            each = best[_float(row["sigma_w2"]), int(row["depth"] or 0)]
            loss = _float(row["loss"])
            each[row["seed"]] = min(each.get(row["seed"], CHANCE), loss if isfinite(loss) else CHANCE)
    axes.set(xlabel="sigma_w^2", ylabel="depth", yscale="log", title=settings.phase.activation.label)
    if not best:
        return
    xs, ys = sorted({k[0] for k in best}), sorted({k[1] for k in best})
    cells = [[_mean(best.get((x, y))) for x in xs] for y in ys]
    drawn = axes.pcolormesh(xs, ys, cells, shading="nearest", vmin=0, vmax=CHANCE, cmap="viridis_r")
    made.colorbar(drawn, ax=axes, label="training loss, nats")
    found = trained(rows, "phase", settings.training.share)
    plain = sorted(
        (_of(t, "sigma_w2"), _of(t, "xi_c"), t.mean) for (_, n, _), t in found.items() if n == "plain"
    )
    for multiple, style in zip(MULTIPLES, (":", "--"), strict=True):
        for side in (True, False):
            line = [(w, multiple * xi) for w, xi, _ in plain if xi != inf and (w < _critical(plain)) == side]
            label = f"{multiple} xi_c" if side else None
            axes.plot([p[0] for p in line], [p[1] for p in line], "w" + style, label=label)
    axes.plot([p[0] for p in plain], [p[2] for p in plain], "r.-", label="trainable depth")
    axes.set_ylim(min(ys), max(ys))
    axes.legend(fontsize=7, facecolor="0.6", loc="upper right")


def _critical(plain: Sequence[tuple[float, float, float]]) -> float:
    return next((w for w, xi, _ in plain if xi == inf), max(plain, key=lambda p: p[1])[0])


def _scatter(axes: Axes, cases: Sequence[Trained], column: str, words: str, power: int) -> None:
    known = [(x, t) for t in cases if (x := t.number(column))]
    axes.set(xlabel=words, ylabel="trainable depth", xscale="log", yscale="log")
    if not known:
        return
    for x, t in known:
        axes.plot(x, t.mean, "C0o" if t.about["group"] == "zoo" else "C1s", markersize=4)
        axes.annotate(
            str(t.about["activation"]), (x, t.mean), fontsize=6, xytext=(3, 2), textcoords="offset points"
        )
    ends = [min(x for x, _ in known), max(x for x, _ in known)]
    middle_x = sum(log(x) for x, _ in known) / len(known)
    middle_y = sum(log(t.mean) for _, t in known) / len(known)
    low, high = axes.get_ylim()
    line = [2.718281828459045 ** (middle_y + power * (log(x) - middle_x)) for x in ends]
    axes.plot(ends, line, "k:", linewidth=1, label=f"slope {power}")
    axes.set_ylim(low, high)
    axes.legend(fontsize=7)


def _branches(axes: Axes, summary: Summary) -> None:
    axes.set(xlabel="blocks", ylabel="test accuracy, %", title="residual networks", xscale="log")
    rows = summary.tables.get("scan", ())
    for k in sorted({int(r["branches"] or 0) for r in rows}):
        line = [(_float(r["blocks"]), _float(r["accuracy"])) for r in rows if r["branches"] == k]
        axes.plot([p[0] for p in line], [p[1] for p in line], "o-", label=f"K = {k}")
    if rows:
        axes.legend(fontsize=7)


def _mean(values: dict[Any, float] | None) -> float:
    return float("nan") if not values else sum(values.values()) / len(values)


def _of(t: Trained, column: str) -> float:
    value = t.number(column)
    return inf if value is None else value


def _float(value: object) -> float:
    assert isinstance(value, float | int)
    return float(value)
