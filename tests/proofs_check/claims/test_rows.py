"""Every statement of the three papers is a claim, or waits for a run; what fails has its correction."""

from __future__ import annotations

from collections import Counter

import pytest

from gateproof.proofs_check.claims_file import load_packaged

#: The statements of the papers, typed here and not read from the claims.
ROW_IDS = """
tg.collapse tg.cascade tg.partition tg.layer tg.index tg.relu.limit tg.relu.error tg.silu tg.sigmoid
tg.tanh tg.gelu.k2 tg.gelu.k3 tg.tau1702 tg.k3.marginal tg.families tg.minimal.k2 tg.minimal.k1
tg.minimal.scope tg.kappa tg.taylor tg.step tg.curvature tg.depth tg.depth.k2 tg.periodic tg.softmax
tg.softmax.family tg.lse tg.max tg.softplus tg.attention tg.rnn tg.mosfet tg.gradients tg.cost
tg.lossless tg.calibration tg.headline tg.gpt2 tg.table.conversion tg.table.wer tg.wer.count
tg.steps tg.compute tg.wallclock tg.width tg.depth.scan tg.family
mem.state mem.branches mem.separation mem.loop mem.map mem.odd mem.derivative mem.extrema mem.series
mem.kappa mem.tg mem.ffn mem.params mem.steps mem.c0.formula mem.c0.values mem.c0.rms mem.table1
mem.within mem.wins mem.final5 mem.unscaled mem.confounds mem.occupancy mem.energy mem.rms mem.hard
mem.cap mem.smooth mem.order mem.overhead mem.lm
two.form two.tg two.prox two.derivative two.surrogate.x two.surrogate.delta two.potential two.delta
two.init two.rho two.criterion two.penalty two.meanfield two.float two.training
"""
ROWS = ROW_IDS.split()

#: Statements that only a run can decide, with what they need.
WAITING = {
    "tg.wallclock": "a benchmark of the fused kernel against a dense product on a GPU",
    "tg.width": "training runs of a residual MLP at expansions 1, 2 and 3",
    "tg.depth.scan": "training runs at several depths with K = 1, 2 and 3",
    "mem.lm": "paired pretraining runs of SwiGLU and MemGLU",
    "two.training": "language model runs with dense, fixed and trainable thresholds",
}

CLAIMS = load_packaged()
BY_ID = {claim.id: claim for claim in CLAIMS}
FAILS = ("refuted", "ill-posed", "unsupported")


def failing(claim):
    return [reading.name for reading in claim.readings if reading.pin in FAILS]


def test_the_list_of_rows():
    assert len(ROWS) == len(set(ROWS)) == 48 + 32 + 15
    assert set(WAITING) <= set(ROWS)


@pytest.mark.parametrize("row", ROWS)
def test_row_is_a_claim_or_waits(row):
    assert (row in BY_ID) != (row in WAITING), row


def test_waiting_rows_say_what_they_need():
    assert all(len(needs.split()) >= 5 for needs in WAITING.values())


@pytest.mark.parametrize("claim", [c for c in CLAIMS if failing(c)], ids=lambda c: c.id)
def test_what_fails_is_corrected(claim):
    assert not claim.id.endswith(".corrected"), failing(claim)
    assert claim.correction == f"{claim.id}.corrected", failing(claim)
    corrected = BY_ID[claim.correction]
    assert any(reading.pin in ("proved", "certified") for reading in corrected.readings)


def test_corrections_correct_something():
    # A correction of a claim that holds in every reading would be a claim of its own.
    idle = [c.id for c in CLAIMS if c.correction is not None and not failing(c)]
    assert idle == []


def test_number_of_readings():
    pins = Counter(reading.pin for claim in CLAIMS for reading in claim.readings)
    assert sum(pins.values()) >= 120
    assert pins["proved"] + pins["certified"] + pins["refuted"] + pins["ill-posed"] >= 120
    # An undecided reading shows a limit of the engine; they stay few.
    assert pins["inconclusive"] <= 8


def test_names_of_readings_differ_between_a_claim_and_its_correction():
    for claim in CLAIMS:
        if claim.correction:
            here = {reading.formal for reading in claim.readings if reading.pin in FAILS}
            there = {reading.formal for reading in BY_ID[claim.correction].readings}
            assert not here & there, claim.id
