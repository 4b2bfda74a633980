"""``gateproof verify``: falsified status, evidence and places are seen; tables, and several files."""

from __future__ import annotations

import json

import pytest

import gateproof
from gateproof.numerics.fits.exports import render
from gateproof.proofs_check import fit_check
from gateproof.proofs_check.cli import main

GIVEN = {"k": 2, "tau": [1.702], "theta": [0], "slope": [0, 1], "intercept": [0, 0], "target": "gelu"}


@pytest.fixture(scope="module")
def soft():
    return gateproof.fit("gelu", 2).to_json()


@pytest.fixture(scope="module")
def hard():
    return gateproof.fit("sin(x)", 3, domain="[-3, 3]", sharpness="hard").to_json()


@pytest.fixture
def checked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(document):
        (tmp_path / "fit.json").write_text(json.dumps(document))
        found = fit_check.checks("fit.json")
        return {check.what: check for check in found}, fit_check.summed(found)["accepted"]

    return run


@pytest.mark.parametrize("name", ["soft", "hard"])
def test_places_are_accepted(request, checked, name):
    parts, accepted = checked(request.getfixturevalue(name))
    # The lower bound of hard gates rests on words.
    assert accepted is (None if name == "hard" else True)
    assert parts["argmax"].accepted is True
    assert "rms" in parts["others"].reason


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"status": "exact"}, "status"),
        ({"status": "sampled"}, "status"),
        ({"status": "splendid"}, "status"),
        ({"evidence": "proved"}, "evidence"),
        ({"evidence": "sworn"}, "evidence"),
        ({"evidence": "sampled"}, "status"),
        ({"rms": "0.02"}, "rms"),
        # |gate - gelu| is 0 at 0, and 0.0099 at 1.
        ({"argmax": ["0"]}, "argmax"),
        ({"argmax": ["-1.0", "1.0"]}, "argmax"),
    ],
)
def test_what_is_falsified_is_rejected(soft, checked, change, what):
    parts, accepted = checked({**soft, **change})
    assert accepted is False
    assert parts[what].accepted is False


def test_a_place_that_is_off_by_little_is_rejected(soft, hard, checked):
    """At a smooth maximum 0.01 costs the second order: 5e-5 of sin near its peak, and less is not seen."""
    for document in (soft, hard):
        places = [str(float(x) + 0.01) for x in document["argmax"]]
        assert checked({**document, "argmax": places})[0]["argmax"].accepted is False


def test_a_place_outside_of_the_domain_is_rejected(hard, checked):
    assert checked({**hard, "argmax": ["4"]})[0]["argmax"].accepted is False


@pytest.fixture
def folder(tmp_path, monkeypatch, soft):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.json").write_text(json.dumps(soft))
    (tmp_path / "swapped.json").write_text(json.dumps({**soft, "target": "silu"}))
    (tmp_path / "words.json").write_text("words")


def test_each_of_several_files_has_its_verdict(folder, capsys):
    assert main(["verify", "none.json", "good.json", "words.json"]) == 4
    printed = capsys.readouterr().out
    assert "not checked  none.json: no such file" in printed
    assert "not checked  words.json: is not JSON" in printed
    assert printed.count("\naccepted  good.json\n") == 1
    assert printed.endswith("1 of 3 certificates accepted\n")
    assert main(["verify", "none.json", "words.json"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 2
    # One that is rejected counts more than those that cannot be read.
    assert main(["verify", "--json", "none.json", "swapped.json", "good.json"]) == 1
    found = json.loads(capsys.readouterr().out)["certificates"]
    assert [one["accepted"] for one in found] == [None, False, True]
    assert "target_formula" in found[1]["reason"]


def test_a_gate_without_an_error_has_nothing_to_check(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "given.json").write_text(json.dumps(GIVEN))
    assert main(["verify", "given.json"]) == 4
    printed = capsys.readouterr().out
    assert "prints no error and holds no certificate" in printed
    assert "gateproof certify --from given.json" in printed
    assert "sampled" not in printed


def test_a_hardware_table_is_verified(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    found = gateproof.fit("sin(x)", 2, domain="[-1, 1]", tolerance={"theta": "0.01"})
    table = json.loads(render(found, "sine.hardware.json"))

    def verdict(document):
        (tmp_path / "sine.hardware.json").write_text(json.dumps(document))
        code = main(["verify", "sine.hardware.json"])
        return code, capsys.readouterr().out

    hi = table["worst_case"]["value"]["hi"]
    code, printed = verdict(table)
    assert code == 0
    assert f"accepted  worst case: at most {hi}" in printed
    less = {**table["worst_case"], "value": {"lo": "0", "hi": str(0.99 * float(hi))}}
    assert verdict({**table, "worst_case": less})[0] == 1
    broken = json.loads(json.dumps(table))
    broken["worst_case"]["certificate"]["conclusion"]["upper"] = "1/1000000"
    assert verdict(broken)[0] == 1
    code, printed = verdict({**table, "worst_case": None})
    assert code == 4
    assert "REJECTED" not in printed
