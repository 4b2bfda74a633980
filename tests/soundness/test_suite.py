"""A sample of the soundness suite, and its own parts: the evaluator, the changes, the score, the page."""

from __future__ import annotations

import json
import random
import re

import pytest
from soundness import page, suite
from soundness.evaluate import fails, without_value
from soundness.mutants import false_variants, variants

from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Reading, Settings
from gateproof.theory.formula.read import parse_claim

ALL = suite.statements()
TRUE = [c for c in ALL if c.true]
SAMPLE = TRUE[5::90]
KEPT = suite.kept_variants()


@pytest.mark.parametrize("case", [*SAMPLE, *KEPT[7::90]], ids=lambda c: f"{c.source}: {c.text[:40]}")
def test_a_true_statement_is_not_refuted_and_a_changed_one_not_proved(case):
    found = decide(Reading(case.source, case.text), Settings(wall_seconds=20))
    assert not suite.wrong(case, found.verdict), (case.text, found.verdict, found.reason)


def test_what_is_printed_wrong_is_refuted():
    for case in (c for c in ALL if not c.true):
        assert decide(Reading(case.source, case.text)).verdict == "refuted", case.text


def test_five_hundred_statements_name_an_entry_that_was_looked_up():
    named = [c for c in TRUE if c.group in suite.LOOKED_UP]
    assert len(named) >= 500
    assert all(re.fullmatch(r"fungrim [0-9a-f]{6}|DLMF \d+\.\d+\.\d+", c.source) for c in named)
    # The same fact may stand in two tables.
    assert len({c.text for c in named}) >= 800
    assert len({(c.group, c.text) for c in named}) == len(named)


def test_all_statements_are_read():
    for case in (*ALL, *KEPT):
        parse_claim(case.text)


def test_numbers_contradict_no_statement_of_a_sample():
    assert suite.mistyped(ALL[::12]) == []
    assert suite.mistyped([suite.Case("t", "s", "for x in R: sin(x) == cos(x)", True)])
    assert suite.mistyped([suite.Case("t", "s", "1 == 1", False)])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("for x in R: sin(x)**2 + cos(x)**2 == 1", False),
        ("for x in R: sin(x)**2 + cos(x)**2 == 2", True),
        ("for x in [0, 1]: x**2 <= x", False),
        ("for x in [0, 1]: x**2 < x", True),
        ("for x in (0, 1): x**2 < x", False),
        ("for x in R: 1 < cosh(x)", True),
        ("integrate(x**2, x, 0, 1) == 1/3", None),  # found by quadrature: too near to say
        ("integrate(x**2, x, 0, 1) == 1/2", True),
        ("integrate(sin(x)/x, x, 0, oo) == 2", None),
        ("sum(1/k**2, k in 1..oo) == pi**2/7", True),
        ("increasing(x**2, x in R)", True),
        ("zeros(x**2 - 1, x in R) == {-1, 1}", False),
        ("zeros(x**2 - 1, x in R) == {1}", True),
        ("for x in R: where(x < 0, -x, x) == abs(x)", False),
        ("for x in R: x > 1 => x > 2", True),
        ("erf(1) == 0.8427007929~", False),
        ("erf(1) == 0.8427007930~", True),
        ("for z > 0: besselj(1/2, z) == sqrt(2*z/pi)*(sin(z)/z)", False),
        ("for z > 0: bessely(1/2, z) == sqrt(2*z/pi)*(sin(z)/z)", True),
        ("for x > 0: digamma(x) < log(x) - 1/(2*x)", False),
        ("zetaderiv(1, 0) == -log(2*pi)/3", True),
    ],
)
def test_the_evaluator_by_hand(text, wanted):
    assert fails(text) is wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("for x in R: 1/x > 0", True),
        ("for x in R: 1/(x**3 - 5) < 4", True),
        ("for x in R: log(1 + x**2) >= 0", False),
        ("integrate(1/(x - 1/3), x, 0, 1) == 0", True),
        ("for x in R: gamma(x) > 2", True),
        ("for x in (-pi/2, pi/2): tan(x) == 1", False),
        ("for x in [-pi/2, pi/2]: tan(x) == 1", True),
    ],
)
def test_points_without_a_value_by_hand(text, wanted):
    assert without_value(text) is wanted


def test_changes_are_single_and_false():
    text = "for x in R: cosh(x)**2 - sinh(x)**2 == 1"
    tried = {made for made, _ in variants(text, random.Random(0))}
    assert text not in tried
    found = false_variants(text, 3, 0)
    assert len(found) == 3
    assert all(fails(v.text) for v in found)
    # cosh(x)**2 >= 1 changed to >= 0 stays true, and so is no variant that counts.
    assert all(fails(v.text) for v in false_variants("for x in R: cosh(x)**2 >= 1", 3, 0))


def test_every_change_occurs():
    assert {c.change for c in KEPT if c.change} == {
        "number", "sign", "relation", "strictness", "function", "order", "hole", "half-line", "open end",
        "wider",
    }  # fmt: skip


def test_a_wrong_engine_would_be_seen():
    true, false = TRUE[0], suite.Case("a", "b", "1 == 2", true=False)
    assert [suite.wrong(true, v) for v in ("proved", "certified", "inconclusive")] == [False] * 3
    assert [suite.wrong(true, v) for v in ("refuted", "ill-posed", "unsupported")] == [True] * 3
    assert [suite.wrong(false, v) for v in ("proved", "certified")] == [True] * 2
    assert [suite.wrong(false, v) for v in ("refuted", "inconclusive", "ill-posed")] == [False] * 3
    assert suite.unjustified(false, "ill-posed")
    assert not suite.unjustified(suite.Case("a", "b", "for x in R: 1/x == 2", False), "ill-posed")


def test_the_score_is_of_these_tables_and_the_page_is_of_the_score():
    score = json.loads(suite.SCORE.read_text(encoding="utf-8"))
    assert score["made from"]["statements"] == suite.made_from()["statements"], "--variants --write renews it"
    rows = page.runs(score)
    assert {"default, true", "default, changed"} <= set(rows)
    assert all(row["wrong"] == 0 for row in rows.values())
    decided = len(TRUE[:: score["thin"]])
    assert score["default, true"]["statements"] == decided
    for grouped in ("by source", "by table"):
        assert sum(row["statements"] for row in score[grouped].values()) == decided
    assert page.main(["--check"]) == 0, "python -m soundness.page"
    changed = {**score, "default, true": {**score["default, true"], "proved": 1}}
    assert page.page(changed, len(KEPT)) != page.PAGE.read_text(encoding="utf-8")
