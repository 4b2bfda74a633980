"""README.md: its commands and Python lines print what it shows."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pages
import pytest

from gateproof.proofs_check.cli import main

README = (Path(__file__).resolve().parents[2] / "README.md").read_text()
#: The five minutes are one session, which the test of the wheel goes through.
OTHERS = re.sub(r"## Five minutes\n.*?(?=^## )", "", README, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("block", pages.commands(OTHERS), ids=pages.first_line)
def test_a_command_prints_what_is_shown(tmp_path, monkeypatch, capsys, block):
    monkeypatch.chdir(tmp_path)
    shown, printed = pages.run(block, capsys)
    assert pages.holds_in_order(shown, printed) is None


def test_a_line_that_is_not_printed_is_found():
    assert pages.holds_in_order("a\n...\nc", "a\nb\nc") is None
    assert pages.holds_in_order("a  1\nb 2", "a 1\nb 3") == "b 2"
    assert pages.holds_in_order("b\na", "a\nb") == "a"


def test_the_claims_file_gives_what_is_shown(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    claims, _, shown = README.split("## Your own paper")[1].partition("`check` then prints")
    written = re.findall(r"^ {4}((?:\[\[|id|formal).*)$", claims, re.MULTILINE)
    Path("paper.claims.toml").write_text("\n".join(written))
    assert main(["check", "paper.claims.toml"]) == 1
    block = "\n".join(
        line for line in shown.split("*True instead*")[0].split("\n") if line.startswith("    ")
    )
    assert pages.holds_in_order(block, capsys.readouterr().out) is None


def test_the_python_lines():
    # The report of an array is the library's; only spaces may differ.
    flags = doctest.NORMALIZE_WHITESPACE
    found = doctest.DocTestParser().get_doctest(README, {}, "README.md", "README.md", 0)
    assert found.examples
    assert doctest.DocTestRunner(optionflags=flags, verbose=False).run(found).failed == 0


def test_pages_that_are_named_exist():
    root = Path(__file__).resolve().parents[2]
    named = re.findall(r"\]\(([^)#]+)\)", README)
    assert named
    assert [n for n in named if not (root / n).exists()] == []
