"""``gateproof certify --tolerance`` and ``--noise``: contract, exit codes, refusals."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from gateproof.proofs_check.api import RefusedError, certify
from gateproof.proofs_check.checker import verify
from gateproof.proofs_check.cli import main

GATE = "sup(abs(tg(x, tau=2, theta=[0], slope=[0, 1], intercept=[0, 0]) - relu(x)), x in R)"
#: W(1/e) = 0.27846454276107379510935873902298015543947748861974576545 (OEIS A202357).
W = Decimal("0.27846454276107379510935873902298")


def run(capsys, *words):
    code = main(["certify", *words, "--json", "-j", "1"])
    return code, json.loads(capsys.readouterr().out)


def test_the_worst_case_has_place_parameters_and_nominal_value(capsys):
    code, found = run(capsys, GATE, "--tolerance", "tau=5%", "--digits", "20")
    assert (code, found["kind"], found["digits"]) == (0, "value", 20)
    assert Decimal(found["value"]["lo"]) <= W / Decimal("1.9") <= Decimal(found["value"]["hi"])
    assert Decimal(found["nominal"]["lo"]) <= W / 2 <= Decimal(found["nominal"]["hi"])
    (gate,) = found["worst"]["gates"]
    assert gate["tau"] == [{"lo": "1.9", "hi": "1.9"}]
    assert set(found["worst"]["at"]) == {"x"}
    assert found["tolerance"] == {"tau": "5%"}
    assert verify(found["certificate"]).accepted


def test_the_terminal_says_the_same(capsys):
    assert main(["certify", GATE, "--tolerance", "tau=5%", "--digits", "6", "-j", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "[0.146560, 0.146561]"
    assert "with tau = [1.9], theta = [0], slope = [0, 1], intercept = [0, 0]" in lines
    assert "nominal: [0.139232, 0.139233]" in lines
    assert "tolerance: tau 5%" in lines


@pytest.mark.parametrize(
    ("bound", "truth", "verdict"),
    [("0.1466", True, "certified"), ("0.1465", False, "refuted")],
)
def test_a_bound_for_all_devices(capsys, bound, truth, verdict):
    for text in (f"{GATE} <= {bound}", f"{bound} > {GATE}"):
        code, found = run(capsys, text, "--tolerance", "tau=5%")
        assert (code, found["kind"], found["value"], found["verdict"]) == (0, "boolean", truth, verdict)


def test_a_rejected_certificate_certifies_nothing(capsys, monkeypatch):
    from gateproof.proofs_check import checker

    monkeypatch.setattr(checker, "verify", lambda _: checker.Verdict(False, "a test"))
    for text in (GATE, f"{GATE} <= 0.2", f"{GATE} <= 0.1"):
        code, found = run(capsys, text, "--tolerance", "tau=5%")
        assert (code, found["value"], found["certificate"]) == (4, None, None)
        assert found["reason"] == "the certificate is rejected: a test"


def test_infinite_says_what_to_do(capsys):
    code, found = run(capsys, GATE, "--tolerance", "slope=1%")
    assert (code, found["kind"], found["value"]) == (0, "infinite", {"lo": "oo", "hi": "oo"})
    assert "give a finite domain" in found["reason"]
    # On [-8, 8] the same gate is off by 8 * 1 % more at an end at most.
    code, found = run(capsys, GATE.replace("x in R", "x in [-8, 8]"), "--tolerance", "slope=1%")
    assert (code, found["kind"]) == (0, "value")


def test_more_digits_than_there_are_is_4_only_if_asked_for(capsys):
    # A maximum inside in two names: boxes shrink with the digits.
    bump = "tg(x, tau=2, theta=[0], slope=[0, 0], intercept=[0, 1])*exp(-x**2)"
    text = f"sup({bump}*(1 - t**2), x in R, t in [-1, 1])"
    code, found = run(capsys, text, "--tolerance", "tau=1%")
    assert code == (0 if found["digits"] >= 6 else 4)
    code, found = run(capsys, text, "--tolerance", "tau=1%", "--digits", "300")
    assert code == 4
    assert "digits within the budget" in found["reason"]


def test_the_sample_is_the_same_for_any_number_of_processes(gateproof):
    words = ("certify", GATE, "--noise", "tau=5%", "--samples", "50", "--seed", "9", "--json")
    one, four = (json.loads(gateproof(*words, "-j", n).stdout) for n in ("1", "4"))
    assert one["noise"] == four["noise"]
    assert one["noise"]["seed"] == 9
    assert one["noise"]["sizes"] == {"tau": "5%"}
    assert one["noise"]["evidence"] == "sampling"
    assert "verdict" not in one["noise"]


@pytest.mark.parametrize(
    ("bound", "verdict"),
    # The quantiles of W(1/e)/t for t normal (2, 0.1): 95 % below W(1/e)/(2 - 1.645 * 0.1) = 0.1517.
    [("0.160", "supported"), ("0.1517", "inconclusive"), ("0.145", "unsupported")],
)
def test_a_sample_supports_and_never_certifies(capsys, bound, verdict):
    code, found = run(capsys, f"{GATE} <= {bound}", "--noise", "tau=5%", "--samples", "400")
    assert found["noise"]["verdict"] == verdict
    assert "95" in found["noise"]["criterion"]
    beyond = found["noise"]["beyond"]
    assert float(beyond["lo"]) <= float(beyond["share"]) <= float(beyond["hi"])
    # The statement itself is about the nominal gate, whose error is 0.1392.
    assert (code, found["value"], found["verdict"]) == (0, True, "certified")


def test_the_interval_of_the_median_holds_the_true_one(capsys):
    _, found = run(capsys, GATE, "--noise", "tau=5%", "--samples", "400")
    part = found["noise"]["median"]
    assert float(part["lo"]) <= float(W) / 2 <= float(part["hi"])
    # 400 devices are enough for both ends of the 99 % quantile, 100 are not.
    assert found["noise"]["q99"]["hi"] is not None
    _, found = run(capsys, GATE, "--noise", "tau=5%", "--samples", "100")
    assert found["noise"]["q99"]["hi"] is None


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ([GATE, "--tolerance", "tau"], "--tolerance tau: give a size >= 0 too"),
        ([GATE, "--tolerance", "tau=-1%"], "give a size >= 0"),
        ([GATE, "--tolerance", "tau=nan"], "give a size >= 0"),
        ([GATE, "--tolerance", "beta=1%"], "the parameters are tau, theta, slope, intercept"),
        ([GATE, "--tolerance", "tau=1%", "--tolerance", "tau=2%"], "given twice"),
        ([GATE, "--tolerance", "tau=200%"], "--tolerance tau: within 200% of its value it reaches 0"),
        ([GATE, "--tolerance", "tau=1%", "--coq", "theorem.v"], "leave out --tolerance"),
        ([GATE, "--samples", "10"], "--samples is for --noise"),
        ([GATE, "--noise", "slope=1%"], "--noise slope: off by anything"),
        ([GATE, "--noise", "theta=1%"], "--noise theta: nothing varies; a part in % of 0 is 0"),
        (
            ["sup(silu(x), x in [0, 1])", "--tolerance", "tau=1%"],
            "--tolerance: it is for the parameters of tg(...)",
        ),
        (["1 + 1", "--tolerance", "tau=1%"], "tolerances and noise are for sup"),
        ([f"{GATE} >= 0.1", "--tolerance", "tau=1%"], "tolerances and noise are for sup"),
        (["tg(x, tau=1, theta=[0], slope=[0, 1], intercept=[0, 0])", "--tolerance", "tau=1%"], "not bound"),
    ],
)
def test_refusals_are_one_line(capsys, words, part):
    assert main(["certify", *words, "-j", "1"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert part in err


def test_python_takes_the_same():
    found = certify(GATE, 8, tolerance={"tau": "5%"})
    assert found["nominal"] == certify(GATE, 8)["value"]
    with pytest.raises(RefusedError, match="the parameters are"):
        certify(GATE, tolerance={"width": "5%"})
    with pytest.raises(RefusedError, match=r"digits '12': give a whole number from 1 to 1000"):
        certify(GATE, digits="12")
    with pytest.raises(RefusedError, match=r"3: give a formula as text"):
        certify(3)
    with pytest.raises(RefusedError, match=r"samples 0: give a whole number"):
        certify(GATE, noise={"tau": "5%"}, samples=0)
    with pytest.raises(RefusedError, match=r"tolerance 'tau=5%': give sizes by parameter"):
        certify(GATE, tolerance="tau=5%")


def test_a_point_in_several_names_is_near_and_no_interval(capsys):
    assert main(["certify", "sup(x*exp(-x)*t, x in [0, 3], t in [1, 2])", "--digits", "6", "-j", "1"]) == 0
    # The argmax is x = 1, t = 2, the value 2/e.
    (line,) = (s for s in capsys.readouterr().out.splitlines() if "x = " in s)
    found = dict(part.split(" = ") for part in line.removeprefix("near ").split(", "))
    assert line.startswith("near ")
    assert abs(float(found["x"]) - 1) < 1e-3
    assert float(found["t"]) == 2
    assert main(["certify", GATE, "--tolerance", "tau=5%", "-j", "1"]) == 0
    assert "\nnear x = " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("bound", "said"),
    [
        ("0.160", "supported: at least 95 % of the devices keep the bound, with confidence 95 %"),
        ("0.145", "unsupported: fewer than 95 % of the devices keep the bound, with confidence 95 %"),
    ],
)
def test_the_verdict_of_a_sample_in_words(capsys, bound, said):
    words = ["--noise", "tau=5%", "--samples", "400", "-j", "1"]
    assert main(["certify", f"{GATE} <= {bound}", *words]) == 0
    assert f"  {said}\n" in capsys.readouterr().out


def test_one_device(capsys):
    assert main(["certify", GATE, "--noise", "tau=5%", "--samples", "1", "-j", "1"]) == 0
    out = capsys.readouterr().out
    assert "; 1 device, seed 0" in out
