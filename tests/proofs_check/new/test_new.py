"""`gateproof new`: what it writes works at once, and nothing is written over."""

from __future__ import annotations

import decimal
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from gateproof.proofs_check.cli import main
from gateproof.proofs_check.new import activation
from gateproof.proofs_check.new.activation import text


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def checked(capsys, *what):
    code = main(["check", *what, "--json", "-j", "1"])
    document = json.loads(capsys.readouterr().out)
    return code, {(c["id"], r["name"]): r["verdict"] for c in document["claims"] for r in c["readings"]}


def test_claims_are_found_and_hold(capsys):
    assert main(["new", "claims"]) == 0
    assert "next: gateproof check" in capsys.readouterr().out
    code, found = checked(capsys)
    assert code == 0
    assert set(found.values()) == {"proved", "certified"}


def test_a_claim_is_found_by_its_ending(capsys):
    assert main(["new", "claim", "logistic.slope"]) == 0
    capsys.readouterr()
    code, found = checked(capsys)
    assert code == 0
    assert list(found.values()) == ["proved", "refuted"]


@pytest.mark.parametrize(
    ("formula", "lines"),
    [
        # tanh: slope 1 at 0, between -1 and 1; mish: slope 3/5 at 0 exactly (tanh(log 2) = 3/5).
        ("tanh(x)", {"odd", "increasing", "at(myact(x), x=0) == 0", "at(diff(myact(x), x), x=0) == 1"}),
        ("x*tanh(softplus(x))", {"at(diff(myact(x), x), x=0) == 0.600~"}),
        ("exp(-x**2)", {"even", "at(myact(x), x=0) == 1", "sup(myact(x), x in R) <= 1"}),
    ],
)
def test_an_activation_comes_with_what_is_known_of_it(capsys, formula, lines):
    assert main(["new", "activation", "myact", "--formula", formula]) == 0
    capsys.readouterr()
    document = tomllib.loads(Path("myact.claims.toml").read_text())
    formals = {claim["formal"] for claim in document["claim"]}
    for line in lines:
        assert line in formals or f"{line}(myact(x), x in R)" in formals
    code, found = checked(capsys)
    assert code == 0
    assert set(found.values()) <= {"proved", "certified"}


def test_a_bound_of_a_new_file_is_sharp_to_four_digits():
    # The least value of mish is -0.30884..., known to many digits (its derivative's root by mpmath).
    import mpmath

    with mpmath.workdps(30):
        mish = lambda x: x * mpmath.tanh(mpmath.log(1 + mpmath.exp(x)))  # noqa: E731
        least = mish(mpmath.findroot(mpmath.diff(mish, -1.19) and (lambda x: mpmath.diff(mish, x)), -1.19))
    (line,) = [row for row in text("f", "x*tanh(softplus(x))").splitlines() if "inf(f(x)" in row]
    bound = float(line.split(">= ")[1].strip('"'))
    assert bound <= least < bound + 1e-4


@pytest.mark.parametrize(
    ("rounding", "bound"), [(decimal.ROUND_CEILING, "1.001"), (decimal.ROUND_FLOOR, "0.9999")]
)
def test_a_bound_is_rounded_outwards_from_its_own_end(monkeypatch, rounding, bound):
    ends = {"lo": "0.99999", "hi": "1.00001"}
    monkeypatch.setattr(activation, "_value", lambda *_: ends)
    assert activation._bound("f", "x", "sup(f(x), x in R)", rounding) == bound


def test_a_kernel_passes_its_own_tests(here):
    assert main(["new", "kernel", "myact"]) == 0
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_myact_kernel.py"]
    found = subprocess.run(command, cwd=here, capture_output=True, text=True, timeout=300, check=False)
    assert found.returncode == 0, found.stdout
    assert "3 passed" in found.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nosuch"], "the kinds are claims, claim, activation, kernel"),
        (["claim"], "give an id"),
        (["claim", "../x"], "give an id"),
        (["claims", "x"], "takes no name"),
        (["activation", "a-b"], "give a name"),
        (["activation", "gelu"], "taken"),
        (["activation", "q", "--formula", "y + 1"], "'y' is not x"),
        (["activation", "q", "--formula", 'x" }\nimport = "os'], "column"),
        (["activation", "q", "--formula", "gelu"], "must be a formula in x"),
        (["kernel", "q", "--formula", '1" + x + "'], "column"),
        (["claim", "a", "--formula", "x"], "is for activation and kernel"),
        (["activation", "q", "--formula", "log(x)"], "nothing is certified"),
    ],
)
def test_bad_input_writes_nothing(here, capsys, words, said):
    assert main(["new", *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert len(error.strip().splitlines()) == 1
    assert list(here.iterdir()) == []


def test_nothing_is_written_over(here, capsys):
    (here / "gateproof.toml").write_text("mine")
    assert main(["new", "claims"]) == 2
    assert "is there already" in capsys.readouterr().err
    assert (here / "gateproof.toml").read_text() == "mine"


@pytest.mark.parametrize(
    "words",
    [
        ("activation", "x"),
        ("activation", "sup"),
        ("kernel", "class"),
        ("kernel", "torch"),
        ("kernel", "zip"),
        ("kernel", "exact"),
    ],
)
def test_a_name_with_which_the_file_would_not_work_is_refused(here, capsys, words):
    assert main(["new", *words]) == 2
    assert "name" in capsys.readouterr().err
    assert list(here.iterdir()) == []


def test_a_large_slope_is_printed_to_its_last_digit(capsys):
    assert main(["new", "activation", "big", "--formula", "1000*pi*tanh(x)"]) == 0
    capsys.readouterr()
    assert "== 3142~" in Path("big.claims.toml").read_text()
    assert checked(capsys, "big.claims.toml")[0] == 0
