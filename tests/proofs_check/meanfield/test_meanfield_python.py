"""``gateproof.meanfield``: frozen results, right numbers, and errors that say what to give."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pytest
from edges_of_chaos import tanh_rates
from mpmath import mp, mpf

import gateproof
from gateproof.theory.formula import parse_expr


@pytest.fixture(scope="module")
def tanh():
    return gateproof.meanfield("tanh")


def test_points_are_frozen_and_short(tanh):
    edge = tanh.edge_of_chaos("0.05")
    assert repr(tanh) == "<mean field of tanh>"
    assert repr(edge).startswith("<edge of chaos of tanh at sigma_b2 = 0.05: ok: sigma_w2 = 1.760954639606")
    assert len(repr(edge)) < 120
    for thing, name in ((tanh, "digits"), (edge, "points"), (edge[0], "q_star"), (edge[0].q_star, "lo")):
        with pytest.raises(FrozenInstanceError):
            setattr(thing, name, None)
    assert [p.on_edge for p in edge] == [True]
    assert edge.to_json() == gateproof.meanfield("tanh").edge_of_chaos(Fraction(1, 20)).to_json()
    assert edge.to_json()["points"] == tanh.edge_of_chaos(np.float64(0.05)).to_json()["points"]


def test_values_are_enclosures(tanh):
    q = tanh.edge_of_chaos("0.05", digits=40)[0].q_star
    assert isinstance(q.lo, Fraction)
    assert 0 < q.hi - q.lo < Fraction(1, 10**40)
    assert float(q) == pytest.approx(0.570047881640764, abs=1e-15)
    assert str(q) == "0.570047881640764"


@pytest.mark.parametrize(
    "target", ["silu", "x*sigmoid(x)", parse_expr("x*sigmoid(x)"), gateproof.formula("silu(x)")]
)
def test_targets(target):
    assert str(gateproof.meanfield(target).edge_of_chaos("0.05")[0].sigma_w2) == "2.72861152633732"


def test_a_gate_is_a_target():
    from gateproof.theory.formula.nodes import num
    from gateproof.theory.gate import Gate

    gate = Gate((num(1),), (num(0),), (num(0), num(1)), (num(0), num(0)), "difference")
    assert str(gateproof.meanfield(gate).edge_of_chaos("0.05")[0].sigma_w2) == "2.72861152633732"


@pytest.mark.parametrize("target", [3, None, [1], "nosuch", "log(x)", "x*y", ""])
def test_what_is_no_activation_is_refused(target):
    with pytest.raises(gateproof.RefusedError):
        gateproof.meanfield(target)


@pytest.mark.parametrize("options", [{"digits": 0}, {"digits": 2.5}, {"digits": True}, {"engine": "exact"}])
def test_bad_options_are_refused(options):
    with pytest.raises(gateproof.RefusedError):
        gateproof.meanfield("tanh", **options)


@pytest.mark.parametrize("value", [-0.1, float("nan"), float("inf"), "x", None, True, "1e999"])
def test_bad_numbers_are_value_errors(tanh, value):
    with pytest.raises(ValueError, match="sigma_b2"):
        tanh.edge_of_chaos(value)
    with pytest.raises(ValueError, match="sigma_w2"):
        tanh.fixed_points(value, 0)


def test_relu_layer_by_layer():
    # Case M01: 100 layers multiply the variance by (sigma_w^2/2)^100.
    field = gateproof.meanfield("relu")
    for w, right in (("2", 1.0), ("2.1", 1.05**100), ("1.9", 0.95**100)):
        assert field.variances(w, 0, [100], q=1.0)[0] == pytest.approx(right, rel=1e-12)
    [layer] = field.trajectory(2, 0, [1], c=0.0)
    # The arc-cosine kernel at c = 0 is 1/pi.
    assert layer.eps == pytest.approx(1 - 1 / mp.pi, rel=1e-14)


def test_gelu_from_either_side_of_its_unstable_point():
    field = gateproof.meanfield("gelu")
    assert field.variances("2.1", 0, [2000], q=3.0)[0] < 1e-100
    assert field.variances("2.1", 0, [20_000], q=10.0)[0] == float("inf")


def test_tanh_at_the_degenerate_point_falls_like_the_inverse_depth(tanh):
    # M01: l q_l -> 1/2, 0.50016 at l = 10^4.
    assert 10_000 * tanh.variances(1, 0, [10_000], q=1.0)[0] == pytest.approx(0.50016, abs=5e-5)


def test_depth_scales_and_layers_agree(tanh):
    scales = tanh.depth_scales(2, "0.05")
    layers = tanh.trajectory(2, "0.05", [60, 61], c=0.0)
    off = [1 - layer.eps - float(scales.c_star) for layer in layers]
    assert off[1] / off[0] == pytest.approx(float(mp.exp(-1 / mpf(float(scales.xi_c)))), rel=3e-2)
    deep = tanh.largest_depth(2, "0.05", told_apart_by=1e-3)
    [here, after] = tanh.trajectory(2, "0.05", [int(deep), int(deep) + 1], c=0.0)
    assert abs(1 - here.eps - float(scales.c_star)) >= 1e-3 > abs(1 - after.eps - float(scales.c_star))


def test_the_law_on_the_edge(tanh):
    law = tanh.critical_decay("0.05")
    w = tanh.edge_of_chaos("0.05", digits=30)[0].sigma_w2.middle
    [layer] = tanh.trajectory(w, "0.05", [2000])
    assert law.eps(2000) == pytest.approx(layer.eps, rel=1e-4)
    assert law.limit == pytest.approx(tanh_rates()[0], rel=1e-12)


def test_no_point_or_several_are_said(tanh):
    with pytest.raises(ValueError, match="no one stable point"):
        gateproof.meanfield("softplus").critical_decay("0.05")
    with pytest.raises(ValueError, match="no one stable point"):
        gateproof.meanfield("gelu").depth_scales("2.1", 0)
    assert gateproof.meanfield("gelu").depth_scales("2.1", 0, q=3).stable is False
    with pytest.raises(ValueError, match="correlation"):
        tanh.trajectory(2, "0.05", [1], c=2.0)


def test_engines(tanh):
    right = tanh.certified(30).variance("0.5")
    with mp.workdps(30):
        assert abs(tanh.mp(30).variance("0.5") - mpf("0.2736763079367389090183")) < mpf("1e-21")
    assert abs(float(right.mid()) - 0.2736763079367389) < 1e-15
    assert abs(float(tanh.fast.variance(0.5)) - 0.2736763079367389) < 1e-14


def test_what_it_starts_from(tanh):
    relu = gateproof.meanfield("relu").to_json()
    assert (relu["homogeneous"], relu["kinks"][0]["slope_jump"]) == (True, "1")
    assert (tanh.to_json()["parity"], tanh.to_json()["kinks"]) == (-1, [])
