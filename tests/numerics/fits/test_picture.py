"""The picture of a fit: what it shows, that it is the same each time, and that it opens nothing."""

from __future__ import annotations

import re
import subprocess
import sys
from fractions import Fraction
from xml.etree import ElementTree

import numpy as np
import pytest
from gates_to_export import gate, named, zoo

from gateproof.numerics.fits import picture
from gateproof.numerics.fits.exports import About, RefusedExport
from gateproof.numerics.fits.picture_panels import figure
from gateproof.numerics.fits.picture_scene import Scene
from gateproof.numerics.fits.request import Request
from gateproof.numerics.fits.result import Error, Fit, Status
from gateproof.numerics.fits.target import Target

mpl = pytest.importorskip("matplotlib", reason="matplotlib is not installed")


def relu(x):
    return np.maximum(x, 0.0)


def softplus():
    """Softplus's relu error at 0 is log 2; here silu beside relu: 0.27846 at +-1.2785."""
    about = About("relu(x)", "0.278464", "0.278465", "certified")
    return Scene(named()["silu"], about, relu, ((-1.2784645, -0.2784645), (1.2784645, -0.2784645)))


def panels(scene):
    with picture._style():
        return figure(scene).axes


def test_error_extrema_and_level_are_where_they_are():
    values, gates, error, tails = panels(softplus())
    (target, fit), error_line = values.get_lines()[:2], error.get_lines()[0]
    assert np.allclose(target.get_ydata(), relu(target.get_xdata()))
    x = fit.get_xdata()
    assert np.allclose(fit.get_ydata(), x / (1 + np.exp(-x)))
    assert np.abs(error_line.get_ydata()).max() == pytest.approx(0.2784645, rel=1e-4)
    marks = error.get_lines()[1]
    assert sorted(marks.get_xdata()) == pytest.approx([-1.2784645, 1.2784645])
    levels = {round(float(line.get_ydata()[0]), 6) for line in error.get_lines()[2:4]}
    assert levels == {0.278465, -0.278465}
    assert "certified: 0.278465" in [t.get_text() for t in error.get_legend().get_texts()]
    one, two = (line.get_ydata() for line in gates.get_lines()[:2])
    assert np.allclose(one + two, 1.0)
    assert tails.get_xscale() == tails.get_yscale() == "log"


def test_sampled_errors_are_not_called_certified():
    scene = Scene(named()["silu"], About("f", "0.1", "0.2", "sampled"), relu)
    error = panels(scene)[2]
    assert [t.get_text() for t in error.get_legend().get_texts()] == ["largest sample: 0.2"]
    assert b"no certificate" in picture.picture(scene, ".svg")
    assert b"ertified" not in picture.picture(scene, ".svg")


def test_lines_differ_without_colour():
    values, gates, _, tails = panels(softplus())
    assert {line.get_linestyle() for line in values.get_lines()[:2]} == {"-", "--"}
    assert {line.get_linestyle() for line in gates.get_lines()[:2]} == {"-", "--"}
    assert len({line.get_linestyle() for line in tails.get_lines()[:3]}) == 3


@pytest.mark.parametrize("suffix", picture.SUFFIXES)
def test_the_same_bytes_whatever_the_user_has_set(suffix):
    first = picture.picture(softplus(), suffix)
    with mpl.rc_context({"font.size": 20, "lines.linewidth": 9, "axes.grid": False, "text.usetex": True}):
        assert picture.picture(softplus(), suffix) == first
        assert mpl.rcParams["font.size"] == 20
    assert b"20" + b"26-" not in first


def test_no_window_system_and_no_pyplot():
    code = (
        "import sys, numpy as np\n"
        "from gateproof.numerics.fits import picture\n"
        "assert 'matplotlib' not in sys.modules\n"
        "from gateproof.theory.gate import Gate\nfrom gateproof.theory.formula.nodes import num\n"
        "g = Gate((num(1),), (num(0),), (num(0), num(1)), (num(0), num(0)))\n"
        "f = picture.plot(g, lambda x: np.maximum(x, 0))\n"
        "assert type(f).__name__ == 'Figure'\n"
        "assert 'matplotlib.pyplot' not in sys.modules and 'tkinter' not in sys.modules\n"
    )
    environment = {"PYTHONPATH": ":".join(sys.path), "MPLBACKEND": "TkAgg"}
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        capture_output=True, text=True, check=False, timeout=120, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_hostile_names_are_text():
    about = About(target="$\\frac{$ <script>alert(1)</script> \n é", lo="1", hi="2")
    text = picture.svg_inline(Scene(named()["silu"], about, relu))
    root = ElementTree.fromstring(text)
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert not tags & {"script", "style", "metadata", "foreignObject", "image"}
    assert "<script>" not in text
    assert "alert(1)" in "".join(root.itertext())
    assert not re.search(r"\son\w+=|javascript:", text)


