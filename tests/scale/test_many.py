"""The two thousand claims: different ones that can be read; deep: decided within the bars."""

from __future__ import annotations

import json

import pytest
from scale import many

from gateproof.proofs_check.claims_file import load


def test_they_are_different_and_can_be_read(tmp_path):
    pairs = list(many.claims(many.COUNT))
    assert len({text for _, text in pairs}) == len(pairs) == many.COUNT
    assert pairs == list(many.claims(many.COUNT))
    path = tmp_path / "some.claims.toml"
    many.write(path, 300)
    assert len(load([path])) == 300


def test_the_kept_figures_are_within_the_bars():
    rows = json.loads(many.SCORE.read_text(encoding="utf-8"))
    assert rows["2000 cold"]["wall"] <= many.COLD
    assert rows["2000 cached"]["wall"] <= many.CACHED
    assert rows["2000 cold"]["mb"] <= many.most_memory(rows["1000 cold"]["mb"])
    assert rows["2000 cold"]["readings"] == many.COUNT
    # True and false ones, and next to none undecided.
    assert rows["2000 cold"]["refuted"] > many.COUNT / 10
    assert rows["2000 cold"]["inconclusive"] < many.COUNT / 100


@pytest.mark.deep
def test_two_thousand_claims_in_ten_minutes_and_from_the_cache_in_ten_seconds():
    assert many.main([]) == 0
