"""Claims and theory modules say the same: every number and formula in both comes out equal."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from packaged_claims import packaged

from gateproof.theory import differential_pair, memristor, two_sided
from gateproof.theory.cost_ladder import cost
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula import expand, parse_claim, parse_expr, substitute
from gateproof.theory.formula.nodes import At, Diff, Gauss, Num, Printed, Rel, Tg, Var, num
from gateproof.theory.gradients import soft_gradient
from gateproof.theory.networks import all_networks, network_cost

CLAIMS = {c.id: {r.name: r for r in c.readings} for c in packaged()}
NETWORKS = {n.name: n for n in all_networks()}
POSITIVE = Domain(num(0), None)


def relation(text: str) -> Rel:
    body = parse_claim(text).body
    assert isinstance(body, Rel)
    return body


def reading(claim: str, start: str):
    (found,) = [r for name, r in CLAIMS[claim].items() if name.startswith(start)]
    return found


def equal(left, right, **domains) -> bool:
    given = Assumptions({**{n: Domain() for n in names(left, right)}, **domains})
    return prove_relation(expand(left), "==", expand(right), given) is not None


def names(*exprs):
    return {n.name for e in exprs for n in expand(e).walk() if isinstance(n, Var)}


def test_the_derivation_is_the_module_s():
    found = CLAIMS["mem.derivation"]
    assert list(found) == [s.name for s in memristor.STEPS]
    for step in memristor.STEPS:
        r = found[step.name]
        assert (r.formal, tuple(r.controls), r.meaning) == (step.formal, step.near_misses, step.says)


def test_the_lobe_s_area_is_the_module_s():
    text = reading("mem.loop.power", "area of the right lobe").formal
    value = parse_expr(text.rsplit("==", 1)[1])
    closed = substitute(memristor.lobe_area(), {"b": parse_expr("G*om/(k*A**2)")})
    positive = dict.fromkeys(("G", "A", "k", "om"), POSITIVE)
    assert equal(closed, value, **positive)


@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
def test_parameters(network):
    left, right = relation(reading("tg.cost.shapes", f"parameters of {network.name}").formal).terms
    assert right == num(network.parameters)
    assert equal(left, right)


def products(text: str) -> set[int]:
    """The whole numbers of a statement, products of numbers multiplied out too."""
    plain = {int(t) for t in re.findall(r"(?<![\w.])\d+(?![\w.~])", text)}
    for run in re.findall(r"\d+(?:\*\d+)+", text):
        value = 1
        for t in run.split("*"):
            value *= int(t)
        plain.add(value)
    return plain


def test_numbers_of_the_tiers():
    text = CLAIMS["tg.cost.networks.corrected"]
    for name in ("ResNet-50", "EfficientNet-B0", "ViT-B/16", "GPT-2 124M"):
        network = NETWORKS[name]
        gated, wide = network_cost(network, "TG_W"), network_cost(network, "TG_A", scope="channel")
        weights = sum(layer.weights for layer in network.gated)
        assert gated.extra == weights + 2 * len(network.gated)
        assert {network.parameters, weights, 2 * len(network.gated)} <= products(
            reading("tg.cost.networks.corrected", "TG_W").formal
        )
        assert {network.parameters, 100 * wide.extra} <= products(
            reading("tg.cost.networks.corrected", "TG_A").formal
        )
        if name != "GPT-2 124M":
            more = gated.multiply_adds - network.multiply_adds
            assert {network.multiply_adds, more} <= products(
                reading("tg.cost.networks.corrected", "multiply-adds").formal
            )
        both = {network_cost(network, tier).parameters for tier in ("General", "TG_S")}
        assert both <= products(reading("tg.cost.networks.corrected", "General").formal)
    assert len(text) == 6


def test_numbers_of_the_tiers_in_the_paper_s_own_reading():
    for start, name, number in (
        ("TG_W with K = 2 doubles ViT", "ViT-B/16", network_cost(NETWORKS["ViT-B/16"], "TG_W").extra - 24),
        (
            "TG_W with K = 2 doubles ResNet",
            "ResNet-50",
            network_cost(NETWORKS["ResNet-50"], "TG_W").extra - 106,
        ),
        (
            "TG_A, a gate for each input channel, at most 1 % in Eff",
            "EfficientNet-B0",
            network_cost(NETWORKS["EfficientNet-B0"], "TG_A", scope="channel").extra,
        ),
        (
            "TG_A, a gate for each input channel, at most 1 % in Res",
            "ResNet-50",
            network_cost(NETWORKS["ResNet-50"], "TG_A", scope="channel").extra,
        ),
    ):
        found = products(reading("tg.cost.networks", start).formal)
        assert {NETWORKS[name].parameters, number} <= found


@pytest.mark.parametrize(("tier", "times"), [("General", 6), ("TG_S", 4)])
def test_resnet_in_the_large_tiers(tier, times):
    left, right = relation(reading("tg.cost.networks", f"{tier} with K = 2").formal).terms
    assert right == num(times)
    network = NETWORKS["ResNet-50"]
    assert equal(left, Num(network_cost(network, tier).ratio(network.parameters)))


def test_tg_cost_of_a_layer():
    """tg.cost: 3K a synapse, one gate of six scalars for a layer or an input at K = 2."""
    layer = NETWORKS["ResNet-50"].layers[-1]
    assert cost(layer, "General", 5).parameters == 15 * layer.weights + layer.outputs
    assert (
        "6 <= n*m/100"
        in reading(
            "tg.cost", "TG_A: at most 1 % extra for any layer, K = 2, six scalars for the layer"
        ).formal
    )
    assert cost(layer, "TG_A", 2).extra == 6
    assert cost(layer, "TG_A", 2, "channel").extra == 6 * layer.inputs


PARTS = {
    "input x": lambda g: g.x,
    "sharpness tau": lambda g: g.tau[0],
    "threshold theta": lambda g: g.theta[0],
    "slopes": lambda g: g.slope[1],
    "constants": lambda g: g.intercept[0],
    "three branches, constant family, each": lambda g: g.tau[0],
    "three branches, constant family, one": lambda g: g.tau[0],
}


@pytest.mark.parametrize("start", PARTS)
def test_gradients(start):
    left, right = relation(reading("tg.gradients", start).formal).terms
    assert isinstance(left, Diff)
    assert isinstance(left.body, Tg)
    assert equal(PARTS[start](soft_gradient(left.body)), right)


def test_the_gate_at_a_kink():
    left, right = relation(reading("tg.gradients.corrected", "soft gates made sharper").formal).terms
    assert isinstance(left, At)
    assert isinstance(left.body, Diff)
    assert isinstance(left.body.body, Tg)
    at_zero = substitute(expand(soft_gradient(left.body.body).x), {"x": num(0)})
    assert equal(at_zero, right)


def test_the_pair_s_offset_and_sharpness():
    _, gate = relation(reading("tg.mosfet.corrected", "mismatch").formal).terms
    assert isinstance(gate, Tg)
    own = {"VT1": Var("p"), "VT2": Var("q"), "UT": Var("U"), "IS1": Var("a"), "IS2": Var("b")}
    theta = substitute(parse_expr("V2 + Vos"), {"Vos": substitute(differential_pair.offset(), own)})
    positive = dict.fromkeys(("n", "U", "a", "b"), POSITIVE)
    assert equal(gate.theta[0], theta, **positive)
    pair = differential_pair.Pair(Fraction(300), Fraction(3, 2), Fraction(1))
    body = parse_claim(reading("tg.mosfet.corrected", "sharpness per volt").formal).body
    printed = [n for n in body.walk() if isinstance(n, Printed)]
    for value in (pair.sharpness, pair.thermal_voltage):
        assert any(p.lo <= value <= p.hi for p in printed)
    square = relation(reading("tg.mosfet", "strong inversion").formal).terms[0]
    assert equal(square, differential_pair.square_law_share(), x=Domain(num(-1), num(1)))


def test_moments():
    claim = "two.rho.moments"
    positive = {"s": POSITIVE, "D": POSITIVE}

    def differentiated(start):
        left, right = relation(reading(claim, start).formal).terms
        assert isinstance(left, Diff)
        return left.body, right

    body, _ = differentiated("the mean size")
    assert equal(body, two_sided.mean_size(), **positive)
    body, _ = differentiated("the mean square")
    assert equal(body, two_sided.mean_square(), **positive)
    body, right = differentiated("the zero rate")
    assert equal(body, two_sided.zero_rate(), **positive)
    assert equal(right, two_sided.zero_rate_slope(), **positive)
    assert equal(
        relation(reading(claim, "the distortion").formal).terms[1], two_sided.distortion(), **positive
    )


def test_distance_of_the_potential():
    gap = substitute(parse_expr("p - g"), {"p": two_sided.potential(), "g": two_sided.gate()})
    for start, values, distance in [
        ("for C = 1", {"C": num(1), "D": Num(Fraction(1, 2))}, two_sided.far_distance),
        ("for C = 4", {"C": num(4), "D": num(1)}, two_sided.threshold_distance),
    ]:
        left, right = relation(reading("two.potential.far", start).formal).terms
        assert equal(right, substitute(distance(), values))
        (inner,) = left.args  # type: ignore[attr-defined]
        assert equal(inner, substitute(gap, values), x=Domain(num(0), None))
        assert equal(inner, substitute(gap, values), x=Domain(None, num(0)))


MOMENTS = {
    "zero rate": two_sided.zero_rate,
    "mean size": two_sided.mean_size,
    "mean square": two_sided.mean_square,
    "mean product": two_sided.mean_product,
    "distortion": two_sided.distortion,
}


@pytest.mark.parametrize("start", MOMENTS)
def test_gaussian_means(start):
    left, right = relation(reading("two.rho.moments", start).formal).terms
    assert isinstance(left, Gauss)
    assert equal(right, MOMENTS[start](), s=POSITIVE, D=POSITIVE)
