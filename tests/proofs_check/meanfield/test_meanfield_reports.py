"""``gateproof meanfield``: largest depths, basins, --beside, --kappa, and what Ctrl-C leaves of a curve."""

from __future__ import annotations

import json
import sys
from fractions import Fraction

import pytest
from edges_of_chaos import tanh_rates
from mpmath import mp, mpf

from gateproof.proofs_check.cli import main

EDGE = ("--sigma-b2", "0.05", "--eoc")


def run(capsys, *words):
    code = main(["meanfield", *words, "--json"])
    return code, json.loads(capsys.readouterr().out)


def only(capsys, *words):
    code, found = run(capsys, *words)
    assert (code, found["certified"]) == (0, True)
    [point] = found["points"]
    return point


def shown(capsys, *words):
    assert main(["meanfield", *words]) == 0
    return capsys.readouterr().out


def test_the_largest_depth_is_the_last_layer_apart(capsys):
    # erf on its edge from c = 0: R(c) = (w 2/pi asin(2 q c/(1 + 2 q)) + s)/q, layer by layer in mpmath.
    point = only(capsys, "erf", *EDGE, "--apart", "1/100")
    with mp.workdps(30):
        lo, hi = (mpf(point["enclosures"]["q_star"][end]) for end in ("lo", "hi"))
        q, w, s = (lo + hi) / 2, mpf(point["enclosures"]["sigma_w2"]["lo"]), mpf("0.05")
        c, layers = mpf(0), 0
        while 1 - (c := (w * 2 / mp.pi * mp.asin(2 * q * c / (1 + 2 * q)) + s) / q) >= mpf("0.01"):
            layers += 1
    assert (point["largest_depth"], "largest_depth" in point["estimated"]) == (str(layers), True)
    assert f"L_max      {layers} ~" in shown(capsys, "erf", *EDGE, "--apart", "0.01")
    assert only(capsys, "erf", *EDGE)["largest_depth"] is None


def test_a_largest_depth_that_is_not_reached_is_not_said_to_be_infinite(capsys):
    # It is about beta_q/E = 6e9 layers.
    assert only(capsys, "tanh", *EDGE, "--apart", "1e-9")["largest_depth"] is None
    assert "[10000000, oo] ~" in shown(capsys, "tanh", *EDGE, "--apart", "1e-9", "--digits", "3")
    # Of a line correlations stay.
    assert only(capsys, "x", "--sigma-b2", "0", "--eoc", "--apart", "0.1")["largest_depth"] == "oo"
    near = only(capsys, "erf", "--sigma-b2", "0.05", "--sigma-w2", "2", "--apart", "1e-20")
    assert (near["largest_depth"], "floats do not tell" in near["note"]) == (None, True)


def test_which_variances_go_to_a_fixed_point(capsys):
    _, found = run(capsys, "gelu", "--sigma-b2", "0", "--sigma-w2", "2.1")
    low, high = found["points"]
    assert (low["basin"]["lo"], high["basin"]) == ("0", None)
    assert abs(mpf(low["basin"]["hi"]) - mpf("3.10536821884788")) < mpf("1e-14")
    assert only(capsys, "tanh", "--sigma-b2", "0.05", "--sigma-w2", "2")["basin"] == {"lo": "0", "hi": "oo"}
    inside = only(capsys, "tanh", "--sigma-b2", "0.05", "--sigma-w2", "2", "--range", "0.5,2")
    assert inside["basin"] == {"lo": "0.5", "hi": "2"}
    # V = 1/sqrt(1 + 16 q) falls: variances jump over the fixed point.
    assert only(capsys, "exp(-4*x**2)", "--sigma-b2", "0", "--sigma-w2", "1")["basin"] is None
    assert "from q_0   0 to 3.10537 ~" in shown(capsys, "gelu", "--sigma-b2", "0", "--sigma-w2", "2.1")


