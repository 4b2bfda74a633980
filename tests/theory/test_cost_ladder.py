"""Exact costs: by hand for small layers, against published totals for networks."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateproof.theory.cost_ladder import TIERS, Layer, added_share, cost, least_weights, plain, scalars, total
from gateproof.theory.networks import BUILDERS, GATED, all_networks, network_cost, resnet50

# torchvision's weight tables; Hugging Face's own counts for the language models.
PARAMETERS = {
    "ResNet-50": 25_557_032,
    "EfficientNet-B0": 5_288_548,
    "ViT-B/16": 86_567_656,
    "GPT-2 124M": 124_439_808,
    "SmolLM-135M": 134_515_008,
    "TinyLlama-1.1B": 1_100_048_384,
}
# torchvision's "_ops", in 10^9 multiply-adds, to three places.
MULTIPLY_ADDS = {"ResNet-50": "4.089", "EfficientNet-B0": "0.386", "ViT-B/16": "17.564"}


@pytest.mark.parametrize("build", BUILDERS)
def test_published_totals_come_out_of_the_shapes(build):
    network = build()
    assert network.parameters == PARAMETERS[network.name]
    if network.name in MULTIPLY_ADDS:
        assert f"{network.multiply_adds / 10**9:.3f}" == MULTIPLY_ADDS[network.name]


def test_a_wrong_shape_gives_another_total():
    assert resnet50(classes=999).parameters != PARAMETERS["ResNet-50"]


def test_a_small_layer_by_hand():
    """Three inputs, two outputs, K = 2: six weights, two biases."""
    layer = Layer("small", 2, 3)
    # per weight: 2 slopes, 2 constants, 1 threshold, 1 sharpness
    assert cost(layer, "General").parameters == 6 * 6 + 2
    assert cost(layer, "TG_S").parameters == 6 * 4 + 2
    assert cost(layer, "TG_W").parameters == 6 * 2 + 2 + 2
    assert cost(layer, "TG_A").parameters == 6 + 2 + 6
    assert cost(layer, "TG_A", scope="channel").parameters == 6 + 2 + 3 * 6
    assert cost(layer, "TG_W", scope="channel").parameters == 6 * 2 + 2 + 3 * 2
    assert [cost(layer, t).multiply_adds for t in TIERS] == [24, 24, 12, 6]
    assert [cost(layer, t).sigmoids for t in TIERS] == [6, 3, 3, 3]


def test_a_grouped_convolution_by_hand():
    """3x3, 4 to 8 channels in two groups, no bias, 7x7 places read, 5x5 written."""
    layer = Layer("conv", 8, 4, taps=9, groups=2, bias=False, positions=25, reads=49)
    assert layer.weights == 8 * 2 * 9
    assert layer.multiply_adds == 144 * 25
    assert cost(layer, "TG_W", 3, "channel").parameters == 3 * 144 + 3 * 4
    assert cost(layer, "General", 3).sigmoids == 144 * 25 * 2
    assert cost(layer, "TG_A", 3).sigmoids == 4 * 49 * 2


@pytest.mark.parametrize(("kind", "right"), [("shared", 3), ("separate", 4)])
def test_scalars_of_a_gate(kind, right):
    assert scalars(3, kind) == right


def test_refusals():
    with pytest.raises(ValueError, match="two branches"):
        scalars(1)
    with pytest.raises(ValueError, match="no tier"):
        cost(Layer("l", 1, 1), "TG_X")
    with pytest.raises(ValueError, match="groups"):
        Layer("l", 3, 4, groups=2)
    with pytest.raises(ValueError, match="whole number"):
        Layer("l", 0, 4)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 50), st.integers(1, 50), st.sampled_from([1, 9]), st.booleans(), st.integers(2, 5))
def test_k_times_is_exact_for_the_weights_only(out, into, taps, bias, k):
    layer = Layer("l", out, into, taps, bias=bias)
    assert cost(layer, "TG_W", k).weights == k * layer.weights
    assert cost(layer, "TG_S", k).weights == 2 * k * layer.weights
    assert (cost(layer, "General", k).parameters == 3 * k * layer.parameters) is not bias
    # Above K by the gate, below by the bias: equal where they cancel.
    assert cost(layer, "TG_W", k).parameters - k * layer.parameters == k - (k - 1) * (out if bias else 0)


def test_one_percent():
    assert least_weights(2) == 600
    assert added_share(Layer("l", 600, 1, bias=False)) == Fraction(1, 100)
    assert added_share(Layer("l", 599, 1, bias=False)) > Fraction(1, 100)
    # A gate a channel in front of a 3x3 depthwise convolution: 6 numbers for 9 weights.
    depthwise = Layer("d", 32, 32, taps=9, groups=32, bias=False)
    assert added_share(depthwise, scope="channel") == Fraction(2, 3)


def test_one_percent_in_networks():
    shares = {n.name: network_cost(n, "TG_A", 2, "channel").ratio(n.parameters) - 1 for n in all_networks()}
    over = {name for name, share in shares.items() if share > Fraction(1, 100)}
    assert over == {"EfficientNet-B0"}


def test_layers_with_an_activation_on_their_inputs():
    """By hand: all of ResNet but its first; the second FFN layer of each block; none with SwiGLU."""
    counts = {n.name: len(n.gated) for n in all_networks()}
    assert counts == {
        "ResNet-50": 53,
        "EfficientNet-B0": 3 * 16 + 1,
        "ViT-B/16": 12,
        "GPT-2 124M": 12,
        "SmolLM-135M": 0,
        "TinyLlama-1.1B": 0,
    }


def test_totals_add_up():
    for network in all_networks():
        parts = total(plain(layer) for layer in network.layers)
        assert parts.parameters + sum(n for _, n in network.other) == network.parameters
        doubled = network_cost(network, "TG_W", 2)
        gated = sum(layer.weights for layer in network.gated)
        assert doubled.parameters == network.parameters + gated + 2 * len(network.gated)
        both = network_cost(network, "TG_W", 2, kinds=(*GATED, "product"))
        assert both.parameters >= doubled.parameters
        assert (both == doubled) == (not network.fed_by("product"))
