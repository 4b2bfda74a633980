"""Modules with decorated functions: by the command, by the settings, and by pytest."""

from __future__ import annotations

import json
import sys

import pytest

from gateproof.proofs_check.cli import main

GOOD = '''
import numpy as np
from gateproof import claims

@claims("for x in R: stable(x) == softplus(x)", dtype=["float32", "float64"], points=200)
def stable(x):
    """The form that does not overflow."""
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


class Gates:
    @staticmethod
    @claims("for x in R: half(x) == x/2", ulps=0.5, points=100)
    def half(x):
        return x / 2
'''
BAD = """
@claims("for x in R: naive(x) == softplus(x)", points=200)
def naive(x):
    return np.log(1 + np.exp(x))
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "coded_gates", raising=False)

    def write(text):
        (tmp_path / "coded_gates.py").write_text(text)
        sys.modules.pop("coded_gates", None)

    return write


def test_the_command_reports_each_statement_and_type(package, capsys):
    package(GOOD)
    assert main(["check", "module:coded_gates", "-j", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [c["id"] for c in found["claims"]] == ["coded_gates.stable", "coded_gates.Gates.half"]
    readings = [r for c in found["claims"] for r in c["readings"]]
    assert [r["verdict"] for r in readings] == ["supported"] * 3
    assert readings[1]["name"] == "for x in R: stable(x) == softplus(x) [float64]"
    assert all((r["controls"]["planted"], r["controls"]["caught"]) == (1, 1) for r in readings)
    assert found["claims"][0]["says"] == "The form that does not overflow."


def test_a_fault_is_drift_and_nothing_is_kept_from_before(package, capsys):
    package(GOOD + BAD)
    assert main(["check", "module:coded_gates", "coded_gates.naive", "-j", "1"]) == 1
    assert "DRIFT from supported" in capsys.readouterr().out
    package(GOOD + BAD.replace("np.log(1 + np.exp(x))", "np.logaddexp(np.float32(0), x)"))
    assert main(["check", "module:coded_gates", "-j", "1"]) == 0


def test_in_workers_of_their_own(package, capsys):
    package(GOOD + BAD.replace("def naive", "@claims('for x in R: naive(x) == x', points=9)\ndef naive"))
    assert main(["check", "module:coded_gates", "-j", "2"]) == 1
    assert "5 readings, 2 refuted, 3 supported" in capsys.readouterr().out


def test_a_module_of_the_settings_is_checked_by_itself(package, tmp_path, capsys):
    package(GOOD)
    (tmp_path / "pyproject.toml").write_text('[tool.gateproof]\nmodules = ["coded_gates"]\n')
    assert main(["check", "-j", "1"]) == 0
    assert "2 claims, 3 readings, 3 supported" in capsys.readouterr().out
    (tmp_path / "pyproject.toml").write_text('[tool.gateproof]\nmodules = ["os; x"]\n')
    assert main(["check"]) == 2
    assert "list of names of modules" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("import nosuchpackage", "coded_gates", "ModuleNotFoundError: No module named 'nosuchpackage'"),
        ("raise SystemError('a\\nb')", "coded_gates", "SystemError: a"),
        ("x = 1", "coded_gates", "no function there is decorated"),
        ("x = 1", "coded-gates", "no name of a module"),
        (GOOD.replace("== softplus(x)", "== sofplus(x)"), "coded_gates", "coded_gates.py:5: stable: column"),
    ],
)
def test_what_cannot_be_read_is_one_line(package, capsys, text, name, said):
    package(text)
    assert main(["check", f"module:{name}"]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert "Traceback" not in error


def test_claims_files_in_python_are_read_and_not_imported(package, tmp_path, capsys):
    (tmp_path / "danger.py").write_text(
        'raise SystemExit("imported")\n"""\ngateproof-claim one.two: 1 + 1 == 2\n"""\n'
    )
    assert main(["check", "danger.py", "-j", "1"]) == 0
    assert "1 proved" in capsys.readouterr().out


def test_pins_of_code_are_not_written(package, capsys):
    package(GOOD + BAD)
    before = (GOOD + BAD,)
    assert main(["check", "module:coded_gates", "-j", "1", "--update-pins"]) == 1
    from pathlib import Path

    assert (Path("coded_gates.py").read_text(),) == before


def test_pytest_collects_decorated_functions(tmp_path):
    import subprocess

    (tmp_path / "coded_gates.py").write_text(GOOD + BAD)
    (tmp_path / "plain.py").write_text("raise RuntimeError('no claims here, so not imported')\n")
    command = [sys.executable, "-P", "-m", "pytest", "--gateproof", "-q", "-p", "no:cacheprovider", "."]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert "1 failed, 3 passed" in found.stdout
    assert "naive[for x in R: naive(x) == softplus(x) [float32]]: " not in found.stdout
    assert "the code gives inf, exact is" in found.stdout
