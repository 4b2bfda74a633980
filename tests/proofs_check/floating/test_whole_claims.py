"""Random claims in small formats, decided by search and boxes alone, against what holds at every point."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from small_formats import FORMATS, truths, whole_claim

from gateproof.proofs_check.checker import rounded
from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.engine.outcome import UndecidedError
from gateproof.proofs_check.floating import branch, exhaustive
from gateproof.proofs_check.records import Reading, Settings
from gateproof.theory import formats
from gateproof.theory.formula import to_text


@pytest.fixture(autouse=True)
def _small_formats(monkeypatch):
    for form in FORMATS:
        monkeypatch.setitem(formats.FORMATS, form.name, form)
        monkeypatch.setitem(rounded.FORMATS, form.name, (form.bits, form.highest))
    monkeypatch.setattr(exhaustive, "FEW", 0)
    monkeypatch.setattr(exhaustive, "MANY", 0)
    monkeypatch.setattr(branch, "FEW", 4)


def decided(seed, count):
    """How often each verdict came, and the claims whose verdict is wrong."""
    rng, found, wrong = random.Random(seed), Counter(), []
    while found.total() < count:
        form = rng.choice(FORMATS)
        made, box = whole_claim(rng, form)
        try:
            known = truths(form, made, box)
        except UndecidedError:
            continue
        verdict = decide(Reading("x", to_text(made)), Settings(boxes=400)).verdict
        found[verdict] += 1
        right = {
            "certified": known == {True},
            "refuted": False in known,
            "ill-posed": None in known or not known,
            "inconclusive": True,
        }[verdict]
        if not right:
            wrong.append((verdict, to_text(made), known))
    return found, wrong


@pytest.mark.parametrize("seed", range(2))
def test_no_verdict_is_wrong(seed):
    found, wrong = decided(seed, 100)
    assert wrong == []
    assert min(found["certified"], found["refuted"], found["ill-posed"]) >= 8
    assert found["inconclusive"] <= 20


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(10, 20))
def test_many_more(seed):
    _, wrong = decided(seed, 1_000)
    assert wrong == []
