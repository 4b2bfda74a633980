"""docs/theory.md: its examples run, its table names every module of the papers' ideas."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "theory.md"


def test_examples():
    failed, run = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert failed == 0
    assert run >= 20


def test_modules_exist():
    named = set(re.findall(r"`(\w+)`", PAGE.read_text().split("## Examples")[0].split("|---|---|")[1]))
    folder = PAGE.parents[1] / "theory"
    assert named
    assert all((folder / f"{name}.py").exists() for name in named), named
