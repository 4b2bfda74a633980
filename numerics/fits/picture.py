"""A fit as a picture: target and gate, the gates, the error with its extrema, and the tails.

matplotlib is loaded when a picture is drawn, and no window is ever opened. Lines differ in style and grey as
well as in colour. The same fit gives the same bytes, by the same version of matplotlib.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gateproof.numerics.fits.exports.about import About, one_line
from gateproof.numerics.fits.exports.arrays import Evaluated
from gateproof.numerics.fits.exports.formats import RefusedExport
from gateproof.numerics.fits.gates import Array
from gateproof.theory.gate import Gate

if TYPE_CHECKING:
    from gateproof.numerics.fits.result import Fit

SUFFIXES = (".svg", ".png", ".pdf")
POINTS, TAIL_POINTS = 2001, 801
#: How far out the tails go, in widths of what is near.
FAR = 1e6
BLACK, GREY, BLUE = "black", "0.55", "#0072b2"
STYLES = ("-", "--", "-.", ":")


@dataclass(frozen=True)
class Scene:
    """What is drawn. ``function`` is the target on float arrays; ``peaks`` are (place, signed error).

    ``weight`` multiplies the error; ``data`` are the points of a measured curve, x and y.
    """

    gate: Gate
    about: About
    function: Callable[[Array], Array]
    peaks: tuple[tuple[float, float], ...] = ()
    weight: Callable[[Array], Array] | None = None
    data: tuple[Array, Array] | None = None

    @cached_property
    def evaluated(self) -> Evaluated:
        """The gate in double precision."""
        return Evaluated.of(self.gate)

    def target(self, x: Array) -> Array:
        """The target where it has finite values, else NaN."""
        with np.errstate(all="ignore"):
            y = np.broadcast_to(np.asarray(self.function(x), dtype=np.float64), x.shape)
        return np.where(np.isfinite(y), y, np.nan)

    def error(self, x: Array) -> Array:
        """Gate less target, in the norm's weight."""
        off = self.evaluated(x) - self.target(x)
        if self.weight is None:
            return np.asarray(off)
        with np.errstate(all="ignore"):
            return np.asarray(off * self.weight(x))

    @property
    def thresholds(self) -> Array:
        """Places of the thresholds."""
        form = self.evaluated.form
        soft = [h if hard else h + form.centre for h, hard in zip(form.theta, form.hard, strict=True)]
        return np.array(soft, dtype=np.float64)

    def window(self) -> tuple[float, float]:
        """Where something happens, inside the domain."""
        lo, hi = (None if e is None else float(e) for e in self.about.ends)
        if lo is not None and hi is not None:
            return lo, hi
        form, theta = self.evaluated.form, self.thresholds
        width = np.array([0.0 if hard else 6.0 / t for t, hard in zip(form.tau, form.hard, strict=True)])
        near = [*(theta - width), *(theta + width)]
        span = (max(near) - min(near) if near else 0.0) or max(1.0, float(np.abs(theta).max(initial=0.0)))
        middle = (max(near) + min(near)) / 2 if near else 0.0
        near += [x for x, _ in self.peaks if np.isfinite(x) and abs(x - middle) < 3 * span]
        left, right = min(near, default=-3.0), max(near, default=3.0)
        if left == right:
            left, right = left - span, right + span
        left, right = left - 0.08 * (right - left), right + 0.08 * (right - left)
        return left if lo is None else lo, right if hi is None else hi


def scene_of(fit: Fit) -> Scene:
    """What is to be drawn of a fit."""
    from gateproof.numerics.fits.exports.registry import about_of

    points = getattr(fit.target, "points", None)
    data = None if points is None else (np.asarray(points.x), np.asarray(points.y))
    weight = getattr(fit.target, "weight", None)
    peaks = tuple((float(x), float(e)) for x, e in fit.peaks)
    return Scene(fit.gate, about_of(fit), fit.target.function, peaks, weight, data)


def draw(fit: Fit, path: str | Path | None = None) -> Any:
    """The matplotlib figure of a fit, written to a file (.svg, .png, .pdf) where a path is given.

    Raises RefusedExport, in one line, for another suffix and where matplotlib is missing.
    """
    scene = scene_of(fit)
    if path is not None:
        _write(Path(path), picture(scene, suffix_of(str(path))))
    with _style():
        return figure(scene)


