"""The experiment two-sided: jobs, exact resumption, the controller, and what rows say."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from math import expm1
from pathlib import Path
from typing import Any

import pytest
import torch
from kept_in_memory import Kept, Stopped

from gateproof.kernels.runs import settings as reader
from gateproof.kernels.runs.two_sided import EXPERIMENT
from gateproof.kernels.runs.two_sided_parts.outcome import summary
from gateproof.kernels.runs.two_sided_parts.settings import Settings, arm
from gateproof.kernels.runs.two_sided_parts.training import COLUMNS, Training, held_out, run, windows

PRESETS = Path(__file__).parents[3] / "kernels/runs/presets"


@pytest.fixture(scope="module")
def smoke() -> Settings:
    table = tomllib.loads((PRESETS / "two-sided.smoke.toml").read_text())
    found: Settings = reader.read(Settings, table["settings"])
    return found


@pytest.fixture(scope="module")
def text() -> tuple[torch.Tensor, torch.Tensor]:
    draw = torch.Generator().manual_seed(0)
    # Each token is followed by the next or the one after: there is something to learn.
    ids = torch.randint(1, 3, (4000,), generator=draw).cumsum(0) % 320
    return ids[:3000], ids[3000:]


def test_jobs_are_paired_and_named_once(smoke: Settings) -> None:
    made = EXPERIMENT.jobs(smoke)
    assert len({j.name for j in made}) == len(made) == 2 * (4 + 9) + 2 * (4 + 4)
    assert all(json.loads(json.dumps(j.settings)) == j.settings for j in made)
    plain = [{k: v for k, v in j.settings.items() if k not in ("family", "seed", "arms")} for j in made]
    assert all(p == plain[0] for p in plain)


def test_tiny_reads_and_fits_its_claims() -> None:
    table = tomllib.loads((PRESETS / "two-sided.tiny.toml").read_text())
    found: Settings = reader.read(Settings, table["settings"])
    assert found.half > 0.5
    assert len(found.seeds) >= 5


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"half": 1.0}, "half = 1.0: a rate of zeros is between 0 and 1"),
        ({"seeds": [1, 1]}, "2 or more different seeds"),
        ({"few": 3}, "few = 3: give 2 to 2"),
        ({"fixed_step": 12}, "fixed_step = 12: give 0 to 11"),
        ({"fixed": [0.5]}, "fixed: give 2 rates"),
        ({"penalty": -0.1}, "both of its signs are run"),
        ({"families": ["transformer", "transformer"]}, "name each model once"),
    ],
)
def test_wrong_settings_are_said(smoke: Settings, change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        reader.read(Settings, reader.plain(smoke) | change)


def _job(smoke: Settings, family: str, *arms: dict[str, Any]) -> dict[str, Any]:
    plain = reader.plain(smoke)
    return {
        "family": family,
        "seed": 5,
        "arms": list(arms),
        "model": plain["model"],
        "training": plain["training"],
    }


@pytest.mark.parametrize("stop", [7, 17])
def test_resumed_is_uninterrupted_bit_for_bit(smoke: Settings, text: Any, stop: int) -> None:
    """Stopped in the first arm, and in the second, whose target the first one gives."""
    pair = (
        arm("fixed", "fixed", start=0.6, start_step=4),
        arm("matched", start=0.2, match=True),
    )
    job = _job(smoke, "state-space", *pair)
    whole = run(job, Kept(between=True), text)
    kept = Kept(stop, between=True)
    with pytest.raises(Stopped):
        run(job, kept, text)
    assert run(job, kept, text) == whole
    assert all(set(r) == set(COLUMNS) for r in whole)
    other = run(job | {"seed": 6}, Kept(between=True), text)
    assert other != whole


def test_arms_share_weights_and_data(smoke: Settings, text: Any) -> None:
    arms = [arm("dense", "dense", start=0.2), arm("trained", start=0.2, target=0.5)]
    job = _job(smoke, "transformer", *arms)
    made = [Training(job, a, text) for a in arms]
    weights = [{k: v for k, v in t.model.state_dict().items() if "alpha" not in k} for t in made]
    assert all(torch.equal(v, weights[1][k]) for k, v in weights[0].items())
    for t in made:
        t.forward_step()
    assert torch.equal(made[0].order.get_state(), made[1].order.get_state())


def test_the_controller_pulls_towards_its_target(smoke: Settings, text: Any) -> None:
    """Wanted more zeros: a negative weight on the rate, which raises thresholds; fewer: a positive one."""
    low, high = arm("low", start=0.5, target=0.1), arm("high", start=0.5, target=0.9)
    job = _job(smoke, "state-space", low, high)
    job["training"] |= {"threshold_rate": 0.1, "ramp": 1, "proportional": 3.0}
    ends = {r["arm"]: r for r in run(job, Kept(between=True), text) if r["kind"] == "end"}
    assert float(ends["low"]["weight"]) > 0 > float(ends["high"]["weight"])  # type: ignore[arg-type]
    assert float(ends["low"]["zero_rate"]) < 0.5 < float(ends["high"]["zero_rate"])  # type: ignore[arg-type]


def test_held_out_windows_predict_each_token_once() -> None:
    tokens = torch.arange(50)
    batches = list(held_out(tokens, 4, 3))
    assert [tuple(b.shape) for b in batches] == [(3, 5)] * 4
    assert torch.cat([b[:, 1:].flatten() for b in batches]).tolist() == list(range(1, 49))
    drawn = windows(tokens, 4, 200, torch.Generator().manual_seed(0))
    assert (int(drawn.min()), int(drawn.max())) == (0, 49)
    assert bool((drawn.diff(dim=1) == 1).all())


def _rows(
    family: str, seed: int, name: str, loss: float, zeros: int, operations: float
) -> list[dict[str, Any]]:
    """A training of 10 steps of 1 token: the loss falls in a line to its end."""
    base = COLUMNS | {"family": family, "seed": seed, "arm": name, "weight": 0.0, "elements": 1000}
    base |= {"zeros": zeros, "zero_rate": zeros / 1000, "operations": operations}
    curve = [
        base | {"kind": "curve", "step": s, "loss": loss + 1 - s / 10, "spent": s * operations}
        for s in (0, 5, 10)
    ]
    return [*curve, base | {"kind": "end", "step": 10, "loss": loss, "spent": 10 * operations}]


def test_what_rows_say(smoke: Settings) -> None:
    """Differences, ratios and losses at equal operations, by hand."""
    smoke, rows = replace(smoke, families=("state-space",), fixed=(0.6,)), []
    for family in smoke.families:
        for seed, d in zip(smoke.seeds, (-0.001, 0.001), strict=True):
            rows += _rows(family, seed, "dense", 3.0, 0, 100.0)
            rows += _rows(family, seed, "trained", 3.01 + d, 500 + 10 * seed, 80.0)
            rows += _rows(family, seed, "trained more", 3.2 + d, 750 + seed, 60.0 + seed)
            rows += _rows(family, seed, "fixed", 3.02, 520, 81.0)
            rows += _rows(family, seed, "matched", 3.01 + d, 520 + seed, 80.5)
            rows += _rows(family, seed, "natural", 3.0, 300, 90.0)
            rows += _rows(family, seed, "plus", 3.0, 250 + seed, 90.0)
            rows += _rows(family, seed, "minus", 3.0, 400 + seed, 90.0)
    made = summary(smoke, rows)
    table = {(r["family"], r["arm"]): r for r in made.tables["arms"]}
    trained = table["state-space", "trained"]
    assert trained["loss_minus_dense"] == pytest.approx(0.01)
    assert trained["perplexity_percent"] == pytest.approx(100 * (expm1(0.009) + expm1(0.011)) / 2)
    assert trained["fewer_events"] == pytest.approx((1000 / 490 * 1000 / 480) ** 0.5)
    assert trained["fewer_operations"] == pytest.approx(1.25)
    # After 8 of its 10 steps the dense model has spent as much; its loss then was 3.2.
    assert trained["at_equal_operations"] == pytest.approx(3.01 - 3.2)
    records = {f.record: f for f in made.findings}
    assert set(records) == {f"two.{r}.state-space" for r in ("training", "criterion", "penalty")}
    training = records["two.training.state-space"].intervals
    assert training["trained_minus_fixed"].lo < -0.01 < training["trained_minus_fixed"].hi
    assert training["events"].lo < 2.062 < training["events"].hi
    penalty = records["two.penalty.state-space"].intervals
    assert penalty["plus"].hi == pytest.approx(-4.85 + 12.706205 * 0.05, rel=1e-6)
    assert penalty["minus"].lo == pytest.approx(10.15 - 12.706205 * 0.05, rel=1e-6)
    # Without spread there is no interval, and so no evidence.
    assert "operations" not in records["two.criterion.state-space"].intervals
    EXPERIMENT.figure(smoke, rows, made)
    # Nor is a loss at another rate of zeros compared.
    apart = [r | {"zero_rate": r["zero_rate"] + 0.021 * (r["arm"] == "matched")} for r in rows]
    records = {f.record: f for f in summary(smoke, apart).findings}
    assert "trained_minus_fixed" not in records["two.training.state-space"].intervals
    # A run that lacks a training says nothing to a claim that needs all.
    part = [r for r in rows if (r["seed"], r["arm"]) != (2, "fixed")]
    assert "two.training.state-space" not in {f.record for f in summary(smoke, part).findings}
    assert summary(smoke, []).findings == []
