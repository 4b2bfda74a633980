"""Figures: their numbers against other mathematics, their files, and the command."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import re
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, special

from gateproof.proofs_check.cli.entry import main
from gateproof.proofs_check.figures import drawing
from gateproof.proofs_check.figures.style import at_least, at_most

pytest.importorskip("matplotlib")
ROOT = Path(__file__).resolve().parents[2]
NAMES = drawing.names()
PEAK = math.asinh(1)


def normal(f, q, *cuts):
    """E f(z), z normal of variance q, by SciPy between the cuts."""
    ends = sorted({-14 * math.sqrt(q), *cuts, 14 * math.sqrt(q)})
    weight = lambda x: f(x) * math.exp(-x * x / (2 * q)) / math.sqrt(2 * math.pi * q)  # noqa: E731
    return sum(integrate.quad(weight, a, b, epsabs=1e-14)[0] for a, b in itertools.pairwise(ends))


def silu(x):
    return x * special.expit(x)


def memglu(x):
    return math.tanh(x) / math.cosh(x)


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_has_its_files_and_a_caption(name):
    folder = drawing.folder()
    module = drawing.script(name)
    assert module.__doc__
    for suffix in (".svg", ".png"):
        assert 1000 < (folder / f"{name}{suffix}").stat().st_size < 300_000
    svg = (folder / f"{name}.svg").read_text(encoding="utf-8")
    assert "<dc:date>" not in svg
    caption = (folder / f"{name}.md").read_text(encoding="utf-8")
    assert caption.startswith(f"# {module.__doc__.splitlines()[0].rstrip('.')}\n")
    assert f"({name}.svg)" in caption
    assert f"[{name}]({name}.md)" in (folder / "README.md").read_text(encoding="utf-8")


LINE = '''"""A line."""
import numpy
def numbers():
    return {"x": numpy.linspace(0, 1, 5)}
def draw(figure, found):
    figure.add_subplot().plot(found["x"], found["x"], label=r"$x^2$")
def caption(found):
    return f"""
    Points:
    {len(found["x"])}.

    Of no source."""
'''


@pytest.fixture
def one_script(tmp_path, monkeypatch):
    folder = tmp_path / "figures"
    folder.mkdir()
    (folder / "README.md").write_text("# figures\n", encoding="utf-8")
    (folder / "line.py").write_text(LINE, encoding="utf-8")
    monkeypatch.setattr(drawing, "folder", lambda: folder)
    return folder


def test_the_same_bytes_twice(one_script):
    one, two = drawing.drawn("line"), drawing.drawn("line")
    assert one == two
    assert set(one.files) == set(drawing.SUFFIXES)
    assert one.files[".png"].startswith(b"\x89PNG")
    assert one.files[".md"].decode() == "# A line\n\n![A line](line.svg)\n\nPoints: 5.\n\nOf no source.\n"
    (one_script / "line.py").write_text(LINE.replace("1, 5", "1, 6"), encoding="utf-8")
    assert drawing.drawn("line").files[".svg"] != one.files[".svg"]


def test_one_file_makes_a_figure_with_its_row(one_script, capsys):
    (one_script / "README.md").write_text(f"# figures\n\n{drawing.HEAD}\n|---|---|\n\nMore.\n")
    assert main(["figures", "--check"]) == 1
    assert "README.md" in capsys.readouterr().out
    for _ in range(2):
        assert main(["figures", "line"]) == 0
    wanted = f"# figures\n\n{drawing.HEAD}\n|---|---|\n| [line](line.md) | A line |\n\nMore.\n"
    assert (one_script / "README.md").read_text() == wanted
    assert main(["figures", "--check"]) == 0


def test_bounds_are_rounded_outwards():
    assert (at_most(0.0139208532, 4), at_least(0.0139208532, 4)) == ("0.01393", "0.01392")
    assert (at_most(0.0, 3), at_most(12345.6, 3), at_least(9.999, 2)) == ("0", "12400", "9.9")


def test_two_sided_derivatives_are_those_of_the_potential():
    module = drawing.script("two_sided")
    found = module.numbers()
    x, d, c = found["x"], module.DELTA, module.SHARPNESS

    def potential(x, d):
        return np.sign(x) * (np.logaddexp(0, c * (np.abs(x) - d)) - np.logaddexp(0, -c * d)) / c

    assert found["potential"] == pytest.approx(potential(x, d), abs=1e-12)
    h, off = 1e-6, np.abs(x) > 1e-3
    in_x = (potential(x + h, d) - potential(x - h, d)) / (2 * h)
    in_d = (potential(x, d + h) - potential(x, d - h)) / (2 * h)
    assert found["x surrogate"][off] == pytest.approx(in_x[off], abs=1e-8)
    assert found["delta debiased"] == pytest.approx(in_d, abs=1e-8)
    assert np.abs(found["delta surrogate"] - in_d)[off].min() > 0.1  # the printed one is no derivative of it
    assert found["jump"] == pytest.approx(2 / (1 + math.exp(c * d)))


def test_scale_of_memglu_by_quadrature():
    module = drawing.script("c0")
    engines = [module.gateproof.meanfield(name).mp(15) for name in ("silu", "memglu")]
    for q in (0.0768, 1.0):
        exact = math.sqrt(normal(lambda x: silu(x) ** 2, q) / normal(lambda x: memglu(x) ** 2, q))
        assert module._ratio(*engines, q) == pytest.approx(exact, rel=1e-10)


def test_what_interventions_change_by_quadrature():
    module = drawing.script("interventions")
    cap = silu(PEAK)
    for q in (0.2, 3.0):
        removed = normal(lambda x: silu(x) ** 2 if x > PEAK else 0.0, q, PEAK)
        capped = normal(lambda x: (silu(x) - cap) ** 2 if x > PEAK else 0.0, q, PEAK)
        assert module.changed("silu_hard_removal", q) == pytest.approx(removed, rel=1e-7)
        assert module.changed("silu_positive_cap", q) == pytest.approx(capped, rel=1e-7)
    # Between the variances at which the claims mem.interventions decide the order one way and the other.
    assert module._lead(0.05) < 0 < module._lead(0.08)


def test_occupancy_and_energy():
    module = drawing.script("occupancy")
    q = 0.25
    beyond = normal(lambda x: memglu(x) ** 2 if x > PEAK else 0.0, q, PEAK)
    share = 100 * beyond / normal(lambda x: memglu(x) ** 2, q, PEAK)
    assert module.energy("memglu", q) == pytest.approx(share, rel=1e-9)
    assert module.occupancy(q) == pytest.approx(100 * special.ndtr(-PEAK / 0.5), rel=1e-12)


def test_kappa_of_known_points(monkeypatch):
    module = drawing.script("kappa_readings")
    monkeypatch.setattr(module, "NAMES", ("tanh", "gelu"))
    found = {(r["name"], r["reading"], round(r["theta"], 6)): r["kappa"] for r in module.numbers()["rows"]}
    assert found["tanh", "inflection", 0.0] == pytest.approx(2)
    assert found["gelu", "inflection", round(math.sqrt(2), 6)] == pytest.approx(
        2 / (math.e * math.sqrt(math.pi))
    )
    assert found["gelu", "gate threshold", 0.0] == 0


def test_ulps_are_those_of_the_exact_value():
    module = drawing.script("kernel_ulp")
    exact = np.array([1.0, 1.5, 3.0, 0.0])
    found = (exact + np.array([2.0**-23, 0, 2.0**-21, 0])).astype(np.float32)
    assert module._ulp(found[:1], exact[:1]) == 1
    assert module._ulp(found, exact) == 2  # between 2 and 4 a unit is 2^-22
    assert module._ulp(np.array([2.0**-149], dtype=np.float32), np.array([0.0])) == 1


def test_the_command(capsys, one_script):
    assert main(["figures", "--list", "li*", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"schema_version": 1, "figures": [{"name": "line"}]}
    assert main(["figures", "nothing"]) == 5
    assert "no figure 'nothing'; there are line" in capsys.readouterr().err
    assert main(["figures", "--check"]) == 1
    assert capsys.readouterr().out == "line: differs: line.svg, line.png, line.md\n"
    assert main(["figures"]) == 0
    assert capsys.readouterr().out == "line: line.svg, line.png, line.md\n"
    assert main(["figures", "--check"]) == 0
    (one_script / "line.md").write_text("another", encoding="utf-8")
    assert main(["figures", "line", "--check"]) == 1
    assert capsys.readouterr().out.endswith("line: differs: line.md\n")
    (one_script / "line.py").write_text(LINE.replace("def draw", "def drew"), encoding="utf-8")
    assert main(["figures"]) == 2
    assert "lacks draw(figure, found); c0.py" in capsys.readouterr().err
    missing = LINE.replace("import numpy", "import no_such_library")
    (one_script / "line.py").write_text(missing, encoding="utf-8")
    assert main(["figures"]) == 2
    assert "needs no_such_library" in capsys.readouterr().err


def test_without_the_sources(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(drawing, "__file__", str(tmp_path / "site" / "gateproof" / "figures" / "drawing.py"))
    assert main(["figures"]) == 2
    assert "checkout" in capsys.readouterr().err


PINNED = dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "constraints.txt").read_text(), re.MULTILINE))
#: Of these a picture's bytes depend on each.
LIBRARIES = ("matplotlib", "pillow", "numpy", "scipy", "mpmath", "sympy", "python-flint", "torch", "pyarrow")


def as_pinned():
    """Libraries that are missing or not of the pinned version, with what is there."""
    found = dict.fromkeys(LIBRARIES)
    for name in LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name).partition("+")[0]
    return {name: version for name, version in found.items() if version != PINNED[name].partition("+")[0]}


@pytest.mark.drawn
@pytest.mark.parametrize("name", NAMES)
def test_a_figure_is_what_its_script_draws(name):
    """Drawn twice, byte by byte the same, and the same as the committed files."""
    pytest.importorskip("torch")
    pytest.importorskip("pyarrow")
    module = drawing.script(name)
    found = module.numbers()
    drawn = drawing.rendered(name, module, found)
    assert drawn == drawing.rendered(name, module, found)
    if getattr(module, "PER_CPU", False):
        # Rows of ours are rounded from float64 and differ on no CPU.
        assert all(v.max() <= 0.5 + 1e-6 for k, v in found["rows"].items() if k.endswith("gateproof"))
    elif other := as_pinned():
        pytest.skip(f"the committed files were drawn with other libraries than {other}")
    else:
        assert drawing.differing(drawn, drawing.folder()) == []


@pytest.mark.deep
def test_gelu_by_a_grid():
    found = drawing.script("gelu_k2").numbers()
    x = np.linspace(-8, 8, 400_001)
    gelu = x * special.ndtr(x)
    assert np.abs(x * special.expit(1.702 * x) - gelu).max() == pytest.approx(found["truth"], abs=1e-9)
    # No sharpness does better than the bound, and the fitted one as well as it says.
    least = min(np.abs(x * special.expit(t * x) - gelu).max() for t in np.linspace(1.6, 1.9, 61))
    assert found["lower"] <= least
    assert np.abs(x * special.expit(found["tau"] * x) - gelu).max() == pytest.approx(found["fit"], abs=1e-9)


@pytest.mark.deep
def test_critical_points_by_quadrature(monkeypatch):
    """tanh: sigma_w2 E tanh'^2 = 1 and q = sigma_w2 E tanh^2 + sigma_b2."""
    module = drawing.script("edge_of_chaos")
    monkeypatch.setattr(module, "NAMES", ("tanh", "silu"))
    monkeypatch.setattr(module, "POINTS", 5)
    found = module.numbers()["curves"]
    for k, q in enumerate(np.geomspace(*module.Q, 5)):
        slope = normal(lambda x: math.cosh(min(abs(x), 300)) ** -4, q, 0)
        assert found["tanh"]["sigma_w2"][k] == pytest.approx(1 / slope, rel=1e-8)
        bias = q - normal(lambda x: math.tanh(x) ** 2, q, 0) / slope
        assert found["tanh"]["sigma_b2"][k] == pytest.approx(bias, rel=1e-6, abs=1e-9)
    assert found["tanh"]["stable"].all()
    assert not found["silu"]["stable"][0]


@pytest.mark.deep
def test_ratio_of_curvatures_by_quadrature(monkeypatch):
    module = drawing.script("curvature_ratio")
    monkeypatch.setattr(module, "NAMES", ("tanh",))
    found = module.numbers()
    for q, ratio in list(zip(found["q"], found["ratios"]["tanh"], strict=True))[::5]:
        bend = normal(lambda x: (2 * math.tanh(x) / math.cosh(x) ** 2) ** 2, float(q), 0)
        assert ratio == pytest.approx(4 * q / bend, rel=1e-8)
    assert Path(module.__file__).parent == drawing.folder()
