"""The decoder, its training and its measurements against formulas written here."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from math import asinh, cos, exp, log1p, pi, sin, sqrt, tanh
from typing import Any

import numpy as np
import pytest
import torch
from kept_in_memory import Kept, Stopped
from scipy import integrate, stats

from gateproof.kernels.runs import catalogue, language_model
from gateproof.kernels.runs.language_model_parts import gates, train
from gateproof.kernels.runs.language_model_parts.calibrate import calibrated
from gateproof.kernels.runs.language_model_parts.cost import peak
from gateproof.kernels.runs.language_model_parts.model import Decoder, losses, rms_norm, rotated
from gateproof.kernels.runs.language_model_parts.probe import INTERVENTIONS, probe
from gateproof.kernels.runs.language_model_parts.settings import Calibration, Setup, Shape, Training
from gateproof.kernels.runs.settings import read

SHAPE = Shape(vocabulary=300, layers=2, width=16, heads=2, hidden=24, context=12, deviation=0.07)
TRAINING = Training(
    steps=6,
    batch=4,
    micro_batch=2,
    warmup=2,
    learning_rate=0.01,
    evaluations=3,
    validation_tokens=48,
    last_validation_tokens=96,
)
SETUP = Setup(("topics",), SHAPE, TRAINING, Calibration(3, 2), "float32", "cpu")


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Nothing is written into the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def silu(g: float) -> float:
    return g / (1 + exp(-g))


def settings(preset: str) -> Any:
    path = catalogue.PRESETS / f"language-model.{preset}.toml"
    return read(language_model.EXPERIMENT.settings, tomllib.loads(path.read_text())["settings"])


@pytest.mark.parametrize(("preset", "count"), [("9m", 8_948_160), ("30m", 30_285_696)])
def test_parameters_as_printed(preset: str, count: int) -> None:
    shape = settings(preset).shape
    model = Decoder(shape, 0)
    assert sum(weight.numel() for weight in model.parameters()) == shape.parameters == count


@pytest.mark.parametrize(
    ("preset", "tokens", "steps", "warmup"), [("9m", 16_384, 3052, 61), ("30m", 131_072, 3814, 153)]
)
def test_training_as_printed(preset: str, tokens: int, steps: int, warmup: int) -> None:
    given = settings(preset)
    training = given.training
    assert training.batch * given.shape.context == tokens
    assert (training.steps, training.warmup, training.learning_rate) == (steps, warmup, 3e-4)
    assert {42, 43, 44} <= set(given.seeds)
    assert training.last_validation_tokens == 2**20


def test_weights_start_alike_for_all_arms_and_as_said() -> None:
    one, two, other = Decoder(SHAPE, 5), Decoder(SHAPE, 5), Decoder(SHAPE, 6)
    for a, b in zip(one.parameters(), two.parameters(), strict=True):
        assert torch.equal(a, b)
    assert not torch.equal(one.embedding.weight, other.embedding.weight)
    flat = torch.cat([w.detach().flatten() for w in one.parameters() if w.dim() == 2])
    # 7,880 normal values: five deviations of their mean and of their spread.
    assert abs(float(flat.mean())) < 5 * 0.07 / sqrt(len(flat))
    assert abs(float(flat.std()) / 0.07 - 1) < 5 / sqrt(2 * len(flat))


def test_norm_and_rotation_by_their_formulas() -> None:
    x = torch.randn(3, 5, 8, generator=torch.Generator().manual_seed(0))
    weight = torch.linspace(0.5, 2, 8)
    expected = x / torch.sqrt((x**2).mean(-1, keepdim=True) + 1e-6) * weight
    torch.testing.assert_close(rms_norm(x, weight), expected)
    model = Decoder(SHAPE, 0)
    turned = rotated(x[:, :, :8], model.cos[:5], model.sin[:5]).double().numpy()
    for p in range(5):
        for k in range(4):
            angle = p * 10_000 ** (-2 * k / 8)
            z = complex(float(x[1, p, k]), float(x[1, p, k + 4])) * complex(cos(angle), sin(angle))
            assert abs(complex(turned[1, p, k], turned[1, p, k + 4]) - z) < 1e-6


def test_model_by_a_second_reading_in_numpy() -> None:
    model = Decoder(SHAPE, 1)
    ids = torch.randint(300, (2, 13), generator=torch.Generator().manual_seed(2))
    found = losses(model, ids, gates.glu("memglu", 0.6)).item()
    assert found == pytest.approx(by_hand(model, ids.numpy(), 0.6), rel=1e-5)
    assert found != pytest.approx(by_hand(model, ids.numpy(), 0.8), rel=1e-5)


def by_hand(model: Decoder, ids: np.ndarray, c0: float) -> float:
    """The mean loss, position by position, in float64."""
    w = {name: value.detach().double().numpy() for name, value in model.named_parameters()}
    d, heads = SHAPE.width, SHAPE.heads
    width = d // heads

    def norm(x: np.ndarray, name: str) -> np.ndarray:
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * w[name]

    def turn(x: np.ndarray) -> np.ndarray:
        out = np.empty_like(x)
        for p in range(len(x)):
            for k in range(width // 2):
                a = p * 10_000 ** (-2 * k / width)
                z = (x[p, k] + 1j * x[p, k + width // 2]) * np.exp(1j * a)
                out[p, k], out[p, k + width // 2] = z.real, z.imag
        return out

    total = 0.0
    for row in ids:
        x = w["embedding.weight"][row[:-1]]
        for layer in range(SHAPE.layers):
            name = f"blocks.{layer}."
            qkv = norm(x, name + "attention_norm") @ w[name + "qkv.weight"].T
            mixed = np.zeros_like(x)
            for h in range(heads):
                q, k, v = (qkv[:, part * d + h * width : part * d + (h + 1) * width] for part in range(3))
                scores = turn(q) @ turn(k).T / sqrt(width)
                scores[np.triu_indices(len(x), 1)] = -np.inf
                weights = np.exp(scores - scores.max(-1, keepdims=True))
                mixed[:, h * width : (h + 1) * width] = weights / weights.sum(-1, keepdims=True) @ v
            x = x + mixed @ w[name + "out.weight"].T
            y = norm(x, name + "ffn_norm")
            g, u = y @ w[name + "gate.weight"].T, y @ w[name + "value.weight"].T
            x = x + (c0 * np.tanh(g) / np.cosh(g) * u) @ w[name + "update.weight"].T
        logits = norm(x, "norm") @ w["embedding.weight"].T
        logits = logits - logits.max(-1, keepdims=True)
        total += float((np.log(np.exp(logits).sum(-1)) - logits[np.arange(len(x)), row[1:]]).sum())
    return total / (len(ids) * (ids.shape[1] - 1))


def test_later_tokens_change_nothing_before_them() -> None:
    model, product = Decoder(SHAPE, 1), gates.glu("swiglu", 1.0)
    ids = torch.randint(300, (1, 12), generator=torch.Generator().manual_seed(3))
    other = ids.clone()
    other[0, 8] = (other[0, 8] + 1) % 300
    a, b = model(ids, product), model(other, product)
    torch.testing.assert_close(a[:, :8], b[:, :8])
    assert not torch.allclose(a[:, 8:], b[:, 8:])


def test_rate_rises_and_falls_to_a_tenth() -> None:
    training = Training(101, 1, 1, 4, 2.0, 1, 1, 1)
    found = [train.rate(training, step) for step in range(101)]
    assert found[:4] == [0.5, 1.0, 1.5, 2.0]
    assert found[4] == 2.0
    assert found[52] == pytest.approx(2.0 * (0.1 + 0.9 * (1 + cos(pi / 2)) / 2))
    assert found[100] == pytest.approx(0.2)
    assert found == sorted(found[:4]) + sorted(found[4:], reverse=True)


def test_batches_take_every_window_once_an_epoch_and_hang_on_the_seed_alone() -> None:
    seen = torch.cat([train.batch(10, 4, 7, step) for step in range(5)]).tolist()
    assert sorted(seen[:10]) == sorted(seen[10:]) == list(range(10))
    assert seen[:10] != seen[10:]
    assert train.batch(10, 4, 7, 3).tolist() == seen[12:16]
    assert train.batch(10, 4, 8, 3).tolist() != seen[12:16]


def test_arms_are_what_they_say() -> None:
    g = torch.linspace(-6, 6, 49, dtype=torch.float64)
    u = torch.full_like(g, 3.0)
    for arm, formula in {
        "swiglu": silu,
        "memglu": lambda x: 0.6 * tanh(x) * 2 / (exp(x) + exp(-x)),
        "memglu-unscaled": lambda x: tanh(x) * 2 / (exp(x) + exp(-x)),
        "swiglu-scaled": lambda x: silu(x) / 0.6,
        "odd": lambda x: 0.5 * x,
        "one-sided": lambda x: 0.7 * 4 * tanh(x) / (exp(x) + exp(-x)) / (1 + exp(-x)),
    }.items():
        scale = {"memglu": 0.6, "swiglu-scaled": 1 / 0.6, "odd": 0.5, "one-sided": 0.7}.get(arm, 1.0)
        expected = torch.tensor([3 * formula(x) for x in g.tolist()], dtype=torch.float64)
        torch.testing.assert_close(gates.glu(arm, scale)(g, u), expected, rtol=1e-12, atol=1e-14)


def test_arms_begin_with_the_root_mean_squares_that_they_promise() -> None:
    g = torch.randn(4000, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * 0.3
    sums = gates.squares(g)
    one = torch.ones_like(g)
    found = {
        arm: float(gates.glu(arm, gates.scale_of(arm, sums))(g, one).square().mean()) for arm in gates.ARMS
    }
    for arm in ("memglu", "odd", "one-sided"):
        assert found[arm] == pytest.approx(found["swiglu"], rel=1e-12)
    assert found["swiglu-scaled"] == pytest.approx(found["memglu-unscaled"], rel=1e-12)
    assert found["memglu-unscaled"] > 1.5 * found["memglu"]


def test_mean_field_by_quadrature_and_the_printed_scale() -> None:
    for variance in (0.0768, 0.8):
        found = gates.mean_field(variance)
        for name, gate in (("silu(g)", silu), ("memglu(g)", lambda x: tanh(x) * 2 / (exp(x) + exp(-x)))):
            density = stats.norm(0, sqrt(variance)).pdf
            value, _ = integrate.quad(lambda x, f=gate, p=density: f(x) ** 2 * p(x), -9, 9)
            assert found[name] == pytest.approx(value, rel=1e-9)
    # The paper's c0 at 9M lies between these variances (the claim mem.c0.values, certified).
    scale = [sqrt(m["silu(g)"] / m["memglu(g)"]) for m in (gates.mean_field(v) for v in (0.0767, 0.07671))]
    assert scale[0] < 0.6039096539628113 < scale[1]


def test_calibration_of_random_models_is_the_mean_field_one() -> None:
    shape = Shape(vocabulary=512, layers=2, width=192, heads=3, hidden=512, context=64, deviation=0.02)
    found = calibrated(("topics",), shape, Calibration(4, 4), ("swiglu", "memglu"))
    m = gates.mean_field(192 * 0.02**2)
    theory = sqrt(m["silu(g)"] / m["memglu(g)"])
    # Four models with all tokens alike would spread by 0.9 % (0.185 % times sqrt(32*6/8)); three of it.
    assert found.scale("memglu") == pytest.approx(theory, rel=0.027)
    assert found.scale("memglu") != pytest.approx(theory * 1.1, rel=0.027)


def test_probe_by_numpy() -> None:
    model = Decoder(SHAPE, 4)
    with torch.no_grad():
        for block in model.blocks:
            block.gate.weight *= 9.0  # ty: ignore
    ids = torch.randint(300, (3, 13), generator=torch.Generator().manual_seed(5))
    product = gates.glu("memglu", 0.6)
    kept: list[list[np.ndarray]] = []
    with torch.no_grad():
        model.hidden(ids[:, :-1], product, lambda *seen: kept.append([t.double().numpy() for t in seen]))
        found = probe(model, [ids[:1], ids[1:]], product)
    g, u, h, dx = (np.concatenate([one[i].ravel() for one in kept]) for i in range(4))
    beyond = g > asinh(1)
    q = 0.6 * np.tanh(g) / np.cosh(g)
    s = g / (1 + np.exp(-g))
    assert 0.02 < beyond.mean() < 0.5
    for name, value in {
        "occupancy": beyond.mean(),
        "share_q": (q**2 * beyond).sum() / (q**2).sum(),
        "share_h": ((q * u) ** 2 * beyond).sum() / ((q * u) ** 2).sum(),
        "share_silu": (s**2 * beyond).sum() / (s**2).sum(),
        "share_memglu": (q**2 * beyond).sum() / (q**2).sum(),
        "rms_g": sqrt((g**2).mean()),
        "rms_q": sqrt((q**2).mean()),
        "rms_h": sqrt((h**2).mean()),
        "rms_dx": sqrt((dx**2).mean()),
    }.items():
        assert found[name] == pytest.approx(float(value), rel=1e-5), name


def test_interventions_by_appendix_e() -> None:
    g = torch.tensor([-3.0, 0.5, 0.881, 0.9, 1.2, 2.0, 6.0], dtype=torch.float64)
    one, t = torch.ones_like(g), asinh(1)
    star = silu(t)

    def smooth(x: float) -> float:
        c = min(max((x - t) / 0.5, 0), 1)
        m = c * c * (3 - 2 * c)
        return (1 - m) * silu(x) + m * star * exp(-log1p(exp(x - t)))

    for name, beyond in {"hard": lambda _: 0.0, "cap": lambda _: star, "smooth": smooth}.items():
        expected = [silu(x) if x <= t else beyond(x) for x in g.tolist()]
        torch.testing.assert_close(INTERVENTIONS[name](g, one), torch.tensor(expected, dtype=torch.float64))


def test_same_seed_same_rows_and_a_stop_changes_nothing() -> None:
    whole = train.train(SETUP, "swiglu", 3, Kept())
    assert whole == train.train(SETUP, "swiglu", 3, Kept())
    kept = Kept(3)
    with pytest.raises(Stopped):
        train.train(SETUP, "swiglu", 3, kept)
    assert train.train(SETUP, "swiglu", 3, kept) == whole
    assert whole != train.train(SETUP, "swiglu", 4, Kept())
    losses_seen = [row["value"] for row in whole if row["metric"] == "validation_nll"]
    assert len(losses_seen) == 3
    assert {"final_nll", "nll_cap", "nll_smooth", "nll_hard", "occupancy"} <= {row["metric"] for row in whole}


def test_micro_batches_add_to_the_batch() -> None:
    parts = train.Trainer(SETUP, 1, gates.glu("swiglu", 1.0))
    whole = train.Trainer(
        replace(SETUP, training=replace(TRAINING, micro_batch=4)), 1, gates.glu("swiglu", 1.0)
    )
    for trainer in (parts, whole):
        trainer.advance()
    assert float(parts.loss) == pytest.approx(float(whole.loss), rel=1e-6)
    for a, b in zip(parts.model.parameters(), whole.model.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=2e-4)


@pytest.mark.parametrize("precision", ["float16", "bfloat16"])
def test_half_precision_follows_single(precision: Any) -> None:
    found = []
    for kind in ("float32", precision):
        trainer = train.Trainer(replace(SETUP, precision=kind), 1, gates.glu("memglu", 0.6))
        for _ in range(3):
            trainer.advance()
        found.append(float(trainer.loss) / 3)
        assert all(w.dtype == torch.float32 and torch.isfinite(w).all() for w in trainer.model.parameters())
    assert found[0] != found[1]
    assert found[1] == pytest.approx(found[0], rel=2e-3)


def test_unfused_memglu_holds_more_than_fused() -> None:
    fused, plain = (
        train.Trainer(SETUP, 1, product)
        for product in (
            gates.glu("memglu", 0.6),
            lambda g, u: 0.6 * torch.tanh(g) * (1 / torch.cosh(g)) * u,
        )
    )
    fused.advance(), plain.advance()
    # tanh, 1/cosh, cosh and a product of two are kept beside g and u, in each of two layers.
    values = SHAPE.layers * TRAINING.micro_batch * SHAPE.context * SHAPE.hidden
    assert peak(plain) - peak(fused) >= 2 * 4 * values


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"arms": ("swiglu", "relu")}, "arm 'relu'"),
        ({"arms": ("memglu",)}, "swiglu and memglu"),
        ({"seeds": (1, 1)}, "each once"),
        ({"seeds": (1,)}, "2 or more"),
        ({"seeds": (1, 4096)}, "0 to 4095"),
        ({"corpora": ("bible",)}, "corpus 'bible'"),
        ({"short": 1.0}, "short"),
    ],
)
def test_wrong_settings_are_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        replace(settings("smoke"), **change)
