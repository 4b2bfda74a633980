"""Networks, counts, strips and findings of tg-training against formulas and curves written here."""

from __future__ import annotations

from dataclasses import asdict, replace
from math import exp, inf, nan
from typing import Any

import pytest
import torch
from kept_in_memory import Kept, Stopped
from torch import nn

from gateproof.kernels.convert.tiers import TG_A, TG_W
from gateproof.kernels.runs import catalogue, tg_training
from gateproof.kernels.runs.settings import read as read_settings
from gateproof.kernels.runs.tg_training_parts import lstm, strips
from gateproof.kernels.runs.tg_training_parts.layers import STARTS, GatedInputs, TwoMatrices
from gateproof.kernels.runs.tg_training_parts.resmlp import ARMS, ResMLP, Shape, cost_of, patches
from gateproof.kernels.runs.tg_training_parts.settings import OTHER, Schedule, Settings
from gateproof.kernels.runs.tg_training_parts.tasks import Classify, Read, batch
from gateproof.kernels.runs.tg_training_parts.training import rate, train

SHAPE = Shape(side=8, patch=2, width=6, blocks=2)


def settings(preset: str) -> Settings:
    path = catalogue.PRESETS / f"tg-training.{preset}.toml"
    found: Settings = read_settings(Settings, catalogue.tomllib.loads(path.read_text())["settings"])
    return found


# What the arms cost.


def counted(arm: str, d: int, t: int, p: int, blocks: int) -> tuple[int, int]:
    """Parameters and multiply-adds, by hand."""
    h = int(arm.split(" x")[1][0])
    matrices, gates = 2 * h * d * d, 0
    if "TG_W" in arm:
        matrices, gates = 2 * matrices, 2 * 2  # K matrices; tau and theta of two layers
    if "TG_A" in arm:
        gates = 2 * 6  # tau, theta, two slopes, two constants
    block = 4 * d + 2 * d + (t * t + t) + matrices + (h * d + d) + gates
    macs = t * p * d + blocks * (d * t * t + t * matrices) + 10 * d
    return (p * d + d) + blocks * block + 2 * d + (10 * d + 10), macs


@pytest.mark.parametrize("arm", ARMS)
def test_exact_counts(arm: str) -> None:
    model, cost = ResMLP(ARMS[arm], SHAPE, 0), cost_of(ARMS[arm], SHAPE)
    assert sum(p.numel() for p in model.parameters()) == cost.parameters
    assert (cost.parameters, cost.multiply_adds) == counted(arm, d=6, t=16, p=4, blocks=2)


def test_the_equal_network_is_equal() -> None:
    """What the claims say of the preset: 0.5 %, no multiply-add more, 1.61 times those of the dense one."""
    run = settings("tiny").images
    shape = Shape(28, run.patch, run.width, run.blocks)
    gated, equal, dense = (cost_of(ARMS[a], shape) for a in ("TG_W x1", "silu x2", "silu x1"))
    assert gated.multiply_adds == equal.multiply_adds
    assert abs(equal.parameters / gated.parameters - 1.005) < 0.0005
    assert abs(gated.multiply_adds / dense.multiply_adds - 1.61) < 0.005
    assert cost_of(ARMS["relu x3"], shape).multiply_adds > gated.multiply_adds


@pytest.mark.parametrize("family", lstm.FAMILIES)
def test_exact_counts_of_the_lstm(family: str) -> None:
    model = lstm.LSTM(family, 7, 5, 11, 0)
    assert sum(p.numel() for p in model.parameters()) == lstm.parameters(family, 7, 5, 11)
    extra = {"baseline": 0, "constant": 20, "slopes": 26, "multiplicative": 20, "slopes everywhere": 30}
    assert lstm.parameters(family, 7, 5, 11) == 20 * 7 + 20 * 5 + 20 + 55 + 11 + extra[family]


# What the arms compute.


@pytest.mark.parametrize(("fast", "exact"), [(TwoMatrices, TG_W), (GatedInputs, TG_A)])
def test_layers_are_the_tiers(fast: Any, exact: Any) -> None:
    one = fast(nn.Linear(5, 3), STARTS["gelu"]).double()
    other = exact(nn.Linear(5, 3), STARTS["gelu"]).double()
    generator = torch.Generator().manual_seed(0)
    for p in one.parameters():
        p.data.normal_(generator=generator)
    other.load_state_dict(one.state_dict())
    x = 3 * torch.randn(4, 2, 5, generator=generator, dtype=torch.float64)
    torch.testing.assert_close(one(x), other(x), rtol=1e-12, atol=1e-12)
    other.theta.data += 0.01
    assert not torch.allclose(one(x), other(x), rtol=1e-6)


