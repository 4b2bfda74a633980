"""What rows say together: effects whose values are set here."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from math import sqrt
from pathlib import Path

import numpy as np
import pytest

from gateproof.kernels.runs import catalogue, language_model
from gateproof.kernels.runs.experiment import Job
from gateproof.kernels.runs.language_model_parts.settings import Settings
from gateproof.kernels.runs.language_model_parts.summary import summarise
from gateproof.kernels.runs.settings import read

CLAIMS = Path(language_model.__file__).resolve().parents[2] / "proofs_check" / "claims"
SEEDS = (42, 43, 44)
#: Final losses in percent above SwiGLU's: a tail that costs 3, a parity of -1, no interaction.
ARMS = {
    "swiglu": 0.0,
    "one-sided": 3.0,
    "odd": -1.0,
    "memglu": 2.0,
    "memglu-unscaled": 1.0,
    "swiglu-scaled": -1.5,
}
WOBBLE = (-0.1, 0.0, 0.1)


@pytest.fixture(scope="module")
def settings():
    path = catalogue.PRESETS / "language-model.smoke.toml"
    found = read(language_model.EXPERIMENT.settings, tomllib.loads(path.read_text())["settings"])
    return replace(found, seeds=SEEDS)


def row(arm, seed, steps, step, metric, value=None, seconds=None):
    return {
        "arm": arm,
        "seed": seed,
        "steps": steps,
        "step": step,
        "metric": metric,
        "value": value,
        "step_seconds": seconds,
    }


@pytest.fixture(scope="module")
def rows():
    made = []
    for k, seed in enumerate(SEEDS):
        base = 2.0 + 0.2 * k
        for arm, percent in ARMS.items():
            off = WOBBLE[k] if arm == "memglu" else 0.0
            final = base * (1 + (percent + off) / 100)
            made.append(row(arm, seed, 20, 0, "scale", 1.0))
            made += [
                row(arm, seed, 20, step, "validation_nll", final + 20 - step) for step in (4, 8, 12, 16, 20)
            ]
            made.append(row(arm, seed, 20, 20, "final_nll", final))
        for arm, percent in (("swiglu", 0.0), ("memglu", 0.5)):
            made.append(row(arm, seed, 10, 10, "final_nll", 3 * (1 + percent / 100 + WOBBLE[-1 - k] / 100)))
        for metric, silu, mem in (
            ("occupancy", 0.04, 0.05),
            ("share_q", 0.4, 0.1),
            ("share_h", 0.5, 0.125),
            ("share_silu", 0.4, 0.2),
            ("share_memglu", 0.16, 0.1),
            ("start_occupancy", 0.01, 0.01),
        ):
            grown = 1 + 0.01 * k
            made.append(row("swiglu", seed, 20, 20, metric, silu))
            made.append(row("memglu", seed, 20, 20, metric, mem * grown))
        for metric, value in (("nll_cap", 0.1), ("nll_smooth", 0.3), ("nll_hard", 0.9)):
            made.append(row("swiglu", seed, 20, 20, metric, base + value + 0.01 * k))
    for number in range(3):
        made.append(row("swiglu plain", number, 0, 0, "step", seconds=0.9 + 0.001 * number))
        made.append(row("memglu plain", number, 0, 0, "step", seconds=1.0))
    made.append(row("swiglu plain", 0, 0, 0, "peak_bytes", 100.0))
    made.append(row("memglu plain", 0, 0, 0, "peak_bytes", 118.81))
    return made


def test_effects_are_those_that_were_put_in(settings, rows):
    summary = summarise(settings, rows)
    (finding,) = summary.findings
    found = finding.numbers
    assert finding.record == "mem.lm.smoke"
    expected = {
        "gap": 2.0,
        "gap_unscaled": 1.0,
        "scale_silu": -1.5,
        "scale_memglu": -1.0,
        "shape_unscaled": 2.5,
        "tail": 3.0,
        "parity": -1.0,
        "interaction": 0.0,
        "cap": 0.11,
        "hard_less_smooth": 0.6,
        "occupancy_gain": 4.04,
        "memory_plain": 18.81,
        "speed_plain": -9.9,
    }
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, abs=1e-9), name
    # Student's interval of 1.9, 2.0, 2.1: t(0.975, 2) = sqrt(722/39) nearly, as the claims have it.
    half = sqrt(722 / 39) * 0.1 / sqrt(3)
    assert finding.intervals["gap"].lo == pytest.approx(2.0 - half, abs=2e-3)
    assert finding.intervals["gap"].hi == pytest.approx(2.0 + half, abs=2e-3)


def test_ratios_of_energy_to_occupancy(settings, rows):
    found = summarise(settings, rows).findings[0].numbers
    # Shares fall to a quarter where occupancy grows to 5/4; both grow alike over seeds, so they cancel.
    assert found["unit_q"] == pytest.approx(0.25 / 1.25)
    assert found["unit_h"] == pytest.approx(0.25 / 1.25)
    assert found["shape_q"] == pytest.approx(0.4)
    assert found["learned_q"] == pytest.approx(0.5)


def test_short_pairs_are_apart_from_long_ones(settings, rows):
    found = summarise(settings, rows).findings[0].numbers
    gaps = [0.5 / (1 + w / 100) for w in reversed(WOBBLE)]
    assert found["gap_short"] == pytest.approx(np.mean(gaps), rel=1e-9)
    assert found["tokens_shift"] == pytest.approx(2.0 - np.mean(gaps), rel=1e-9)


def test_what_diverged_is_left_out_and_counted(settings, rows):
    lost = [
        {**one, "value": float("nan")}
        if (one["arm"], one["seed"], one["metric"]) == ("memglu", 43, "final_nll")
        else one
        for one in rows
    ]
    summary = summarise(settings, lost)
    assert summary.findings[0].intervals["gap"].n == 2
    assert summary.findings[0].numbers["diverged"] == 1
    assert any("1 trainings ended without a finite loss" in note for note in summary.notes)


def test_some_jobs_may_be_missing(settings, rows):
    some = [one for one in rows if one["arm"] in ("swiglu", "odd")]
    assert not summarise(settings, some).findings
    assert summarise(settings, []).tables == {}
    alone = [one for one in rows if one["arm"] in ("swiglu", "memglu")]
    found = summarise(settings, alone).findings[0]
    assert "gap" in found.intervals
    assert "tail" not in found.intervals


def test_criteria_read_names_that_a_run_gives(settings, rows):
    calibrated = [
        row(name, number, 0, 0, metric, value + 0.001 * number)
        for name in ("9m", "30m")
        for number in range(3)
        for metric, value in (("c0", 0.6), ("variance", 0.077))
    ]
    fused = [{**one, "arm": str(one["arm"]).replace("plain", "fused")} for one in rows if one["steps"] == 0]
    printed = (catalogue.PRESETS / "language-model.tiny.toml").read_text()
    shapes = read(Settings, tomllib.loads(printed)["settings"]).printed
    given = summarise(replace(settings, printed=shapes), [*rows, *fused, *calibrated]).findings[0]
    names = {f"{name}_{end}" for name in given.intervals for end in ("lo", "hi")} | set(given.numbers)
    # RMS ratios need rows that are not put in above.
    names |= {f"rms_{name}_ratio_hi" for name in ("q", "h", "dx")}
    asked = {
        word
        for path in CLAIMS.glob("mem_*.toml")
        for claim in tomllib.loads(path.read_text())["claim"]
        for reading in claim.get("reading", [])
        if reading.get("evidence", "").startswith("mem.lm.")
        for word in re.findall(r"[a-z]\w*", reading["criterion"])
    } - {"and"}
    assert len(asked) > 25
    assert asked <= names


def test_jobs_pair_arms_and_name_themselves_once(settings):
    jobs: list[Job] = list(language_model.jobs(settings))
    assert len({job.name for job in jobs}) == len(jobs)
    trainings = [job.settings for job in jobs if job.settings["kind"] == "train"]
    by_length: dict[int, set[tuple[str, int]]] = {}
    for one in trainings:
        steps = one["setup"]["training"]["steps"]
        by_length.setdefault(steps, set()).add((one["arm"], one["seed"]))
    assert by_length[20] == {(arm, seed) for arm in settings.arms for seed in SEEDS}
    assert by_length[10] == {(arm, seed) for arm in ("swiglu", "memglu") for seed in SEEDS}
    # Within a seed nothing else than the arm differs.
    assert len({str(one["setup"]) for one in trainings}) == 2
