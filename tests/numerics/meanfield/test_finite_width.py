"""Random networks against laws that hold exactly at finite width; criteria are fixed beforehand.

A standard normal number is outside of +-5 with probability 6e-7; all seeds are fixed.
"""

from __future__ import annotations

import sys
from math import asin, pi, sqrt

import jax
import numpy as np
import pytest
from scipy import stats

from gateproof.numerics.meanfield.finite_width import finite_width

W, S, Q, EPS, WIDTH, SEEDS = 1.8, 0.05, 0.7, 0.4, 32, 500


@pytest.fixture(scope="module")
def erf():
    return finite_width("erf", W, S, q=Q, eps=EPS, width=WIDTH, depth=6, seeds=SEEDS, seed=7)


def off(found, name, layer, right):
    mean, error = found.mean(name)
    return (mean[layer] - right) / error[layer]


def erf_maps(q, c, w=W):
    ratio = 2 * q / (1 + 2 * q)
    return w * 2 / pi * asin(ratio) + S, w * 2 / pi * asin(ratio * c) + S


def test_layer_0_is_chi_square(erf):
    # width * mean(h^2)/q for one input; both inputs together have correlated ones, so take the mean's law.
    assert abs(off(erf, "q", 0, Q)) < 5
    assert abs(off(erf, "covariance", 0, Q * (1 - EPS))) < 5
    # Var of (h1^2 + h2^2)/2 over N neurons: q^2 (1 + c^2)/N.
    right = Q**2 * (1 + (1 - EPS) ** 2) / WIDTH
    assert erf.q[:, 0].var() == pytest.approx(right, rel=5 * sqrt(2.5 / SEEDS))


def test_equal_inputs_are_chi_square():
    found = finite_width("erf", W, S, q=Q, eps=0.0, width=WIDTH, depth=1, seeds=SEEDS, seed=3)
    assert stats.kstest(found.q[:, 0] * WIDTH / Q, stats.chi2(WIDTH).cdf).pvalue > 1e-6
    assert np.abs(found.eps).max() < 1e-15
    assert stats.kstest(found.q[:, 0] * WIDTH / Q, stats.chi2(WIDTH * 1.3).cdf).pvalue < 1e-6


def test_layer_1_has_the_means_of_the_maps_exactly(erf):
    q, covariance = erf_maps(Q, 1 - EPS)
    assert abs(off(erf, "q", 1, q)) < 5
    assert abs(off(erf, "covariance", 1, covariance)) < 5
    assert erf.map_q[1] == pytest.approx(q, rel=1e-12)
    assert erf.map_covariance[1] == pytest.approx(covariance, rel=1e-11)
    # The criterion tells another sigma_w^2.
    wrong, _ = erf_maps(Q, 1 - EPS, 1.1 * W)
    assert abs(off(erf, "q", 1, wrong)) > 5


def test_relu_spreads_as_it_must():
    # q_1 = 2 mean(relu(h)^2) chi^2_N/N: E relu^4 = 3 q^2/2, so Var = q^2 ((1 + 5/N)(1 + 2/N) - 1).
    n, seeds = 24, 1500
    found = finite_width("relu", 2.0, 0.0, q=1.0, eps=0.0, width=n, depth=2, seeds=seeds, seed=5)
    right = (1 + 5 / n) * (1 + 2 / n) - 1
    values = found.q[:, 1]
    spread = (values - values.mean()) ** 2
    assert abs(spread.mean() - right) < 5 * spread.std() / sqrt(seeds)
    # sigma_w^2 = 2 keeps the mean at every layer.
    assert abs(off(found, "q", 2, 1.0)) < 5
    # log q falls on average: E log chi^2 < log E, which a map of variances cannot show.
    assert np.log(found.q[:, 2]).mean() < 0


