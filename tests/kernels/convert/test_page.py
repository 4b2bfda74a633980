"""docs/convert.md: its lines print what it shows."""

from __future__ import annotations

import doctest
from pathlib import Path

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "convert.md").read_text()


def test_the_python_lines():
    found = doctest.DocTestParser().get_doctest(PAGE, {}, "convert.md", "convert.md", 0)
    assert len(found.examples) >= 16
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    assert doctest.DocTestRunner(optionflags=flags, verbose=False).run(found).failed == 0
