"""Phase diagrams against closed forms, and long grids that are interrupted."""

from __future__ import annotations

import json
from fractions import Fraction
from math import log, pi, sqrt

import numpy as np
import pytest

from gateproof.numerics.meanfield import phase as module
from gateproof.numerics.meanfield.activation import RefusedActivation, phi
from gateproof.numerics.meanfield.edge import edge
from gateproof.numerics.meanfield.phase import phase_diagram
from gateproof.numerics.meanfield.plain import PlainEngine

B, W = (0.0, 1.0, 21), (0.6, 2.6, 25)


@pytest.fixture(scope="module")
def erf():
    return phase_diagram("erf", B, W, contours={"xi_c": (10.0,), "q_star": (0.5,), "chi_1": (0.8, 1.2)})


def erf_fixed_point(w2, b2):
    """By iteration from 1: erf's map is concave, so that it converges to its one attracting fixed point."""
    q = 1.0
    for _ in range(20_000):
        q = w2 * 2 / pi * np.arcsin(2 * q / (1 + 2 * q)) + b2
    return q


def erf_scales(w2, b2, q):
    """chi_1, chi_parallel, xi_c by the closed forms of erf, c* by iteration from 0."""
    chi_1 = w2 * 4 / pi / sqrt(1 + 4 * q)
    chi = w2 * 4 / pi / ((1 + 2 * q) * sqrt(1 + 4 * q))
    c = 0.0
    for _ in range(5_000):
        c = min((w2 * 2 / pi * np.arcsin(2 * q * c / (1 + 2 * q)) + b2) / q, 1.0)
    rate = w2 * 4 / pi / sqrt(1 + 4 * q + 4 * q * q * (1 - c * c)) if chi_1 > 1 else chi_1
    return chi_1, chi, -1 / log(rate)


def test_points_of_erf_are_those_of_its_closed_form(erf):
    seen = set()
    for i, j in ((0, 5), (3, 20), (8, 1), (12, 10), (20, 20), (24, 3), (24, 0)):
        w2, b2 = erf.sigma_w[i] ** 2, erf.sigma_b[j] ** 2
        q = erf_fixed_point(w2, b2)
        chi_1, chi, xi_c = erf_scales(w2, b2, q)
        assert erf.q_star[i, j] == pytest.approx(q, rel=1e-7)
        assert erf.chi_1[i, j] == pytest.approx(chi_1, rel=1e-7)
        assert erf.chi_parallel[i, j] == pytest.approx(chi, rel=1e-6)
        assert erf.xi_c[i, j] == pytest.approx(xi_c, rel=2e-3)
        assert erf.phase[i, j] == ("c" if chi_1 > 1 else "o")
        seen.add(str(erf.phase[i, j]))
    assert seen == {"o", "c"}


def test_the_critical_line_of_erf(erf):
    (line,) = erf.critical
    assert line.stable
    q = line.q_star
    # (q - s) D = V
    v, d = 2 / pi * np.arcsin(2 * q / (1 + 2 * q)), 4 / pi / np.sqrt(1 + 4 * q)
    assert line.sigma_w == pytest.approx(1 / np.sqrt(d), rel=1e-8)
    assert line.sigma_b**2 == pytest.approx(q - v / d, abs=1e-8)
    # It parts the phases: the grid's points on either side of it are of either phase.
    for j, b in enumerate(erf.sigma_b[1:], 1):
        at = np.interp(b, line.sigma_b, line.sigma_w)
        assert (erf.phase[erf.sigma_w < at - 1e-3, j] == "o").all()
        assert (erf.phase[erf.sigma_w > at + 1e-3, j] == "c").all()


