"""Code that prints, ends the program or hangs; numbers out of range; files named twice; signals."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from gateproof import RefusedError, fit
from gateproof.numerics.fits import solve as solving
from gateproof.proofs_check.cli import main

ROOT = Path(__file__).resolve().parents[3]
CODE = """\
import math
import time

import numpy as np

print("imported")


def prints(x):
    print("HELLO")
    return np.tanh(x)


def exits(x):
    raise SystemExit(0)


def exits_late(x):
    if np.size(x) > 100:
        raise SystemExit(0)
    return np.tanh(x)


def sleeps(x):
    time.sleep(60)


class Odd:
    def __init__(self):
        raise SystemExit("no")
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    (tmp_path / "odd_code.py").write_text(CODE)
    (tmp_path / "ends_at_once.py").write_text("raise SystemExit(0)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for name in ("odd_code", "ends_at_once"):
        sys.modules.pop(name, None)


def refused(capsys, *words, code=2):
    assert main(["fit", *map(str, words)]) == code
    shown = capsys.readouterr()
    assert (shown.out, shown.err.count("\n")) == ("", 1)
    return shown.err


@pytest.mark.parametrize("name", ["odd_code:exits", "odd_code:exits_late", "odd_code:Odd", "ends_at_once:f"])
def test_code_that_ends_the_program_is_refused(mine, capfd, name):
    assert main(["fit", "--allow-code", name, "--domain", "[-4, 4]", "--json"]) == 2
    shown = capfd.readouterr()
    assert shown.out == ""
    assert "SystemExit" in shown.err.splitlines()[-1]


def test_what_code_prints_is_not_in_the_result(mine, capfd):
    assert main(["fit", "--allow-code", "odd_code:prints", "--domain", "[-4, 4]", "--json"]) == 0
    shown = capfd.readouterr()
    found = json.loads(shown.out)
    # tanh(x) = sigmoid(2 x) - sigmoid(-2 x) is a gate of two branches.
    assert float(found["error"]["hi"]) < 1e-9
    assert {"HELLO", "imported"} <= set(shown.err.splitlines())


def test_a_function_that_ends_the_program_in_python():
    def ends(_):
        sys.exit(0)

    with pytest.raises(RefusedError, match="SystemExit"):
        fit(ends, 2)


def test_the_clock_runs_while_the_target_is_read(mine, capsys):
    started = time.perf_counter()
    assert main(["fit", "--allow-code", "odd_code:sleeps", "--timeout", "0.4"]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    lines = [line for line in shown.err.splitlines() if line != "imported"]
    assert lines == ["gateproof: stopped after 0.4 s, as the target was read: nothing was written"]
    assert time.perf_counter() - started < 20


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("gelu", "--mu", "1e400"), "standard deviations"),
        (("gelu", "--mu", "1e30"), "standard deviations"),
        (("gelu", "--sigma", "1e400"), "at most 1e100"),
        (("gelu", "--max-coefficient", "1e400"), "at most 1e100"),
        (("gelu", "--tol", "1e-400"), "too small"),
        (("gelu", "--domain", "[0,1e-300]"), "narrower than 1e-100"),
        (("gelu(x)+1e200",), "leave out the constant"),
    ],
)
def test_numbers_that_doubles_cannot_hold_are_refused(capsys, words, part):
    assert part in refused(capsys, *words)


def test_a_mean_far_from_0_is_one_of_the_far_branch(capsys):
    # At 10**6 the gate and gelu are both x.
    assert main(["fit", "gelu", "--mu", "1000000", "--json"]) == 0
    assert float(json.loads(capsys.readouterr().out)["rms"]) < 1e-9


@pytest.mark.parametrize(
    "words",
    [
        ("--certificate", "x.json", "--export", "x.json"),
        ("--export", "a.py", "--export", "./a.py"),
        ("--export", "a.py", "--export", "x.json", "--certificate", "./x.json"),
    ],
)
def test_two_outputs_of_one_name_are_refused_before_any_work(tmp_path, monkeypatch, capsys, words):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(solving, "curve", lambda *_, **__: pytest.fail("the search had begun"))
    assert "file of its own" in refused(capsys, "gelu", *words)
    assert list(tmp_path.iterdir()) == []


def test_an_export_does_not_stand_in_for_a_module(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert "gate_torch.py" in refused(capsys, "relu", "--export", "torch.py")
    assert main(["fit", "relu", "--export", "relu_torch.py"]) == 0
    assert (tmp_path / "relu_torch.py").is_file()


def test_tables_have_the_two_ends_of_the_worst_case(tmp_path, capsys):
    path = tmp_path / "tanh.csv"
    assert main(["fit", "tanh", "--tolerance", "tau=5%", "--export", str(path), "--json"]) == 0
    worst = json.loads(capsys.readouterr().out)["tolerance"]["value"]
    rows = dict(line.split(",", 1) for line in path.read_text().splitlines())
    assert (rows["worst_case_lo"], rows["worst_case_hi"]) == (worst["lo"], worst["hi"])
    # sup |tanh(1.05 x) - tanh(x)|, by a fine sample.
    x = np.linspace(0, 10, 200001)
    right = max(np.abs(np.tanh(s * x) - np.tanh(x)).max() for s in (0.95, 1.05))
    assert float(worst["lo"]) == pytest.approx(right, rel=1e-4)
    assert "certificate" not in path.read_text()


def test_a_curve_ends_at_the_tolerance(capsys):
    assert main(["fit", "gelu", "--curve", "--tol", "0.004", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["curve"]
    # One line has not both asymptotes of gelu; two branches reach 0.0139, three 0.00384.
    assert [row["k"] for row in rows] == [2, 3]
    assert main(["fit", "tanh", "--curve", "--tol", "1.5", "--json"]) == 0
    assert [row["k"] for row in json.loads(capsys.readouterr().out)["curve"]] == [2]


def test_a_curve_that_does_not_get_there_says_so(monkeypatch, capsys):
    monkeypatch.setattr("gateproof.numerics.fits.request.MOST_BRANCHES", 2)
    assert main(["fit", "gelu", "--curve", "--tol", "1e-3", "--json"]) == 4
    (row,) = json.loads(capsys.readouterr().out)["curve"]
    assert (row["k"], row["status"]) == (2, "not reached")


def stopped(monkeypatch):
    def raises(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("gateproof.numerics.fits.candidates.judge", raises)


def test_a_stop_after_the_search_is_said(monkeypatch, capsys):
    # Whatever the signal: also where only the question whether the gate is best was cut off.
    stopped(monkeypatch)
    assert main(["fit", "gelu", "-k", "2", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["status"] == "interrupted"
    assert found["message"].startswith("stopped early")
    assert float(found["error"]["hi"]) == pytest.approx(1.39222e-2, rel=1e-4)


@pytest.mark.parametrize("gap", [0, 0.03])
@pytest.mark.parametrize("delay", [0.15, 0.3])
def test_signals_while_it_starts_end_in_one_line(tmp_path, delay, gap):
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "gateproof", "fit", "gelu", "-k", "8", "--json"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    if gap:
        time.sleep(gap)
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    if re.search(r"site\.py|KeyboardInterrupt", err) or (process.returncode == -2 and not err):
        pytest.skip("Python itself had not started yet")
    assert process.returncode == 1
    if out:  # a quick machine has a first gate by then
        assert json.loads(out)["status"] == "interrupted"
    else:
        assert err == "gateproof: interrupted: nothing was written\n"
