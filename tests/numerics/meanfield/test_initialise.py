"""Initialisations against closed forms; their samples against their own law."""

from __future__ import annotations

import subprocess
import sys
from math import erf, exp, inf, log, pi, sqrt

import numpy as np
import pytest

from gateproof.numerics.meanfield.activation import RefusedActivation
from gateproof.numerics.meanfield.given import RefusedNumber
from gateproof.numerics.meanfield.initialise import initialise
from gateproof.numerics.meanfield.initialise_record import NoInitialisation

# --- what is found --------------------------------------------------------------------


def test_tanh_at_its_published_point():
    found = initialise("tanh", jax=False)
    assert found.kind == "critical"
    assert found.certified
    assert found.sigma_w2 == pytest.approx(1.76095463960673913163, rel=1e-14)
    assert found.q_star == pytest.approx(0.570047881640764, rel=1e-13)
    assert found.sigma_b == pytest.approx(sqrt(0.05))
    assert found.scales.xi_c == found.scales.xi_gradient == inf


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"sigma_b2": "abc"}, "give a number"), ({"sigma_b2": float("nan")}, "give a number"),
     ({"sigma_b2": -1}, "at least 0"), ({"depth": 0}, "one layer"), ({"apart": 0}, "apart"),
     ({"apart": 1.0}, "apart"),
     ({"settle": 0.0}, "settle")],
)  # fmt: skip
def test_bad_numbers_are_refused(wrong, said):
    with pytest.raises(RefusedNumber, match=said):
        initialise("tanh", jax=False, **wrong)


def test_a_bell_at_its_closed_form():
    # 4 q (q - s) = 1 + 4 q at s = 1/20 has q = 5/4; V'/D = -1/(2 q); K2 = E (4u^2-2)^2 e^(-2u^2).
    found = initialise("exp(-x**2)", jax=False)
    assert found.q_star == pytest.approx(1.25, rel=1e-13)
    assert float(found.point.chi_parallel.mid()) == pytest.approx(-0.4, rel=1e-12)
    assert found.scales.xi_q == pytest.approx(-1 / log(0.4), rel=1e-12)
    d, p = 5 / 6**1.5, 1.25 / 6  # under e^(-2u^2) the variance is q/(1 + 4q)
    k2 = (16 * 3 * p * p - 16 * p + 4) / sqrt(6)
    assert found.scales.limit == pytest.approx(2 * d / (1.25 * k2), rel=1e-12)


@pytest.mark.parametrize(
    ("name", "sigma_w2"), [("relu", 2.0), ("abs(x)", 1.0), ("leaky_relu(x, 1/2)", 8 / 5)]
)
def test_relu_and_its_kin_get_he(name, sigma_w2):
    found = initialise(name, jax=False)
    assert found.kind == "scale-invariant"
    assert found.sigma_w2 == pytest.approx(sigma_w2, rel=1e-15)
    assert found.sigma_b == 0
    assert found.scales.power == 2
    again = initialise(name, sigma_b2=0.1, jax=False)
    assert (again.sigma_w2, again.sigma_b2) == (found.sigma_w2, 0)
    assert "grows" in again.reason


def test_relu_forgets_by_its_law():
    assert initialise("relu", jax=False).scales.limit == pytest.approx(9 * pi**2 / 2, rel=1e-12)


@pytest.mark.parametrize("name", ["gelu", "silu"])
def test_stability_turns_with_sigma_b(name):
    assert initialise(name, sigma_b2="0.7", jax=False).kind == "critical"
    low = initialise(name, sigma_b2="0.05", jax=False)
    assert low.kind == "nearest-critical"
    assert "repels" in low.reason
    # On the border of what is allowed: xi_q = 1000, and sigma_b moved up.
    assert float(low.point.chi_parallel.mid()) == pytest.approx(exp(-1 / 1000), rel=1e-9)
    assert 0.05 < low.sigma_b2 < 0.7
    assert low.point.stable


def test_a_square_has_its_nearest_stable_point():
    # V = 3 q^2, D = 4 q: chi_parallel = 3/2 on the edge. At fixed points chi_parallel = 2 (q - s)/q.
    found = initialise("x**2", settle=5, jax=False)
    bound = exp(-1 / 5)
    q = 0.05 / (1 - bound / 2)
    assert found.kind == "nearest-stable"
    assert found.q_star == pytest.approx(q, rel=1e-9)
    assert found.sigma_w2 == pytest.approx((q - 0.05) / (3 * q * q), rel=1e-9)
    assert float(found.point.chi_1.mid()) == pytest.approx(2 / 3 * bound, rel=1e-9)
    assert found.scales.xi_gradient == pytest.approx(-1 / log(2 / 3 * bound), rel=1e-8)
    assert found.scales.xi_c == pytest.approx(found.scales.xi_gradient, rel=1e-12)


