"""Labels of points: none over another, a mark, the legend or the edge."""

from __future__ import annotations

import itertools

import pytest

from gateproof.proofs_check.figures import drawing, labels

pytest.importorskip("matplotlib")
from matplotlib.text import Text


@pytest.mark.parametrize("name", ["trainability", "two_sided_runs"])
def test_labels_of_points_do_not_cover_each_other(name):
    pytest.importorskip("torch")
    pytest.importorskip("pyarrow")
    module = drawing.script(name)
    found = module.numbers()
    own = found["experiment"].figure(found["settings"], found["rows"], found["summary"])
    assert labels.overlapping(own)
    made = module.made(found)
    assert labels.overlapping(made) == []
    assert sum(len(axes.texts) for axes in made.axes) == sum(len(axes.texts) for axes in own.axes)


def test_a_label_keeps_off_marks_the_legend_and_the_edge():
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4, 3))
    axes = figure.add_subplot()
    points = [(0.0, 0.0), (0.001, 0.0), (1.0, 1.0), (1.0, 0.0)]
    for k, point in enumerate(points):
        axes.plot(*point, "o", label="marks" if not k else None)
        axes.annotate(f"point {k}", point)
    axes.set(xlim=(0, 1), ylim=(0, 1))
    axes.legend(loc="lower left")
    labels.spread(figure)
    figure.draw_without_rendering()
    renderer = FigureCanvasAgg(figure).get_renderer()
    inside, legend = (a.get_window_extent(renderer) for a in (axes, axes.get_legend()))
    boxes = [Text.get_window_extent(text, renderer) for text in axes.texts]
    assert [text.get_text() for text in axes.texts] == [f"point {k}" for k in range(4)]
    for box in boxes:
        assert inside.x0 <= box.x0 <= box.x1 <= inside.x1
        assert inside.y0 <= box.y0 <= box.y1 <= inside.y1
        assert not box.overlaps(legend)
        assert not any(box.contains(*axes.transData.transform(point)) for point in points)
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
