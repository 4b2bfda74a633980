"""Fits as values: compared, hashed, copied, pickled; arguments of other types; data on straight lines."""

from __future__ import annotations

import copy
import json
import math
import pickle
from decimal import Decimal

import numpy as np
import pytest

from gateproof import RefusedError, fit
from gateproof.proofs_check.cli import main
from gateproof.proofs_check.fitting_words import arguments


def through_a_pickle(value):
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - our own


@pytest.fixture(scope="module")
def tanh():
    return fit("tanh", 2)


def test_equal_calls_are_equal_and_hash_alike(tanh):
    again, other = fit("tanh", 2), fit("relu", 2)
    assert tanh == again
    assert hash(tanh) == hash(again)
    assert len({tanh, again, other}) == 2
    assert tanh != other
    assert tanh != "tanh"
    # The seed is part of what was asked.
    assert tanh != fit("tanh", 2, seed=1)


def test_copies_and_pickles_are_the_fit(tanh):
    x = np.linspace(-3, 3, 7)
    assert copy.copy(tanh) == copy.deepcopy(tanh) == tanh
    tanh.numpy(x)
    back = through_a_pickle(tanh)
    assert back == tanh
    np.testing.assert_allclose(back.target.function(x), np.tanh(x), rtol=1e-14)
    np.testing.assert_allclose(back.numpy(x), np.tanh(x), rtol=1e-14, atol=1e-15)
    assert back.to_json() == tanh.to_json()


def test_the_functions_of_a_pickle_are_made_again():
    found = through_a_pickle(fit("exp(x)", 1, domain="[0, 1]", norm="relative"))
    x = np.array([0.0, 0.5, 1.0])
    np.testing.assert_allclose(found.target.weight(x), np.exp(-x), rtol=1e-14)
    curve = fit((np.arange(9.0), np.arange(9.0) + 2), 1, norm="relative")
    back = through_a_pickle(curve)
    assert back == curve
    assert back.target.function(np.array([0.5]))[0] == 2.5
    assert back.target.weight(np.array([0.0]))[0] == 0.5


def test_a_function_is_not_pickled_in_one_line():
    found = fit(np.tanh, 1, domain=(-2, 2))
    assert found == fit(np.tanh, 1, domain=(-2, 2))
    with pytest.raises(TypeError, match="is a Python function; keep its to_json") as refused:
        pickle.dumps(found)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"tolerance": ["tau=1"]}, "sizes by parameter"),
        ({"tolerance": "tau=1"}, "sizes by parameter"),
        ({"tolerance": {"tua": "1%"}}, "tua"),
        ({"histogram": 5}, "path of a file"),
        ({"monotone": "no"}, "monotone 'no': give True or False"),
        ({"sharpness": "hard", "continuous": 1}, "continuous 1: give True or False"),
        ({"weight": "-1"}, "weight '-1' is negative"),
        ({"seed": -1}, "seed -1"),
        ({"ends": "free"}, "ends='slopes', or give domain"),
        ({"mu": np.float64("nan")}, "mu np.float64(nan)"),
    ],
)
def test_refusals_name_the_arguments(options, part):
    with pytest.raises(RefusedError) as refused:
        fit("gelu", **options)
    assert part in str(refused.value)
    assert "--" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_flags_become_arguments_and_formulas_stay():
    assert arguments("take -k 3, or --sharpness hard") == "take k=3, or sharpness='hard'"
    assert arguments("--max-coefficient 2") == "max_coefficient 2"
    assert arguments("x--weight and 3 -k -k") == "x--weight and 3 -k -k"


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.int32])
def test_whole_numbers_of_numpy(kind, tanh):
    assert fit("tanh", kind(2), seed=kind(0)) == tanh


@pytest.mark.parametrize("value", [np.float64(0.5), np.float32(0.5), Decimal("0.5"), "1/2"])
def test_numbers_of_other_libraries(value):
    found = fit("tanh", 2, mu=value, sigma=value)
    assert found.request.mu == found.request.sigma == Decimal("0.5")
    assert fit("relu", tol=value, sharpness="hard").k == 2


def test_a_picture_that_cannot_be_written_names_the_users_file(tanh, tmp_path):
    pytest.importorskip("matplotlib")
    with pytest.raises(OSError, match=r"none/x\.png'$") as refused:
        tanh.plot(str(tmp_path / "none" / "x.png"))
    assert refused.value.filename == str(tmp_path / "none" / "x.png")
    with pytest.raises(ValueError, match=r"x\.bmp"):
        tanh.plot("x.bmp")


