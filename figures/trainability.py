"""How deep networks train: trained depth over weight variance, and what predicts it."""

from __future__ import annotations

from typing import Any

from gateproof.proofs_check.figures import runs
from gateproof.proofs_check.figures.labels import spread
from gateproof.proofs_check.figures.style import COLOURS, DASHES, MAP, RED

SIZE = (8.4, 6.6)


def numbers() -> dict[str, Any]:
    return runs.run("depth")


def made(found: dict[str, Any]) -> Any:
    figure = runs.made(found, SIZE)
    heat, rates, kappa, residual = figure.axes[:4]
    _heat(heat)
    rates.set(title="by mean field theory", xlabel=r"$\beta_q$, layers", ylabel="trainable depth, layers")
    kappa.set(
        title="by the activation complexity",
        xlabel=r"$\kappa_f$ at the central inflection",
        ylabel="trainable depth, layers",
    )
    blocks = sorted({int(row["blocks"]) for row in found["summary"].tables["scan"]})
    residual.set_xticks(blocks, [str(n) for n in blocks])
    residual.minorticks_off()
    for line, colour, dashes in zip(residual.lines, COLOURS, DASHES, strict=False):
        line.set(color=colour, ls=dashes, ms=5)
    residual.legend(loc="center right")
    spread(figure)
    return figure


def _heat(axes: Any) -> None:
    """Lines over the map in white with a dark rim, so that they are seen on light and dark cells."""
    from matplotlib.patheffects import Normal, Stroke

    axes.collections[0].set_cmap(f"{MAP}_r")
    axes.set(title="tanh", xlabel=r"$\sigma_w^2$", ylabel="depth, layers")
    for line in axes.lines:
        trained = line.get_label() == "trainable depth"
        line.set(color=RED if trained else "white", lw=1.6, ms=7)
        line.set_path_effects([Stroke(linewidth=3, foreground="white" if trained else "black"), Normal()])
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(
        handles, [label.replace("xi_c", r"$\xi_c$") for label in labels], facecolor="0.8", frameon=True
    )


def caption(found: dict[str, Any]) -> str:
    return f"""
    Top left: the loss after training over depth and the variance of the weights (times the fan-in, no
    unit), tanh, mean over seeds at the best rate; lines are multiples of the depth scale ξ_c of mean field
    theory, in layers. Top right and bottom left: trained depth on the edge of chaos over the depth rate β_q
    and over κ_f = |f'''(θ_f)| (no unit) at the central inflection, an activation each; squares are gates
    and scaled copies that stand beside the zoo. Dotted: the slope that proportional depths would have.
    Bottom right: residual networks of one, two and three branches, mean over
    {found["summary"].tables["scan"][0]["n"]} seeds; paired differences with their intervals are in the
    records.

    {runs.said(found)}
    """
