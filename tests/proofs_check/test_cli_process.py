"""The command as a process: Ctrl-C, pipes that close, terminals of all sorts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time

import pytest

from gateproof.proofs_check import schema


@pytest.mark.parametrize("signal_", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupt_leaves_a_valid_report(claims, environment, stubbed_command, tmp_path, jobs, signal_):
    path = claims(("0 == 0", "proved"), ("100 == 100", "proved"), ("100 == 100", None))
    process = subprocess.Popen(
        [*stubbed_command, "report", str(path), "-j", jobs, "--out", "out"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    cache = tmp_path.parent / environment["XDG_CACHE_HOME"]
    until = time.monotonic() + 20
    # The first reading is decided once its entry is in the cache.
    while not list(cache.rglob("*.json")) and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(signal_)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 1
    assert "interrupted: 1 of 3 readings were decided" in err
    assert "Traceback" not in err
    made = json.loads((tmp_path / "out" / "report.json").read_text())
    assert schema.faults(made) == []
    assert made["run"]["interrupted"] is True
    found = [claim["readings"][0] for claim in made["claims"]]
    assert [r["verdict"] for r in found] == ["proved", "not-run", "not-run"]
    assert [r["reason"] for r in found] == ["", "interrupted", "interrupted"]
    assert not any(r["drift"] for r in found)
    assert "the run was interrupted" in (tmp_path / "out" / "report.html").read_text()


def test_a_reader_that_leaves_early_is_no_error(claims, environment, stubbed_command, tmp_path):
    path = claims(*[("0 == 0", None)] * 400)
    process = subprocess.Popen(
        [*stubbed_command, "check", str(path), "--json", "--no-cache", "-j", "1"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.read(10)
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert (process.wait(timeout=20), err) == (0, b"")


def test_a_terminal_that_knows_ascii_only(claims, environment, stubbed_command, tmp_path):
    path = claims(("2 == 2", None))
    done = subprocess.run(
        [*stubbed_command, "report", str(path), "-j", "1"],
        cwd=tmp_path,
        env={**environment, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout.isascii()


def test_progress_goes_to_a_terminal_on_stderr_only(claims, environment, stubbed_command, tmp_path):
    path = claims(*[(f"{n} == {n}", None) for n in range(3)])
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [*stubbed_command, "check", str(path), "-j", "1"],
        cwd=tmp_path,
        env={**environment, "TERM": "xterm"},
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:
            break  # Linux reports the end of a terminal as an error
        if not part:
            break
        shown += part
    os.close(ours)
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 1
    assert b"deciding" in shown
    assert "\x1b" not in out
    assert len(out.splitlines()) == 5