def test_contours_have_their_depth(erf):
    lines = erf.contours["xi_c"][10.0]
    seen = set()
    for line in lines:
        for k in range(1, len(line.q_star) - 1, max(1, len(line.q_star) // 5)):
            w2, b2 = line.sigma_w[k] ** 2, line.sigma_b[k] ** 2
            q = erf_fixed_point(w2, b2)
            assert q == pytest.approx(line.q_star[k], rel=1e-6)
            chi_1, _, xi_c = erf_scales(w2, b2, q)
            assert xi_c == pytest.approx(10, rel=5e-3)
            seen.add(chi_1 > 1)
    assert seen == {True, False}


def test_contours_of_q_and_of_chi_1_are_where_they_say(erf):
    (line,) = erf.contours["q_star"][0.5]
    # sigma_w^2 V + sigma_b^2 = q with V = 2/pi asin(1/2) = 1/3, from one border of the window to the other.
    assert line.sigma_w**2 == pytest.approx(3 * (0.5 - line.sigma_b**2), abs=1e-7)
    assert line.sigma_b[0] == 0
    assert line.sigma_w.min() <= W[0] + 0.02
    for level in (0.8, 1.2):
        assert erf.contours["chi_1"][level]
        for line in erf.contours["chi_1"][level]:
            # Where a line comes to sigma_b = 0 its last point is interpolated.
            q, w2, b2 = (x[1:-1] for x in (line.q_star, line.sigma_w**2, line.sigma_b**2))
            assert w2 * 4 / pi / np.sqrt(1 + 4 * q) == pytest.approx(level, rel=1e-7)
            assert w2 * 2 / pi * np.arcsin(2 * q / (1 + 2 * q)) + b2 == pytest.approx(q, rel=1e-7)


def test_relu_by_lines():
    found = phase_diagram("relu", (0.0, 1.0, 6), [0.8, 1.2, sqrt(2) * 1.01, 2.0])
    b2 = found.sigma_b**2
    assert found.q_star[1] == pytest.approx(b2 / (1 - 0.72), rel=1e-13)
    assert (found.phase[:2] == "o").all()
    assert (found.phase[2:, 1:] == "n").all()
    assert (found.phase[2:, 0] == "u").all()
    (point,) = found.critical
    assert (point.sigma_b[0], point.sigma_w[0]) == (0, pytest.approx(sqrt(2), rel=1e-13))


def test_gelu_has_an_unstable_fixed_point():
    # At sigma_w^2 = 2.1, sigma_b = 0: q* = 3.105368.. repels, q = 3 goes to 0 and q = 10 to infinity.
    axes = {"sigma_b": [0.0, 0.1], "sigma_w": [1.0, sqrt(2.1)]}
    low, high = (phase_diagram("gelu", **axes, start=q) for q in (3.0, 10.0))
    assert low.q_star[1, 0] == 0
    assert low.phase[1, 0] == "o"
    assert high.phase[1, 0] == "u"
    assert np.isnan(high.q_star[1, 0])


def test_gelu_changes_stability_where_balls_say():
    found = phase_diagram("gelu", (0.1, 1.0, 12), (1.2, 2.0, 12), contours={})
    words = {line.stable for line in found.critical}
    assert words == {True, False}
    for b2, stable in (("0.05", False), ("0.7", True)):
        (point,) = edge(phi("gelu"), Fraction(b2), 12).points
        assert point.stable is stable
        line = next(p for p in found.critical if p.stable is stable)
        order = np.argsort(line.sigma_b)
        at = np.interp(sqrt(float(b2)), line.sigma_b[order], line.sigma_w[order])
        assert at == pytest.approx(sqrt(float(point.sigma_w2.mid())), rel=1e-4)


def test_a_falling_map_attracts():
    # exp(-b x^2): V = (1+4bq)^(-1/2) falls.
    found = phase_diagram("exp(-4*x**2)", [0.0, 0.1], [1.0, 8.0], contours={})
    for i, w in enumerate(found.sigma_w):
        q = 1.0
        for _ in range(4000):  # half a step, which always converges here
            q = (q + w * w / sqrt(1 + 16 * q)) / 2
        assert found.q_star[i, 0] == pytest.approx(q, rel=1e-6)
        chi = -8 * w * w * (1 + 16 * q) ** -1.5
        assert found.chi_parallel[i, 0] == pytest.approx(chi, rel=1e-5)
        assert -0.5 <= found.chi_parallel[i, 0] < 0
        assert found.phase[i, 0] in "oc"


def test_an_interrupted_grid_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 40)
    axes = ((0.0, 1.0, 20), (0.5, 2.0, 12))
    whole = phase_diagram("relu", *axes)
    folder, calls = tmp_path / "parts", []

    def stop(done, total):
        calls.append((done, total))
        if len(calls) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        phase_diagram("relu", *axes, progress=stop, folder=folder)
    assert calls[-1] == (120, 240)
    kept = sorted(folder.iterdir())
    assert len(kept) == 3
    assert all(p.suffix == ".npz" for p in kept)
    kept[1].write_bytes(kept[1].read_bytes()[:100])  # damaged: it is done again
    from gateproof.numerics.meanfield import phase_solve

    done = []
    solve = phase_solve.solve
    monkeypatch.setattr(phase_solve, "solve", lambda *a: done.append(1) or solve(*a))
    again = phase_diagram("relu", *axes, folder=folder)
    assert len(done) == 1 + 1 + 3  # the first look, the damaged block, those left
    for name in module.FIELDS:
        assert np.array_equal(getattr(again, name), getattr(whole, name), equal_nan=name != "phase")
    assert not folder.exists()


def test_another_computation_in_the_folder_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("kept")
    phase_diagram("relu", (0.0, 1.0, 5), (0.5, 2.0, 5), folder=tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]


def test_json_holds_the_diagram(erf, tmp_path):
    file = tmp_path / "erf.json"
    erf.write(file)
    read = json.loads(file.read_text())
    assert read == erf.as_json()
    assert len(read["phase"]) == 25
    assert set("".join(read["phase"])) <= set(read["legend"])
    assert float(read["chi_1"][3][4]) == pytest.approx(erf.chi_1[3, 4], rel=1e-6)
    assert read["critical_line"][0]["stable"] is True
    assert {n: list(levels) for n, levels in read["contours"].items()} == {
        "xi_c": ["10"], "q_star": ["0.5"], "chi_1": ["0.8", "1.2"],
    }  # fmt: skip
    assert set(read["contours"]["q_star"]["0.5"][0]) == {
        "sigma_b", "sigma_w", "q_star", "chi_parallel", "stable",
    }  # fmt: skip
    assert "q_star" not in erf.as_json(values=False)
    assert [p.name for p in tmp_path.iterdir()] == ["erf.json"]


def test_a_file_is_whole_or_not_there(erf, tmp_path, monkeypatch):
    file = tmp_path / "erf.json"
    file.write_text("old")

    def broken(*_):
        yield "kind", "phase-diagram"
        raise KeyboardInterrupt

    monkeypatch.setattr(module.PhaseDiagram, "_parts", broken)
    with pytest.raises(KeyboardInterrupt):
        erf.write(file)
    assert file.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["erf.json"]


def test_pictures_are_drawn_the_same_twice(erf, tmp_path):
    a, b, png = tmp_path / "a.svg", tmp_path / "b.svg", tmp_path / "a.png"
    figure = erf.plot(a)
    erf.plot(b)
    erf.plot(png)
    assert a.read_bytes() == b.read_bytes()
    assert png.read_bytes().startswith(b"\x89PNG")
    labels = [t.get_text() for t in figure.legends[0].get_texts()]
    assert "ordered" in labels
    assert "chaotic" in labels
    assert {r"$\xi_c$, layers", r"$q^*$"} <= set(labels)
    assert {t.get_text() for t in figure.axes[0].texts} == {"10", "0.5"}
    with pytest.raises(ValueError, match="ends in"):
        erf.plot(tmp_path / "a.gif")
    with pytest.raises(ValueError, match="ends in"):
        erf.write(tmp_path / "a.txt")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"sigma_b": (-0.1, 1.0, 5)}, "sigma_b"),
        ({"sigma_w": (0.0, 1.0, 5)}, "sigma_w"),
        ({"sigma_w": [2.0, 1.0]}, "sigma_w"),
        ({"sigma_b": [0.0, float("nan")]}, "sigma_b"),
        ({"start": 0.0}, "start"),
        ({"contours": {"xi_c": (0.0,)}}, "levels"),
        ({"contours": {"depth": (1.0,)}}, "contours of xi_c, q_star, chi_1"),
        ({"sigma_b": (0.0, 1.0, 10_000), "sigma_w": (0.5, 1.0, 10_000)}, "at most"),
    ],
)
def test_wrong_numbers_are_refused(arguments, word):
    with pytest.raises(ValueError, match=word):
        phase_diagram("relu", **arguments)


