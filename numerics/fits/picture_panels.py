"""The four panels of a fit's picture. Lines differ in style and grey as well as in colour."""

from __future__ import annotations

import textwrap
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gateproof.numerics.decimals import magnitude
from gateproof.numerics.fits.exports.about import About, one_line
from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.picture_scene import Scene

POINTS, TAIL_POINTS = 2001, 801
#: Of an error in a legend; gates that a legend has room for.
DIGITS, MOST_NAMED = 7, 8
#: How far out the tails go, in widths of what is near.
FAR = 1e6
#: Beyond, the ticks of a logarithmic axis overflow.
LARGEST = 1e300
#: How far above the largest error on the domain the panel of tails goes.
HIGHEST = 1e9
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
    if scene.data is None:
        _tails(tails, scene, (lo, hi))
    else:
        _spread(tails, scene.residuals())
    for axes in (values, gates, error):
        axes.set_xlim(lo, hi)
        axes.set_xlabel("x")
        for threshold in scene.thresholds:
            axes.axvline(threshold, color="0.75", linewidth=0.7, linestyle=(0, (1, 2)), zorder=0)
    name = one_line(scene.about.target, 60) or "target"
    lines = textwrap.wrap(one_line(scene.about.error_line), 108)[:2]
    title = "\n".join([f"{name}, K = {scene.gate.branches} ({scene.gate.algebra})", *lines])
    made.suptitle(title, fontsize=10, parse_math=False)
    return made


