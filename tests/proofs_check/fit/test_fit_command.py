"""``gateproof fit``: what it prints, its JSON, its exit codes."""

from __future__ import annotations

import json
import shlex
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
        (("gelu", "-k", "0"), "give a whole number from 1 to 16 (hard gates: 64)"),
        (("gelu", "-k", "17"), "give a whole number from 1 to 16 (hard gates: 64)"),
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


def test_no_gate_of_two_branches_from_level_to_sloped_is_monotone(capsys):
    # Far left its slope is that of x exp(tau x), which falls.
    assert "no gate of 2 branches is monotone" in refused(capsys, "gelu", "-k", "2", "--monotone")
    # A hard gate is, and so is what is one.
    code, found = run(capsys, "relu", "-k", "2", "--monotone")
    assert (code, found["status"]) == (0, "exact")


def test_a_gate_that_is_not_monotone_is_not_handed_out(capsys):
    # The best three pieces near gelu follow its dip.
    assert "not rising throughout" in refused(capsys, "gelu", "-k", "3", "--sharpness", "hard", "--monotone")


def test_where_nothing_is_known_of_the_slope_it_is_not_certified(capsys, monkeypatch):
    from gateproof.numerics.fits import certified_fit
    from gateproof.numerics.fits.monotone import Monotone

    monkeypatch.setattr(certified_fit, "certify_monotone", lambda *_: Monotone(None, "too many boxes"))
    code, found = run(capsys, "erf", "-k", "2", "--monotone")
    assert (code, found["status"]) == (4, "not certified")
    assert "could not be certified: too many boxes" in found["message"]


def test_the_bound_says_of_which_gates_it_is(capsys):
    assert main(["fit", "gelu", "-k", "2", "--max-coefficient", "3"]) == 0
    assert (
        "no gate of 2 branches (outer lines on the asymptotes, without the constraint) comes below 0.01392"
        in capsys.readouterr().out
    )
    assert main(["fit", "gelu", "-k", "2"]) == 0
    assert (
        "no gate of this family (outer lines on the asymptotes) comes below 0.01392"
        in capsys.readouterr().out
    )


def test_a_value_of_its_own_at_a_jump_counts(capsys):
    # At 0, where sign is 0, a gate has the value of its left branch, -1.
    code, found = run(capsys, "sign(x)", "-k", "2", "--sharpness", "hard")
    assert (code, found["error"]["hi"].rstrip("0"), found["argmax"]) == (0, "1.", ["0"])
    assert "the error counts" in found["message"]


def test_hard_gates_are_the_best_and_say_so(capsys):
    _, found = run(capsys, "tanh", "-k", "3", "--sharpness", "hard")
    assert found["message"].startswith(
        "the best gate: for hard gates the search is global; its error is cert"
    )


def test_places_and_numbers_of_a_symmetric_gate(capsys):
    _, found = run(capsys, "gelu", "-k", "3", "--sharpness", "free")
    places = [float(x) for x in found["argmax"]]
    assert sorted(-x for x in places) == places
    assert [float(t) for t in found["tau"]] == [float(t) for t in found["tau"][::-1]]
    assert "0" in [p["x"] for p in found["alternation"]] or len(found["alternation"]) % 2 == 0


def test_a_target_may_start_with_a_minus_sign(capsys):
    code, found = run(capsys, "-gelu(x)", "-k", "2")
    assert (code, found["slope"]) == (0, ["0", "-1"])


def test_every_picture_asked_for_is_written(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    paths = [tmp_path / "a.svg", tmp_path / "b.svg"]
    assert main(["fit", "relu", *(w for p in paths for w in ("--plot", str(p)))]) == 0
    assert all(p.read_text().startswith("<?xml") or "<svg" in p.read_text() for p in paths)
    capsys.readouterr()
    assert "twice" in refused(capsys, "relu", "--plot", str(paths[0]), "--plot", str(paths[0]))


def test_slopes_that_are_off_on_all_of_r(capsys):
    """The line names the command that gives a finite worst case."""
    assert main(["fit", "gelu", "-k", "2", "--tolerance", "slope= 1 %"]) == 0
    shown = capsys.readouterr().out.partition("on an interval: gateproof ")[2].split("\n")[0]
    assert shown.endswith(", x in [-8, 8])' --tolerance slope=1%")
    assert main(shlex.split(shown)) == 0
    assert capsys.readouterr().out.startswith("[0.0800")
