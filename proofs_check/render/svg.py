"""The few shapes that a report's pictures are made of; colours come from its style sheet."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from markupsafe import escape

#: Width of a letter of a label, in units of the picture; about that of 11-unit sans serif.
LETTER = 5.6


class Line:
    """A picture as SVG, in units of its own, that grows with its column."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.parts: list[str] = []

    def segment(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        """A straight line."""
        self.parts.append(f'<line class="{kind}" x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"/>')

    def bar(self, x1: float, x2: float, y: float, height: float, kind: str, least: float = 1.0) -> None:
        """An interval, never narrower than what can be seen."""
        wide = max(x2 - x1, least)
        left = round((x1 + x2 - wide) / 2, 1)
        self.parts.append(
            f'<rect class="{kind}" x="{left:g}" y="{y:g}" width="{round(wide, 1):g}" height="{height:g}"/>'
        )

    def curve(self, points: Sequence[tuple[float, float]], kind: str) -> None:
        """A polyline."""
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        self.parts.append(f'<polyline class="{kind}" points="{path}"/>')

    def text(self, x: float, y: float, text: str, kind: str) -> None:
        """A label, centred at x but kept inside the picture."""
        half = LETTER * len(text) / 2
        x = min(max(x, half + 1), self.width - half - 1)
        self.parts.append(f'<text class="{kind}" x="{round(x, 1):g}" y="{y:g}">{escape(text)}</text>')

    def done(self, said: str) -> str:
        """The whole picture; ``said`` is what a screen reader says of it."""
        return (
            f'<svg class="picture" role="img" viewBox="0 0 {self.width} {self.height}"'
            f' aria-label="{escape(said)}">{"".join(self.parts)}</svg>'
        )


def apart(numbers: Sequence[Fraction]) -> list[str]:
    """Numbers for the eye: four significant digits, or as many more, to 12, as tell them apart."""
    texts: list[str] = []
    for digits in range(4, 13):
        texts = [f"{float(x):.{digits}g}" for x in numbers]
        if len(set(texts)) == len(set(numbers)):
            break
    return texts