def test_gates_of_all_kinds_are_drawn():
    for name, one in zoo(4).items():
        assert len(panels(Scene(one, About(name), relu))) == 4, name


def test_windows():
    half = Scene(named()["silu"], About(ends=(Fraction(0), None)), relu)
    assert half.window()[0] == 0.0
    whole = Scene(named()["silu"], About(ends=(Fraction(-8), Fraction(8))), relu)
    assert whole.window() == (-8.0, 8.0)
    far = Scene(named()["far_away"], About(), relu)
    assert 999_990 < far.window()[0] < 1_000_000 < far.window()[1] < 1_000_012
    one = Scene(gate([], [], [1], [0]), About(), relu)
    assert one.window()[0] < one.window()[1]


def test_data_are_points_and_weights_weigh():
    x = np.linspace(-3, 3, 13)
    scene = Scene(named()["silu"], About("data"), relu, data=(x, relu(x)))
    values, _, error, _ = panels(scene)
    assert values.get_lines()[0].get_marker() == "."
    assert list(error.get_lines()[0].get_xdata()) == list(x)
    weighted = Scene(named()["silu"], About("f"), relu, weight=lambda x: np.full_like(x, 3.0))
    plain = Scene(named()["silu"], About("f"), relu)
    assert np.allclose(weighted.error(x), 3 * plain.error(x))
    assert "weighted" in panels(weighted)[2].get_title()


def boxes(made):
    """The figure drawn: its size in pixels, and (panel, title, legend or None) of each panel as boxes."""
    canvas = made.canvas
    canvas.draw()
    renderer = canvas.get_renderer()
    found = []
    for axes in made.axes:
        legend = axes.get_legend()
        title = axes.title.get_window_extent(renderer)
        found.append((axes.get_window_extent(renderer), title, legend and legend.get_window_extent(renderer)))
    return made.bbox, made._suptitle.get_window_extent(renderer), found


def covered(made) -> list[str]:
    """What overlaps: legends and titles with panels, with one another and with the edge."""
    edge, top, found = boxes(made)
    said = []
    texts = [("figure's title", top)]
    for k, (_, title, legend) in enumerate(found):
        texts += [(f"title {k}", title)] + ([(f"legend {k}", legend)] if legend else [])
    for place, (name, box) in enumerate(texts):
        if box.x0 < edge.x0 or box.x1 > edge.x1 or box.y0 < edge.y0 or box.y1 > edge.y1:
            said.append(f"{name} leaves the picture")
        said += [f"{name} covers panel {k}" for k, (panel, *_) in enumerate(found) if box.overlaps(panel)]
        said += [f"{name} covers {other}" for other, that in texts[:place] if box.overlaps(that)]
    return said


def crowded(k):
    """K gates side by side."""
    theta = list(range(k - 1))
    return gate([3] * (k - 1), theta, [*range(k)], [0] * k)


def measured():
    x = np.linspace(-4, 4, 90)
    y = np.tanh(x) + 0.02 * np.sin(40 * x)
    y[::7] = np.nan
    about = About("measured " * 30, "0.041363072192732275", "0.041363072192732275")
    return Scene(named()["tanh"], about, relu, tuple((float(v), 0.02) for v in x[1:]), data=(x, y))


