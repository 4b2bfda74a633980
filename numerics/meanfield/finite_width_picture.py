"""Networks of finite width beside the maps, as a picture; matplotlib is loaded when one is drawn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gateproof.numerics.meanfield.finite_width import FiniteWidth


def picture(found: FiniteWidth, path: Path | None) -> Any:
    """The figure, and the file where a path is given."""
    from gateproof.numerics.meanfield.phase_picture import drawn

    def draw(figure: Any) -> None:
        upper, lower = figure.subplots(2, 1, sharex=True)
        _panel(upper, found, "q", r"variance $q_\ell$")
        _panel(lower, found, "eps", r"$1 - c_\ell$")
        lower.set_xlabel(r"layer $\ell$")
        upper.set_title(
            f"{found.activation[:60]}: {found.seeds} networks of width {found.width},"
            rf" $\sigma_w^2 = {found.sigma_w2:.6g}$, $\sigma_b^2 = {found.sigma_b2:.6g}$"
        )
        upper.legend(frameon=False, fontsize=8)

    return drawn(draw, path)


def _panel(axes: Any, found: FiniteWidth, name: str, label: str) -> None:
    import numpy as np

    layers = np.arange(found.depth + 1)
    for part, shade in ((0.9, "#cfe0f1"), (0.5, "#9dc0e0")):
        lo, hi = found.band(name, part)
        axes.fill_between(layers, lo, hi, color=shade, lw=0, label=f"middle {100 * part:.0f} % of networks")
    mean, _ = found.mean(name)
    axes.plot(layers, mean, color="#1f4e79", lw=1.2, label="mean of networks")
    axes.plot(
        layers, getattr(found, f"map_{name}"), color="black", lw=1.4, ls=(0, (4, 2)), label="infinite width"
    )
    axes.set_ylabel(label)
    axes.set_xlim(0, found.depth)
    values = np.concatenate([found.band(name)[0], getattr(found, f"map_{name}")])
    if values.min() > 0 and values.max() > 30 * values.min():
        axes.set_yscale("log")
