"""The examples of docs/formulas.md give what the page says."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[3] / "docs" / "formulas.md"


def examples() -> str:
    return "\n\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))


def run(text: str) -> doctest.TestResults:
    test = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    return doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test)


def test_the_page() -> None:
    found = run(examples())
    assert found.attempted > 20
    assert found.failed == 0


def test_a_wrong_output_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(examples().replace("[0. 0. 1.]", "[0. 1. 1.]")).failed == 1
    capsys.readouterr()