LONG = About(
    "f(x)*" * 60, "1e-9", "0.00123456789012", "certified", measure="sup |gate - target| times " + "w" * 40,
    domain="[-8, 8]", ends=(Fraction(-8), Fraction(8)),
)  # fmt: skip
SCENES = {
    "one gate": lambda: Scene(named()["line"], About("x/4 - 1", "0", "0", "proved"), lambda x: x / 4 - 1),
    "8 gates": lambda: Scene(crowded(8), About("f", "1e-3", "0.00123456789012", "certified"), relu),
    "16 gates": lambda: Scene(crowded(16), LONG, relu),
    "hard": lambda: Scene(named()["hard_tanh"], About("tanh(x)", "0.2384", "0.2385", "certified"), np.tanh),
    "mixed": lambda: Scene(named()["mixed"], About("f", "3", "4"), relu, weight=lambda x: np.exp(-x * x)),
    "half a line, and no end outside": lambda: Scene(
        named()["silu"], About("exp(-x)", "1", "1.1", ends=(Fraction(0), None)), lambda x: np.exp(-x)
    ),
    "huge": lambda: Scene(gate([1], [0], [0, "1e200"], [0, "1e300"]), About("f", "1", "1e300"), relu),
    "tiny": lambda: Scene(gate(["1e9"], ["1e-9"], [0, "1e-200"], [0, 0]), About("f", "1", "2e-200"), relu),
    "measured": measured,
}  # fmt: skip


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", SCENES)
def test_nothing_covers_what_is_drawn(name):
    made = figure_of(SCENES[name]())
    assert covered(made) == []


def figure_of(scene):
    with picture._style():
        return figure(scene)


def test_the_check_sees_a_legend_on_a_panel():
    made = figure_of(softplus())
    made.axes[0].legend(loc="upper left")
    assert covered(made) == ["legend 0 covers panel 0"]


def test_measured_points_without_a_value_are_left_out():
    scene = measured()
    errors = panels(scene)[3]
    assert errors.get_title() == f"errors at {int(np.isfinite(scene.data[1]).sum())} points: how many"
    assert sum(bar.get_height() for bar in errors.patches) == np.isfinite(scene.data[1]).sum()
    assert Scene(named()["silu"], About(), relu).residuals().size == 0


def test_the_level_in_a_legend_is_rounded_upwards():
    about = About("f", "0.0038438192", "0.003843819264", "certified")
    texts = [t.get_text() for t in panels(Scene(named()["silu"], about, relu))[2].get_legend().get_texts()]
    assert texts == ["certified: 0.00384382"]
    about = About("f", "0.0038438201", "0.00384382011", "certified")
    texts = [t.get_text() for t in panels(Scene(named()["silu"], about, relu))[2].get_legend().get_texts()]
    assert texts == ["certified: 0.003843821"]


def test_a_callable_is_not_asked_outside_of_its_domain():
    def strict(x):
        if x.min() < -2 or x.max() > 3:
            raise ValueError("outside")
        return relu(x)

    about = About(ends=(Fraction(-2), Fraction(3)))
    assert len(panels(Scene(named()["silu"], about, strict, beyond=False))) == 4
    with pytest.raises(ValueError, match="outside"):
        panels(Scene(named()["silu"], about, strict))


def test_targets_with_holes():
    scene = Scene(named()["silu"], About("log"), np.log)
    assert len(panels(scene)) == 4
    nothing = Scene(named()["silu"], About("nothing"), lambda x: np.full_like(x, np.nan))
    assert panels(nothing)[3].get_title() == "tails: no error in doubles"


def test_without_matplotlib_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(RefusedExport, match=r"pip install matplotlib$"):
        picture.picture(softplus(), ".svg")


def fitted():
    error = Error(Fraction("0.278464"), Fraction("0.278465"), "certified")
    return Fit(named()["silu"], Target("relu(x)", relu), Request(branches=2), error, Status.OK, "done")


def test_a_fit_is_drawn_and_written(tmp_path):
    path = tmp_path / "a.svg"
    made = picture.draw(fitted(), path)
    assert len(made.axes) == 4
    assert path.read_bytes() == picture.render(fitted(), "b.svg")
    assert [p.name for p in tmp_path.iterdir()] == ["a.svg"]
    assert path.stat().st_mode & 0o400
    text = picture.html(fitted())
    assert text.startswith("<div><table>")
    assert text.count("<svg") == text.count("</svg>") == 1
    with pytest.raises(FileNotFoundError):
        picture.draw(fitted(), tmp_path / "absent" / "a.svg")


def test_html_without_matplotlib_is_the_table(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert picture.html(fitted()).endswith("</table></div>")


@pytest.mark.parametrize("name", ["a", "a.jpg", "svg", ""])
def test_other_suffixes_are_refused(name):
    with pytest.raises(RefusedExport, match=r"\.svg, \.png, \.pdf"):
        picture.suffix_of(name)
