"""What cannot be done is said before any work where it can be known then, and later the fit is not lost."""

from __future__ import annotations

import json
import re
import sys

import numpy as np
import pytest

from gateproof import RefusedError, fit
from gateproof.proofs_check import fitting, fitting_files
from gateproof.proofs_check.cli import main


def unread(*_args, **_options):
    raise AssertionError("the target was read")


@pytest.mark.parametrize(
    ("words", "missing", "said"),
    [
        (("--export", "gate.onnx"), "onnx", "pip install onnx"),
        (("--export", "gate.json", "--export", "gate.double.onnx"), "onnx", "pip install onnx"),
        (("--plot", "gate.svg"), "matplotlib", "pip install matplotlib"),
        (("--tolerance", "tau=100%"), "", "give less than 100%"),
        (("--tolerance", "tau=2", "--sharpness", "hard"), "", "no sharpness to be off"),
        (("--tolerance", "theta=1%", "--norm", "rms"), "", "plain supremum"),
        (("--tolerance", "theta=1%", "--weight", "1"), "", "plain supremum"),
        (("--tolerance", "theta=1%", "--gates", "stick", "-k", "3"), "", "difference gates"),
        (("--tolerance", "theta=1%", "--curve"), "", "--curve"),
        (("--export", f"{'a' * 300}.json"), "", "cannot be written: File name too long"),
        (("--plot", f"{'a' * 300}.svg"), "", "cannot be written: File name too long"),
    ],
)
def test_it_is_refused_before_the_target_is_read(tmp_path, monkeypatch, capsys, words, missing, said):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(fitting, "read_target", unread)
    if missing:
        monkeypatch.setitem(sys.modules, missing, None)
    assert main(["fit", "gelu", *words]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert said in shown.err
    assert list(tmp_path.iterdir()) == []


def test_tolerances_of_data_are_refused_before_the_search(monkeypatch):
    monkeypatch.setattr("gateproof.numerics.fits.solve.solve", unread)
    x = np.linspace(-2, 2, 20)
    with pytest.raises(RefusedError, match="nothing is certified for a callable or for data"):
        fit((x, np.tanh(x)), tolerance={"tau": "1%"})


def test_sizes_that_the_gate_cannot_be_off_by_do_not_lose_it(tmp_path, monkeypatch, capsys):
    # Whether 5 is too much depends on the sharpness found: of silu it is 1.
    monkeypatch.chdir(tmp_path)
    assert main(["fit", "silu", "--tolerance", "tau=5", "--export", "silu.csv", "--export", "silu.json"]) == 4
    shown = capsys.readouterr()
    assert "tau=1, theta=[0]" in shown.out
    assert "  worst      not certified over all gates within tau 5: tau: within 5 of its value" in shown.out
    assert "worst_case," in (tmp_path / "silu.csv").read_text()
    worst = json.loads((tmp_path / "silu.json").read_text())["tolerance"]
    assert (worst["kind"], worst["tolerance"]) == (None, {"tau": "5"})


def test_a_file_that_cannot_be_written_at_last_does_not_lose_the_fit(tmp_path, monkeypatch, capsys):
    def full(path, _data):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gateproof.numerics.atomic.write_bytes", full)
    assert main(["fit", "silu", "--export", "gate.c"]) == 2
    shown = capsys.readouterr()
    assert "tau=1, theta=[0]" in shown.out
    assert shown.err == "gateproof: --export gate.c: cannot be written: No space left on device\n"


def test_what_is_there_is_not_refused(tmp_path):
    for name, option, package in (("gate.onnx", "--export", "onnx"), ("gate.png", "--plot", "matplotlib")):
        pytest.importorskip(package)
        fitting_files.refuse_early([str(tmp_path / name)], option)


def test_tiny_numbers_are_printed_short_and_are_the_same(capsys):
    from gateproof.theory.formula import expand, parse_expr

    assert main(["fit", "1e-20*silu(x)"]) == 0
    shown = capsys.readouterr().out
    (line,) = re.findall(r"^  y = (.*)$", shown, re.MULTILINE)
    assert line == "tg(x, tau=1, theta=[0], slope=[0, 1e-20], intercept=[0, 0])"
    assert expand(parse_expr(line)) == expand(parse_expr(fit("1e-20*silu(x)").text))
    assert "0.0000000" not in shown.partition("  error")[0]
