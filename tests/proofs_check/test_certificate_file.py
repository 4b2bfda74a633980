"""``certify --certificate FILE.json``: whole or not at all, and accepted by ``verify``."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gateproof.proofs_check import certify_text
from gateproof.proofs_check.cli import main

ROOT = Path(__file__).resolve().parents[2]
TEXT = "sup(abs(x*sigmoid(1.702*x) - gelu(x)), x in R)"
GATE = "sup(abs(tg(x, tau=2, theta=[0], slope=[0, 1], intercept=[0, 0]) - relu(x)), x in R)"


def files(folder):
    return sorted(p.name for p in folder.iterdir())


@pytest.mark.parametrize(
    "words",
    [[TEXT, "--digits", "6"], [f"{TEXT} <= 0.0204"], [GATE, "--tolerance", "tau=5%", "--digits", "6"]],
)
def test_what_is_written_is_accepted(tmp_path, capsys, words):
    path = tmp_path / "found.json"
    assert main(["certify", *words, "--certificate", str(path), "-j", "1"]) == 0
    assert main(["verify", str(path)]) == 0
    assert "accepted" in capsys.readouterr().out
    assert files(tmp_path) == ["found.json"]
    # Another certificate may take its place.
    assert main(["certify", TEXT, "--digits", "4", "--certificate", str(path), "-j", "1"]) == 0


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        ("found.txt", None, "is named *.json"),
        ("none/found.json", None, "no such folder"),
        ("report.json", '{"schema_version": 1}', "is not overwritten"),
        ("text.json", "not json", "is not overwritten"),
        ("fit.json", '{"kind": "value", "version": 1}', "is not overwritten"),
    ],
)
def test_other_files_are_left_alone(tmp_path, capsys, name, content, part):
    path = tmp_path / name
    if content is not None:
        path.write_text(content)
    assert main(["certify", TEXT, "--certificate", str(path), "-j", "1"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert part in err
    assert err.startswith(f"gateproof: --certificate {path}: ")
    assert err.count("--certificate") == 1
    assert content is None or path.read_text() == content


@pytest.mark.parametrize("certificate", [None, {"kind": "range", "version": 1}])
def test_without_a_good_certificate_nothing_is_written(tmp_path, capsys, monkeypatch, certificate):
    found = {**certify_text.undecided(""), "kind": "value", "value": {"lo": "2", "hi": "2"}, "digits": 15}
    monkeypatch.setattr(certify_text, "certify_text", lambda *_, **__: {**found, "certificate": certificate})
    path = tmp_path / "found.json"
    assert main(["certify", "1 + 1", "--certificate", str(path), "-j", "1"]) == 4
    assert "is not written" in capsys.readouterr().err
    assert files(tmp_path) == []


@pytest.mark.parametrize("there", [True, False])
def test_a_symbolic_proof_has_no_certificate_and_the_file_stays(tmp_path, capsys, there):
    path = tmp_path / "found.json"
    old = '{"kind": "range", "version": 1}'
    if there:
        path.write_text(old)
    words = ["for x in R: silu(x) >= -0.27846455", "--certificate", str(path), "-j", "1"]
    assert main(["certify", *words]) == 4
    out, err = capsys.readouterr()
    assert out == "true (proved)\n"
    fate = "is left as it was" if there else "is not written"
    assert err == f"it is proved (symbolic proof), of which there is no certificate, so {path} {fate}\n"
    assert (path.read_text() if there else None) == (old if there else None)
    assert path.exists() == there


def started(tmp_path, *words, **more):
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "gateproof", "certify", GATE, *words, "--certificate", "found.json"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, **more,
    )  # fmt: skip


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_nothing_is_written(tmp_path, sign, jobs):
    old = json.dumps({"kind": "range", "version": 1})
    (tmp_path / "found.json").write_text(old)
    # A sample that takes minutes.
    with started(tmp_path, "--noise", "tau=5%", "--samples", "100000", "-j", jobs) as process:
        time.sleep(1.5)
        assert process.poll() is None
        process.send_signal(sign)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (1, "")
    assert "interrupted" in err
    assert (tmp_path / "found.json").read_text() == old
    assert files(tmp_path) == ["found.json"]


def test_a_full_disk_leaves_nothing(tmp_path):
    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))

    with started(tmp_path, "--digits", "6", "-j", "1", preexec_fn=small) as process:
        out, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert out == ""
    assert "cannot be written" in err
    assert files(tmp_path) == []
