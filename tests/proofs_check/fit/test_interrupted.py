"""Ctrl-C and the clock leave the best gate so far, whole and said to be that."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gateproof.numerics.fits import solve as solving
from gateproof.proofs_check.cli import main

ROOT = Path(__file__).resolve().parents[3]


def test_the_clock_stops_the_search(capsys):
    assert main(["fit", "gelu", "-k", "12", "--sharpness", "free", "--timeout", "1.5", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["status"] == "interrupted"
    assert found["k"] == len(found["slope"]) < 12
    assert "stopped early" in found["message"]


@pytest.mark.parametrize(("asked", "said"), [(6, True), (2, False)])
def test_a_search_that_was_stopped_says_how_many_branches_were_asked_for(monkeypatch, capsys, asked, said):
    run = solving.Search.run

    def stopped(self):
        yield next(one for one in run(self) if one.setting.branches == 2)
        raise KeyboardInterrupt

    monkeypatch.setattr(solving.Search, "run", stopped)
    assert main(["fit", "gelu", "-k", str(asked), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["k"], found["status"]) == (2, "interrupted")
    assert found["message"].endswith("no gate of 6 branches, as asked for, was found by then") == said
    assert ("as asked for" in found["message"]) == said


def test_control_c_in_the_search_leaves_the_best_so_far(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "gateproof", "fit", "gelu", "-k", "16", "--sharpness", "free", "--json"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(4)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "Traceback" not in err
    if out:
        assert json.loads(out)["status"] == "interrupted"
    else:
        # On a machine so slow that nothing was found yet.
        assert "interrupted: nothing was written" in err


def test_control_c_while_it_certifies(monkeypatch, capsys):
    from gateproof.numerics.fits import certified_fit

    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(certified_fit, "certified_error", stopped)
    assert main(["fit", "gelu", "-k", "2", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["status"], found["evidence"], found["certificate"]) == ("interrupted", "sampled", None)
    assert (found["attained"], found["infimum"]) == (None, None)


def test_nothing_is_left_where_nothing_was_found(monkeypatch, capsys):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(solving.Search, "run", stopped)
    assert main(["fit", "gelu", "-k", "2"]) == 1
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "gateproof: interrupted: nothing was written\n")


@pytest.mark.parametrize("name", ["fit.json", "g.svg"])
def test_a_file_that_cannot_be_written_is_refused_first(tmp_path, capsys, monkeypatch, name):
    monkeypatch.setattr(solving, "curve", lambda *_, **__: pytest.fail("the search had begun"))
    option = "--plot" if name.endswith("svg") else "--export"
    assert main(["fit", "gelu", option, str(tmp_path / "none" / name)]) == 2
    assert "there is no such folder" in capsys.readouterr().err