def test_what_a_function_raises_on_r_suggests_an_interval():
    with pytest.raises(RefusedError, match=r"OverflowError.*give an interval with domain"):
        fit(math.exp)
    with pytest.raises(RefusedError, match=r"ValueError: no$"):
        fit(lambda _: exec_no(), domain=(-1, 1))


def exec_no():
    raise ValueError("no")


@pytest.mark.parametrize(
    ("formula", "root"), [("x - 1", "1"), ("tanh(x - 1/3)", "0.333333"), ("x + 2", "-2")]
)
def test_the_zero_of_a_relative_error_is_where_it_is(formula, root):
    with pytest.raises(RefusedError, match=rf"is 0 near x = {root};"):
        fit(formula, norm="relative")


# --- documents ------------------------------------------------------------------


def document(tmp_path, **more):
    path = tmp_path / "gate.json"
    gate = {"tau": ["2"], "theta": ["0"], "slope": ["0", "0"], "intercept": ["-1", "1"]}
    path.write_text(json.dumps({**gate, **more}))
    return str(path)


def test_the_domain_of_a_document_is_taken(tmp_path, capsys):
    path = document(tmp_path, domain="[-2, 3]")
    assert main(["fit", path, "-k", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["domain"] == "[-2, 3]"
    assert f"the domain [-2, 3] is that of {path}" in found["message"]
    assert main(["fit", path, "-k", "1", "--domain", "[-1, 1]", "--json"]) == 0
    other = json.loads(capsys.readouterr().out)
    assert other["domain"] == "[-1, 1]"
    # The best line near tanh on [-1, 1] touches it at +-c: tanh'(c) = m = tanh(1), so the error is at c.
    m = math.tanh(1)
    c = math.acosh(1 / math.sqrt(m))
    # Remez on an odd function: the error is odd, so the line m x with e(c) = -e(1) is the best.
    assert float(other["error"]["hi"]) <= abs(math.tanh(c) - m * c)
    assert fit(path, 2).status.value == "exact"


@pytest.mark.parametrize("domain", ["[3, -2]", "here", 5, "[0, 1e200]", ["0", "1"]])
def test_a_malformed_domain_of_a_document_is_refused(tmp_path, capsys, domain):
    path = document(tmp_path, domain=domain)
    assert main(["fit", path]) == 2
    shown = capsys.readouterr()
    assert (shown.out, shown.err.count("\n")) == ("", 1)
    assert path in shown.err
    assert "domain" in shown.err


def test_a_document_that_is_none_is_not_said_to_be_an_option(tmp_path, capsys):
    (tmp_path / "x.json").write_text("[")
    assert main(["fit", str(tmp_path / "x.json")]) == 2
    line = capsys.readouterr().err
    assert "the JSON document of a fit is expected" in line
    assert "--from" not in line


# --- data on straight lines -----------------------------------------------------

X = np.linspace(-3, 3, 601)


def numbers(found, key):
    return [float(v) for v in found.to_json()[key] if v != "oo"]


def test_a_measured_relu_is_a_hard_gate():
    found = fit((X, 1.7 * np.maximum(X - 0.305, 0)), 2)
    assert found.to_json()["tau"] == ["oo"]
    assert float(found.error.hi) < 1e-14
    assert numbers(found, "theta") == pytest.approx([0.305], abs=1e-9)
    assert numbers(found, "slope") == pytest.approx([0, 1.7], abs=1e-9)
    assert "straight lines to rounding" in found.message


def test_a_measured_step_and_a_clamp_are_hard_gates():
    step = fit((X[::3], np.where(X[::3] > 0.5, 1.0, 0.0)), 2)
    assert (step.to_json()["tau"], step.error.hi) == (["oo"], 0)
    assert numbers(step, "intercept") == [0, 1]
    clamp = fit((X, np.clip(X, -1, 1)), tol=0.01)
    assert (clamp.k, clamp.to_json()["theta"]) == (3, ["-1", "1"])
    # Two branches are not enough, and then a soft gate is looked for.
    assert fit((X, np.clip(X, -1, 1)), 2).to_json()["tau"] != ["oo"]


def test_data_that_bend_and_a_sharpness_asked_for_stay_soft():
    soft = fit((X[::3], np.maximum(X[::3], 0)), 2, sharpness="shared")
    assert soft.to_json()["tau"] != ["oo"]
    # Any few points lie on as many lines.
    few = fit((X[::200], np.tanh(X[::200])), 2)
    assert "oo" not in few.to_json()["tau"]
