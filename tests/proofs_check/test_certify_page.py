"""docs/certify.md and docs/lower-bounds.md: every ``$`` command is run, and prints what the page says."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from gateproof.proofs_check.cli import main

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCKS = [
    re.sub(r"^    ", "", block, flags=re.MULTILINE)
    for page in ("certify.md", "lower-bounds.md")
    for block in re.findall(r"(?:^    .*\n)+", (DOCS / page).read_text(), re.MULTILINE)
]
COMMANDS = [b.removeprefix("$ gateproof ").split("\n", 1) for b in BLOCKS if b.startswith("$ ")]
DOCUMENT = next(b for b in BLOCKS if b.startswith("{"))


@pytest.mark.parametrize(("command", "output"), COMMANDS)
def test_a_command_prints_what_the_page_says(tmp_path, monkeypatch, capsys, command, output):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "given.json").write_text(json.dumps(json.loads(DOCUMENT)))
    assert main([*shlex.split(command), "-j", "1"]) == 0
    assert capsys.readouterr().out == output


def test_there_are_commands():
    assert len(COMMANDS) == 5