def test_an_exponential_has_its_nearest_stable_point():
    # V = D = exp(2 q), V' = 2 V: chi_1 = chi_parallel/2 = q - s.
    found = initialise("exp(x)", jax=False)
    assert float(found.point.chi_1.mid()) == pytest.approx(exp(-0.1) / 2, rel=1e-8)
    assert found.q_star == pytest.approx(0.05 + exp(-0.1) / 2, rel=1e-8)


def test_softplus_has_none():
    found = initialise("softplus", jax=False)
    assert found.kind == "nearest-stable"
    assert "no critical point" in found.reason
    assert float(found.point.chi_1.mid()) < 1
    assert found.scales.xi_q == pytest.approx(10, rel=1e-6)


def test_a_double_critical_point_is_said_to_be_one():
    # V' = D exactly: sigma_w^2 D = chi_parallel, at every variance.
    found = initialise("relu(x - 1) - relu(-x - 1)", jax=False)
    assert found.kind == "nearest-stable"
    assert "double-critical" in found.reason
    assert float(found.point.chi_1.mid()) == pytest.approx(exp(-0.1), rel=1e-8)
    assert found.scales.xi_gradient == pytest.approx(10, rel=1e-6)


def test_degenerate_is_said():
    found = initialise("tanh", sigma_b2=0, settle=10, jax=False)
    assert found.kind == "nearest-critical"
    assert "degenerate" in found.reason
    assert found.sigma_b2 > 0


def test_a_depth_moves_sigma_b_no_further_than_needed():
    # erf: V = 2/pi asin(2q/(1+2q)), D = 4/(pi sqrt(1+4q)), C likewise; 1 - c after 300 layers from c = 0.
    found = initialise("erf", depth=300, apart=0.02)
    q, w = found.q_star, found.sigma_w2
    v, d = 2 / pi * np.arcsin(2 * q / (1 + 2 * q)), 4 / pi / sqrt(1 + 4 * q)
    assert w == pytest.approx(1 / d, rel=1e-12)
    b2 = q - v / d
    c = 0.0
    for _ in range(300):
        c = (w * 2 / pi * np.arcsin(2 * q * c / (1 + 2 * q)) + b2) / q
    assert found.eps_at_depth == pytest.approx(1 - c, rel=1e-6)
    assert 0.02 <= 1 - c <= 0.0205
    assert found.sigma_b2 < 0.05
    kept = initialise("erf", depth=10, apart=0.02)
    assert kept.kind == "critical"
    assert kept.sigma_b2 == pytest.approx(0.05)


def test_relu_says_that_it_is_not_as_deep():
    found = initialise("relu", depth=200, jax=False)
    # l^2 (1 - c) tends to 9 pi^2/2 = 44.4 from below: at 200 it is below 0.00112.
    assert 0.0009 < found.eps_at_depth < 0.00112
    assert "only" in found.reason


@pytest.mark.parametrize("target", ["where(x > 1, 1, 0)", "1"])
def test_where_there_is_nothing_to_offer(target):
    found = initialise(target, jax=False)
    assert found.kind == "none"
    assert found.as_json()["sigma_w"] is None
    with pytest.raises(NoInitialisation, match="activation"):
        _ = found.sigma_w


def test_what_is_no_activation_is_refused():
    with pytest.raises(RefusedActivation):
        initialise("tahn")


def test_json_is_text():
    import json

    written = initialise("relu", jax=False).as_json()
    assert written["xi_c"] == "oo"
    assert float(written["sigma_w2"]) == 2
    json.dumps(written)


# --- samples -------------------------------------------------------------------------------


def within(sample, deviation):
    """Mean and variance within 5 of their deviations (p < 1e-6), and the part beyond 1 deviation too."""
    x = np.asarray(sample, float).ravel() / deviation
    n = len(x)
    inside = erf(1 / sqrt(2))
    assert abs(x.mean()) < 5 / sqrt(n)
    assert abs(x.var() - 1) < 5 * sqrt(2 / n)
    assert abs((abs(x) < 1).mean() - inside) < 5 * sqrt(inside * (1 - inside) / n)