def test_wider_networks_are_nearer_to_the_maps():
    away = []
    for width, seeds in ((8, 2000), (64, 500)):
        found = finite_width("tanh", 1.76, 0.05, q=0.57, eps=0.5, width=width, depth=8, seeds=seeds, seed=1)
        mean, error = found.mean("q")
        away.append((abs(mean[8] - found.map_q[8]), error[8]))
        lo, hi = found.band("q")
        assert lo[8] < found.map_q[8] < hi[8]
        away[-1] = (*away[-1], hi[8] - lo[8])
    # The bias is O(1/width): 1/8 of it is left, and both means are known to their errors.
    assert away[1][0] < away[0][0] / 8 + 5 * (away[0][1] / 8 + away[1][1])
    assert away[1][2] < 0.5 * away[0][2]


def test_correlations_follow_the_map_of_erf(erf):
    q, c = Q, 1 - EPS
    for layer in range(1, 7):
        after, covariance = erf_maps(q, c)
        q, c = after, covariance / after
        assert erf.map_q[layer] == pytest.approx(q, rel=1e-11)
        assert erf.map_eps[layer] == pytest.approx(1 - c, rel=1e-10)
        lo, hi = erf.band("eps", 0.99)
        assert lo[layer] < 1 - c < hi[layer]


def test_seeds_give_networks(erf):
    kind = {"q": Q, "eps": EPS, "width": WIDTH, "depth": 6}
    again = finite_width("erf", W, S, seeds=SEEDS, seed=7, **kind)
    assert np.array_equal(again.q, erf.q)
    other = finite_width("erf", W, S, seeds=SEEDS, seed=8, **kind)
    assert not np.array_equal(other.q, erf.q)
    assert len(np.unique(erf.q[:, 3])) == SEEDS


def test_batches_change_no_network(erf, monkeypatch):
    from gateproof.numerics.meanfield import fast_networks

    heard = []
    monkeypatch.setattr(fast_networks, "_AT_ONCE", WIDTH**2 * 200)
    again = finite_width(
        "erf",
        W,
        S,
        q=Q,
        eps=EPS,
        width=WIDTH,
        depth=6,
        seeds=SEEDS,
        seed=7,
        progress=lambda *a: heard.append(a),
    )
    assert again.q == pytest.approx(erf.q, rel=1e-12)
    assert heard == [(200, 500), (400, 500), (500, 500)]


def test_the_callers_configuration_stays(erf):
    assert not jax.config.jax_enable_x64
    assert not np.array_equal(erf.eps, erf.eps.astype(np.float32))
    rough = finite_width("erf", W, S, width=8, depth=2, seeds=3, single=True)
    assert np.array_equal(rough.eps, rough.eps.astype(np.float32))
    assert not jax.config.jax_enable_x64


def test_json_and_picture(erf, tmp_path):
    import json

    written = erf.as_json()
    json.dumps(written)
    assert len(written["eps"]["hi"]) == 7
    assert float(written["q"]["map"][0]) == Q
    erf.plot(tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "wrong", [{"width": 0}, {"depth": 0}, {"seeds": 1}, {"q": 0.0}, {"eps": 2.5}, {"width": 100_000}]
)
def test_wrong_numbers_are_refused(wrong):
    with pytest.raises(ValueError, match=r"expected|at most"):
        finite_width("erf", W, S, **wrong)
    with pytest.raises(ValueError, match="variances"):
        finite_width("erf", -1.0, S)


def test_missing_jax_is_said(monkeypatch):
    monkeypatch.delitem(sys.modules, "gateproof.numerics.meanfield.fast_networks", raising=False)
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(ModuleNotFoundError, match="pip install jax") as caught:
        finite_width("erf", W, S, width=2, depth=1, seeds=2)
    assert caught.value.name == "jax"
    # Numbers out of range are told first.
    with pytest.raises(ValueError, match="expected"):
        finite_width("erf", W, S, seeds=1)


def test_a_variance_without_bound_is_said():
    with pytest.raises(ArithmeticError, match="layers"):
        finite_width("x**2", 4.0, 0.1, q=3.0, depth=40, width=4, seeds=2)
