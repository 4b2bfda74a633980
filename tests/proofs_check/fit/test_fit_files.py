"""The files of a fit: certificates, several of them, and exports from Python."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import gateproof
from gateproof.proofs_check.checker import verify
from gateproof.proofs_check.cli import main


@pytest.fixture(scope="module")
def gelu():
    return gateproof.fit("gelu", 2)


def test_each_certificate_that_is_named_is_written(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["fit", "gelu", "--certificate", "a.json", "--certificate", "b.json"]) == 0
    first, second = (json.loads((tmp_path / name).read_text()) for name in ("a.json", "b.json"))
    assert first == second
    assert verify(first).accepted
    capsys.readouterr()
    assert main(["fit", "gelu", "--certificate", "a.json", "--certificate", "./a.json"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_certificate_of_a_worst_case_is_a_part(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["fit", "gelu", "--tolerance", "tau=5%", "--certificate", "c.json"]) == 0
    printed = capsys.readouterr().out
    found = json.loads((tmp_path / "c.json").read_text())
    assert len(found["parts"]) == 3
    assert [word in found["conclusion"] for word in ("part 1", "part 2", "part 3")] == [True] * 3
    worst = next(line for line in printed.splitlines() if line.startswith("  worst"))
    assert "(certified), near x = " in worst
    # The sharpness is at an end of its range.
    tau = float(worst.rpartition("tau = [")[2].rstrip("]"))
    nominal = float(gateproof.fit("gelu", 2).to_json()["tau"][0])
    assert min(abs(tau / nominal - end) for end in (0.95, 1.05)) < 1e-4
    assert main(["verify", "c.json"]) == 0
    printed = capsys.readouterr().out
    assert "each of the 3 parts holds; not checked is the step" in printed
    assert "verify of its JSON (--export FILE.json) checks that step" in printed


def test_an_export_from_python_is_that_of_the_command(gelu, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = ("gate.py", "gate.c", "gate.json", "gate.tex")
    assert main(["fit", "gelu", "-k", "2", *(word for name in names for word in ("--export", name))]) == 0
    for name in names:
        gelu.export(tmp_path / f"python_{name}")
        one, other = ((tmp_path / n).read_text() for n in (name, f"python_{name}"))
        assert one == other.replace("python_", "").replace("PYTHON_", ""), name
    run = subprocess.run(
        [sys.executable, "-c", "import python_gate as p; print(p.gate(1.0))"],
        capture_output=True, text=True, cwd=tmp_path, check=True,
    )  # fmt: skip
    assert float(run.stdout) == pytest.approx(float(gelu.numpy(np.float64(1.0))), abs=1e-15)


@pytest.mark.parametrize("name", ["gate", "gate.docx", "torch.py", "missing/gate.c", "."])
def test_what_cannot_be_exported_is_refused_in_a_line(gelu, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        gelu.export(name)
    assert list(tmp_path.iterdir()) == []


def test_a_histogram_and_a_formula_have_words_that_agree(tmp_path, capsys):
    path = tmp_path / "inputs.npy"
    np.save(path, np.random.default_rng(0).normal(size=500))
    assert main(["fit", "gelu", "--norm", "rms", "--histogram", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "(sampled)" in printed
    assert "sup " in printed
    assert "nothing is certified" not in printed
    assert "its root mean square is one of floats, its supremum is certified" in printed


def test_a_rejected_certificate_beside_the_error_is_not_handed_out(gelu):
    from dataclasses import replace

    from gateproof.proofs_check.fitting import rechecked

    narrow = gateproof.fit("exp(x)", 2, domain="[0, 1]", norm="relative")
    assert rechecked(narrow).plain == narrow.plain
    damaged = {**narrow.plain.certificate, "bits": 1}
    bad = replace(narrow, plain=replace(narrow.plain, certificate=damaged))
    assert rechecked(bad).plain is None