def _named(axes: Any, title: str, columns: int = 4) -> None:
    """A title, and under it, above the panel, what its lines are: nothing drawn is covered."""
    handles, _ = axes.get_legend_handles_labels()
    rows = -(-len(handles) // columns)
    axes.set_title(title, pad=6 + 13 * rows)
    if handles:
        axes.legend(
            loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=min(columns, len(handles)),
            borderaxespad=0.2, borderpad=0.1, handlelength=2.0, columnspacing=1.0, labelspacing=0.2,
        )  # fmt: skip


def _values(axes: Any, scene: Scene, x: Array) -> None:
    if scene.data is not None:
        axes.plot(*scene.data, color=GREY, linestyle="none", marker=".", markersize=3, label="target")
    else:
        axes.plot(x, scene.target(x), color=GREY, linewidth=3, label="target")
    axes.plot(x, scene.evaluated(x), color=BLACK, linewidth=1.1, linestyle="--", label="gate")
    _named(axes, "target and gate")


def _gates(axes: Any, scene: Scene, x: Array) -> None:
    n = scene.gate.branches
    for k, gate in enumerate(scene.evaluated.gates(x)):
        grey = str(round(0.65 * (k // len(STYLES)) / max(1, (n - 1) // len(STYLES)), 3))
        label = str(k + 1) if n <= MOST_NAMED else None
        axes.plot(x, gate, color=grey, linestyle=STYLES[k % len(STYLES)], linewidth=1.1, label=label)
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, -0.05), max(high, 1.05))
    _named(axes, f"gates 1 to {n}, left to right" if n > 1 else "the one gate", MOST_NAMED)


def _error(axes: Any, scene: Scene, x: Array) -> None:
    about = scene.about
    if scene.data is not None:
        x = scene.data[0]
        axes.plot(x, scene.residuals(), color=BLACK, linewidth=0.6, marker=".", markersize=2)
    else:
        axes.plot(x, scene.error(x), color=BLACK, linewidth=1.0)
    inside = [(a, b) for a, b in scene.peaks if x[0] <= a <= x[-1]]
    if inside:
        axes.plot(
            *zip(*inside, strict=True), color=BLUE, linestyle="none", marker="o", markersize=4,
            markerfacecolor="white", clip_on=False, zorder=3, label=f"{len(scene.peaks)} extrema",
        )  # fmt: skip
    level = _level(about)
    if level:
        word = about.evidence if about.certified else "largest sample"
        for sign in (1, -1):
            label = f"{word}: {_short(about)}" if sign > 0 else None
            axes.axhline(sign * level, color=BLUE, linewidth=0.9, linestyle="--", label=label)
    _named(axes, "error: gate less target" + ("" if scene.weight is None else ", weighted"))


def _level(about: About) -> float:
    """The sup error as a height; 0 where there is none to draw."""
    try:
        level = float(about.hi or 0) if about.norm != "rms" else 0.0
    except ValueError:
        return 0.0
    return level if np.isfinite(level) else 0.0


def _short(about: About) -> str:
    """The error's upper bound to seven digits, upwards."""
    text = about.hi or ""
    if len(text) <= DIGITS + 2:
        return text
    value = Fraction(text)
    unit = Fraction(10) ** (magnitude(value) - DIGITS + 1)
    return f"{float(-(-value // unit) * unit):.{DIGITS}g}"


def _tails(axes: Any, scene: Scene, window: tuple[float, float]) -> None:
    """|error| against the distance from the middle, both on logarithmic scales."""
    middle, width = (window[0] + window[1]) / 2, (window[1] - window[0]) / 2
    middle = 0.0 if abs(middle) < 1e-9 * width else middle
    distance = np.geomspace(0.02 * width, FAR * width, TAIL_POINTS)
    level = _level(scene.about)
    sides = [
        (_side(scene, middle, s, distance), word) for s, word in ((1, "to the right"), (-1, "to the left"))
    ]
    within = max([level, *(float(off[there].max(initial=0.0)) for (_, off, there), _ in sides)])
    # Far outside of the domain there is no end to the error.
    most = HIGHEST * within if within else np.inf
    top = max(float(off[off <= most].max(initial=0.0)) for (_, off, _), _ in sides)
    if not top:
        axes.set(xticks=[], yticks=[])
        _named(axes, "tails: no error in doubles")
        return
    # Far below the error doubles of target and gate differ by less than they are wrong by, or not at all.
    top = min(max(top, level), LARGEST)
    axes.set_yscale("log")
    axes.set_ylim(max(top * 1e-20, 1 / LARGEST), top * 10)
    for ((places, off, _), label), style in zip(sides, ("-", "--"), strict=True):
        shown = np.where((off > 0) & (off <= most), off, np.nan)
        if np.isfinite(shown).any():
            axes.loglog(places, shown, color=BLACK, linestyle=style, linewidth=1.0, label=label)
    form = scene.evaluated.form
    t = distance + abs(middle - form.centre)
    size = np.max([np.abs(s) * t + abs(c) for s, c in zip(form.slope, form.intercept, strict=True)], axis=0)
    if (size > 0).any():
        floor = np.where(size > 0, 2.0**-53 * size, np.nan)
        axes.loglog(distance, floor, color=GREY, linestyle=":", label="rounding of doubles")
    if level:
        axes.axhline(level, color=BLUE, linewidth=0.9, linestyle="--")
    for end in scene.about.ends:
        if end is not None and abs(float(end) - middle) > 0:
            axes.axvline(abs(float(end) - middle), color="0.75", linewidth=0.7)
    axes.set_xlabel(f"distance from x = {middle:.4g}")
    _named(axes, "tails: |error|")


def _side(scene: Scene, middle: float, sign: int, distance: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Distances on one side, the errors there (0 where they are not known), and which are on the domain."""
    end = scene.about.ends[1 if sign > 0 else 0]
    reach = np.inf if end is None else abs(float(end) - middle)
    places = distance if scene.beyond else distance[distance <= reach]
    off = np.abs(scene.error(middle + sign * places))
    return places, np.where(np.isfinite(off), off, 0.0), places <= reach


def _spread(axes: Any, off: Array) -> None:
    """How the errors at measured points are spread."""
    off = off[np.isfinite(off)]
    if off.size:
        axes.hist(off, bins=min(40, max(5, off.size // 8)), color=GREY, edgecolor="white", linewidth=0.4)
        axes.axvline(0.0, color=BLACK, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("gate less target")
    axes.set_title(f"errors at {off.size} points: how many")