@pytest.mark.parametrize("tier", ["TG_W x1", "TG_A x1", "TG_W x1 from gelu"])
def test_a_tier_starts_as_the_dense_network(tier: str) -> None:
    x = torch.randn(3, 16, 4, generator=torch.Generator().manual_seed(0))
    gated = ResMLP(ARMS[tier], SHAPE, 5)(x)
    if "gelu" in tier:  # x sigmoid(1.702 x) is not GELU, by at most 0.0204
        dense = ResMLP(ARMS["gelu x1"], SHAPE, 5)(x)
        assert 0 < (gated - dense).abs().max() < 0.02
    else:
        torch.testing.assert_close(gated, ResMLP(ARMS["silu x1"], SHAPE, 5)(x), rtol=1e-5, atol=1e-6)
    assert not torch.allclose(gated, ResMLP(ARMS[tier], SHAPE, 6)(x), atol=1e-3)


def test_patches() -> None:
    image = torch.arange(16.0).reshape(1, 4, 4)
    assert patches(image, 2).tolist() == [[[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]]]


def test_the_baseline_is_an_lstm() -> None:
    """PyTorch's has the order input, forget, candidate, output."""
    ours = lstm.LSTM("baseline", 4, 3, 11, 2)
    own = nn.LSTM(4, 3, batch_first=True)
    order = torch.cat([torch.arange(6), torch.arange(9, 12), torch.arange(6, 9)])
    with torch.no_grad():
        given = [ours.read[order], ours.recur[order], ours.bias[order], torch.zeros(12)]
        for weight, value in zip(own.parameters(), given, strict=True):
            weight.copy_(value)
    x = torch.randn(5, 6, 4, generator=torch.Generator().manual_seed(0))
    expected = own(x)[0].transpose(0, 1) @ ours.out.t() + ours.out_bias
    torch.testing.assert_close(ours(x), expected, rtol=1e-5, atol=1e-6)
    for family in ("constant", "slopes", "slopes everywhere"):
        torch.testing.assert_close(lstm.LSTM(family, 4, 3, 11, 2)(x), expected, rtol=1e-5, atol=1e-6)
    assert not torch.allclose(lstm.LSTM("multiplicative", 4, 3, 11, 2)(x), expected, atol=1e-2)


def test_the_multiplicative_family_by_its_formula() -> None:
    model = lstm.LSTM("multiplicative", 1, 1, 11, 0).double()
    slopes, taus, thetas = [(0.2, 1.5), (-0.1, 0.9), (0.3, 0.7)], [1.5, 0.8, 2.0], [0.1, -0.2, 0.3]
    with torch.no_grad():
        model.slope.copy_(torch.tensor(slopes))
        model.log_tau[:3] = torch.tensor(taus).log()
        model.theta[:3] = torch.tensor(thetas)

    def gate(k: int, z: float) -> float:
        g = 1 / (1 + exp(-taus[k] * (z - thetas[k])))
        return (1 - g) * slopes[k][0] * z + g * slopes[k][1] * z

    def tanh(z: float) -> float:
        return 2 / (1 + exp(-2 * z)) - 1

    read, recur, bias = (v.detach().flatten().tolist() for v in (model.read, model.recur, model.bias))
    state = hidden = 0.0
    frames = [0.7, -1.3, 0.4]
    for x in frames:
        z = [read[k] * x + recur[k] * hidden + bias[k] for k in range(4)]
        state = gate(1, z[1]) * state + gate(0, z[0]) * tanh(z[3])
        hidden = gate(2, z[2]) * tanh(state)
    logits = model(torch.tensor(frames, dtype=torch.float64).reshape(1, 3, 1))[-1, 0]
    torch.testing.assert_close(logits, hidden * model.out[:, 0] + model.out_bias, rtol=1e-6, atol=1e-7)


# Strips.


def test_strips_are_digits_side_by_side() -> None:
    images = torch.arange(3 * 8 * 8.0).reshape(3, 8, 8)
    frames, digits = strips.drawn(images, torch.tensor([7, 8, 9]), 2, 3, 2, "some")
    assert frames.shape == (2, 12, 16)
    for strip, row in zip(frames, digits.tolist(), strict=True):
        columns = strip.reshape(24, 8).t()
        for k, digit in enumerate(row):
            assert torch.equal(columns[:, 8 * k : 8 * k + 8], images[digit - 7])


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [("kitten", "sitting", 3), ("", "abc", 3), ("abc", "", 3), ("flaw", "lawn", 2), ("same", "same", 0)],
)
def test_edits(one: str, other: str, distance: int) -> None:
    assert strips.edits([ord(c) for c in one], [ord(c) for c in other]) == distance


