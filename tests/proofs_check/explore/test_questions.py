"""What the page of `gateproof explore` can ask, and what it refuses."""

from __future__ import annotations

import ast
import json
import math

import numpy as np
import pytest
from scipy import optimize
from scipy.special import erfc, expit

from gateproof.proofs_check.explore.questions import answer

GELU = {"tau": ["1.702"], "theta": ["0"], "slope": ["0", "1"], "intercept": ["0", "0"]}


def ask(question, target="gelu", gate=GELU, **more):
    return answer({"ask": question, "target": target, "gate": gate, **more})


def test_drawn_values_are_those_of_scipy():
    found = ask("draw", window=["-3", "5"])
    x = np.linspace(-3, 5, 301)
    assert found["x"] == pytest.approx(x, rel=1e-5, abs=1e-12)
    assert found["gate"] == pytest.approx(x * expit(1.702 * x), rel=1e-5, abs=1e-9)
    assert found["target"] == pytest.approx(x * erfc(-x / math.sqrt(2)) / 2, rel=1e-5, abs=1e-9)
    # Gate less target, also at the worst place, which is the left one of two.
    assert found["error"] == pytest.approx(np.array(found["gate"]) - np.array(found["target"]), abs=2e-5)
    assert found["worst"]["error"] == pytest.approx(-0.0203, abs=1e-4)
    assert abs(abs(found["worst"]["x"]) - 2.27) < 0.03
    assert found["gates"][1] == pytest.approx(expit(1.702 * x), rel=1e-5)
    assert found["lines"] == [[0.0] * len(x), pytest.approx(x, rel=1e-5)]


def test_a_value_that_is_not_finite_is_a_gap():
    found = ask("draw", "1/x", window=["-1", "1"])
    middle = found["x"].index(0.0)
    assert found["target"][middle] is None
    assert found["error"][middle] is None
    json.dumps(found, allow_nan=False)
    nowhere = ask("draw", "log(-1 - x**2)")
    assert nowhere["worst"] is None


@pytest.mark.parametrize(("target", "value"), [("0", 0.0), ("3", 3.0), ("x - x + 1/2", 0.5)])
def test_a_constant_is_a_target_too(target, value):
    flat = {"tau": [], "theta": [], "slope": ["0"], "intercept": ["1"]}
    found = ask("draw", target, flat)
    assert found["target"] == [value] * 301
    assert found["error"] == pytest.approx([1 - value] * 301)
    bound = ask("certify", target, flat)["value"]
    assert float(bound["lo"]) <= abs(1 - value) <= float(bound["hi"])
    assert ask("fit", target, k=1)["error"] == {"lo": "0", "hi": "0"}
    for form in ("torch", "c", "json"):
        assert list(ask("export", target, flat, form=form)) == ["text"]
    assert "write it with x" in ask("export", target, flat, form="triton")["refused"]


@pytest.mark.parametrize("target", ["log(x)", "1/x", "sqrt(x)", "x**2", "exp(x)", "sin(x)"])
def test_a_target_that_no_gate_fits_on_r_says_what_does(target):
    (refused,) = ask("fit", target, k=2).values()
    assert refused.endswith("a gate here is for all of R; gateproof fit takes an interval")


def test_the_bound_is_the_certified_one():
    # The largest difference sits where its derivative vanishes, near x = -2.27; SciPy's functions alone.
    def off(x):
        return x * (expit(1.702 * x) - erfc(-x / math.sqrt(2)) / 2)

    found = ask("certify")
    largest = -optimize.minimize_scalar(lambda x: -abs(off(x)), bounds=(-4, -1), options={"xatol": 1e-12}).fun
    grid = np.abs(off(np.linspace(-12, 12, 240_001))).max()
    assert largest >= grid
    assert float(found["value"]["lo"]) <= largest <= float(found["value"]["hi"])
    assert ask("certify", gate={**GELU, "slope": ["0", "2"]})["kind"] == "infinite"
    local = ask("certify", gate={**GELU, "slope": ["0", "2"]}, window=["0", "1"], local=True)
    assert float(local["value"]["lo"]) == pytest.approx(
        2 * expit(1.702) - (1 + math.erf(0.5**0.5)) / 2, abs=1e-5
    )


