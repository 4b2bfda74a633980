"""What ``MeanField`` hands on: numbers against closed forms, and refusals."""

from __future__ import annotations

import pytest
from edges_of_chaos import tanh_rates
from mpmath import mp, mpf

import gateproof


@pytest.fixture(scope="module")
def tanh():
    return gateproof.meanfield("tanh")


def test_a_factor_shifts_sigma_w2_alone(tanh):
    # a phi has V and D times a^2: on the edge q - s = V/D stays, and sigma_w^2 = 1/D is divided by a^2.
    found = tanh.shift("11/10*tanh(x)", "0.05")
    [moved] = found.moved
    with mp.workdps(30):
        right = mpf("1.76095463960673913163") * (1 / mpf("1.21") - 1)
        assert abs(mpf(moved.sigma_w2.mid().str(25, radius=False)) - right) < mpf("1e-15")
    assert moved.q.contains(0)
    assert float(moved.q.rad()) < 1e-14
    other = tanh.shift(gateproof.meanfield("11/10*tanh(x)"), 0.05)
    assert other.as_json() == found.as_json()


def test_networks_start_from_the_maps(tanh):
    found = tanh.networks("1.76", "0.05", width=16, depth=1, seeds=200, q=0.57, eps=0.3, seed=1)
    assert (found.seeds, found.depth, found.map_eps[0]) == (200, 1, 0.3)
    # At layer 1 the mean over networks is the map's, exactly.
    mean, error = found.mean("q")
    assert abs(mean[1] - found.map_q[1]) < 5 * error[1]


def test_a_phase_diagram_is_on_either_side_of_the_published_line(tanh):
    # sigma_w^2 = 1.760954.. at sigma_b^2 = 0.05.
    b, w = 0.05**0.5, 1.76095463960674**0.5
    found = tanh.phase_diagram(sigma_b=(b, b + 0.1, 2), sigma_w=[w - 1e-6, w + 1e-6], contours={})
    assert list(found.phase[:, 0]) == ["o", "c"]


def test_kappa_law_has_the_true_rate(tanh):
    found = tanh.kappa_law(sigma_b2=0.05)
    assert found.point_beta == pytest.approx(tanh_rates()[0], rel=1e-10)
    assert {r.kappa for r in found.readings if r.kappa is not None} == {2.0}
    assert found.text == "tanh"


def test_bad_numbers_are_value_errors(tanh):
    with pytest.raises(ValueError, match="sigma_b2"):
        tanh.shift("erf", -1)
    with pytest.raises(ValueError, match="digits"):
        tanh.shift("erf", 0, digits=0)
    with pytest.raises(ValueError, match="sigma_w2"):
        tanh.networks(0, 0)
    with pytest.raises(ValueError, match="sigma_b"):
        tanh.phase_diagram(sigma_b=(1, 0, 3))
    with pytest.raises(ValueError, match="slope"):
        gateproof.meanfield("relu").kappa_law()