def test_reading_and_its_errors() -> None:
    path = [0, 4, 4, 0, 4, 9, 9, 1]  # repeats merge unless a blank parts them: 3 3 8 0
    logits = torch.nn.functional.one_hot(torch.tensor(path), strips.SYMBOLS).float().unsqueeze(1)
    assert strips.read(logits) == [[3, 3, 8, 0]]
    assert strips.error_rate(logits, torch.tensor([[3, 3, 8, 0]])) == 0
    assert strips.error_rate(logits, torch.tensor([[3, 8, 0, 5]])) == 50
    assert strips.error_rate(logits * nan, torch.tensor([[3, 3, 8, 0]])) == 100


# Training.


def test_the_schedule() -> None:
    given = Schedule(steps=12, every=4, batch=2, rate=0.5, warmup=2)
    assert [rate(given, s) for s in (0, 1, 2)] == [0.25, 0.5, 0.5]
    assert rate(given, 7) == pytest.approx(0.25)
    with pytest.raises(ValueError, match="every = 5 does not divide steps = 12"):
        replace(given, every=5)


def test_seeds_differ_in_all_that_is_drawn() -> None:
    """The upper bits of a seed are lost in PyTorch's generator: 1 and 2 << 32 are one stream there."""
    one, other = (torch.rand(3, generator=torch.Generator().manual_seed(s << 32)) for s in (1, 2))
    assert torch.equal(one, other)
    for make in (lambda s: Classify(settings("smoke").images, "TG_W x1 drawn", s),
                 lambda s: Read(settings("smoke").strips, "constant", 4, s)):  # fmt: skip
        tasks = [make(s) for s in (1, 2, 1)]
        values = [[float(t.loss(step).detach()) for step in (0, 1)] for t in tasks]
        assert values[0] == values[2]
        assert len({v for pair in values for v in pair}) == 4
        drawn = [[p for p in t.model.parameters() if len(p.unique()) > 2] for t in tasks]
        assert all(not torch.equal(a, b) for a, b in zip(*drawn[:2], strict=True))


def test_each_image_once_an_epoch() -> None:
    seen = torch.cat([batch(10, 4, 3, s) for s in range(5)])
    assert sorted(seen[:10].tolist()) == sorted(seen[10:].tolist()) == list(range(10))
    assert seen[:10].tolist() != seen[10:].tolist()


def tasks() -> list[Any]:
    given = settings("smoke")
    short = Schedule(steps=6, every=2, batch=8, rate=0.01, warmup=1)
    show, read = (
        replace(given.images, training=short, watch=50),
        replace(given.strips, training=short, tests=5),
    )
    return [lambda: Classify(show, "TG_W x1", 1), lambda: Read(read, "slopes", 4, 1)]


@pytest.mark.parametrize("make", tasks(), ids=["images", "strips"])
def test_resumed_equals_uninterrupted(make: Any) -> None:
    whole = train(make(), Kept())
    assert [r["step"] for r in whole] == [2, 4, 6]
    for after in (1, 3, 5):
        keeper = Kept(after)
        with pytest.raises(Stopped):
            train(make(), keeper)
        assert train(make(), keeper) == whole
    state = keeper.load()
    keeper.keep({**state, "step": state["step"] - 1})
    assert train(make(), keeper) != whole


def test_what_diverges_says_so() -> None:
    class Breaks:
        training, clip, model = Schedule(6, 2, 1, 0.1, 0), inf, nn.Linear(1, 1)

        def loss(self, step: int) -> torch.Tensor:
            return self.model(torch.ones(1, 1)).sum() * (nan if step == 2 else 1)

        def measure(self, *, last: bool) -> Any:
            return {"error": float(last)}

    rows = train(Breaks(), Kept())
    assert [str(r["loss"]) == "nan" for r in rows] == [False, True, True]


# What the rows say.


def image_rows(arm: str, seed: int, curve: list[float], test: float, *, control: bool = False) -> Any:
    cost = cost_of(ARMS[arm], Shape(28, 7, 32, 2))
    for k, accuracy in enumerate(curve, 1):
        row = dict.fromkeys(tg_training.COLUMNS) | {"part": "images", "arm": arm, "seed": seed}
        row |= {"control": control, "step": 20 * k, "loss": 1.0, "accuracy": accuracy}
        row |= {"parameters": cost.parameters, "multiply_adds": cost.multiply_adds}
        yield row | {"test": test if k == len(curve) else None}