def test_kappa_of_tanh_at_its_inflection_is_two():
    rows = ask("kappa", "tanh")["target"]["rows"]
    assert [row["kappa"] for row in rows if row["reading"] == "inflection"] == ["2.00000"]


def test_the_edge_of_chaos_of_relu_is_he_initialisation():
    found = ask("field", "relu", sigma_b2="0")
    assert found["target"]["rows"][0]["sigma_w2"] == "2"


def test_the_best_gate_of_silu_is_silu():
    found = answer({"ask": "fit", "target": "silu", "k": 2})
    assert [float(t) for t in found["tau"]] == [1]
    assert float(found["error"]["hi"]) == 0
    assert found["evidence"] == "proved"


def test_exports_hold_the_numbers_of_the_gate():
    gate = {**GELU, "theta": ["0.125"]}
    python = ask("export", gate=gate, form="torch")["text"]
    ast.parse(python)
    assert "0.125" in python
    assert "#include" in ask("export", gate=gate, form="c")["text"]
    assert json.loads(ask("export", gate=gate, form="json")["text"])["theta"] == ["0.125"]
    assert "@triton.jit" in ask("export", gate=gate, form="triton")["text"]


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("", "empty"),
        (7, "empty"),
        ("x" * 400, "longer than 300"),
        ("x*tanh(", "column 8"),
        ("nosuch(x)", "nosuch"),
        ("y*2", "'y' is not x"),
        ("/etc/passwd", "column 1"),
        ("curve.csv", "attributes"),
        ("__import__('os').system('true')", "column"),
        ("sup(x, x in R)", "without sup"),
        ("(" * 200 + "x" + ")" * 90, ""),
        ("9**9**9**9*x", ""),
    ],
)
@pytest.mark.parametrize("question", ["fit", "draw", "certify", "field", "kappa"])
def test_a_bad_target_is_one_line(question, target, said):
    found = ask(question, target, k=2)
    assert list(found) == ["refused"]
    assert said in found["refused"]
    assert "\n" not in found["refused"]


@pytest.mark.parametrize(
    "gate",
    [
        None,
        {},
        {**GELU, "tau": []},
        {**GELU, "tau": ["-1"]},
        {**GELU, "tau": ["0"]},
        {**GELU, "tau": ["nan"]},
        {**GELU, "theta": ["1e99"]},
        {**GELU, "theta": [0]},
        {**GELU, "slope": ["0", "1; x"]},
        {**GELU, "slope": ["0"] * 9, "intercept": ["0"] * 9, "tau": ["1"] * 8, "theta": ["0"] * 8},
        {"tau": ["1", "1"], "theta": ["1", "0"], "slope": ["0"] * 3, "intercept": ["0"] * 3},
        {**GELU, "more": []},
    ],
)
def test_a_bad_gate_is_one_line(gate):
    found = ask("draw", gate=gate)
    assert list(found) == ["refused"]


@pytest.mark.parametrize(
    "task",
    [
        {},
        {"ask": "eval"},
        {"ask": ["fit"]},
        {"ask": "fit", "target": "gelu", "k": 99},
        {"ask": "fit", "target": "gelu", "k": True},
        {"ask": "fit", "target": "gelu", "k": 2, "sharpness": "wild"},
        {"ask": "draw", "target": "gelu", "gate": GELU, "window": ["3", "-3"]},
        {"ask": "draw", "target": "gelu", "gate": GELU, "window": ["-1e8", "3"]},
        {"ask": "field", "target": "gelu", "gate": GELU, "sigma_b2": "-1"},
        {"ask": "export", "target": "gelu", "gate": GELU, "form": "../../etc/passwd"},
    ],
)
def test_a_bad_question_is_refused(task):
    found = answer(task)
    assert "refused" in found or found["target"]["status"] == "refused"
