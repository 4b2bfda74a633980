"""A sample of the soundness suite, and its own parts: the evaluator, the changes, the score."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from soundness import suite
from soundness.evaluate import fails
from soundness.mutants import false_variants, variants

from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Reading, Settings

ALL = suite.statements()
SAMPLE = ALL[5::40]


@pytest.mark.parametrize("case", SAMPLE, ids=lambda c: f"{c.source}: {c.text[:40]}")
def test_a_true_statement_is_not_refuted_and_a_changed_one_not_proved(case):
    settings = Settings(wall_seconds=20)
    for one in (case, *suite.changed([case], 1, 1)):
        found = decide(Reading(one.source, one.text), settings)
        assert not suite.wrong(one, found.verdict), (one.text, found.verdict, found.reason)


def test_there_are_five_hundred_statements_none_twice():
    assert len(ALL) >= 500
    texts = [c.text for c in ALL]
    assert len(texts) - len(set(texts)) <= 4  # the same fact of two tables
    assert all(c.source and c.text for c in ALL)


def test_numbers_contradict_no_statement_of_a_sample():
    assert suite.mistyped(ALL[::7]) == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("for x in R: sin(x)**2 + cos(x)**2 == 1", False),
        ("for x in R: sin(x)**2 + cos(x)**2 == 2", True),
        ("for x in R: sin(x)**2 - cos(x)**2 == 1", True),
        ("for x in [0, 1]: x**2 <= x", False),
        ("for x in R: x**2 <= x", True),
        ("integrate(x**2, x, 0, 1) == 1/3", None),  # found by quadrature: too near to say
        ("integrate(x**2, x, 0, 1) == 1/2", True),
        ("sum(1/k**2, k in 1..oo) == pi**2/7", True),
        ("increasing(x**3, x in R)", False),
        ("increasing(x**2, x in R)", True),
        ("zeros(x**2 - 1, x in R) == {-1, 1}", False),
        ("zeros(x**2 - 1, x in R) == {1}", True),
        ("erf(1) == 0.8427007929~", False),
        ("erf(1) == 0.8427007930~", True),
    ],
)
def test_the_evaluator_by_hand(text, wanted):
    assert fails(text) is wanted


def test_changes_are_single_and_false():
    text = "for x in R: cosh(x)**2 - sinh(x)**2 == 1"
    tried = set(variants(text, random.Random(0)))
    assert text not in tried
    assert all(t.startswith("for x in R: ") for t in tried)
    found = false_variants(text, 3, 0)
    assert len(found) == 3
    assert all(fails(t) for t in found)
    # cosh(x)**2 >= 1 changed to >= 0 stays true, and so is no variant that counts.
    assert all(fails(t) for t in false_variants("for x in R: cosh(x)**2 >= 1", 3, 0))


def test_a_wrong_engine_would_be_seen():
    true, false = ALL[0], suite.Case("a", "b", "1 == 2", true=False)
    assert [suite.wrong(true, v) for v in ("proved", "certified", "inconclusive")] == [False] * 3
    assert [suite.wrong(true, v) for v in ("refuted", "ill-posed", "unsupported")] == [True] * 3
    assert [suite.wrong(false, v) for v in ("proved", "certified")] == [True] * 2
    assert [suite.wrong(false, v) for v in ("refuted", "inconclusive", "ill-posed")] == [False] * 3


def test_the_score_is_of_these_tables():
    score = json.loads(suite.SCORE.read_text(encoding="utf-8"))
    assert score["made from"] == suite.made_from(), "the tables changed: python -m soundness.suite --write"
    runs = {k: v for k, v in score.items() if isinstance(v, dict) and "wrong" in v}
    assert set(runs) == {f"{p}, {t}" for p in suite.SETTINGS for t in ("true", "changed")}
    assert all(row["wrong"] == 0 for row in runs.values())
    page = (Path(__file__).resolve().parents[2] / "docs/soundness.md").read_text(encoding="utf-8")
    columns = ("statements", "proved", "certified", "refuted", "ill-posed", "inconclusive", "wrong")
    for name, row in runs.items():
        said = " | ".join(("| " + name, *(str(row.get(c, 0)) for c in columns))) + " |"
        assert said in page, said
    assert f"decides {len(ALL)} statements" in page
    assert f"{score['default, changed']['statements']} variants" in page
    assert f"{score['inconclusive, default']} of the true ones are inconclusive" in page
