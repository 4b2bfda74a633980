"""F02: straight lines, constants, coincident thresholds (piecewise_linear_fit_py#1, #15, #91)."""

from __future__ import annotations

import time

import pytest

from gateproof import fit


def numbers(found):
    document = found.to_json()
    return {key: document[key] for key in ("tau", "theta", "slope", "intercept")}


@pytest.mark.parametrize(
    ("text", "slope", "intercept"), [("x", "1", "0"), ("3", "0", "3"), ("x/4 - 2", "1/4", "-2")]
)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_line_needs_one_branch(text, slope, intercept, k):
    start = time.process_time()
    found = fit(text, k)
    assert time.process_time() - start < 1
    lines = numbers(found)
    assert (lines["tau"], lines["theta"], lines["intercept"]) == ([], [], [intercept])
    assert lines["slope"] in ([slope], ["0.25"])
    assert (found.k, found.error.hi, found.status.value) == (1, 0, "exact")
    assert ("K=1 suffices" in found.message) == (k > 1)


def test_hardtanh_is_a_hard_gate_of_three_branches():
    found = fit("hardtanh", 3)
    assert numbers(found) == {
        "tau": ["oo", "oo"], "theta": ["-1", "1"], "slope": ["0", "1", "0"], "intercept": ["-1", "0", "1"],
    }  # fmt: skip
    assert (found.error.hi, found.status.value) == (0, "exact")


def test_relu_with_three_branches_is_one_with_two():
    found = fit("relu", 3)
    assert numbers(found) == {"tau": ["oo"], "theta": ["0"], "slope": ["0", "1"], "intercept": ["0", "0"]}
    assert "K=2 suffices" in found.message
