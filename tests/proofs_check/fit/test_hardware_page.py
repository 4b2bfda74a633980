"""docs/hardware.md: its command writes the file that it shows, its examples run, and all keys are there."""

from __future__ import annotations

import doctest
import json
import re
import shlex
from fractions import Fraction
from pathlib import Path

import pytest

from gateproof.proofs_check.cli import main

PATH = Path(__file__).resolve().parents[3] / "docs" / "hardware.md"
PAGE = PATH.read_text()


def test_the_command_writes_the_file_that_the_page_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (command,) = re.findall(r"^    \$ gateproof (.*)$", PAGE, re.MULTILINE)
    table = re.search(r"^    parameter,exact,(?:.*\n    )*.*$", PAGE, re.MULTILINE)[0]
    assert main([*shlex.split(command), "--export", "gelu.hardware.json"]) == 0
    printed = capsys.readouterr().out
    written = (tmp_path / "gelu.csv").read_text()
    assert written.strip() == re.sub("^    ", "", table, flags=re.MULTILINE).strip()
    # The text says the same of the worst case, digit by digit.
    rows = dict(row.split(",") for row in written.splitlines() if row.startswith("worst_case_"))
    assert f"near x = {rows['worst_case_at_x']}, with tau = [{rows['worst_case_tau_1']}, " in printed
    assert f"theta = [{rows['worst_case_theta_1']}, {rows['worst_case_theta_2']}]\n" in printed
    # 5 % above the sharpness, in full.
    tau = Fraction(re.search(r"^tau,([\d.]+),", written, re.MULTILINE)[1])
    assert Fraction(rows["worst_case_tau_1"]) == tau * Fraction("1.05")
    # Every key of the three forms stands on the page.
    document = json.loads((tmp_path / "gelu.hardware.json").read_text())
    keys = {*document, *document["parameters"][0], *document["pair"]}
    keys |= {re.sub(r"_\d+$", "_k", row.split(",")[0]) for row in written.splitlines()[12:]}
    keys = {re.sub(r"(worst_case_tolerance)_.*", r"\1_KEY", key) for key in keys}
    keys -= {f"worst_case_{key}_k" for key in ("tau", "theta", "slope", "intercept")}
    said = PAGE.partition("## The pair")[2]
    assert [key for key in sorted(keys) if f"`{key}`" not in said] == []
    assert document["pair"]["slope_factor"] == "1.3"


def test_examples():
    failed, run = doctest.testfile(str(PATH), module_relative=False)
    assert (failed, run) == (0, 6)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--hardware", "tail-ampere=5", "--export", "a.csv"], "give the tail current in ampere, 1e-18 to 1"),
        (["--hardware", "temperature=300", "--export", "a.csv"], "the keys are temperature-kelvin"),
        (["--hardware", "slope-factor=1.2"], "is for a hardware table: add --export FILE.csv"),
        (["--hardware", "slope-factor=1.2", "--export", "gate.c"], "is for a hardware table"),
        (["--hardware", "slope-factor=1", "--hardware", "slope_factor=1", "--export", "a.md"], "given twice"),
        (["--hardware", "slope-factor=-1", "--export", "a.md"], "1 to 10"),
    ],
)  # fmt: skip
def test_what_is_refused_before_any_work(tmp_path, monkeypatch, capsys, words, said):
    monkeypatch.chdir(tmp_path)
    assert main(["fit", "gelu", *words]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert said in printed.err
    assert list(tmp_path.iterdir()) == []


def test_several_options_are_one_pair(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["--hardware", "temperature-kelvin=330,slope-factor=1", "--hardware", "tail-ampere=2e-9"]
    assert main(["fit", "silu", *words, "--export", "a.md"]) == 0
    capsys.readouterr()
    text = (tmp_path / "a.md").read_text()
    for line in (
        "temperature_kelvin: 330",
        "slope_factor: 1",
        "tail_ampere: 2e-9",
        "thermal_volts: 28.4372e-3",
    ):
        assert f"- {line}\n" in text
