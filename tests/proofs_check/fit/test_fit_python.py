"""``gateproof.fit``: the frozen result, its callables and reprs, and what it takes as a target."""

from __future__ import annotations

import dataclasses
import json
import pickle
import sys
from fractions import Fraction

import numpy as np
import pytest

import gateproof
from gateproof import RefusedError, fit
from gateproof.proofs_check.checker import verify


@pytest.fixture(scope="module")
def gelu():
    return fit("gelu", 3)


def test_the_result_is_frozen_and_short(gelu):
    with pytest.raises(dataclasses.FrozenInstanceError):
        gelu.status = None
    assert repr(gelu) == "<Fit gelu(x), K=3: error 0.00384382, ok>"
    assert "<table" in gelu._repr_html_()
    assert gelu.status == "ok"
    assert gelu.status.text in gelu.message
    assert pickle.loads(pickle.dumps(gelu.status)) is gelu.status  # noqa: S301 - made here
    assert gelu.elapsed > 0


def test_the_html_is_escaped():
    found = fit("where(x < 1, x, 1)", 2)
    assert "<table" in found._repr_html_()
    assert "x < 1" not in found._repr_html_()


def test_the_document_is_json_without_floats(gelu):
    document = json.loads(json.dumps(gelu.to_json(), allow_nan=False))
    assert document == gelu.to_json()

    def numbers(value):
        if isinstance(value, dict):
            return [
                n
                for k, v in value.items()
                if k not in ("certificate", "lower_certificate")
                for n in numbers(v)
            ]
        if isinstance(value, list):
            return [n for v in value for n in numbers(v)]
        return [value] if isinstance(value, float) else []

    assert numbers(document) == []
    assert document["k"] == 3


def test_callables_agree_with_the_definition(gelu):
    x = np.linspace(-6, 6, 101)
    document = gelu.to_json()
    tau, theta, slope, intercept = (
        [float(Fraction(v)) for v in document[key]] for key in ("tau", "theta", "slope", "intercept")
    )
    above = [1 / (1 + np.exp(-t * (x - h))) for t, h in zip(tau, theta, strict=True)]
    gates = [1 - above[0], above[0] - above[1], above[1]]
    right = sum(g * (s * x + c) for g, s, c in zip(gates, slope, intercept, strict=True))
    np.testing.assert_allclose(gelu.numpy(x), right, rtol=1e-12, atol=1e-14)
    torch = pytest.importorskip("torch")
    np.testing.assert_allclose(gelu.torch(torch.tensor(x)).numpy(), right, rtol=1e-12, atol=1e-14)


def test_the_error_is_that_of_the_printed_numbers(gelu):
    # Both asymptotes are exact, so that the error is inside; mpmath's erfc on a dense sample.
    import mpmath as mp

    x = np.linspace(-8, 8, 4001)
    right = np.array([float(v * mp.erfc(-v / mp.sqrt(2)) / 2) for v in map(mp.mpf, x)])
    seen = np.abs(gelu.numpy(x) - right).max()
    assert seen <= float(gelu.error.hi) <= seen * (1 + 1e-5)
    assert all(np.abs(np.abs(gelu.numpy(a) - a * float(mp.erfc(-a / mp.sqrt(2))) / 2) / seen - 1) < 1e-4
               for a in gelu.argmax)  # fmt: skip
    assert [np.sign(e) for _, e in gelu.peaks] == [-1, 1, -1, 1, -1, 1, -1]


def test_certificates_are_accepted_and_say_what_the_result_says(gelu):
    assert verify(gelu.certificate).accepted
    assert Fraction(gelu.certificate["conclusion"]["upper"]) >= gelu.error.lo
    assert Fraction(gelu.certificate["conclusion"]["upper"]) <= gelu.error.hi * (1 + Fraction(1, 10**6))
    assert verify(gelu.lower_certificate).accepted
    assert Fraction(gelu.lower_certificate["bound"]) == gelu.lower_bound
    assert gelu.optimal_within < Fraction(1, 1000)
    spoiled = {**gelu.certificate, "conclusion": {**gelu.certificate["conclusion"], "upper": "3/1000"}}
    assert not verify(spoiled).accepted


def test_a_rejected_certificate_certifies_nothing(gelu):
    from gateproof.proofs_check.fitting import rechecked

    conclusion = {**gelu.certificate["conclusion"], "upper": "3/1000", "lower": "-3/1000"}
    error = dataclasses.replace(gelu.error, certificate={**gelu.certificate, "conclusion": conclusion})
    found = rechecked(dataclasses.replace(gelu, error=error))
    assert (found.status.value, found.error.evidence, found.certificate) == ("not certified", "sampled", None)
    lower = rechecked(
        dataclasses.replace(gelu, lower_certificate={**gelu.lower_certificate, "bound": "1/100"})
    )
    assert lower.lower_bound is None


def test_a_function_is_sampled_and_never_certified():
    found = fit(lambda x: np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0), 2, domain=(-6, 6))
    assert (found.status.value, found.error.evidence, found.certificate) == ("sampled", "sampled", None)
    exact = fit("softplus", 2, domain="[-6, 6]")
    assert float(found.error.hi) == pytest.approx(float(exact.error.hi), rel=1e-3)
    assert "nothing is certified" in found.message


def test_a_fit_is_a_target_again(gelu):
    assert fit(gelu, 3).status.value == "exact"
    again = fit(gelu, 2)
    assert 0.005 < float(again.error.hi) < 0.02


@pytest.mark.parametrize("target", [None, 3.5j, object(), ["a", "b"], "", "gelu(", b"gelu"])
def test_what_is_no_target_is_refused(target):
    with pytest.raises(RefusedError) as refused:
        fit(target)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "options",
    [
        {"k": 0}, {"k": 2.0}, {"k": True}, {"tol": -1}, {"tol": float("nan")}, {"tol": True},
        {"k": 2, "tol": 0.1}, {"seed": -1}, {"seed": 0.5}, {"domain": (1, 0)}, {"domain": (0, float("nan"))},
        {"gates": "hard"}, {"tolerance": {"tau": "500%"}}, {"ends": "loose"}, {"norm": "l1"},
        {"max_coefficient": 0},
    ],
)  # fmt: skip
def test_bad_options_are_refused(options):
    with pytest.raises(RefusedError) as refused:
        fit("gelu", **options)
    assert "\n" not in str(refused.value)


def test_a_size_that_sharpness_cannot_be_off_by_loses_no_fit():
    found = gateproof.fit("gelu", 2, tolerance={"tau": 5})
    assert found.status == "ok"
    assert found.tolerant["kind"] is None
    assert found.tolerant["reason"].endswith("did you mean 5%?")


def test_the_door():
    assert gateproof.fit is fit


@pytest.mark.parametrize(("library", "name"), [("torch", "torch"), ("jax", "jax"), ("mpmath", "mp")])
def test_a_library_that_is_missing_is_named(monkeypatch, library, name):
    monkeypatch.setitem(sys.modules, library, None)
    formula = gateproof.formula("sigmoid(x)/7")
    with pytest.raises(ImportError, match=rf"pip install {library}$"):
        getattr(formula, name)
