"""Every statement of the three papers is a claim, or waits for a run; what fails has its correction."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from packaged_claims import packaged

ROWS = (Path(__file__).parent / "paper_ids.txt").read_text().split()
CLAIMS = packaged()
BY_ID = {claim.id: claim for claim in CLAIMS}
FAILS = ("refuted", "ill-posed", "unsupported")


def failing(claim):
    return [reading.name for reading in claim.readings if reading.pin in FAILS]


def test_the_list_of_rows():
    assert len(ROWS) == len(set(ROWS)) == 48 + 32 + 15


WAITING = [(c, r) for c in CLAIMS for r in c.readings if r.pin == "not-run"]


def test_every_row_has_a_decided_reading():
    # Also of a statement that waits for a run something is decided now.
    decided = {claim.id for claim in CLAIMS for reading in claim.readings if reading.pin != "not-run"}
    assert sorted(set(ROWS) - decided) == []


def test_waiting_readings_say_what_they_need():
    assert [
        (c.id, r.name) for c, r in WAITING if len(r.needs.split()) < 5 or "gateproof " not in r.needs
    ] == []


@pytest.mark.parametrize("claim", [c for c in CLAIMS if failing(c)], ids=lambda c: c.id)
def test_what_fails_is_corrected(claim):
    assert not claim.id.endswith(".corrected"), failing(claim)
    assert claim.correction == f"{claim.id}.corrected", failing(claim)
    corrected = BY_ID[claim.correction]
    assert [r.name for r in corrected.readings if r.pin not in ("proved", "certified")] == []


def test_corrections_correct_something():
    # A correction of a claim that holds in every reading would be a claim of its own.
    idle = [c.id for c in CLAIMS if c.correction is not None and not failing(c)]
    assert idle == []


def test_number_of_readings():
    pins = Counter(reading.pin for claim in CLAIMS for reading in claim.readings)
    assert pins["proved"] + pins["certified"] + pins["refuted"] + pins["ill-posed"] >= 250
    assert pins["inconclusive"] == pins[None] == 0


def test_names_of_readings_differ_between_a_claim_and_its_correction():
    for claim in CLAIMS:
        if claim.correction:
            here = {reading.formal for reading in claim.readings if reading.pin in FAILS}
            there = {reading.formal for reading in BY_ID[claim.correction].readings}
            assert not here & there, claim.id
