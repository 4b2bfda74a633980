"""Targets and distributions that are not formulas, through the command and in Python."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from gateproof import fit
from gateproof.proofs_check.cli import main


def run(capsys, *words):
    assert main(["fit", *map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def tg(document, x):
    """The gate of a document, with one threshold."""
    (tau,), (theta,) = ([float(v) for v in document[key]] for key in ("tau", "theta"))
    (m, n), (a, b) = ([float(v) for v in document[key]] for key in ("slope", "intercept"))
    above = 1 / (1 + np.exp(-tau * (x - theta)))
    return (1 - above) * (m * x + a) + above * (n * x + b)


def gelu(x):
    return x * np.array([math.erfc(-v / math.sqrt(2)) / 2 for v in x])


@pytest.fixture(scope="module")
def samples():
    return np.random.default_rng(0).normal(0.5, 2.0, 4001)


def test_samples_of_inputs_are_the_distribution(tmp_path, capsys, samples):
    np.save(tmp_path / "inputs.npy", samples)
    found = run(capsys, "gelu", "--norm", "rms", "--histogram", tmp_path / "inputs.npy")
    mean = math.sqrt(np.mean((tg(found, samples) - gelu(samples)) ** 2))
    assert float(found["error"]["hi"]) == pytest.approx(mean, rel=1e-6)
    assert (found["evidence"], found["measure"].split()[:2]) == ("sampled", ["4001", "samples"])
    # The best gate for other inputs is worse for these.
    other = run(capsys, "gelu", "--norm", "rms")
    assert math.sqrt(np.mean((tg(other, samples) - gelu(samples)) ** 2)) > mean * 1.001


def test_bins_of_inputs_are_the_distribution(tmp_path, capsys):
    # Half of the inputs in [-2, 0], half in [0, 1]; within a bin they are spread evenly.
    (tmp_path / "bins.csv").write_text("lo,hi,count\n-2,0,10\n0,1,10\n")
    found = run(capsys, "gelu", "--norm", "rms", "--histogram", tmp_path / "bins.csv")
    x = (np.arange(20000) + 0.5) / 20000
    parts = [np.mean((tg(found, v) - gelu(v)) ** 2) for v in (-2 * x, x)]
    assert float(found["error"]["hi"]) == pytest.approx(math.sqrt(sum(parts) / 2), rel=1e-5)
    assert float(found["rms"]) == pytest.approx(math.sqrt(sum(parts) / 2), rel=1e-5)


def test_what_is_left_out_of_a_histogram_is_said(tmp_path, capsys):
    np.save(tmp_path / "inputs.npy", np.array([0.5, 1.5, np.nan, 2.5, 9.0]))
    found = run(capsys, "gelu", "--domain", "[0, 3]", "--histogram", tmp_path / "inputs.npy")
    assert "1 of 5 samples are not finite" in found["message"]
    assert "1 of 4 samples lie outside of [0, 3]" in found["message"]


@pytest.fixture(scope="module")
def curve():
    x = np.linspace(-4, 4, 81)
    # Half-way between two gates: no noise, so that the right answer is known.
    return x, gelu(x), np.full_like(x, 0.01)


def test_a_curve_with_standard_errors(tmp_path, capsys, curve):
    x, y, se = curve
    rows = "".join(
        f"{a!r},{b!r},{c!r}\n" for a, b, c in zip(x.tolist(), y.tolist(), se.tolist(), strict=True)
    )
    (tmp_path / "curve.csv").write_text(f"x,y,se\n{rows}")
    found = run(capsys, tmp_path / "curve.csv", "-k", "2")
    apart = np.abs(tg(found, x) - y)
    assert float(found["error"]["hi"]) == pytest.approx(apart.max(), rel=1e-6)
    assert (found["status"], found["certificate"]) == ("sampled", None)
    assert {float(a) for a in found["argmax"]} <= set(np.round(x[apart > 0.999 * apart.max()], 6))
    assert "chi^2 per degree of freedom" in found["message"]
    # Free lines at both ends do better on the interval than gates with the asymptotes of gelu.
    assert apart.max() < 1.392e-2


def test_an_array_file_is_the_same_curve(tmp_path, capsys, curve):
    x, y, _ = curve
    np.save(tmp_path / "curve.npy", np.column_stack([x, y]))
    found = run(capsys, tmp_path / "curve.npy", "-k", "2")
    assert float(found["error"]["hi"]) == pytest.approx(np.abs(tg(found, x) - y).max(), rel=1e-6)
    pair = fit((x, y), 2)
    assert float(pair.error.hi) == pytest.approx(float(found["error"]["hi"]), rel=1e-6)


def test_a_module_is_run_where_it_is_allowed(tmp_path, monkeypatch, capsys):
    pytest.importorskip("torch")
    (tmp_path / "activations_of_mine.py").write_text(
        "import torch\n\nsmooth = torch.nn.GELU()\n\n\n"
        "def plain(x):\n    return torch.nn.functional.silu(x)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    found = run(capsys, "--allow-code", "activations_of_mine:smooth", "-k", "2")
    assert (found["status"], found["evidence"], found["certificate"]) == ("sampled", "sampled", None)
    assert float(found["error"]["hi"]) == pytest.approx(1.39222e-2, rel=1e-4)
    # SiLU is a gate: on a sample the error is rounding.
    silu = run(capsys, "--allow-code", "activations_of_mine:plain", "-k", "2")
    assert float(silu["error"]["hi"]) < 1e-9
    assert main(["fit", "activations_of_mine:smooth", "-k", "2"]) == 2


def test_a_module_is_a_target_in_python():
    torch = pytest.importorskip("torch")
    found = fit(torch.nn.GELU(), 2)
    assert float(found.error.hi) == pytest.approx(1.39222e-2, rel=1e-4)
    assert found.status.value == "sampled"


def test_the_result_runs_in_other_libraries():
    found = fit("gelu", 2)
    x = np.linspace(-5, 5, 21)
    right = tg(found.to_json(), x)
    torch = pytest.importorskip("torch")
    np.testing.assert_allclose(found.torch(torch.tensor(x)).numpy(), right, rtol=1e-12, atol=1e-15)
    jax = pytest.importorskip("jax")
    np.testing.assert_allclose(
        np.asarray(found.jax(jax.numpy.asarray(x, dtype=jax.numpy.float32))), right, rtol=1e-5, atol=1e-6
    )


def test_the_error_outside_of_an_interval(capsys):
    # Constants outside of [-2, 2] stay bounded, and so does the distance from erf.
    found = run(capsys, "erf", "--domain", "[-2, 2]", "--family", "constant", "-k", "2")
    x = np.linspace(-40, 40, 8001)
    outside = np.abs(tg(found, x) - [math.erf(v) for v in x]).max()
    assert float(found["error_outside"]["lo"]) <= outside * (1 + 1e-4)
    assert float(found["error_outside"]["hi"]) >= outside * (1 - 1e-9)
    lines = run(capsys, "erf", "--domain", "[-2, 2]", "-k", "2", "--ends", "free")
    assert lines["error_outside"] == {"lo": "oo", "hi": "oo"}
    # Exact on the interval: tanh is that gate everywhere, |x| is that line on one side only.
    assert run(capsys, "tanh", "--domain", "[-2, 2]")["error_outside"] == {"lo": "0", "hi": "0"}
    assert run(capsys, "abs(x)", "--domain", "[0, 2]")["error_outside"] == {"lo": "oo", "hi": "oo"}
    assert run(capsys, "gelu")["error_outside"] is None


@pytest.mark.parametrize("word", ["-k3", "--branches=3"])
def test_a_number_may_be_joined_to_its_option(capsys, word):
    code = main(["fit", "atan(x)", word, "-j2", "--family", "constant", "--sharpness", "hard", "--json"])
    shown = capsys.readouterr()
    assert (code, json.loads(shown.out)["k"]) == (0, 3)


def test_a_relative_error_keeps_its_digits(capsys):
    # At -8 softplus is 3e-4: lines that are short beside the target's height are not there.
    found = run(capsys, "softplus", "--domain", "[-8, 8]", "--norm", "relative", "-k", "2")
    assert found["status"] == "ok"
    assert float(found["error"]["hi"]) < 0.06033
