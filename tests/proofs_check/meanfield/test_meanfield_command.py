"""``gateproof meanfield``: right numbers, all digits of them, and one line for what is refused."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from edges_of_chaos import tanh_rates
from mpmath import mp, mpf

from gateproof.proofs_check.cli import main

POINT = {"sigma_w2", "q_star", "chi_1", "chi_parallel", "stable", "beta_q", "xi_q", "xi_c"}
EDGE = ("--sigma-b2", "0.05", "--eoc")


def run(capsys, *words):
    code = main(["meanfield", *words, "--json"])
    out = capsys.readouterr().out
    return code, json.loads(out) if out else None


def only(capsys, *words):
    code, found = run(capsys, *words)
    assert code == 0
    assert found["certified"] is True
    [point] = found["points"]
    return point


def agrees(text, value, digits):
    """Whether the decimal is the value rounded to so many digits."""
    with mp.workdps(digits + 30):
        unit = mpf(10) ** (mp.floor(mp.log10(abs(value))) + 1 - digits)
        return abs(mpf(text) - value) <= unit * mpf("0.5000001") and _length(text) == digits


def _length(text):
    return len(Decimal(text).as_tuple().digits)


def test_tanh_to_21_digits(capsys):
    code, found = run(capsys, "tanh", *EDGE, "--digits", "21")
    assert code == 0
    assert set(found) >= {"points", "status", "reason", "searched", "certified"}
    [point] = found["points"]
    assert set(point) >= POINT
    assert (found["status"], found["certified"], found["searched"]) == (
        "ok",
        True,
        {"lo": "0.05", "hi": "oo"},
    )
    # Published digits, and those of case M01.
    assert point["sigma_w2"] == "1.76095463960673913163"
    assert point["q_star"].startswith("0.57004788164076")
    assert (point["chi_1"], point["xi_c"], point["stable"], point["law"]) == ("1", "oo", True, "l^-1")


@pytest.mark.parametrize(
    ("name", "s", "w", "q"),
    [
        ("tanh", "0.01", "1.4242052904886", "0.273300913458231"),
        ("erf", "0.05", "1.37583900735", "0.517176837981"),
    ],
)
def test_published_points(capsys, name, s, w, q):
    point = only(capsys, name, "--sigma-b2", s, "--eoc")
    assert abs(mpf(point["sigma_w2"]) - mpf(w)) < mpf("1e-11")
    assert abs(mpf(point["q_star"]) - mpf(q)) < mpf("1e-11")


@pytest.mark.parametrize("digits", [1, 2, 15, 45])
def test_sin_by_its_closed_forms(capsys, digits):
    # V = (1 - exp(-2 q))/2 = E phi''^2 and D = (1 + exp(-2 q))/2, so that q - s = tanh(q) on the edge.
    point = only(capsys, "sin(x)", *EDGE, "--digits", str(digits))
    with mp.workdps(digits + 40):
        q = mp.findroot(lambda x: x - mpf("0.05") - mp.tanh(x), mpf("0.55"))
        v, d = -mp.expm1(-2 * q) / 2, (1 + mp.exp(-2 * q)) / 2
        a, b = v * q / (2 * d), q * q / 6
        right = {
            "q_star": q, "sigma_w2": 1 / d, "chi_parallel": mp.exp(-2 * q) / d, "beta_q": 1 / a,
            "xi_q": -1 / mp.log(mp.exp(-2 * q) / d), "log_factor": (a * a - b) / a,
        }  # fmt: skip
        for name, value in right.items():
            assert agrees(point[name], value, digits), name
            lo, hi = (mpf(point["enclosures"][name][end]) for end in ("lo", "hi"))
            assert lo <= value <= hi, name


def test_exp_by_its_closed_forms(capsys):
    # V = D = exp(2 q): q = 1 + s, sigma_w^2 = exp(-2 q), chi_par = 2, and E phi''^2 = D.
    point = only(capsys, "exp(x)", *EDGE)
    assert agrees(point["sigma_w2"], mp.exp(mpf("-2.1")), 15)
    assert (mpf(point["q_star"]), mpf(point["chi_parallel"]), point["stable"]) == (mpf("1.05"), 2, False)
    assert agrees(point["beta_q"], 2 / mpf("1.05"), 15)
    assert agrees(point["xi_q"], -1 / mp.log(2), 15)


def test_erf_off_the_edge_has_the_correlation_of_its_arcsine(capsys):
    point = only(capsys, "erf", "--sigma-b2", "0.05", "--sigma-w2", "1.5")
    with mp.workdps(40):
        w, s = mpf("1.5"), mpf("0.05")
        q = mp.findroot(lambda x: w * 2 / mp.pi * mp.asin(2 * x / (1 + 2 * x)) + s - x, mpf("0.6"))
        c = mp.findroot(lambda x: (w * 2 / mp.pi * mp.asin(2 * q * x / (1 + 2 * q)) + s) / q - x, mpf("0.8"))
        slope = w * 4 / mp.pi / mp.sqrt((1 + 2 * q) ** 2 - (2 * q * c) ** 2)
        chi_1 = w * 4 / mp.pi / mp.sqrt(1 + 4 * q)
        right = {"q_star": q, "c_star": c, "xi_c": -1 / mp.log(slope), "xi_gradient": 1 / mp.log(chi_1)}
        assert {name for name, value in right.items() if not agrees(point[name], value, 15)} == set()
    assert point["estimated"] == []


def test_where_correlations_go_to_1_they_fall_like_chi_1(capsys):
    code, found = run(capsys, "gelu", "--sigma-b2", "0.05", "--sigma-w2", "2")
    assert code == 0
    low, high = found["points"]
    assert (low["stable"], high["stable"], low["c_star"]) == (True, False, "1")
    assert low["xi_c"] == low["xi_gradient"]
    assert abs(mpf(low["xi_c"]) + 1 / mp.log(mpf(low["chi_1"]))) < mpf("1e-12")


def test_gelu_without_biases_has_its_unstable_fixed_point(capsys):
    _, found = run(capsys, "gelu", "--sigma-b2", "0", "--sigma-w2", "2.1")
    assert [(p["q_star"], p["stable"]) for p in found["points"]] == [("0", True), ("3.10536821884788", False)]
    # 1/log(2.1 D) by mpmath's quad: 19.15157889328916.
    assert found["points"][1]["xi_gradient"] == "19.1515788932892"


@pytest.mark.parametrize(("name", "stable"), [("silu", False), ("gelu", False)])
def test_the_stability_of_silu_and_gelu_turns(capsys, name, stable):
    assert only(capsys, name, "--sigma-b2", "0.05", "--eoc")["stable"] is stable
    assert only(capsys, name, "--sigma-b2", "0.7", "--eoc")["stable"] is not stable


def test_softplus_has_none(capsys):
    code, found = run(capsys, "softplus", *EDGE)
    assert (code, found["status"], found["points"], found["certified"]) == (0, "none", [], True)
    assert found["searched"]["hi"] == "oo"


def test_relu_keeps_every_variance(capsys):
    code, found = run(capsys, "relu", "--sigma-b2", "0", "--eoc")
    assert (code, found["status"]) == (0, "scale-invariant")
    [point] = found["points"]
    assert (point["sigma_w2"], point["chi_1"], point["chi_parallel"], point["any_q"]) == ("2", "1", "1", True)
    assert (point["law"], point["beta_q"], point["double_critical"]) == ("l^-2", None, True)
    assert agrees(point["limit"], 9 * mp.pi**2 / 2, 15)
    assert run(capsys, "relu", *EDGE)[1]["status"] == "none"


def test_tanh_without_biases_is_degenerate(capsys):
    code, found = run(capsys, "tanh", "--sigma-b2", "0", "--eoc")
    assert (code, found["status"]) == (0, "degenerate")
    [point] = found["points"]
    assert (point["sigma_w2"], point["q_star"], point["chi_1"]) == ("1", "0", "1")


def test_hardtanh_falls_like_the_square(capsys):
    point = only(capsys, "hardtanh", *EDGE, "--digits", "20")
    with mp.workdps(40):
        # E phi'^2 = P(|u| < 1); two jumps of phi' of size 1 at +-1.
        q = mpf(point["enclosures"]["q_star"]["lo"])
        w = 1 / mp.erf(1 / mp.sqrt(2 * q))
        s = 2 * w / 3 * mp.sqrt(q / mp.pi) * 2 * mp.exp(-1 / (2 * q)) / mp.sqrt(2 * mp.pi * q)
        assert agrees(point["sigma_w2"], w, 20)
        assert abs(mpf(point["limit"]) * s**2 / 4 - 1) < mpf("1e-18")
    assert point["law"] == "l^-2"


def test_what_is_estimated_says_so(capsys):
    words = ("silu", "--sigma-b2", "0.7", "--sigma-w2", "1.975", "--digits", "6")
    _, found = run(capsys, *words)
    point = next(p for p in found["points"] if p["stable"])
    assert sorted(point["estimated"]) == ["c_star", "xi_c"]
    assert set(point["enclosures"]).isdisjoint(point["estimated"])
    assert "~ by estimate" in shown(capsys, *words)


def shown(capsys, *words):
    assert main(["meanfield", *words]) == 0
    return capsys.readouterr().out


def test_a_curve_is_a_list_of_points(capsys):
    code, found = run(capsys, "tanh", "--eoc", "--curve", "0.1:0.3:3", "--digits", "8")
    assert code == 0
    assert [p["sigma_b2"] for p in found["points"]] == ["0.1", "0.2", "0.3"]
    assert [row["points"] for row in found["curve"]] == [1, 1, 1]
    assert found["sigma_b2"] is None
    one = only(capsys, "tanh", "--sigma-b2", "0.2", "--eoc", "--digits", "8")
    assert found["points"][1] == one
    _, listed = run(capsys, "tanh", "--eoc", "--sigma-b2", "0.2", "--sigma-b2", "0", "--digits", "8")
    assert [(p["sigma_b2"], p["q_star"] == "0") for p in listed["points"]] == [("0.2", False), ("0", True)]
    text = shown(capsys, "tanh", "--eoc", "--curve", "0.1:0.3:3", "--digits", "8")
    assert len({len(line.split()) for line in text.split("\n")[2:6]}) == 1


def test_folds_and_double_critical_points(capsys):
    code, found = run(capsys, "x**2", "--sigma-b2", "0.05", "--folds")
    # V = 3 q^2: 3 w q^2 + s = q is tangent at q = 2 s, w = 1/(12 s).
    assert code == 0
    [fold] = found["points"]
    assert (mpf(fold["q_star"]), fold["chi_parallel"]) == (mpf("0.1"), "1")
    assert agrees(fold["sigma_w2"], 1 / (12 * mpf("0.05")), 15)
    assert [d["kind"] for d in found["also"]] == ["folds of the edge of chaos", "double-critical points"]
    _, silu = run(capsys, "silu", "--sigma-b2", "0.05", "--folds", "--range", "10,20")
    [double] = silu["also"][1]["points"]
    assert (double["chi_1"], double["chi_parallel"], double["double_critical"]) == ("1", "1", True)
    # Its stability turns between 0.05 and 0.7.
    assert 0.05 < float(double["sigma_b2"]) < 0.7


def test_a_range_is_kept_to(capsys):
    _, found = run(capsys, "tanh", *EDGE, "--range", "0,0.5")
    assert (found["status"], found["searched"]) == ("none", {"lo": "0.05", "hi": "0.5"})
    _, found = run(capsys, "tanh", *EDGE, "--range", "0.5,3")
    assert (found["status"], found["searched"]["hi"]) == ("ok", "3")
    _, found = run(capsys, "tanh", *EDGE, "--range", "1,3")
    assert (found["status"], found["points"]) == ("none", [])


RELU = ("relu", "--sigma-b2", "0.05", "--sigma-w2", "1")  # q* = s/(1 - w/2) = 0.1


@pytest.mark.parametrize(
    ("words", "range_", "status", "searched"),
    [
        (RELU, "0,0.09", "none", ("0.05", "0.09")),
        (RELU, "0.05,0.1", "ok", ("0.05", "0.1")),
        (RELU, "0.11,1", "none", ("0.11", "1")),
        # Fixed points are at least sigma_b^2, so that nothing is looked for below.
        (("tanh", "--sigma-b2", "2", "--eoc"), "0,1", "none", ("0", "1")),
        (("tanh", "--sigma-b2", "2", "--eoc"), "0,2.1", "none", ("2", "2.1")),
        (("tanh", *EDGE), "0,0.06", "none", ("0.05", "0.06")),
        # q* = 0, outside of the range.
        (("tanh", "--sigma-b2", "0", "--eoc"), "0.5,1", "none", ("0.5", "1")),
        (("relu", "--sigma-b2", "0", "--eoc"), "3,4", "scale-invariant", ("3", "4")),
        (("tanh", *EDGE, "--engine", "mp"), "0.6,0.65", "none", ("0.6", "0.65")),
    ],
)
def test_a_range_is_neither_longer_nor_shorter_than_asked(capsys, words, range_, status, searched):
    code, found = run(capsys, *words, "--range", range_)
    assert (code, found["status"]) == (0, status)
    assert tuple(found["searched"].values()) == searched
    lo, hi = map(mpf, searched)
    assert all(lo <= mpf(p["q_star"]) <= hi for p in found["points"])


def test_what_of_a_range_was_not_reached_is_open(capsys, monkeypatch):
    from flint import arb

    from gateproof.numerics.meanfield import edge, far_out

    monkeypatch.setattr(edge, "edge_far", lambda *_: None)
    monkeypatch.setattr(far_out, "reachable", lambda *_: arb(5))
    code, found = run(capsys, "sin(x)", *EDGE, "--range", "0.01,20")
    assert (code, found["certified"], found["searched"]) == (4, False, {"lo": "0.05", "hi": "20"})
    assert [(mpf(v["lo"]), mpf(v["hi"])) for v in found["open"]] == [(5, 20)]
    assert "from 5 to 20 the means are not enclosed" in found["reason"]
    # q - s = tanh(q) on the edge.
    q = mp.findroot(lambda x: x - mpf("0.05") - mp.tanh(x), mpf("0.55"))
    assert agrees(found["points"][0]["q_star"], q, 15)


def test_a_formula_may_begin_with_a_minus(capsys):
    assert only(capsys, "-tanh(x)", *EDGE)["sigma_w2"] == "1.76095463960674"


def test_the_document_of_a_fit_is_a_target(capsys, tmp_path):
    file = tmp_path / "fit.json"
    file.write_text('{"tau": ["1"], "theta": ["0"], "slope": ["0", "1"], "intercept": ["0", "0"]}')
    found, silu = only(capsys, str(file), *EDGE), only(capsys, "silu", *EDGE)
    assert found["sigma_w2"] == silu["sigma_w2"]


def test_other_engines_agree_and_prove_nothing(capsys):
    for engine, near in (("mp", "1e-14"), ("fast", "1e-11")):
        code, found = run(capsys, "tanh", *EDGE, "--engine", engine)
        assert (code, found["certified"], found["engine"]) == (0, False, engine)
        [point] = found["points"]
        assert abs(mpf(point["sigma_w2"]) - mpf("1.76095463960673913163")) < mpf(near)
        assert abs(mpf(point["beta_q"]) - mpf(tanh_rates()[0])) < mpf("1e-10")
        assert "q_star" in point["estimated"]


def test_jumps_have_fixed_points_of_the_variance(capsys):
    # V = 1/2 for a step: q* = w/2 + s.
    code, found = run(capsys, "where(x < 0, 0, 1)", "--sigma-b2", "0.05", "--sigma-w2", "2")
    [point] = found["points"]
    assert (code, found["certified"]) == (0, True)
    assert (mpf(point["q_star"]), point["chi_1"], point["c_star"]) == (mpf("1.05"), "oo", None)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ((*EDGE,), "give a target"),
        (("tanh", "--sigma-b2", "-1", "--eoc"), "a variance is at least 0"),
        (("tanh", "--sigma-b2", "nan", "--eoc"), "give a number"),
        (("tanh", "--sigma-b2", "inf", "--eoc"), "give a number"),
        (("tanh", "--sigma-b2", "1e999", "--eoc"), "1e-60 to 1e60"),
        (("tanh", "--sigma-b2", "", "--eoc"), "give a number"),
        (("tanh", "--sigma-b2", "1/0", "--eoc"), "give a number"),
        (("tanh", "--eoc"), "give the variance of the biases"),
        (("tanh", "--sigma-b2", "0.05"), "give one of --eoc, --sigma-w2 W, --folds, --init"),
        (("tanh", *EDGE, "--sigma-w2", "1"), "give one of --eoc"),
        (("tanh", "--sigma-b2", "0.05", "--sigma-w2", "0"), "more than 0"),
        (("tanh", "--sigma-b2", "0.05", "--sigma-w2", "-2"), "more than 0"),
        (("nosuch", *EDGE), "is not known"),
        (("tnah", *EDGE), "did you mean 'tanh'?"),
        (("", *EDGE), "empty"),
        (("sign", *EDGE), "jumps"),
        (("where(x < 0, 0, 1)", *EDGE), "chi_1 is infinite"),
        (("log(x)", *EDGE), "has no value at some x"),
        (("1/x", *EDGE), "has no value"),
        (("sqrt(x)", *EDGE), "has no value"),
        (("exp(x*x)", *EDGE), "growth is not bounded"),
        (("x*y", *EDGE), "'y' is not x"),
        (("tanh(", *EDGE), "column"),
        (("missing.json", *EDGE), "no such file"),
        (("tanh", *EDGE, "--digits", "0"), "give a whole number"),
        (("tanh", *EDGE, "--digits", "1000000"), "give a whole number"),
        (("tanh", *EDGE, "--digits", "251"), "from 1 to 250"),
        (("tanh", *EDGE, "--engine", "exact"), "give one of certified, mp, fast"),
        (("tanh", *EDGE, "--range", "1"), "least and the largest"),
        (("tanh", *EDGE, "--range", "2,1"), "0 <= lo < hi"),
        (("tanh", "--eoc", "--curve", "0:1"), "LO:HI:N"),
        (("tanh", "--eoc", "--curve", "1:0:5"), "LO < HI"),
        (("tanh", "--eoc", "--curve", "0:1:1"), "N from 2"),
        (("tanh", *EDGE, "--curve", "0:1:3"), "not both"),
        (("tanh", "--sigma-b2", "0.05", "--folds", "--engine", "mp"), "--engine certified"),
        (("tanh", "--sigma-b2", "0.05", "--folds", "--range", "0,1"), "variances > 0"),
    ],
)
def test_bad_input_is_refused_in_one_line(capsys, words, part):
    assert main(["meanfield", *words]) == 2
    out = capsys.readouterr()
    assert out.out == ""
    assert out.err.count("\n") == 1
    assert part in out.err


def test_what_is_left_undecided_ends_with_4(capsys):
    # So near to 0 the curve is flatter than the boxes tell.
    code, found = run(capsys, "tanh", "--sigma-b2", "1e-50", "--eoc", "--digits", "3")
    assert (code, found["certified"]) == (4, False)
    assert found["open"] != []


def test_the_clock_stops_it(capsys):
    assert main(["meanfield", "silu(x)*tanh(x)", *EDGE, "--timeout", "0.001"]) == 1
    assert "stopped after" in capsys.readouterr().err
