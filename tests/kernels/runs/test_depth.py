"""The experiment depth: networks begin as theory says, stop and go on exactly, count as trained."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from math import log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from kept_in_memory import Kept, Stopped
from torch.nn.functional import cross_entropy

from gateproof.kernels.runs.depth import EXPERIMENT
from gateproof.kernels.runs.depth_parts.criterion import CHANCE, trainable_depth
from gateproof.kernels.runs.depth_parts.loop import Work
from gateproof.kernels.runs.depth_parts.nets import Nets
from gateproof.kernels.runs.depth_parts.slope import log_slope
from gateproof.kernels.runs.depth_parts.summary import summarise
from gateproof.kernels.runs.depth_parts.theory import Place, around, begin
from gateproof.kernels.runs.depth_parts.units import NATIVE, Gate, Unit
from gateproof.kernels.runs.experiment import Row
from gateproof.kernels.runs.settings import read

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(80)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def mean(f: Any, q: float) -> float:
    """E f(u), u ~ N(0, q), by Gauss and Hermite."""
    return float(WEIGHTS @ f(sqrt(q) * NODES))


def tanh_at(sigma_w2: float, sigma_b2: float = 0.05) -> Place:
    """The fixed point by iteration."""
    q = 1.0
    for _ in range(2000):
        q = sigma_w2 * mean(lambda u: np.tanh(u) ** 2, q) + sigma_b2
    slope = mean(lambda u: (1 - np.tanh(u) ** 2) ** 2, q)
    return Place(sigma_w2, sigma_b2, q, mean(lambda u: np.tanh(u) ** 2, q), slope)


def test_the_start_is_the_critical_point() -> None:
    place, row = begin("tanh(x)", 0.05)
    own = tanh_at(place.sigma_w2)
    assert place.q == pytest.approx(own.q, rel=1e-9)
    assert place.chi == pytest.approx(1, abs=1e-9)
    curved = mean(lambda u: (2 * np.tanh(u) * (1 - np.tanh(u) ** 2)) ** 2, own.q)
    assert row["beta_q"] == pytest.approx(2 * own.slope / (own.q * curved), rel=1e-8)
    assert row["kappa_inflection"] == row["kappa_largest"] == pytest.approx(2)
    [(below, about)] = around("tanh(x)", 0.05, (0.5,))
    assert below.chi < 1
    own = tanh_at(below.sigma_w2)
    # c* = 1 there, and the correlation map has the slope chi_1.
    assert about["xi_c"] == pytest.approx(-1 / log(own.sigma_w2 * own.slope), rel=1e-6)


@pytest.mark.parametrize("sigma_w2", [1.2, 1.76095463960674, 2.5])
def test_wide_networks_follow_the_mean_field(sigma_w2: float) -> None:
    """Variances, correlations of two inputs and the tangent kernel of a logit, at width 700."""
    place, depth, width = tanh_at(sigma_w2), 8, 700
    nets = Nets(torch.tanh, [place], [0, 1, 2, 3], [1.0], inputs=50, width=width, depth=depth)
    x = torch.randn(2, 50, generator=torch.Generator().manual_seed(5))
    x = x / x.square().mean(1, keepdim=True).sqrt()
    for p in nets.params:
        p.requires_grad_(True)
    layers = nets.hidden(x[None])
    last = layers[-1].detach()
    assert float(last.square().mean()) == pytest.approx(place.q, rel=0.1)
    c = float(((place.q - 0.05) * (x[0] * x[1]).mean() + 0.05) / place.q)
    for _ in range(depth - 1):
        u, w = NODES[:, None], NODES[None, :]
        both = np.tanh(sqrt(place.q) * u) * np.tanh(sqrt(place.q) * (c * u + sqrt(1 - c * c) * w))
        c = (sigma_w2 * float(WEIGHTS @ both @ WEIGHTS) + 0.05) / place.q
    seen = (last[:, 0] * last[:, 1]).mean() / last.square().mean()
    assert float(seen) == pytest.approx(c, abs=0.05)
    kernel = 0.0
    for net in range(4):
        logit = nets.logits(x[None, :1])[net, 0, 0]
        gradients = torch.autograd.grad(logit, nets.params)
        kernel += sum(float(g.square().sum()) for g in gradients) / 4
    assert kernel == pytest.approx(place.tangent(depth), rel=0.15)
    assert tanh_at(1.3 * sigma_w2).tangent(depth) != pytest.approx(place.tangent(depth), rel=0.15)


def test_rescaled_activations_train_alike_whatever_their_kappa() -> None:
    """3 tanh(2 x), kappa 24 times as large, at sigma_w/6 and sigma_b/2."""
    place = tanh_at(1.76095463960674)
    other = Place(place.sigma_w2 / 36, 0.05 / 4, place.q / 4, 9 * place.variance, 36 * place.slope)
    x = torch.randn(20, 6, generator=torch.Generator().manual_seed(2))
    y = torch.arange(20) % 10
    found = []
    for phi, at in ((torch.tanh, place), (lambda x: 3 * torch.tanh(2 * x), other)):
        nets = Nets(phi, [at], [1], [5.0], inputs=6, width=12, depth=5)

        def losses(_: int, nets: Nets = nets) -> torch.Tensor:
            return cross_entropy(nets.logits(x[None])[0], y)[None]

        Work(Kept(), [1.0]).train(losses, nets.params, nets.rates, 20)
        found.append(nets.measured(x, y)[0][0])
    assert found[0] < CHANCE - 0.3
    assert found[1] == pytest.approx(found[0], rel=1e-4)


def test_no_two_networks_have_the_same_draws() -> None:
    place = tanh_at(1.2)
    small = partial(Nets, torch.tanh, inputs=3, width=4, depth=2)
    nets = small(places=[place, place], seeds=[0, 1], rates=[1.0, 2.0])
    other = small(places=[place], seeds=[0, 1], rates=[1.0], before=2)
    firsts = [tuple(w.flatten().tolist()) for w in (*nets.weights[1], *other.weights[1])]
    assert len(set(firsts)) == 6
    assert firsts[0] == firsts[1]
    again = small(places=[place], seeds=[0, 1], rates=[1.0], before=1)
    assert torch.equal(again.weights[1], nets.weights[1][4::2])


def test_trainable_depth() -> None:
    line = 0.5 * log(10)
    found = trainable_depth({2: 0.1, 4: 0.5, 8: 1.5}, 0.5)
    assert found.value == pytest.approx(4 * 2 ** ((line - 0.5) / 1.0))
    assert not found.censored
    # A deeper one that trains again does not count, and what is no number is at chance.
    again = trainable_depth({2: 0.5, 4: float("nan"), 8: 0.1}, 0.5)
    assert again.value == pytest.approx(2 * 2 ** ((line - 0.5) / (log(10) - 0.5)))
    assert trainable_depth({2: 0.5, 4: 1e9}, 0.5).value == pytest.approx(again.value)
    assert (found := trainable_depth({2: 0.1, 4: line}, 0.5)).value == 4
    assert found.censored == "above"
    assert (found := trainable_depth({2: line + 1e-9, 4: 0.1}, 0.5)).value == 2
    assert found.censored == "below"
    with pytest.raises(ValueError, match="no depth"):
        trainable_depth({}, 0.5)


def jobs() -> dict[str, Mapping[str, Any]]:
    settings = read(EXPERIMENT.settings, preset("smoke"))
    return {job.name: job.settings for job in EXPERIMENT.jobs(settings)}


def preset(name: str) -> Mapping[str, Any]:
    import tomllib

    import gateproof.kernels.runs.settings as there

    file = Path(there.__file__).parent / "presets" / f"depth.{name}.toml"
    found: Mapping[str, Any] = tomllib.loads(file.read_text())["settings"]
    return found


@pytest.mark.parametrize(
    ("name", "shorter"),
    [
        ("edge tanh", {"steps": 4, "depths": [2, 3], "share": 0.99}),
        ("phase tanh residual ratios=1", {"steps": 4, "depths": [2, 3]}),
        ("scan K=3 blocks=2", {"steps": 6}),
        ("within sin", {"steps": 6}),
        ("beyond sin K=2", {"steps": 6}),
    ],
)
def test_a_stopped_job_goes_on_bit_for_bit(name: str, shorter: Mapping[str, Any]) -> None:
    settings = {**jobs()[name], **shorter}
    whole = EXPERIMENT.run(settings, Kept())
    for stops in (1, 5):
        kept = Kept(stops)
        with pytest.raises(Stopped):
            EXPERIMENT.run(settings, kept)
        torch.manual_seed(99)
        assert EXPERIMENT.run(settings, kept) == whole
    other = {**settings, "seeds": [s + 1 for s in settings["seeds"]]}
    assert EXPERIMENT.run(other, Kept()) != whole


def test_adam_is_torchs_and_networks_do_not_meet() -> None:
    start = torch.randn(3, 4, 2, generator=torch.Generator().manual_seed(0))
    factor = torch.tensor([1.0, float("inf"), 3.0])

    def losses(p: torch.Tensor) -> torch.Tensor:
        return (p.square().sum((1, 2)) * factor[: len(p)]).log1p()

    mine = [start.clone()]
    Work(Kept(), [1.0]).train(lambda _: losses(mine[0]), mine, torch.full((3,), 0.1), 5, adam=True)
    theirs = start[:1].clone().requires_grad_(True)
    optimiser = torch.optim.Adam([theirs], lr=0.1)
    for _ in range(5):
        optimiser.zero_grad()
        [theirs.grad] = torch.autograd.grad(losses(theirs).sum(), [theirs])
        optimiser.step()
    assert torch.allclose(mine[0][:1], theirs, rtol=1e-5)
    assert mine[0][1].isnan().all()
    assert mine[0][[0, 2]].isfinite().all()


@pytest.mark.parametrize("name", NATIVE)
def test_functions_are_those_of_the_zoo(name: str) -> None:
    from gateproof.numerics.backends.formula import formula

    x = np.linspace(-6, 6, 301)
    found = NATIVE[name](torch.tensor(x)).numpy()
    assert np.allclose(found, formula(f"{name}(x)").numpy(x=x), rtol=1e-12, atol=1e-14)


def test_gates_are_what_they_say() -> None:
    unit = Unit("constant", gate=Gate(2.0, (-0.5, 0.5), (0.0, 0.0, 0.0), (-1.0, 0.0, 1.0)))
    formula, function = unit.known()
    x = torch.linspace(-3, 3, 50, dtype=torch.float64)
    assert torch.allclose(function(x), (torch.tanh(x - 0.5) + torch.tanh(x + 0.5)) / 2)
    assert formula.startswith("tg(x, tau=2.0, theta=[-0.5, 0.5]")
    fit = Unit("sin", branches=2, domain="[-pi, pi]").known()[1]
    x = torch.linspace(-3.14159, 3.14159, 500, dtype=torch.float64)
    # 0.00967 by its certificate.
    assert 0.0096 < float((fit(x) - torch.sin(x)).abs().max()) < 0.0097
    with pytest.raises(ValueError, match="there are tanh"):
        Unit("tan")
    with pytest.raises(ValueError, match="stretch"):
        Unit("sin", stretch=2.0, branches=2)


def test_log_slope_is_scipys() -> None:
    from scipy import stats

    x, y = [1.0, 2.0, 4.0, 9.0], [5.0, 2.0, 0.7, 0.4]
    theirs = stats.linregress(np.log(x), np.log(y))
    found = log_slope(x, y)
    half = float(stats.t.ppf(0.975, 2)) * theirs.stderr
    assert (found.lo, found.hi) == pytest.approx((theirs.slope - half, theirs.slope + half))
    with pytest.raises(ValueError, match="differ in x"):
        log_slope([1, 1, 1], [1, 2, 3])


def made_up(beta: float, kappa: float, name: str, depth: int) -> list[Row]:
    """An activation whose networks train up to ``depth`` of 2, 4, .., 64."""
    head = {"part": "edge", "activation": name, "group": "zoo", "job": name}
    theory: Row = {**head, "row": "theory", "beta_q": beta, "xi_q": 1.0, "kappa_inflection": kappa}
    trained: list[Row] = [
        {**head, "row": "trained", "depth": d, "seed": s, "rate": 1.0, "loss": 0.1 if d <= depth else 2.0}
        for d in (2, 4, 8, 16, 32, 64)
        for s in (0, 1)
    ]
    return [theory, *trained]


def test_predictors_are_oriented_and_exact_powers_are_found() -> None:
    """Depth doubles with beta_q; kappa falls like depth^(-1/2), as the law has it, or the other way round."""
    settings = read(EXPERIMENT.settings, preset("smoke"))
    for power, sign in ((-0.5, 1), (0.5, -1)):
        rows: list[Row] = []
        for k in range(1, 6):
            rows += made_up(float(k), 2.0 ** (power * k), f"a{k}", 2**k)
        summary = summarise(settings, rows)
        [finding] = summary.findings
        by = {row["predictor"]: row["rho"] for row in summary.tables["predictors"]}
        assert by == {"beta_q": pytest.approx(1), "1/kappa^2, inflection": pytest.approx(sign)}
        assert finding.record == "tg.depth.smoke"
        exponent = finding.intervals["exponent"]
        assert (exponent.lo + exponent.hi) / 2 == pytest.approx(1 / power, rel=1e-6)
        # A job that is missing is no fault.
        assert summarise(settings, rows[:20]).tables["activations"]


def test_presets() -> None:
    for name in ("smoke", "tiny", "full"):
        settings = read(EXPERIMENT.settings, preset(name))
        names = [job.name for job in EXPERIMENT.jobs(settings)]
        assert len(set(names)) == len(names)
        assert settings.scale == name
