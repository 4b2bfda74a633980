"""Random command lines: a known exit code, one clear line for what is refused, never an internal error."""

from __future__ import annotations

import random

import pytest

WORDS = (
    "report", "check", "show", "explain", "verify", "certify", "diff", "fit", "run", "--json",
    "--strict", "--update-pins", "--seed", "--seed=3", "--precision", "--timeout", "--digits",
    "--digits=3", "--out", "--no-cache", "-j", "-j2", "--jobs", "--help", "--version", "--", "-", "-x",
    "-1", "0", "1", "64", "1e3", "x", "x + ", "1 == 1", "-2**2", "sup(x, x in R)", "c0", "c1", "c?",
    "c*", "[", "", " ", ".", "..", "t.claims.toml", "t.claims.toml:c0", "t.claims.toml:", ":c0",
    "no.toml", "no.toml:c0", "broken.toml", "odd.json", "r", "r/report.json", "empty", "\x00",
    "\x1b[31m", "\u202e", "é" * 300, "/", "/dev/null", "a" * 300 + ".toml", "none/such/x.json", "~",
    "%s", "{}",
)  # fmt: skip
COMMANDS = WORDS[:7]


def line(rng):
    """A command line: mostly a command with a few words behind it."""
    words = [rng.choice(WORDS) for _ in range(rng.randrange(4))]
    return [rng.choice(COMMANDS), *words] if rng.random() < 0.9 else words


@pytest.fixture
def workplace(inside, claims, tmp_path, capsys):
    """Files of every kind that a word may name."""
    claims(("0 == 0", None), ("2 == 2", None))
    (tmp_path / "broken.toml").write_text("[[claim]]\nid = 1\nformal = 'x'\nid2 = 3\n")
    (tmp_path / "odd.json").write_text('{"kind": "range", "version": 1}')
    (tmp_path / "empty").mkdir()
    inside("report", "t.claims.toml", "--out", "r")
    capsys.readouterr()
    return inside


def judged(workplace, capsys, words):
    code = workplace(*words)
    out, err = capsys.readouterr()
    assert code in (0, 1, 2, 4, 5), (words, err)
    assert "Traceback" not in out + err, words
    assert not set("\x00\x1b\u202e") & set(err), words
    if code in (2, 5):
        assert out == "", words
        lines = err.splitlines()
        # A line for each word that is wrong; only a file with several faults has more.
        assert 1 <= len(lines) <= max(1, len(words) - 1) or "broken.toml" in words, (words, err)
        assert all(shown.startswith("gateproof: ") and len(shown) < 650 for shown in lines), (words, err)
    return code


@pytest.mark.parametrize("seed", range(4))
def test_random_command_lines(workplace, capsys, monkeypatch, seed):
    # Packaged claims would be decided by the hundred; here only what the folder holds is asked for.
    monkeypatch.setattr("gateproof.proofs_check.selection.load_packaged", list)
    rng = random.Random(f"command lines {seed}")
    codes = {judged(workplace, capsys, line(rng)) for _ in range(60)}
    assert {0, 2, 5} <= codes
