"""Pages with commands: what is printed is what the page says, to all digits."""

from __future__ import annotations

from pathlib import Path

import pages
import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = {"fit.md": 8, "meanfield.md": 15, "kernels-accuracy.md": 1, "kernels.md": 2}
COMMANDS = {name: pages.commands((DOCS / name).read_text()) for name in PAGES}


@pytest.mark.parametrize("block", [b for found in COMMANDS.values() for b in found], ids=pages.first_line)
def test_a_command_prints_what_the_page_says(tmp_path, monkeypatch, capsys, block):
    monkeypatch.chdir(tmp_path)
    shown, printed = pages.run(block, capsys)
    assert pages.plain(printed) == pages.plain(shown)


def test_there_are_commands():
    assert {name: len(found) for name, found in COMMANDS.items()} == PAGES
