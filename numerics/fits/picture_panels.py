"""The four panels of a fit's picture. Lines differ in style and grey as well as in colour."""

from __future__ import annotations

from typing import Any

import numpy as np

from gateproof.numerics.fits.exports.about import About, one_line
from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.picture_scene import Scene

POINTS, TAIL_POINTS = 2001, 801
#: How far out the tails go, in widths of what is near.
FAR = 1e6
BLACK, GREY, BLUE = "black", "0.55", "#0072b2"
STYLES = ("-", "--", "-.", ":")


def figure(scene: Scene) -> Any:
    """Four panels on a canvas of no window system."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    made = Figure(figsize=(9.0, 6.2), layout="constrained")
    FigureCanvasAgg(made)
    (values, gates), (error, tails) = made.subplots(2, 2)
    lo, hi = scene.window()
    beside = [np.nextafter(t, np.inf) for t in scene.thresholds]
    x = np.unique(np.concatenate([np.linspace(lo, hi, POINTS), scene.thresholds, beside]))
    x = x[(x >= lo) & (x <= hi)]
    _values(values, scene, x)
    _gates(gates, scene, x)
    _error(error, scene, x)
    _tails(tails, scene, (lo, hi))
    for axes in (values, gates, error):
        axes.set_xlim(lo, hi)
        axes.set_xlabel("x")
        for threshold in scene.thresholds:
            axes.axvline(threshold, color="0.75", linewidth=0.7, linestyle=(0, (1, 2)), zorder=0)
    name = one_line(scene.about.target, 60) or "target"
    title = (
        f"{name}, K = {scene.gate.branches} ({scene.gate.algebra})\n{one_line(scene.about.error_line, 110)}"
    )
    made.suptitle(title, fontsize=10, parse_math=False)
    return made


def _values(axes: Any, scene: Scene, x: Array) -> None:
    if scene.data is not None:
        axes.plot(*scene.data, color=GREY, linestyle="none", marker=".", markersize=3, label="target")
    else:
        axes.plot(x, scene.target(x), color=GREY, linewidth=3, label="target")
    axes.plot(x, scene.evaluated(x), color=BLACK, linewidth=1.1, linestyle="--", label="gate")
    axes.set_title("target and gate")
    axes.legend()


def _gates(axes: Any, scene: Scene, x: Array) -> None:
    n = scene.gate.branches
    for k, gate in enumerate(scene.evaluated.gates(x)):
        grey = str(round(0.65 * (k // len(STYLES)) / max(1, (n - 1) // len(STYLES)), 3))
        label = f"gate {k + 1}" if n <= 8 else None
        axes.plot(x, gate, color=grey, linestyle=STYLES[k % len(STYLES)], linewidth=1.1, label=label)
    axes.set_title("gates, left to right" if n <= 8 else f"gates 1 to {n}, left to right")
    if n <= 8:
        axes.legend()


def _error(axes: Any, scene: Scene, x: Array) -> None:
    about = scene.about
    if scene.data is not None:
        x = scene.data[0]
        off = scene.evaluated(x) - scene.data[1]
        off = off if scene.weight is None else off * scene.weight(x)
        axes.plot(x, off, color=BLACK, linewidth=0.6, marker=".", markersize=2)
    else:
        axes.plot(x, scene.error(x), color=BLACK, linewidth=1.0)
    inside = [(a, b) for a, b in scene.peaks if x[0] <= a <= x[-1]]
    if inside:
        axes.plot(*zip(*inside, strict=True), color=BLUE, linestyle="none", marker="o", markersize=4,
            markerfacecolor="white", label=f"{len(scene.peaks)} extrema")  # fmt: skip
    level = _level(about)
    if level:
        word = about.evidence if about.certified else "largest sample"
        for sign in (1, -1):
            label = f"{word}: {about.hi}" if sign > 0 else None
            axes.axhline(sign * level, color=BLUE, linewidth=0.9, linestyle="--", label=label)
    axes.set_title("error: gate less target" + ("" if scene.weight is None else ", weighted"))
    if inside or level:
        low, high = axes.get_ylim()
        axes.set_ylim(low, high + 0.16 * (high - low))
        axes.legend(loc="upper center", ncols=2)


def _level(about: About) -> float:
    """The sup error as a height; 0 where there is none to draw."""
    try:
        level = float(about.hi or 0) if about.norm != "rms" else 0.0
    except ValueError:
        return 0.0
    return level if np.isfinite(level) else 0.0


def _tails(axes: Any, scene: Scene, window: tuple[float, float]) -> None:
    """|error| against the distance from the middle, both on logarithmic scales."""
    middle, width = (window[0] + window[1]) / 2, (window[1] - window[0]) / 2
    distance = np.geomspace(0.02 * width, FAR * width, TAIL_POINTS)
    ends = scene.about.ends
    top = 0.0
    for sign, style, label in ((1.0, "-", "to the right"), (-1.0, "--", "to the left")):
        end = ends[1] if sign > 0 else ends[0]
        if end is None or scene.beyond:
            inside = distance
        else:
            inside = distance[distance <= abs(float(end) - middle)]
        off = np.abs(scene.error(middle + sign * inside))
        shown = np.where(np.isfinite(off) & (off > 0), off, np.nan)
        if np.isfinite(shown).any():
            axes.loglog(inside, shown, color=BLACK, linestyle=style, linewidth=1.0, label=label)
            top = max(top, float(np.nanmax(shown)))
    form = scene.evaluated.form
    t = distance + abs(middle - form.centre)
    size = np.max([np.abs(s) * t + abs(c) for s, c in zip(form.slope, form.intercept, strict=True)], axis=0)
    if top and (size > 0).any():
        axes.loglog(
            distance,
            np.where(size > 0, 2.0**-53 * size, np.nan),
            color=GREY,
            linestyle=":",
            label="rounding of doubles",
        )
    level = _level(scene.about)
    if level and top:
        axes.axhline(level, color=BLUE, linewidth=0.9, linestyle="--")
    for end in ends:
        if end is not None and abs(float(end) - middle) > 0:
            axes.axvline(abs(float(end) - middle), color="0.75", linewidth=0.7)
    axes.set_xlabel(f"distance from x = {middle:.4g}")
    axes.set_title("tails: |error|" if top else "tails: no error in doubles")
    if top:
        # Far below the error doubles of target and gate differ by less than they are wrong by, or not at all.
        top = max(top, level)
        axes.set_ylim(top * 1e-20, top * 10)
        axes.legend(loc="best")