def summary(curves: Any, tests: Any) -> Any:
    given = settings("tiny")
    given = replace(given, images=replace(given.images, training=Schedule(100, 20, 1, 0.1, 0)))
    rows = [r for a, one in curves.items() for s, c in enumerate(one) for r in image_rows(a, s, c, tests[a])]
    rows += [r for s in (0, 1) for r in image_rows("silu x1", s, [1, 1, 3, 3, 3], 60, control=True)]
    for arm, seconds in (("silu x1", 0.002), ("TG_W x1", 0.003)):
        row = dict.fromkeys(tg_training.COLUMNS) | {"part": "timing", "arm": arm, "round": 1}
        rows += [row | {"step_seconds": seconds}]
    return tg_training.EXPERIMENT.summarise(given, rows)


def test_steps_of_known_curves() -> None:
    """The dense one is first at its final 3 at steps 80 and 60, the gated one at 40 and 20."""
    curves = {
        "silu x1": [[1, 2, 2, 3, 3], [1, 1, 4, 2, 3]],
        "silu x2": [[1, 2, 3, 3, 3], [1, 3, 4, 2, 3]],
        "TG_W x1": [[1, 3, 2, 3, 3], [3, 1, 4, 2, 3]],
        "relu x1": [[1, 2, 2, 3, 3], [1, 1, 4, 2, 3]],
        "relu x2": [[1, 2, 2, 3, 3], [1, 1, 4, 2, 3]],
    }
    tests = {"silu x1": 60, "silu x2": 61, "TG_W x1": 62, "relu x1": 58.5, "relu x2": 59}
    found = summary(curves, tests)
    row = next(r for r in found.tables["steps"] if (r["dense"], r["arm"]) == ("silu x1", "TG_W x1"))
    assert row["steps"] == pytest.approx(6**0.5)
    assert row["all"] == pytest.approx((2.5 * 5) ** 0.5)
    assert row["multiply_adds"] == pytest.approx(6**0.5 * 107_328 / 172_864)
    assert row["time"] == pytest.approx(6**0.5 * 2 / 3)
    findings = {f.record: f for f in found.findings}
    assert set(findings) == {f"tg.{n}.tiny" for n in ("steps", "compute", "width", "wallclock")}
    ratio, macs = findings["tg.steps.tiny"].intervals["ratio"], findings["tg.compute.tiny"].intervals["macs"]
    assert ratio.lo < 6**0.5 < ratio.hi
    assert macs.lo / ratio.lo == pytest.approx(107_328 / 172_864)
    # 60/40 and 40/20 against the network of equal cost.
    equal = findings["tg.compute.tiny"].intervals["equal"]
    assert (equal.lo * equal.hi) == pytest.approx(3)
    again = findings["tg.steps.tiny"].intervals["again"]
    assert again.lo == -inf or again.lo == 0 or again.lo < 100 / 60 < again.hi


def test_a_target_never_reached_is_no_number() -> None:
    """Cut off at 100 steps, a ratio of 80/100 is an upper bound, and order statistics of two say nothing."""
    curves = {"silu x1": [[1, 2, 2, 3, 3]] * 2, "TG_W x1": [[1, 1, 1, 2, 2], [1, 1, 3, 3, 3]]}
    found = summary(curves, {"silu x1": 60, "TG_W x1": 59})
    row = next(r for r in found.tables["steps"] if r["arm"] == "TG_W x1")
    assert (row["word"], row["reached"], row["pairs"]) == ("at most", 1, 2)
    ratio = next(f for f in found.findings if f.record == "tg.steps.tiny").intervals["ratio"]
    assert (ratio.lo, ratio.hi) == (0, inf)
    assert "order statistics" in ratio.method
    assert any("cut off" in n for n in found.notes)


def test_jobs_and_rows_of_the_smoke_preset() -> None:
    given = settings("smoke")
    made = tg_training.EXPERIMENT.jobs(given)
    names = [j.name for j in made]
    assert len(set(names)) == len(names) == 2 * (len(ARMS) + 1 + len(lstm.FAMILIES)) + 1
    control = next(j for j in made if "again seed=1" in j.name)
    assert control.settings["seed"] == 1 + OTHER
    short = asdict(given.images) | {"training": asdict(Schedule(2, 1, 4, 0.01, 0)), "watch": 20}
    rows = tg_training.EXPERIMENT.run({**control.settings, "run": short}, Kept())
    assert [(r["seed"], r["control"], r["step"]) for r in rows] == [(1, True, 1), (1, True, 2)]
    assert rows[0]["test"] is None
    assert rows[1]["test"] is not None


def test_settings_are_refused_in_one_line() -> None:
    given = settings("smoke")
    with pytest.raises(ValueError, match="seeds: give two or more"):
        replace(given, seeds=(1,))
    with pytest.raises(ValueError, match=r"images\.arms: 'tanh x1' is none of"):
        replace(given.images, arms=("tanh x1",))
    with pytest.raises(ValueError, match="do not tile images of 8"):
        Shape(8, 3, 4, 1)