def test_how_far_another_activation_moves_the_critical_point(capsys):
    # a phi has V and D times a^2: q* stays and sigma_w^2 is divided by a^2 = 1.21.
    code, found = run(capsys, "tanh", *EDGE, "--beside", "11/10*tanh(x)")
    [moved] = found["moved"]
    assert (code, found["kind"], found["certified"]) == (0, "critical shift", True)
    with mp.workdps(30):
        right = mpf("1.76095463960673913163") * (1 / mpf("1.21") - 1)
        lo, hi = (mpf(moved["shift"]["sigma_w2"][end]) for end in ("lo", "hi"))
        assert lo <= right <= hi
        assert hi - lo < mpf("1e-15")
    assert mpf(moved["shift"]["q_star"]["lo"]) <= 0 <= mpf(moved["shift"]["q_star"]["hi"])
    text = shown(capsys, "tanh", *EDGE, "--beside", "softplus")
    assert "the fit has no critical point" in text


def test_what_1_over_kappa_squared_predicts(capsys):
    code, found = run(capsys, "tanh", "--kappa", "--beside", "erf", "--beside", "sin(x)")
    beta, ratio = (float(x) for x in tanh_rates())
    assert (code, found["kind"], found["certified"]) == (0, "kappa law", False)
    inflection = next(r for r in found["readings"] if r["reading"] == "inflection")
    # tanh''' = -2 at 0.
    assert (inflection["kappa"], inflection["inverse_square"]) == ("2.0", "0.25")
    assert abs(float(inflection["curvature_ratio"]) / ratio - 1) < 1e-9
    assert abs(float(inflection["beta_q"]) * ratio / beta - 1) < 1e-9
    for law in (*found["laws"], *(law for law in found["over"] if law["exponent"])):
        lo, value, hi = (float(law["exponent"][key]) for key in ("lo", "value", "hi"))
        assert lo < value < hi
        assert law["exponent"]["admits_claimed"] is (lo <= -2 <= hi)
    assert len(found["over"]) == 9
    text = shown(capsys, "tanh", "--kappa")
    assert "beta_q = 6.17113 at" in text
    assert "95% interval" in text


def test_what_a_curve_found_before_it_was_stopped_is_printed(capsys, monkeypatch):
    from gateproof.numerics.meanfield.field import MeanField

    search = MeanField.edge_of_chaos

    def stopped(self, s, **how):
        if Fraction(s) > Fraction("0.15"):
            raise KeyboardInterrupt
        return search(self, s, **how)

    monkeypatch.setattr(MeanField, "edge_of_chaos", stopped)
    assert main(["meanfield", "tanh", "--eoc", "--curve", "0.1:0.3:3", "--json"]) == 1
    out = capsys.readouterr()
    found = json.loads(out.out)
    assert [p["sigma_b2"] for p in found["points"]] == ["0.1"]
    assert (found["certified"], found["reason"]) == (
        False, "points at 1 of 1 values of sigma_b^2; stopped before the last 2",
    )  # fmt: skip
    assert out.err == "gateproof: interrupted: 1 of 3 values of sigma_b^2 were searched\n"
    assert main(["meanfield", "tanh", "--eoc", "--curve", "0.1:0.3:3"]) == 1
    assert "certified: these are all as far as it went; stopped before the last 2" in capsys.readouterr().out
    assert main(["meanfield", "tanh", "--eoc", "--curve", "0.2:0.3:3"]) == 1
    out = capsys.readouterr()
    assert (out.out, out.err) == ("", "gateproof: interrupted: nothing was written\n")


@pytest.mark.parametrize(("engine", "package"), [("fast", "jax"), ("mp", "mpmath")])
def test_a_missing_engine_is_said_with_what_to_do(capsys, monkeypatch, engine, package):
    for name in [n for n in sys.modules if n.startswith("gateproof.numerics.meanfield.")]:
        if name.rsplit(".", 1)[1].startswith(engine):
            monkeypatch.delitem(sys.modules, name)
    for name in [n for n in sys.modules if n.split(".")[0] == package]:
        monkeypatch.setitem(sys.modules, name, None)
    assert main(["meanfield", "cosh(x) + x", *EDGE, "--engine", engine]) == 2
    out = capsys.readouterr()
    assert (out.out, out.err) == (
        "", f"gateproof: {package} is not installed: pip install {package}, or leave the engine out\n",
    )  # fmt: skip