@pytest.fixture(scope="module")
def tanh():
    return initialise("tanh", jax=False)


def test_torch_layers_have_their_law(tanh):
    import torch
    from torch import nn

    net = nn.Sequential(
        nn.Linear(300, 400), nn.Conv2d(16, 64, (3, 5), groups=4), nn.Conv1d(50, 200, 3),
        nn.ConvTranspose2d(64, 48, 4, stride=2), nn.LayerNorm(7),
    )  # fmt: skip
    names = tanh.torch_(net, torch.Generator().manual_seed(3))
    assert names == ["0", "1", "2", "3"]
    fans = [300, 16 // 4 * 15, 150, 64 * 16 / 4]
    for layer, fan in zip(net, fans, strict=False):
        within(layer.weight.detach(), tanh.sigma_w / sqrt(fan))
        within(layer.bias.detach(), tanh.sigma_b)
    assert torch.all(net[4].weight == 1)
    with pytest.raises(AssertionError):
        within(net[0].weight.detach(), tanh.sigma_w / sqrt(301 * 1.1))


def test_a_filled_layer_brings_its_variance(tanh):
    import torch
    from torch import nn

    conv = nn.Conv2d(32, 256, 3)
    tanh.torch_(conv, torch.Generator().manual_seed(1))
    x = torch.randn(1, 32, 3, 3, generator=torch.Generator().manual_seed(2)) * 2
    q = tanh.sigma_w2 * float((x**2).mean()) + 0.05
    within(conv(x).detach(), sqrt(q))


def test_torch_seeds_types_and_gradients(tanh):
    import torch
    from torch import nn

    def made(seed, dtype=torch.float32):
        layer = nn.Linear(5, 6).to(dtype)
        tanh.torch_(layer, torch.Generator().manual_seed(seed))
        return layer

    assert torch.equal(made(1).weight, made(1).weight)
    assert not torch.equal(made(1).weight, made(2).weight)
    for dtype in (torch.float64, torch.bfloat16, torch.float16):
        assert made(1, dtype).weight.dtype == dtype
    assert made(1).weight.requires_grad
    assert made(1).weight.grad_fn is None
    relu = nn.Linear(5, 6)
    initialise("relu", jax=False).torch_(relu)
    assert torch.all(relu.bias == 0)
    tanh.torch_(nn.Linear(5, 6, bias=False))


def test_torch_refuses_what_it_cannot_fill(tanh):
    import torch
    from torch import nn

    with pytest.raises(ValueError, match="no linear"):
        tanh.torch_(nn.ReLU())
    with pytest.raises(ValueError, match="no shape"):
        tanh.torch_(nn.LazyLinear(4))
    with pytest.raises(ValueError, match="computes its weight"):
        tanh.torch_(nn.utils.parametrizations.weight_norm(nn.Linear(3, 4)))
    with pytest.raises(TypeError, match="module"):
        tanh.torch_(torch.ones(3))
    with pytest.raises(NoInitialisation):
        initialise("1", jax=False).torch_(nn.Linear(3, 4))


def test_jax_initialisers_have_their_law(tanh):
    import jax
    import jax.numpy as jnp

    weights, biases = tanh.jax()
    key = jax.random.PRNGKey(0)
    within(weights(key, (300, 400)), tanh.sigma_w / sqrt(300))
    within(weights(key, (3, 5, 16, 64)), tanh.sigma_w / sqrt(3 * 5 * 16))
    within(biases(key, (20_000,)), tanh.sigma_b)
    assert weights(key, (4, 5), jnp.bfloat16).dtype == jnp.bfloat16
    torch_like, _ = tanh.jax(in_axis=1, out_axis=0)
    within(torch_like(key, (400, 300)), tanh.sigma_w / sqrt(300))
    assert not jax.config.jax_enable_x64
    assert np.all(np.asarray(initialise("relu", jax=False).jax()[1](key, (3,))) == 0)


def test_neither_torch_nor_jax_is_loaded_by_the_search():
    code = (
        "import sys\nfrom gateproof.numerics.meanfield.initialise import initialise\n"
        "print(initialise('relu', jax=False).sigma_w)\n"
        "print(sorted({'torch', 'jax', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.split("\n")[1] == "[]"
