"""Labels of points that stand apart: none over another, over a mark or over the legend.

Each label takes the nearest free place around its point, in the order in which the labels were written, and a
thin line leads back to the point where the place is not beside it. The same figure gives the same places.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import cos, hypot, pi, sin
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation
    from matplotlib.transforms import Bbox

#: Distances from the point, and the reach of a mark around it, in points (1/72 inch).
DISTANCES = (5, 9, 14, 20, 27, 35, 44, 54, 66, 80, 96)
MARK = 3.0
DIRECTIONS = 24
#: Up to this distance a label is seen to belong to its point without a line.
BESIDE = 9
#: How much farther off a label may go so that no line runs through its words, in points.
CROSSING = 40


def spread(figure: Figure) -> None:
    """Move the annotations of all axes of a figure to free places. Size and layout stay as they are."""
    renderer = _renderer(figure)
    labelled = {axes: _annotations(axes) for axes in figure.axes}
    for label in (one for labels in labelled.values() for one in labels):
        # A label that moves must not move the axes.
        label.set_in_layout(False)
    figure.draw_without_rendering()
    for axes, labels in labelled.items():
        if labels:
            _spread(axes, labels, renderer, figure.dpi / 72)


def overlapping(figure: Figure) -> list[tuple[str, str]]:
    """Pairs of annotations of the same axes whose words cover each other."""
    renderer = _renderer(figure)
    figure.draw_without_rendering()
    found = []
    for axes in figure.axes:
        boxes = [(label.get_text(), _words(label, renderer)) for label in _annotations(axes)]
        found += [(a, b) for i, (a, one) in enumerate(boxes) for b, two in boxes[:i] if _meet(one, two)]
    return found


def _renderer(figure: Figure) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = FigureCanvasAgg(figure)
    return canvas.get_renderer()


def _annotations(axes: Axes) -> list[Annotation]:
    from matplotlib.text import Annotation

    return [text for text in axes.texts if isinstance(text, Annotation) and text.get_text()]


def _words(label: Annotation, renderer: Any) -> Bbox:
    from matplotlib.text import Text

    # An annotation's own extent counts its line in.
    return Text.get_window_extent(label, renderer)


def _meet(one: Bbox, two: Bbox, slack: float = 0.0) -> bool:
    return bool(
        one.x0 < two.x1 + slack
        and two.x0 < one.x1 + slack
        and one.y0 < two.y1 + slack
        and two.y0 < one.y1 + slack
    )


def _spread(axes: Axes, labels: Sequence[Annotation], renderer: Any, scale: float) -> None:
    from matplotlib.transforms import Bbox

    points = [tuple(map(float, axes.transData.transform(label.xy))) for label in labels]
    reach = MARK * scale
    taken = [Bbox.from_extents(x - reach, y - reach, x + reach, y + reach) for x, y in points]
    legend = axes.get_legend()
    if legend is not None:
        taken.append(legend.get_window_extent(renderer))
    inside = axes.get_window_extent(renderer)
    drawn = _lines(axes)
    for label, (x, y) in zip(labels, points, strict=True):
        size = _words(label, renderer)
        best: tuple[float, float, Bbox] | None = None
        for distance, dx, dy in _places(scale):
            # The side of the box that faces the point stands at the place.
            left = x + dx - size.width * (1 - dx / hypot(dx, dy)) / 2
            low = y + dy - size.height * (1 - dy / hypot(dx, dy)) / 2
            box = Bbox.from_bounds(left, low, size.width, size.height)
            whole = (
                inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1
            )
            if not whole or any(_meet(box, other, scale) for other in taken):
                continue
            cost = distance + (CROSSING if _crossed(box, drawn) else 0)
            if best is None or cost < best[0]:
                best = cost, distance, box
        if best is None:
            continue
        _, distance, box = best
        taken.append(box)
        nearest = min(points, key=lambda point: _far(box, *point))
        line = distance > BESIDE or _far(box, *nearest) < _far(box, x, y) - scale
        _put(axes, label, ((box.x0 - x) / scale, (box.y0 - y) / scale), line=line)


def _lines(axes: Axes) -> Any:
    """Places along the lines and intervals of the axes, in pixels and a few apart."""
    import numpy as np

    paths = [line.get_path().transformed(line.get_transform()) for line in axes.lines]
    for collection in axes.collections:
        if hasattr(collection, "get_segments"):
            paths += [path.transformed(collection.get_transform()) for path in collection.get_paths()]
    found = [np.empty((0, 2))]
    for path in paths:
        ends = np.asarray(path.vertices)
        for (x0, y0), (x1, y1) in pairwise(ends):
            if np.isfinite([x0, y0, x1, y1]).all():
                part = np.linspace(0, 1, int(min(hypot(x1 - x0, y1 - y0) / 2, 2000)) + 2)[:, None]
                found.append(np.array([x0, y0]) + part * np.array([x1 - x0, y1 - y0]))
    return np.concatenate(found)


def _crossed(box: Bbox, drawn: Any) -> bool:
    x, y = drawn[:, 0], drawn[:, 1]
    return bool(((box.x0 < x) & (x < box.x1) & (box.y0 < y) & (y < box.y1)).any())


def _far(box: Bbox, x: float, y: float) -> float:
    """The distance of a point from a box, in pixels."""
    return hypot(max(box.x0 - x, 0, x - box.x1), max(box.y0 - y, 0, y - box.y1))


def _places(scale: float) -> Iterator[tuple[float, float, float]]:
    """Distances in points, and steps from the point in pixels: to the right first, nearest first."""
    for distance in DISTANCES:
        for k in range(DIRECTIONS):
            turn = (k + 1) // 2 * (-1) ** k
            angle = pi / 12 + 2 * pi * turn / DIRECTIONS
            yield distance, distance * scale * cos(angle), distance * scale * sin(angle)


def _put(axes: Axes, label: Annotation, offset: tuple[float, float], *, line: bool) -> None:
    arrow = {"arrowstyle": "-", "color": "0.45", "linewidth": 0.5, "shrinkA": 1, "shrinkB": 2}
    axes.annotate(
        label.get_text(),
        label.xy,
        xytext=offset,
        textcoords="offset points",
        fontsize=label.get_fontsize(),
        color=label.get_color(),
        ha="left",
        va="bottom",
        arrowprops=arrow if line else None,
    ).set_in_layout(False)
    label.remove()
