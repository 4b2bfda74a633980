"""Every example of docs/claim-language.md is read and decided as the page says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Reading, Settings
from gateproof.theory.formula import FormulaError, parse_claim
from gateproof.theory.formula.names import (
    CORE_FUNCTIONS,
    ELEMENTARY,
    FIELD,
    MATRIX,
    PREDICATES,
    SETS,
    SPECIAL,
)

PAGE = Path(__file__).resolve().parents[3] / "docs" / "claim-language.md"
BLOCK = re.compile(r"^```claim ([^\n]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
VERDICTS = {
    "holds": {"proved", "certified"},
    "fails": {"refuted"},
    "ill-posed": {"ill-posed"},
}


class Example(NamedTuple):
    says: str
    undecided: bool
    text: str


def examples() -> list[Example]:
    found = []
    for match in BLOCK.finditer(PAGE.read_text(encoding="utf-8")):
        says, *rest = match.group(1).split()
        assert says in {*VERDICTS, "refused"}, match.group(1)
        assert rest in ([], ["undecided"]), match.group(1)
        lines = [line.strip() for line in match.group(2).splitlines() if line.strip()]
        found += [Example(says, bool(rest), line) for line in lines]
    return found


EXAMPLES = examples()
STATEMENTS = [e for e in EXAMPLES if e.says != "refused"]
REFUSED = [e.text for e in EXAMPLES if e.says == "refused"]


def test_no_block_is_left_out():
    assert PAGE.read_text(encoding="utf-8").count("```claim") == len(
        BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    )
    assert len(EXAMPLES) > 120


@pytest.mark.parametrize("example", STATEMENTS, ids=lambda e: e.text)
def test_example_is_read(example):
    parse_claim(example.text)


@pytest.mark.parametrize("text", REFUSED)
def test_refused_example_is_refused(text):
    with pytest.raises(FormulaError):
        parse_claim(text)


@pytest.mark.parametrize("example", STATEMENTS, ids=lambda e: e.text)
def test_example_is_decided_as_the_page_says(example):
    decision = decide(Reading("example", example.text), Settings())
    # A statement that a later version decides must lose its mark here.
    wanted = {"inconclusive"} if example.undecided else VERDICTS[example.says]
    assert decision.verdict in wanted, (decision.verdict, decision.reason, decision.controls)


def test_every_construct_has_an_example():
    texts = "\n".join(e.text for e in STATEMENTS)
    words = {
        *CORE_FUNCTIONS,
        *PREDICATES,
        *SETS,
        *SPECIAL,
        *FIELD,
        *MATRIX,
        "sup",
        "inf",
        "argmax",
        "argmin",
        "zeros",
    }
    words |= {"sum", "prod", "and", "or", "not", "exists", "step", "oo", "pi"}
    # Plain functions of one argument need no example each, and the page lists them.
    plain = {name for name, arity in CORE_FUNCTIONS.items() if arity == 1} | set(ELEMENTARY)
    missing = sorted(w for w in words - plain if not re.search(rf"\b{w}\b", texts))
    assert missing == []
    for sign in (
        "=>",
        "!=",
        "<=",
        ">=",
        "==",
        "..",
        "\\ {",
        "~",
        "**",
        "mean=",
        "without=",
        "tau=oo",
        ", +)",
        ", -)",
    ):
        assert sign in texts, sign


def test_page_lists_every_function():
    page = PAGE.read_text(encoding="utf-8")
    from gateproof.theory.formula import arities

    assert sorted(name for name in arities() if not re.search(rf"\b{name}\b", page)) == []
