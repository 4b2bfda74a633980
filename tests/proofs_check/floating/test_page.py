"""Every example of docs/floating-point.md is read and decided as the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Reading, Settings
from gateproof.theory.formats import FORMATS
from gateproof.theory.formula import FormulaError, parse_claim

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "floating-point.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```claim ([^\n]+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
VERDICTS = {
    "holds": "certified",
    "fails": "refuted",
    "ill-posed": "ill-posed",
    "holds undecided": "inconclusive",
}
EXAMPLES = [(says, line) for says, lines in BLOCKS for line in lines.splitlines() if line]


def test_no_block_is_left_out():
    assert PAGE.count("```claim") == len(BLOCKS)
    assert len(EXAMPLES) > 30
    assert {says for says, _ in EXAMPLES} == {*VERDICTS, "refused"}
    assert all(name in PAGE for name in FORMATS)


@pytest.mark.parametrize("text", [text for says, text in EXAMPLES if says == "refused"])
def test_refused_example_is_refused(text):
    with pytest.raises(FormulaError, match="column"):
        parse_claim(text)


@pytest.mark.parametrize(("says", "text"), [e for e in EXAMPLES if e[0] != "refused"])
def test_example_is_decided_as_the_page_says(says, text):
    found = decide(Reading("example", text), Settings())
    assert found.verdict == VERDICTS[says], (found.reason, found.controls)
