"""One style for all figures: colours that stay apart for the colour-blind, and sizes.

The colours are Okabe and Ito's (2008, Color Universal Design). Lines of one panel differ in dashes or in
direct labels as well, since a print may be grey.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, RED, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
GREY = "#767676"
#: In the order in which to take them; yellow is too light for lines.
COLOURS = (BLUE, RED, GREEN, PURPLE, ORANGE, SKY, BLACK)
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))
#: Sequential, of even lightness steps for every kind of colour vision.
MAP = "cividis"

SETTINGS: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.labelsize": 9,
    "axes.prop_cycle": f"cycler('color', {list(COLOURS)})",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 9,
    "figure.dpi": 100,
    "figure.facecolor": "white",
    "font.family": "DejaVu Sans",  # matplotlib brings it, so that every machine has the same
    "font.size": 9,
    "grid.color": "0.9",
    "grid.linewidth": 0.6,
    "image.cmap": MAP,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "path.simplify_threshold": 0.2,
    "svg.fonttype": "path",
    "svg.hashsalt": "gateproof",
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
}


def at_most(value: float, digits: int) -> str:
    """An upper bound in words: significant digits, rounded up."""
    return _rounded(value, digits, ROUND_CEILING)


def at_least(value: float, digits: int) -> str:
    """A lower bound in words: significant digits, rounded down."""
    return _rounded(value, digits, ROUND_FLOOR)


def _rounded(value: float, digits: int, how: str) -> str:
    exact = Decimal(value)
    if not exact:
        return "0"
    return f"{exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 1), rounding=how):f}"
