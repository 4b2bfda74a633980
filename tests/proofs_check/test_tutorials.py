"""Tutorials, from top to bottom in an empty folder: files are written, commands and Python run."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pages
import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
#: How many commands and programs each has.
TUTORIALS = {
    "tutorial-paper.md": (4, 0),
    "tutorial-gate.md": (3, 1),
    "tutorial-guard.md": (2, 0),
    "code-claims.md": (1, 0),
}
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def steps(page):
    """What a reader does, in order: ('toml', text), ('python', text) or ('run', block)."""
    found = [(m.start(), m[1], m[2]) for m in _FENCE.finditer(page)]
    for block in re.finditer(r"(?:^ {4}.*\n)+", page, re.MULTILINE):
        if not any(s < block.start() < s + len(text) for s, _, text in found):
            found.append((block.start(), "run", textwrap.dedent(block[0])))
    return [(kind, text) for _, kind, text in sorted(found)]


def program(folder, *words):
    return subprocess.run(
        [sys.executable, "-P", *words], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )


def session(folder, block):
    """Run the commands of a block; what each prints has the lines that the page shows, in their order."""
    code = None
    for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
        if command == "echo $?":
            assert shown.strip() == str(code)
            continue
        assert command.startswith("gateproof ")
        found = program(folder, "-m", *command.split())
        code = found.returncode
        for line in shown.splitlines():
            wanted = pages.plain(line)
            # An ellipsis at the end of a line stands for the rest of it.
            start = wanted.removesuffix(" ...")
            lines = [pages.plain(one) for one in found.stdout.splitlines()]
            assert wanted in ("", "...") or any(
                one == wanted or (start != wanted and one.startswith(start)) for one in lines
            ), (line, found.stdout, found.stderr)
        yield command


@pytest.mark.parametrize("name", TUTORIALS)
def test_a_tutorial_holds_from_top_to_bottom(name, tmp_path):
    ran, programs = [], 0
    for kind, text in steps((DOCS / name).read_text()):
        # A file's name stands in its first line.
        if kind == "toml" or (kind == "python" and text.startswith("# ")):
            (tmp_path / text.partition("\n")[0].removeprefix("# ")).write_text(text)
        elif kind == "python":
            found = program(tmp_path, "-c", text)
            assert found.returncode == 0, found.stderr
            programs += 1
        elif kind == "run":
            ran += session(tmp_path, text)
    assert (len(ran), programs) == TUTORIALS[name]
