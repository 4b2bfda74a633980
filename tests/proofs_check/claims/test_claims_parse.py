"""The claims of the three papers: complete, readable, linked, each with near misses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from packaged_claims import packaged

from gateproof.proofs_check.claims_file import packaged_files
from gateproof.proofs_check.evidence.criterion import parse as parse_criterion
from gateproof.proofs_check.records import VERDICTS
from gateproof.theory.formula import define, parse_claim, to_text

PAPERS = {"tg": "threshold-gating", "mem": "memglu", "two": "two-sided-gate"}

HERE = Path(__file__).parent
#: The statements of the papers. A claim under another id is marked as a finding of ours, or a slip.
PAPER_IDS = set((HERE / "paper_ids.txt").read_text().split())

CLAIMS = packaged()
IDS = {claim.id for claim in CLAIMS}
READINGS = [(claim, reading) for claim in CLAIMS for reading in claim.readings]


def named(pair):
    claim, reading = pair
    return f"{claim.id}-{reading.name}"


def test_every_statement_of_the_papers_is_there():
    assert sorted(PAPER_IDS - IDS) == []
    assert len(READINGS) >= 250


def test_other_ids_are_marked_as_ours():
    ours = {claim.id for claim in CLAIMS if claim.ours}
    assert sorted(i for i in IDS if i.removesuffix(".corrected") not in PAPER_IDS | ours) == []
    assert sorted(PAPER_IDS & ours) == []


def test_one_topic_a_file():
    for path in packaged_files():
        prefixes = {c.id.split(".")[0] for c in CLAIMS if c.file.endswith(path.name)}
        assert prefixes == {path.stem.split("_")[0]}, path.name


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda c: c.id)
def test_claim_is_complete(claim):
    assert claim.paper == PAPERS[claim.id.split(".")[0]]
    for text in (claim.says, claim.where, claim.latex):
        assert text.strip()
    assert claim.says.endswith((".", "?"))
    names = [reading.name for reading in claim.readings]
    assert len(set(names)) == len(names)
    assert claim.latex.count("{") == claim.latex.count("}")


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda c: c.id)
def test_corrections_are_linked(claim):
    if claim.id.endswith(".corrected"):
        # A correction stands behind the claim that it corrects.
        assert claim.id.removesuffix(".corrected") in IDS
        assert claim.correction is None
    elif claim.correction is not None:
        assert claim.correction == f"{claim.id}.corrected"
        assert claim.correction in IDS


@pytest.mark.parametrize("pair", READINGS, ids=named)
def test_reading_is_complete(pair):
    _, reading = pair
    # Near misses of a criterion need the record's numbers, those of a certificate are damaged ones: both
    # are planted when the evidence is judged.
    assert len(reading.controls) >= 2 or reading.evidence
    assert len(set(reading.controls)) == len(reading.controls)
    assert reading.formal not in reading.controls
    assert reading.meaning.strip().endswith(".")
    assert reading.pin in VERDICTS
    assert reading.pin != "inconclusive"
    assert (reading.pin == "not-run") <= bool(reading.evidence)


def test_what_it_means_is_told_in_two_sentences_or_more():
    told = {claim.id: " ".join(reading.meaning for reading in claim.readings) for claim in CLAIMS}
    assert [i for i, text in told.items() if len(re.findall(r"[.?!](?:\s|$)", text)) < 2] == []


@pytest.mark.parametrize("pair", READINGS, ids=named)
def test_reading_and_controls_parse(pair):
    _, reading = pair
    extra = {}
    for name, text in reading.define.items():
        extra[name] = define(name, text, extra)
    for text in (reading.formal, *reading.controls):
        if reading.by_criterion:
            parse_criterion(text, extra)
            continue
        claim = parse_claim(text, extra)
        assert parse_claim(to_text(claim), extra) == claim


@pytest.mark.parametrize("pair", READINGS, ids=named)
def test_controls_are_near_misses(pair):
    # A near miss shares most of its symbols with the statement; one that does not tests another thing.
    _, reading = pair
    stated = set(re.findall(r"\w+", reading.formal))
    for control in reading.controls:
        symbols = set(re.findall(r"\w+", control))
        assert len(symbols & stated) >= len(symbols) / 3, control


def test_refuted_pins_have_a_correction():
    wrong = [
        f"{claim.id}: {reading.name}"
        for claim, reading in READINGS
        if claim.id.endswith(".corrected") and reading.pin in ("refuted", "ill-posed", "unsupported")
    ]
    assert wrong == []


def test_verdicts_are_typed_in_pins_only():
    words = re.compile(r"\b(proved|certified|refuted|ill-posed|inconclusive|supported)\b", re.IGNORECASE)
    for claim, reading in READINGS:
        for text in (claim.says, claim.where, reading.name, reading.meaning):
            assert not words.search(text), (claim.id, text)
