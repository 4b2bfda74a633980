"""The claims of the three papers: complete, readable, linked, each with near misses."""

from __future__ import annotations

import re

import pytest

from gateproof.proofs_check.claims_file import load_packaged, packaged_files
from gateproof.proofs_check.records import VERDICTS
from gateproof.theory.formula import define, parse_claim, to_text

PAPERS = {"tg": "threshold-gating", "mem": "memglu", "two": "two-sided-gate"}

#: What has to be there: an id that is missing is a statement of a paper left out.
REQUIRED_IDS = """
tg.silu tg.sigmoid tg.tanh tg.index tg.partition tg.relu.limit tg.relu.error tg.gelu.k2 tg.tau1702
tg.softmax tg.lse tg.max tg.softplus tg.minimal.k1 tg.table.conversion tg.table.wer
mem.separation mem.map mem.odd mem.derivative mem.extrema mem.series mem.params mem.steps mem.table1
two.form two.tg two.prox two.delta
"""

#: Every id that the papers' statements have; a claim under another id is a slip.
KNOWN_IDS = """
tg.collapse tg.cascade tg.partition tg.layer tg.index tg.relu.limit tg.relu.error tg.silu tg.sigmoid
tg.tanh tg.gelu.k2 tg.gelu.k3 tg.tau1702 tg.k3.marginal tg.families tg.minimal.k2 tg.minimal.k1
tg.minimal.scope tg.kappa tg.taylor tg.step tg.curvature tg.depth tg.depth.k2 tg.periodic tg.softmax
tg.softmax.family tg.lse tg.max tg.softplus tg.attention tg.rnn tg.mosfet tg.gradients tg.cost
tg.lossless tg.calibration tg.headline tg.gpt2 tg.table.conversion tg.table.wer tg.wer.count tg.steps
tg.compute tg.wallclock tg.width tg.depth.scan tg.family
mem.state mem.branches mem.separation mem.loop mem.map mem.odd mem.derivative mem.extrema mem.series
mem.kappa mem.tg mem.ffn mem.params mem.steps mem.c0.formula mem.c0.values mem.c0.rms mem.table1
mem.within mem.wins mem.final5 mem.unscaled mem.confounds mem.occupancy mem.energy mem.rms mem.hard
mem.cap mem.smooth mem.order mem.overhead mem.lm
two.form two.tg two.prox two.derivative two.surrogate.x two.surrogate.delta two.potential two.delta
two.init two.rho two.criterion two.penalty two.meanfield two.float two.training
"""

#: What follows from the statements on the way: consequences that users of them want.
DERIVED_IDS = """
tg.collapse.depth tg.cost.shapes tg.cost.networks mem.derivation mem.loop.power two.potential.far
two.rho.moments
"""

REQUIRED, KNOWN = set(REQUIRED_IDS.split()), {*KNOWN_IDS.split(), *DERIVED_IDS.split()}

CLAIMS = load_packaged()
IDS = {claim.id for claim in CLAIMS}
READINGS = [(claim, reading) for claim in CLAIMS for reading in claim.readings]


def named(pair):
    claim, reading = pair
    return f"{claim.id}-{reading.name}"


def test_required_claims_are_there():
    assert sorted(REQUIRED - IDS) == []
    assert len(CLAIMS) >= 30
    assert len(READINGS) >= 60


def test_ids_are_known():
    assert sorted(i for i in IDS if i.removesuffix(".corrected") not in KNOWN) == []


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
    assert len(reading.controls) >= 2
    assert len(set(reading.controls)) == len(reading.controls)
    assert reading.formal not in reading.controls
    assert reading.meaning.strip().endswith(".")
    assert reading.pin is None or reading.pin in VERDICTS


@pytest.mark.parametrize("pair", READINGS, ids=named)
def test_reading_and_controls_parse(pair):
    _, reading = pair
    extra = {}
    for name, text in reading.define.items():
        extra[name] = define(name, text, extra)
    for text in (reading.formal, *reading.controls):
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
