"""The presets of the package: each can be read, says what it cannot show, and names what there is."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest

from gateproof.kernels.check.run import names
from gateproof.kernels.runs import catalogue, engine, keys
from gateproof.proofs_check.claims_file import load_packaged
from gateproof.proofs_check.evidence import from_run

ALL = [(name, preset) for name, presets in catalogue.files().items() for preset in presets]


def test_the_four_experiments_have_a_smoke_and_a_tiny_preset():
    assert sorted(catalogue.files()) == ["depth", "language-model", "tg-training", "two-sided"]
    assert all(list(presets)[:2] == ["smoke", "tiny"] for presets in catalogue.files().values())


@pytest.mark.parametrize(("name", "preset"), ALL)
def test_a_preset_is_read_to_its_jobs(name, preset):
    found = catalogue.preset(name, preset)
    assert found.shows
    assert found.cannot
    assert found.evidence is (preset != "smoke")
    experiment = catalogue.load(name)
    jobs = experiment.jobs(catalogue.read_settings(experiment, found))
    assert len({job.name for job in jobs}) == len(jobs)
    # What a job is given is plain JSON: its key, and what a worker elsewhere gets, is made from that.
    assert all(keys.canonical(job.settings) and job.cost > 0 for job in jobs)
    for source in experiment.sources:
        assert (keys.PACKAGE / source).is_file(), source
    for pattern in experiment.operations:
        assert any(fnmatchcase(one, pattern) for one in names()), pattern


@pytest.mark.parametrize("name", catalogue.files())
def test_smoke_needs_no_data(name, monkeypatch, tmp_path):
    monkeypatch.setenv("GATEPROOF_DATA", str(tmp_path))
    assert engine.plan(name, catalogue.preset(name, "smoke")).jobs


def test_every_command_that_a_claim_names_can_be_given():
    import re

    needs = {r.needs for _, r in from_run.readings(load_packaged())}
    found = {pair for text in needs for pair in re.findall(r"gateproof run ([\w-]+) --preset (\w+)", text)}
    assert found
    assert found <= set(ALL)
