"""The JSON of a fit, read again: by certify, and as a target."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from gateproof.proofs_check.cli import main

#: What was printed, by the words of the command.
PRINTED = {}


def fitted(capsys, tmp_path, *words):
    if words not in PRINTED:
        assert main(["fit", *words, "--json"]) == 0
        PRINTED[words] = capsys.readouterr().out
    text = PRINTED[words]
    path = tmp_path / "fit.json"
    path.write_text(text)
    return str(path), json.loads(text)


@pytest.mark.parametrize(
    "words",
    [
        ("gelu", "-k", "3", "--gates", "difference"),
        ("gelu", "-k", "3", "--gates", "stick"),
        ("gelu", "-k", "3", "--gates", "softmax"),
        ("atan(x)", "-k", "2"),
        ("gelu", "-k", "3", "--sharpness", "hard"),
        ("exp(x)", "-k", "2", "--domain", "[-2, 2]"),
    ],
)
def test_certify_finds_the_same_error(capsys, tmp_path, words):
    path, fit = fitted(capsys, tmp_path, *words)
    assert main(["certify", "--from", path, "--digits", "8", "--json", "-j", "1"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert Fraction(found["value"]["lo"]) <= Fraction(fit["error"]["hi"])
    assert Fraction(found["value"]["hi"]) >= Fraction(fit["error"]["lo"])
    assert found["domain"] == f"x in {fit['domain']}"


@pytest.mark.parametrize("algebra", ["difference", "stick", "softmax"])
def test_a_fit_is_a_target(capsys, tmp_path, algebra):
    path, _ = fitted(capsys, tmp_path, "gelu", "-k", "3", "--gates", algebra)
    assert main(["fit", path, "-k", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["k"], found["slope"]) == (2, ["0", "1"])
    assert Fraction("0.008") < Fraction(found["error"]["hi"]) < Fraction("0.02")


def test_it_is_its_own_best_fit(capsys, tmp_path):
    path, fit = fitted(capsys, tmp_path, "gelu", "-k", "3", "--gates", "difference")
    assert main(["fit", path, "-k", "3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["status"], found["error"]) == ("exact", {"lo": "0", "hi": "0"})
    assert (found["theta"], found["intercept"]) == (fit["theta"], fit["intercept"])


def test_another_target_on_the_command_line(capsys, tmp_path):
    path, _ = fitted(capsys, tmp_path, "gelu", "-k", "2")
    assert main(["certify", "--from", path, "gelu_tanh", "--json", "-j", "1"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert Fraction("0.0135") < Fraction(found["value"]["lo"]) < Fraction("0.0145")


def test_the_fit_of_a_fit_is_certified_from_its_document(tmp_path, monkeypatch, capsys):
    """Its target is named by a file, and stands in the document as a formula as well."""
    monkeypatch.chdir(tmp_path)
    assert main(["fit", "gelu", "-k", "3", "--out", "three.json"]) == 0
    assert main(["fit", "three.json", "-k", "2", "--out", "two.json"]) == 0
    (tmp_path / "three.json").unlink()
    capsys.readouterr()
    assert main(["certify", "--from", "two.json", "--digits", "8", "--json"]) == 0
    value = json.loads(capsys.readouterr().out)["value"]
    error = json.loads((tmp_path / "two.json").read_text())["error"]
    assert Fraction(value["lo"]) <= Fraction(error["hi"])
    assert Fraction(error["lo"]) <= Fraction(value["hi"])
    assert main(["verify", "two.json"]) == 0
