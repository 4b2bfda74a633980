"""``gateproof fit``: what it prints, its JSON, its exit codes."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from gateproof.proofs_check.cli import main

#: The keys of the contract, in docs/fit.md too.
KEYS = {
    "k", "tau", "theta", "slope", "intercept", "error", "argmax", "rms", "lower_bound", "optimal_within",
    "attained", "gates_min", "condition", "status", "norm", "domain", "certificate", "gates", "target",
    "message",
}  # fmt: skip


def run(capsys, *words):
    code = main(["fit", *words, "--json"])
    out = capsys.readouterr().out
    return code, json.loads(out) if out else None


def refused(capsys, *words):
    assert main(["fit", *words]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    return shown.err


def test_gelu_with_two_branches(capsys):
    code, found = run(capsys, "gelu", "-k", "2")
    assert code == 0
    assert set(found) >= KEYS
    # A minimax fit by others has 1.39222e-2, and no gate has less (the proved bound says so too).
    assert Decimal("0.0139") < Decimal(found["error"]["lo"]) <= Decimal(found["error"]["hi"])
    assert Decimal(found["error"]["hi"]) <= Decimal("1.0005") * Decimal("1.39222e-2")
    assert (found["slope"], found["intercept"], found["domain"]) == (["0", "1"], ["0", "0"], "R")
    assert Decimal(found["lower_bound"]) <= Decimal(found["error"]["hi"])
    assert Decimal(found["optimal_within"]) < Decimal("0.0005")
    assert found["certificate"]["kind"] == "range"


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ((), "give a target"),
        (("gelu", "-k", "0"), "give a whole number from 1 to 64"),
        (("gelu", "-k", "17"), "give a whole number from 1 to 16"),
        (("gelu", "-k", "2", "--tol", "1e-3"), "not both"),
        (("gelu", "--tol", "0"), "give a number above 0"),
        (("gelu", "--tol", "few"), "give a number"),
        (("gelu", "--sharpness", "soft"), "give one of shared, free, hard"),
        (("gelu", "--gates", "softmax", "--sharpness", "hard"), "softmax gates have no hard limit"),
        (("gelu", "--continuous"), "--continuous is for --sharpness hard"),
        (("gelu", "--norm", "relative", "--weight", "1"), "leave out one of them"),
        (("gelu", "--domain", "[1, 0]"), "left end must be below"),
        (("gelu", "--domain", "1..5"), "domain"),
        (("gelu", "--tolerance", "mass=1%"), "the parameters are tau, theta, slope, intercept"),
        (("gelu", "--ends", "free"), "on R"),
        (("gelu", "--domain", "[-1, 1]", "--ends", "pinned"), "--ends pinned"),
        (("gelu(x)*y",), "'y' is not x"),
        (("nosuchname",), "nosuchname"),
        (("gelu", "--sigma", "0"), "give a number above 0"),
        (("gelu", "--quantise", "1"), "give a whole number from 2 to 32"),
        (("gelu", "--certificate", "c.txt"), "a certificate is named *.json"),
    ],
)
def test_bad_options_are_refused_in_one_line(capsys, words, part):
    assert part in refused(capsys, *words)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("exp(x)", "faster than any line"),
        ("x**2", "faster"),
        ("sin(x)", "periodic"),
        ("asinh(x)", "leaves every line"),
    ],
)
def test_what_has_no_line_is_refused_on_the_line(capsys, text, part):
    line = refused(capsys, text, "-k", "3")
    assert part in line
    assert "domain" in line


def test_a_target_may_start_with_a_minus_sign(capsys):
    code, found = run(capsys, "-gelu(x)", "-k", "2")
    assert (code, found["slope"]) == (0, ["0", "-1"])
