"""A phase diagram as a picture; matplotlib is loaded when one is drawn, and no window is opened."""

from __future__ import annotations

import io
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gateproof.numerics.atomic import write_bytes

if TYPE_CHECKING:
    from gateproof.numerics.meanfield.phase import PhaseDiagram

SUFFIXES = (".svg", ".png", ".pdf")
#: Colours that differ in lightness too, and short names.
PHASES = {
    "o": ("#d6e6f4", "ordered"),
    "c": ("#fbd3a5", "chaotic"),
    "u": ("#bdbdbd", "unbounded from the start"),
    "n": ("#969696", "no fixed point"),
}
#: Colours and names of the contours that are drawn.
CONTOURS = {"xi_c": ("#2b4a6f", r"$\xi_c$, layers"), "q_star": ("#3f7d3a", r"$q^*$")}


def picture(diagram: PhaseDiagram, path: Path | None) -> Any:
    """The figure, and the file where a path is given."""
    return drawn(lambda figure: _draw(figure.add_subplot(), diagram), path)


def drawn(draw: Callable[[Any], None], path: Path | None) -> Any:
    """A figure drawn in one style, written whole where a path is given.

    Raises ValueError for another suffix, ModuleNotFoundError with what to install without matplotlib.
    """
    if path is not None and path.suffix not in SUFFIXES:
        raise ValueError(f"{path.name!r}: a name that ends in {', '.join(SUFFIXES)} is expected")
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "pictures need matplotlib: pip install matplotlib", name="matplotlib"
        ) from error
    style: Any = {"svg.hashsalt": "gateproof", "svg.fonttype": "path", "font.size": 9.0}
    with mpl.rc_context(style):
        figure = Figure(figsize=(6.4, 5.4), dpi=160, layout="constrained")
        draw(figure)
        if path is not None:
            out = io.BytesIO()
            metadata = {"Date": None} if path.suffix == ".svg" else None
            figure.savefig(out, format=path.suffix[1:], metadata=metadata)
            write_bytes(path, out.getvalue())
    return figure


def _draw(axes: Any, diagram: PhaseDiagram) -> None:
    from matplotlib.colors import ListedColormap

    letters = list(PHASES)
    codes = np.zeros(diagram.phase.shape, np.int8)
    for k, letter in enumerate(letters):
        codes[diagram.phase == letter] = k
    b, w = diagram.sigma_b, diagram.sigma_w
    colours = ListedColormap([PHASES[letter][0] for letter in letters])
    axes.pcolormesh(
        _borders(b), _borders(w), codes, cmap=colours, vmin=-0.5, vmax=len(letters) - 0.5,
        shading="flat", rasterized=True,
    )  # fmt: skip
    axes.set_xlim(b[0], b[-1])
    axes.set_ylim(w[0], w[-1])
    _contours(axes, diagram)
    for line in diagram.critical:
        if len(line.sigma_b) == 1:
            axes.plot(line.sigma_b, line.sigma_w, "k*", ms=11, clip_on=False, zorder=5)
            continue
        kind = "solid" if line.stable else (0, (4, 2.5))
        axes.plot(line.sigma_b, line.sigma_w, color="black", lw=2.0, ls=kind, zorder=4)
    for one, other in pairwise(diagram.critical):
        if one.stable != other.stable and one.q_star[-1] == other.q_star[0]:
            axes.plot(one.sigma_b[-1], one.sigma_w[-1], "o", mec="black", mfc="white", ms=6, zorder=5)
    axes.set_xlabel(r"$\sigma_b$ (biases have variance $\sigma_b^2$)")
    axes.set_ylabel(r"$\sigma_w$ (weights have variance $\sigma_w^2$/fan-in)")
    name = diagram.activation if len(diagram.activation) <= 60 else diagram.activation[:57] + "..."
    # No dollar sign, which would start mathematics, is in the language.
    axes.set_title(f"{name}: where signals go from variance {diagram.start:g}")
    _legend(axes, diagram)


def _borders(centres: Any) -> Any:
    middle = (centres[1:] + centres[:-1]) / 2
    return np.concatenate([[2 * centres[0] - middle[0]], middle, [2 * centres[-1] - middle[-1]]])


def _contours(axes: Any, diagram: PhaseDiagram) -> None:
    lo, hi = diagram.sigma_b[0], diagram.sigma_b[-1]
    for name, (colour, _) in CONTOURS.items():
        for k, (level, lines) in enumerate(diagram.contours.get(name, {}).items()):
            for line in lines:
                axes.plot(line.sigma_b, line.sigma_w, color=colour, lw=0.9, zorder=3)
                # Side by side, since lines of large xi_c are near each other.
                away = abs(line.sigma_b - (lo + (0.6 + 0.1 * k) * (hi - lo)))
                place = int(np.argmin(away)) if name == "xi_c" else len(line.sigma_b) // 3
                axes.text(
                    line.sigma_b[place], line.sigma_w[place], f"{level:g}", color=colour, fontsize=6,
                    ha="center", va="center", clip_on=True, zorder=6,
                    bbox={"fc": "white", "ec": "none", "alpha": 0.7, "pad": 0.4},
                )  # fmt: skip


def _legend(axes: Any, diagram: PhaseDiagram) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    present = [p for p in PHASES if (diagram.phase == p).any()]
    handles: list[Any] = [Patch(fc=PHASES[p][0], ec="#555555", lw=0.5, label=PHASES[p][1]) for p in present]
    stability = {line.stable for line in diagram.critical if len(line.sigma_b) > 1}
    if True in stability:
        handles.append(Line2D([], [], color="black", lw=2, label=r"critical, $\chi_1 = 1$, attracts"))
    if False in stability:
        handles.append(
            Line2D([], [], color="black", lw=2, ls=(0, (4, 2.5)), label=r"critical, repels: not reached")
        )
    if any(len(line.sigma_b) == 1 for line in diagram.critical):
        handles.append(
            Line2D(
                [], [], color="black", marker="*", ms=10, ls="", label=r"critical point, keeps every variance"
            )
        )
    if len(stability) == 2:
        handles.append(
            Line2D([], [], marker="o", mec="black", mfc="white", ls="", ms=6, label=r"double-critical")
        )
    for name, (colour, said) in CONTOURS.items():
        if any(diagram.contours.get(name, {}).values()):
            handles.append(Line2D([], [], color=colour, lw=0.9, label=said))
    axes.figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize=8)
