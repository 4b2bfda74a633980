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
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateproof.numerics.fits.exports.about import About, one_line
from gateproof.numerics.fits.exports.formats import RefusedExport, missing, refuse_missing
from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.picture_panels import figure
from gateproof.numerics.fits.picture_scene import Scene, scene_of
from gateproof.theory.gate import Gate

if TYPE_CHECKING:
    from gateproof.numerics.fits.result import Fit

__all__ = [
    "SUFFIXES",
    "Scene",
    "draw",
    "html",
    "picture",
    "plot",
    "refuse_early",
    "render",
    "scene_of",
    "suffix_of",
    "svg_inline",
]

SUFFIXES = (".svg", ".png", ".pdf")


def draw(fit: Fit, path: str | Path | None = None) -> Any:
    """The matplotlib figure of a fit, written to a file (.svg, .png, .pdf) where a path is given.

    Raises RefusedExport, in one line, for another suffix and where matplotlib is missing.
    """
    suffix = None if path is None else suffix_of(str(path))
    scene = scene_of(fit)
    if path is not None:
        _write(Path(path), picture(scene, suffix or ".svg"))
    with _style():
        return figure(scene)


def _write(path: Path, data: bytes) -> None:
    """All of the file or nothing."""
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as part:
            part.write(data)
    except OSError as error:
        # The user knows the name that was given, not that of a part.
        raise type(error)(error.errno, error.strerror, str(path)) from None
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


def refuse_early() -> None:
    """Raise RefusedExport, before there is a fit, where matplotlib is not installed."""
    refuse_missing("matplotlib", "a picture")


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
        raise missing("matplotlib", "a picture") from None
    ours: dict[Any, Any] = {
        "svg.hashsalt": salt, "svg.fonttype": "none", "font.size": 9, "axes.grid": True, "grid.color": "0.9",
        "grid.linewidth": 0.6, "legend.frameon": False, "legend.fontsize": 8, "axes.titlesize": 9,
        "axes.spines.top": False, "axes.spines.right": False, "figure.facecolor": "white",
    }  # fmt: skip
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(ours)
        yield


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