def test_variances_that_floats_do_not_resolve_end_what_is_looked_at(monkeypatch):
    variance = PlainEngine.variance

    def up_to_100(self, q):
        if np.max(q) > 100:
            raise ArithmeticError("too many features")
        return variance(self, q)

    monkeypatch.setattr(PlainEngine, "variance", up_to_100)
    found = phase_diagram("relu", [0.0, 0.5], [0.9, 1.0], contours={})
    # q* = sigma_b^2/(1 - sigma_w^2/2)
    assert found.q_star[1] == pytest.approx([0, 0.5])
    assert 60 < found.searched[1] <= 100
    with pytest.raises(RefusedActivation, match="below the start"):
        phase_diagram("relu", [0.0, 0.5], [0.9, 1.0], contours={}, start=1000.0)


def test_a_jump_is_refused():
    with pytest.raises(RefusedActivation, match="jumps"):
        phase_diagram("where(x > 0, 1, 0)")


@pytest.mark.deep
def test_a_million_points_in_bounded_memory(tmp_path):
    import subprocess
    import sys

    code = (
        "import resource\nfrom gateproof.numerics.meanfield.phase import phase_diagram\n"
        "seen = []\n"
        "d = phase_diagram('relu', (0., 1., 1000), (.5, 3., 1000), progress=lambda *a: seen.append(a))\n"
        "d = phase_diagram('tanh', (0., 1., 1000), (.5, 3., 1000), progress=lambda *a: seen.append(a))\n"
        "assert seen[-1] == (10**6, 10**6) and len(seen) > 20\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 1_500_000


def test_a_depth_that_no_variance_looked_at_has_is_no_line():
    # On so coarse a grid chaotic variances are few, and none of them has an xi_c of 100.
    found = phase_diagram("tanh", (0.0, 1.0, 5), (0.6, 2.6, 5))
    assert {n: tuple(levels) for n, levels in found.contours.items()} == module.CONTOURS
    assert {"o", "c"} == {*found.phase.flat}


def test_where_the_variance_goes_to_zero_the_scales_are_those_at_zero():
    # silu'(0) = 1/2: chi_1 = chi_parallel = sigma_w^2/4 at q = 0, to all digits.
    found = phase_diagram("silu", (0.0, 1.0, 3), (1.0, 1.5, 2), contours={})
    assert [found.q_star[i][0] for i in range(2)] == [0, 0]
    for i, w2 in enumerate((1.0, 2.25)):
        assert found.chi_1[i][0] == pytest.approx(w2 / 4, rel=1e-15)
        assert found.chi_parallel[i][0] == pytest.approx(w2 / 4, rel=1e-15)
        assert found.xi_c[i][0] == pytest.approx(-1 / log(w2 / 4), rel=1e-14)
