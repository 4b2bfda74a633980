"""10,000 hostile inputs for the formula reader and the reader of claims files; 100,000 in `make deep`."""

from __future__ import annotations

import pytest
from fuzz.inputs import corpus, files, formulas, snippets
from fuzz.trial import Tally, Touched, try_file, try_formula, warm_up, watched

from gateproof.theory.formula import FormulaError, parse_claim

FORMULAS, FILES = 800, 200
SEEDS, DEEP_SEEDS = range(10), range(10, 100)


@pytest.fixture(scope="module", autouse=True)
def imported():
    warm_up()


def test_the_watch_sees_what_it_should(tmp_path):
    for act in (
        lambda: eval("1"),  # noqa: S307 (this must be seen)
        lambda: (tmp_path / "x").write_text("x"),
        lambda: __import__("os").system("true"),
    ):
        with pytest.raises(Touched), watched():
            act()
    assert not (tmp_path / "x").exists()


def test_the_corpus_is_all_that_the_project_reads():
    assert len(corpus()) > 600
    assert len(snippets()) > 60


def test_inputs_are_the_same_each_time_and_differ_by_seed():
    assert list(formulas(1, 50)) == list(formulas(1, 50)) != list(formulas(2, 50))
    assert list(files(1, 50)) == list(files(1, 50)) != list(files(2, 50))


def test_a_good_part_of_the_inputs_is_read():
    """Fuzzing that never gets past the first token shows nothing."""
    tally = Tally()
    for text in formulas(0, 400):
        try_formula(text, tally)
    assert tally.counts["read"] > 40
    assert tally.counts["refused"] > 100


def test_every_printed_statement_of_the_corpus_reads_back():
    tally = Tally()
    for text in corpus():
        try_formula(text, tally)


@pytest.mark.parametrize("seed", SEEDS)
def test_formulas(seed):
    tally = Tally()
    for text in formulas(seed, FORMULAS):
        try_formula(text, tally)


@pytest.mark.parametrize("seed", SEEDS)
def test_files(seed, tmp_path):
    tally = Tally()
    for data in files(seed, FILES):
        try_file(data, tmp_path / "f.claims.toml", tally)


@pytest.mark.deep
@pytest.mark.parametrize("seed", DEEP_SEEDS)
def test_readers_deep(seed, tmp_path):
    tally = Tally()
    for text in formulas(seed, FORMULAS):
        try_formula(text, tally)
    for data in files(seed, FILES):
        try_file(data, tmp_path / "f.claims.toml", tally)


def test_a_refusal_has_its_place():
    with pytest.raises(FormulaError) as caught:
        parse_claim("for x in R: x ≤ y")
    assert caught.value.column == 17
