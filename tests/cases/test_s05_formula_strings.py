"""S05: a formula is never run. sympy#10805, sympy#24990, sirepo#1637, sympy#27763.

SymPy's ``sympify`` and ``parse_expr`` evaluate their input, so a formula field is a way in.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gateproof.proofs_check.cli import main

ROOT = Path(__file__).resolve().parents[2]
STRINGS = {
    "__import__('pathlib').Path('PWNED').touch() or x": "there are no strings",
    "x.__class__.__mro__": "attributes are not part of the language",
    "open('/etc/hostname').read()": "there are no strings",
    "print(7)": "unknown function 'print'",
    "lambda: x": "'lambda' is not a name here",
    "9**9**9": "a power with about 3.7e+08 digits",
    "factorial(10**7)": "factorials are not part of the language",
    "I*x": "complex numbers are not part of the language",
    "S*x": "'S' is not bound",
    "beta*x": "'beta' is not bound",
    "lambda*x": "'lambda' is not a name here",
    "tau*x": "'tau' is not bound",
}
LEGAL = ("x**(10**9)", "E*x")


def one_line(capsys, words):
    begin = time.process_time()
    code = main(words)
    seconds = time.process_time() - begin
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    assert seconds < 1
    return line


@pytest.mark.parametrize("text", STRINGS)
def test_refused_as_a_claim_without_a_trace(tmp_path, monkeypatch, capsys, text):
    monkeypatch.chdir(tmp_path)
    formal = json.dumps(f"for x in R: {text} >= 0")
    (tmp_path / "t.claims.toml").write_text(f'[[claim]]\nid = "a"\nformal = {formal}\n')
    for command in ("check", "report"):
        line = one_line(capsys, [command, "t.claims.toml"])
        assert STRINGS[text] in line
        assert line.startswith("gateproof: t.claims.toml:3: a: formal: ")
    assert [path.name for path in tmp_path.iterdir()] == ["t.claims.toml"]


@pytest.mark.parametrize("text", [*STRINGS, *LEGAL])
def test_refused_by_certify_without_a_trace(tmp_path, monkeypatch, capsys, text):
    monkeypatch.chdir(tmp_path)
    line = one_line(capsys, ["certify", text])
    # x is free in all of them; a refusal of its own comes first where there is one.
    assert STRINGS.get(text, "'x' is not bound") in line or "is not bound" in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("formal", "verdicts"),
    [
        ("for x in R: E*x == e*x", {"proved"}),
        ("for x in R, tau > 0: tau*x == x*tau", {"proved"}),
        ("for x in [0, 1]: x**(10**9) >= 0", {"proved", "certified", "inconclusive"}),
    ],
)
def test_legal_ones_are_decided_and_do_not_hang(formal, verdicts):
    from gateproof.proofs_check.api import decide_text

    begin = time.process_time()
    assert decide_text(formal).verdict in verdicts
    assert time.process_time() - begin < 5


HOSTILE = {
    "formula": lambda folder: ["certify", "__import__('os').system('touch PWNED')"],
    "power": lambda folder: ["certify", "9**9**9"],
    "signs": lambda folder: ["certify", "-" * 20_000 + "1"],
    "parentheses": lambda folder: ["certify", "(" * 4_000 + "1"],
    "1 MB": lambda folder: ["check", file(folder, "[[claim]]\nid='a'\nformal='" + "x" * 999_000 + "'")],
    "nested": lambda folder: ["check", file(folder, "a = " + "[" * 900_000)],
    "number": lambda folder: ["check", file(folder, "a = " + "9" * 900_000)],
    "tables": lambda folder: ["check", file(folder, "[[claim]]\n" * 90_000)],
    "junk": lambda folder: ["report", file(folder, "\x00\x01\x02\x1b[31m" * 1_000)],
    "outside": lambda folder: ["check", "../../../../etc/nothing.claims.toml"],
    "folder": lambda folder: ["check", "/etc/"],
}


def file(folder, text):
    (folder / "t.claims.toml").write_text(text)
    return "t.claims.toml"


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_input_ends_in_one_line_and_under_a_second(tmp_path, name):
    words = HOSTILE[name](tmp_path)
    before = sorted(tmp_path.iterdir())
    with (tmp_path.parent / f"{name}.err").open("w+") as err:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "gateproof", *words],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            stdout=subprocess.PIPE,
            stderr=err,
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.stdout.read() == b""
        process.stdout.close()
        err.seek(0)
        (line,) = err.read().splitlines()
    assert process.returncode == 2, line
    assert line.startswith("gateproof: ")
    assert line.isprintable()
    # CPU, not wall clock: other processes of the machine must not fail this.
    assert usage.ru_utime + usage.ru_stime < 1
    assert sorted(tmp_path.iterdir()) == before