def _write(path: Path, data: bytes) -> None:
    """All of the file or nothing."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as part:
        part.write(data)
    # A temporary file is for its owner only; this one is like any other.
    mask = os.umask(0)
    os.umask(mask)
    try:
        Path(part.name).chmod(0o666 & ~mask)
        Path(part.name).replace(path)
    except OSError:
        Path(part.name).unlink(missing_ok=True)
        raise


def render(fit: Fit, name: str) -> bytes:
    """The picture of a fit as the bytes of a file of that name."""
    return picture(scene_of(fit), suffix_of(name))


def suffix_of(name: str) -> str:
    """The kind of picture that a file's name asks for. Raises RefusedExport."""
    for suffix in SUFFIXES:
        if name.lower().endswith(suffix):
            return suffix
    raise RefusedExport(f"{one_line(name, 60)!r}: the name of a picture ends in {', '.join(SUFFIXES)}")


def picture(scene: Scene, suffix: str) -> bytes:
    """The picture's bytes."""
    metadata: dict[str, dict[str, Any]] = {
        ".svg": {"Date": None, "Creator": "gateproof"},
        ".png": {"Software": None},
        ".pdf": {"CreationDate": None, "Creator": "gateproof"},
    }
    out = io.BytesIO()
    salt = hashlib.sha256(scene.gate.text.encode()).hexdigest()[:16]
    with _style(salt):
        figure(scene).savefig(out, format=suffix[1:], dpi=150, metadata=metadata[suffix])
    return out.getvalue()


@contextmanager
def _style(salt: str = "gateproof") -> Iterator[None]:
    """matplotlib's own settings with ours: those of a user's file would change the picture."""
    try:
        import matplotlib as mpl
    except ImportError:
        raise RefusedExport("a picture needs matplotlib: pip install 'gateproof[report]'") from None
    ours: dict[Any, Any] = {
        "svg.hashsalt": salt, "svg.fonttype": "none", "font.size": 9, "axes.grid": True, "grid.color": "0.9",
        "grid.linewidth": 0.6, "legend.frameon": False, "legend.fontsize": 8, "axes.titlesize": 9,
        "axes.spines.top": False, "axes.spines.right": False, "figure.facecolor": "white",
    }  # fmt: skip
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(ours)
        yield


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
    if scene.data is not None:
        distance = distance[distance <= width]
    top = 0.0
    for sign, style, label in ((1.0, "-", "to the right"), (-1.0, "--", "to the left")):
        off = np.abs(scene.error(middle + sign * distance))
        shown = np.where(np.isfinite(off) & (off > 0), off, np.nan)
        if np.isfinite(shown).any():
            axes.loglog(distance, shown, color=BLACK, linestyle=style, linewidth=1.0, label=label)
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
    for end in scene.about.ends:
        if end is not None and abs(float(end) - middle) > 0:
            axes.axvline(abs(float(end) - middle), color="0.75", linewidth=0.7)
    axes.set_xlabel(f"distance from x = {middle:.4g}")
    axes.set_title("tails: |error|" if top else "tails: no error in doubles")
    if top:
        # Far below the error doubles of target and gate differ by less than they are wrong by, or not at all.
        top = max(top, level)
        axes.set_ylim(top * 1e-20, top * 10)
        axes.legend(loc="best")


def svg_inline(scene: Scene) -> str:
    """The picture as an ``<svg>`` element for a page: no prologue, no script, no style that leaves it."""
    text = picture(scene, ".svg").decode("utf-8")
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    # In a page a style element holds for all of it; these two properties are inherited as well.
    text = re.sub(r"<style\b.*?</style>", "", text, flags=re.DOTALL)
    return text.replace(
        "<svg", '<svg style="stroke-linejoin: round; stroke-linecap: butt; max-width: 100%"', 1
    ).strip()


def html(fit: Fit) -> str:
    """A fit for notebooks: what it is, in a table, and its picture if matplotlib is there."""
    from gateproof.numerics.fits.exports.html import html_summary

    scene = scene_of(fit)
    try:
        inline = svg_inline(scene)
    except RefusedExport:
        inline = ""
    return html_summary(scene.gate, scene.about, inline)


def plot(
    gate: Gate,
    function: Callable[[Array], Array],
    about: About | None = None,
    peaks: Sequence[tuple[float, float]] = (),
) -> Any:
    """The figure of any gate beside any function on float arrays."""
    with _style():
        return figure(Scene(gate, about or About(), function, tuple(peaks)))
