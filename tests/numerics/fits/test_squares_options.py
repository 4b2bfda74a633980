"""Least squares gates under every combination of options: a fit, or one line that says why not."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gateproof
from gateproof.proofs_check.refused import RefusedError

TARGETS = (
    ("exp(-x)", "[0, oo)"),
    ("exp(x)", "(-oo, 0]"),
    ("relu", "R"),
    ("gelu", "R"),
    ("x", "R"),
    ("3", "[0, 1]"),
    ("sign(x)", "R"),
    ("atan(x)", "[0, oo)"),
    ("x**2", "[-1, 1]"),
)
OPTIONS = {
    "k": st.integers(1, 2),
    "sharpness": st.sampled_from(["shared", "free", "hard"]),
    "gates": st.sampled_from(["difference", "stick", "softmax"]),
    "ends": st.sampled_from([None, "pinned", "slopes", "free"]),
    "family": st.sampled_from(["general", "constant", "multiplicative"]),
    "monotone": st.booleans(),
    "max_coefficient": st.sampled_from([None, 2]),
}


def check(target, options):
    text, domain = target
    found, why = None, ""
    try:
        found = gateproof.fit(text, domain=domain, norm="rms", **options)
    except RefusedError as refused:
        why = str(refused)
    if found is None:
        assert why
        assert "\n" not in why
        return
    assert found.gate.branches <= options["k"]
    assert math.isfinite(found.rms)


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(TARGETS), st.fixed_dictionaries(OPTIONS))
def test_a_fit_or_a_line(target, options):
    check(target, options)


@pytest.mark.deep
@settings(max_examples=200, deadline=None)
@given(st.sampled_from(TARGETS), st.fixed_dictionaries(OPTIONS))
def test_a_fit_or_a_line_many_times(target, options):
    check(target, options)


def test_a_pinned_branch_has_nothing_to_search():
    # One branch on [0, oo) is the asymptote; the mean of exp(-2 x) for a half normal x is e^2 erfc(sqrt 2).
    found = gateproof.fit("exp(-x)", 1, domain="[0, oo)", norm="rms")
    assert [str(v.value) for v in (*found.gate.slope, *found.gate.intercept)] == ["0", "0"]
    assert found.rms == pytest.approx(math.sqrt(math.exp(2) * math.erfc(math.sqrt(2))), rel=1e-9)
    two = gateproof.fit("exp(-x)", 2, domain="[0, oo)", norm="rms")
    assert two.rms < found.rms / 10
