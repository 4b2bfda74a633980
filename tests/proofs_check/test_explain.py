"""`gateproof explain`: why, and what would decide it, each proposal decided before it is shown."""

from __future__ import annotations

import json
import math

import pytest
from scipy.special import lambertw

from gateproof.proofs_check.api import decide_text
from gateproof.proofs_check.cli import main


@pytest.fixture
def explained(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(formal, *more):
        (tmp_path / "a.claims.toml").write_text(
            f"[[claim]]\nid = \"a\"\nformal = '{formal}'\n" + "\n".join(more)
        )
        assert main(["explain", "a.claims.toml", "--json", "-j", "1"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["schema_version"] == 1
        (row,) = found["readings"]
        return row

    return run


def test_a_false_statement_is_answered_with_a_true_one(explained):
    row = explained("for x in R: abs(silu(x) - relu(x)) <= 0.27")
    assert row["verdict"] == "refuted"
    (advice,) = row["advice"]
    # |SiLU - ReLU| = |x| sigmoid(-|x|), whose maximum is Lambert's W(1/e); rounded up to six digits.
    sharp = float(lambertw(math.exp(-1)).real)
    bound = math.ceil(sharp * 1e6) / 1e6
    assert f"<= {bound} (certified)" in advice


def test_what_has_no_value_is_answered_with_where_it_is_true(explained):
    row = explained("for x in R: log(x) <= x")
    assert row["verdict"] == "ill-posed"
    assert [(one["formal"], one["verdict"]) for one in row["tried"]] == [
        ("for x in (0, oo): log(x) <= x", "proved")
    ]
    assert row["advice"] == ["say where it is meant: for x in (0, oo): log(x) <= x is proved"]
    both = explained("for x in R: sin(x)/x <= 1")
    assert len(both["tried"]) == 2


def test_a_proposal_is_what_the_engine_says_of_it(explained):
    row = explained("for x in R: sqrt(x) <= 2*x")
    (one,) = row["tried"]
    # False near 0: sqrt(x) > 2x for x < 1/4.
    assert one["verdict"] == "refuted" == decide_text(one["formal"]).verdict


def test_a_budget_that_is_too_small_is_found_by_a_larger_one(explained, tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.gateproof]\nboxes = 3\n")
    row = explained("for x in R: sin(x) + sin(3*x)/2 + cos(5*x)*exp(-x**2) <= 2")
    assert row["verdict"] == "inconclusive"
    assert row["tried"][0]["what"].startswith("with 30 boxes")
    assert row["advice"]


def test_what_waits_says_what_it_needs(explained, tmp_path, capsys):
    (tmp_path / "b.claims.toml").write_text(
        '[[claim]]\nid = "w"\nevidence = "tosses"\ncriterion = "heads_lo < 1/2"\n'
        'needs = "a coin"\npin = "not-run"\n'
    )
    assert main(["explain", "b.claims.toml"]) == 0
    text = capsys.readouterr().out
    assert "w, as stated: not-run" in text
    assert "what it needs: a coin" in text


def test_a_true_statement_says_what_it_rests_on(explained):
    row = explained("for x in R: tanh(x)**2 <= 1")
    assert row["verdict"] == "proved"
    assert "derivation" in row["why"]
    assert row["advice"] == []


def test_both_sides_without_a_value_at_one_place_are_cut_there(explained):
    row = explained("for x in R: 1/x + 1/x == 2/x")
    assert [one["verdict"] for one in row["tried"]] == ["proved", "proved"]


def test_what_fails_on_a_part_fails():
    from gateproof.proofs_check.explaining import Tried, _advice
    from gateproof.proofs_check.records import Reading

    entry = {"verdict": "inconclusive", "reason": "tail", "controls": {}}
    tried = [Tried("on (-oo, 1] alone", "refuted", "f"), Tried("on [1, oo) alone", "inconclusive", "g")]
    (advice,) = _advice(entry, Reading("", "f"), tried)
    assert advice.startswith("it fails as stated, since it fails on (-oo, 1]:")
