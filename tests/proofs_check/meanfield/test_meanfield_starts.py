"""``gateproof meanfield --initialise`` and ``--phase``: right numbers, whole files, refusals in one line."""

from __future__ import annotations

import importlib.util
import json

import pytest
from mpmath import mp, mpf

from gateproof.numerics.meanfield import phase_files
from gateproof.proofs_check.cli import main

GRID = ("--sigma-b", "0.1:0.3:2", "--sigma-w", "1.3:1.4:2")


def start(capsys, *words):
    assert main(["meanfield", *words, "--initialise", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_tanh_begins_at_its_published_point(capsys):
    found = start(capsys, "tanh")
    assert (found["kind"], found["certified"], found["stable"], found["sigma_b2"]) == (
        "critical", True, True, "0.05",
    )  # fmt: skip
    assert abs(mpf(found["sigma_w2"]) - mpf("1.76095463960674")) < mpf("1e-14")
    assert abs(mpf(found["sigma_w"]) ** 2 - mpf("1.76095463960674")) < mpf("1e-14")


def test_relu_begins_as_he_did(capsys):
    found = start(capsys, "relu", "--depth", "1")
    assert (found["kind"], found["sigma_w2"], found["sigma_b2"]) == ("scale-invariant", "2.0", "0.0")
    # The arc-cosine kernel at c = 0 is 1/pi.
    assert abs(mpf(found["eps_at_depth"]) - (1 - 1 / mp.pi)) < 1e-8
    assert abs(mpf(found["limit"]) - 9 * mp.pi**2 / 2) < mpf("1e-12")


def test_text_says_what_and_why(capsys):
    assert main(["meanfield", "silu", "--initialise", "--digits", "6"]) == 0
    text = capsys.readouterr().out
    assert "to begin with: silu: nearest-critical" in text
    assert "its variance repels" in text
    assert "  xi_q       1000\n" in text
    assert main(["meanfield", "sign", "--initialise"]) == 0
    text = capsys.readouterr().out
    assert ": none" in text
    assert "it jumps" in text


def test_a_long_depth_keeps_a_space_to_its_number(capsys):
    assert main(["meanfield", "relu", "--initialise", "--depth", "10000", "--digits", "1"]) == 0
    row = next(s for s in capsys.readouterr().out.split("\n") if "c_10000" in s)
    # 1 - c_l -> (9 pi^2/2)/l^2.
    assert row.split() == ["1", "-", "c_10000", "4e-07"]


def test_a_diagram_as_json_is_on_either_side_of_the_line(capsys, tmp_path):
    # On the edge sigma_w is 1.327 at sigma_b = 0.2236, and it grows with sigma_b (published: 1.1934 at 0.1).
    file = tmp_path / "d.json"
    assert main(["meanfield", "tanh", "--phase", str(file), *GRID]) == 0
    out = capsys.readouterr().out
    assert "phase diagram: tanh, 2 sigma_b from 0.1 to 0.3" in out
    found = json.loads(file.read_text())
    assert (found["kind"], found["phase"][1][0]) == ("phase-diagram", "c")
    assert [p.name for p in tmp_path.iterdir()] == ["d.json"]


@pytest.mark.parametrize(("suffix", "head"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_a_diagram_as_a_picture(tmp_path, suffix, head):
    file = tmp_path / f"d.{suffix}"
    assert main(["meanfield", "tanh", "--phase", str(file), *GRID]) == 0
    assert file.read_bytes().startswith(head)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_file_that_fails_half_way_leaves_the_old_one(monkeypatch, tmp_path, capsys):
    file = tmp_path / "d.json"
    file.write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(phase_files.json, "dumps", full)
    assert main(["meanfield", "tanh", "--phase", str(file), *GRID]) == 2
    assert "cannot be written: No space left" in capsys.readouterr().err
    assert file.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_missing_matplotlib_is_said_before_the_work(monkeypatch, tmp_path, capsys):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda n, *a: None if n == "matplotlib" else real(n, *a))
    assert main(["meanfield", "no such", "--phase", str(tmp_path / "d.svg")]) == 2
    assert "pip install matplotlib" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--initialise", "--eoc"), "give one of --eoc"),
        (("--initialise", "--phase", "a.svg"), "give one of --eoc"),
        (("--initialise", "--curve", "0:1:3"), "--initialise does not take --curve"),
        (("--initialise", "--range", "0,1"), "--initialise does not take --range"),
        (("--initialise", "--engine", "mp"), "--initialise does not take --engine"),
        (("--initialise", "--sigma-b", "0:1:3"), "--initialise does not take --sigma-b"),
        (("--initialise", "--sigma-b2", "-1"), "a variance is at least 0"),
        (("--initialise", "--sigma-b2", "1", "--sigma-b2", "2"), "takes one --sigma-b2"),
        (("--initialise", "--depth", "0"), "give a whole number"),
        (("--initialise", "--digits", "251"), "from 1 to 250"),
        (("--eoc", "--sigma-b2", "0.05", "--depth", "3"), "--eoc does not take --depth"),
        (("--eoc", "--sigma-b2", "0.05", "--sigma-w", "1:2:3"), "--eoc does not take --sigma-w"),
        (("--phase", "a.pdf"), ".svg, .png or .json"),
        (("--phase", "nowhere/a.svg"), "no such folder"),
        # Nothing can be made in this folder, not by root either.
        (("--phase", "/proc/a.json"), "cannot be written"),
        (("--phase", "a.svg", "--digits", "4"), "--phase does not take --digits"),
        (("--phase", "a.svg", "--kappa"), "give one of --eoc"),
        (("--initialise", "--apart", "0.1"), "with --depth only"),
        (("--initialise", "--depth", "3", "--apart", "1"), "in (0, 1)"),
        (("--folds", "--curve", "0:1:3"), "--folds does not take --curve"),
        (("--eoc", "--sigma-b2", "1", "--apart", "nan"), "--apart 'nan': give a number"),
        (("--eoc", "--sigma-b2", "1", "--beside", "nosuch"), "is not known"),
        (("--eoc", "--sigma-b2", "1", "--beside", "erf", "--beside", "sin"), "takes one --beside"),
        (("--eoc", "--sigma-b2", "1", "--beside", "erf", "--range", "0,1"), "does not take --range"),
        (("--eoc", "--sigma-b2", "1", "--beside", "erf", "--engine", "mp"), "for --engine certified"),
        (("--eoc", "--beside", "erf"), "give the variance of the biases"),
        (("--kappa", "--beside", "relu"), "no beta_q"),
        (("--kappa", "--sigma-b2", "1", "--sigma-b2", "2"), "takes one --sigma-b2"),
        (("--kappa", "--digits", "4"), "--kappa does not take --digits"),
        (("--phase", "a.svg", "--json"), "give FILE.json"),
        (("--phase", "a.svg", "--sigma-b2", "1"), "give --sigma-b LO:HI:N"),
        (("--phase", "a.svg", "--depth", "3"), "--phase does not take --depth"),
        (("--phase", "a.svg", "--engine", "mp"), "--phase does not take --engine"),
        (("--phase", "a.svg", "--sigma-b", "0:1"), "LO:HI:N"),
        (("--phase", "a.svg", "--sigma-b", "1:0:5"), "LO < HI"),
        (("--phase", "a.svg", "--sigma-b", "-1:0:5"), "0 <= LO"),
        (("--phase", "a.svg", "--sigma-w", "0:1:5"), "0 < LO"),
        (("--phase", "a.svg", "--sigma-w", "1:2:1"), "N from 2"),
        (("--phase", "a.svg", "--sigma-w", "1:nan:3"), "give a number"),
        (("--phase", "a.svg", "--sigma-w", "1:2:5000", "--sigma-b", "0:1:5000"), "at most 4000000"),
    ],
)
def test_bad_input_is_refused_in_one_line(capsys, monkeypatch, tmp_path, words, part):
    monkeypatch.chdir(tmp_path)
    assert main(["meanfield", "tanh", *words]) == 2
    out = capsys.readouterr()
    assert out.out == ""
    assert out.err.count("\n") == 1
    assert part in out.err
    assert list(tmp_path.iterdir()) == []


def test_a_jump_has_no_diagram(capsys, tmp_path):
    assert main(["meanfield", "sign", "--phase", str(tmp_path / "a.json")]) == 2
    assert "chi_1 is infinite" in capsys.readouterr().err
