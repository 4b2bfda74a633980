"""1/kappa^2 beside mean field theory: limits known by hand, and rescaled copies by their own formulas."""

from __future__ import annotations

from functools import lru_cache

import pytest
from mpmath import mp

from gateproof.numerics.meanfield.kappa_law import (
    FIXED_BIAS,
    FIXED_Q,
    MATCHED,
    EdgeCurve,
    EdgePoint,
    LawPoint,
    exponent,
    over_activations,
    rescaled,
)
from gateproof.numerics.meanfield.kappa_readings import central, kappa_predictions, kappa_readings
from gateproof.numerics.meanfield.kappa_words import exponent_words, rescaling, summary
from gateproof.numerics.meanfield.mp import mp_engine


@lru_cache(maxsize=16)
def curve_of(name):
    engine = mp_engine(name, 16)
    return EdgeCurve(engine, engine.phi)


def test_readings_of_kappa():
    # tanh''' = -2 at 0; silu''' = 0 at 0, where it has no inflection; gelu's inflections are at +-sqrt(2).
    tanh = central(kappa_readings(curve_of("tanh").phi))
    assert tanh["inflection"].kappa == pytest.approx(2)
    assert tanh["gate threshold"].kappa == pytest.approx(2)
    silu = central(kappa_readings(curve_of("silu").phi))
    assert silu["gate threshold"].kappa is None
    assert "0" in silu["gate threshold"].reason
    assert silu["inflection"].theta == pytest.approx(2.3993572805154675)
    gelu = central(kappa_readings(curve_of("gelu").phi))
    assert gelu["inflection"].theta == pytest.approx(2**0.5)
    assert gelu["inflection"].kappa == pytest.approx(2 * 2**0.5 / (2 * mp.pi) ** 0.5 / mp.e, rel=1e-12)


def test_known_edges():
    point = curve_of("tanh").chosen(0.05)
    assert point.sigma_w2 == pytest.approx(1.76095463960673913163, rel=1e-13)
    assert point.q == pytest.approx(0.570047881640764, rel=1e-12)
    # softplus has no critical point at this bias, silu's there is unstable.
    assert curve_of("softplus").chosen(0.05) is None
    assert curve_of("silu").chosen(0.05).chi_parallel > 1
    with pytest.raises(ValueError, match="slope"):
        curve_of("relu")


# For odd phi = x - kappa x^3/6 + .. and small q: K2 = kappa^2 q and D = 1, so beta_q = 2/(kappa q)^2, and on
# the edge sigma_b^2 = kappa^2 q^3/3, so that at fixed sigma_b beta_q = 2 (3 sigma_b^2 kappa)^(-2/3).
@pytest.mark.parametrize("name", ["tanh", "sin", "erf(x)"])
@pytest.mark.parametrize(
    ("condition", "power", "limit"),
    [
        (FIXED_Q, -1, -2),
        (FIXED_Q, 0, -4 / 3),
        (FIXED_BIAS, -1, -2 / 3),
        (FIXED_BIAS, 0, -4 / 9),
        (MATCHED, 0, -2),
    ],
)
def test_exponents_at_small_variance(name, condition, power, limit):
    kappa = central(kappa_readings(curve_of(name).phi))["inflection"].kappa
    members = rescaled(curve_of(name), kappa, condition, power=power, q=1e-5, sigma_b2=1e-12)
    assert len(members) == 9
    found = exponent(members)
    assert found.value == pytest.approx(limit, abs=2e-3)
    assert found.hi - found.lo < 2e-3
    assert not found.admits(limit + 0.1)


def test_exponent_at_large_variance():
    # For phi that levels off and q -> oo: D and K2 both fall like q^(-1/2), so that beta_q falls like 1/q.
    found = exponent(rescaled(curve_of("tanh"), 2.0, FIXED_Q, power=-1, q=1e3))
    assert found.value == pytest.approx(-1, abs=5e-3)


def test_rates_at_small_variance():
    point = curve_of("tanh").chosen(1e-12)
    assert point.q == pytest.approx((3 * 1e-12 / 4) ** (1 / 3), rel=1e-3)
    assert point.beta_q == pytest.approx(2 / (2 * point.q) ** 2, rel=1e-2)


def test_the_claimed_exponent_fails_at_ordinary_scales():
    curve = curve_of("tanh")
    for condition, power in ((FIXED_Q, -1), (FIXED_BIAS, -1), (MATCHED, 0)):
        found = exponent(rescaled(curve, 2.0, condition, power=power))
        assert found.count == 9
        assert not found.admits(-2)
        assert "does not hold -2" in exponent_words(condition, "tanh(b x)/b", found)
    # Nothing but the output's scale: kappa moves and the rate does not.
    assert exponent_words(FIXED_Q, "a tanh", None).endswith("in all).")


@pytest.mark.parametrize(("a", "b"), [(2, 1), (1, 3), (1 / 3, 3)])
def test_rescaled_copies_are_what_their_formulas_give(a, b):
    text = {(2, 1): "2*tanh(x)", (1, 3): "tanh(3*x)", (1 / 3, 3): "tanh(3*x)/3"}[a, b]
    copy = curve_of(text)
    kappa = central(kappa_readings(copy.phi))["inflection"].kappa
    found = {r.quantity: r for r in rescaling(curve_of("tanh"), 2.0, a, b)}
    assert found["kappa"].after == pytest.approx(kappa)
    assert found["beta_q at fixed q = 1"].after == pytest.approx(copy.at(1.0).beta_q, rel=1e-12)
    direct = copy.chosen(0.05)
    assert found["beta_q at fixed sigma_b^2 = 0.05"].after == pytest.approx(direct.beta_q, rel=1e-11)
    matched = copy.chosen(0.05 / b**2)
    assert found["beta_q at matched scale"].before == pytest.approx(matched.beta_q, rel=1e-11)
    invariant = kappa * matched.q * matched.sigma_w2**0.5
    assert found["kappa q/sqrt(D) at matched scale"].before == pytest.approx(invariant, rel=1e-11)
    members = rescaled(curve_of("tanh"), 2.0, FIXED_BIAS, power=0 if a == 1 else -1, scales=[b])
    if a in (1, 1 / 3):
        assert members[0].point.q == pytest.approx(direct.q, rel=1e-11)
        assert members[0].point.sigma_w2 == pytest.approx(direct.sigma_w2, rel=1e-11)
        assert members[0].kappa == pytest.approx(kappa)


def test_what_is_invariant_in_words():
    outer = rescaling(curve_of("tanh"), 2.0, 2.0, 1.0)
    said = summary(outer)
    # The size of the output: 1/kappa^2 falls to a quarter, no depth rate moves.
    assert outer[1].factor == pytest.approx(1 / 4)
    assert said.split(". ")[1] == "Not invariant: kappa, 1/kappa^2."
    inner = rescaling(curve_of("tanh"), 2.0, 1.0, 2.0)
    assert inner[1].factor == pytest.approx(1 / 64)
    lost = summary(inner).split(". ")[1]
    assert "beta_q at fixed q" in lost
    assert "beta_q at fixed sigma_b" in lost
    assert "matched" not in lost
    assert "times" in inner[2].words()
    for wrong in ((0, 1), (1, -1)):
        with pytest.raises(ValueError, match="> 0"):
            rescaling(curve_of("tanh"), 2.0, *wrong)


def test_predictions_beside_the_truth():
    curve = curve_of("gelu")
    point = curve.chosen(0.05)
    found = kappa_predictions(curve.engine, curve.phi, mp.mpf(point.q))
    assert {p.reading.reading for p in found} == {"inflection", "extremum"}
    for p in found:
        # beta_q by the claimed curvature is the true one over the ratio.
        assert p.beta_q * p.curvature_ratio == pytest.approx(point.beta_q, rel=1e-12)
        assert p.inverse_square == pytest.approx(1 / p.reading.kappa**2)
    tanh = curve_of("tanh")
    # kappa^2 (q + theta^2) is right for odd phi at small q only.
    small, large = (kappa_predictions(tanh.engine, tanh.phi, mp.mpf(q)) for q in (1e-6, 1))
    assert small[0].curvature_ratio == pytest.approx(1, rel=1e-4)
    assert large[0].curvature_ratio > 10
    engine = mp_engine("relu", 15)
    assert kappa_predictions(engine, engine.phi, mp.mpf(1)) == ()


def test_over_activations():
    curves = [
        (n, curve_of(n), k) for n, k in (("tanh", 2.0), ("sin", 1.0), ("gelu", 0.4151), ("silu", 0.0915))
    ]
    members = over_activations(curves, FIXED_BIAS)
    assert [m.name for m in members] == ["tanh", "sin", "gelu", "silu"]
    assert not exponent(members).admits(-2)
    assert over_activations([("softplus", curve_of("softplus"), 1.0)], FIXED_BIAS) == []


def test_intervals_by_hand():
    # Slope and Student interval of (0, 0), (1, 1), (2, 1): 1/2 +- 12.7062 sqrt(1/12).
    def member(x, y):
        return LawPoint("", mp.exp(x), mp.exp(y), EdgePoint(1, 1, 0, 0, 1))

    found = exponent([member(0, 0), member(1, 1), member(2, 1)])
    assert found.value == pytest.approx(0.5)
    assert found.hi - found.value == pytest.approx(12.706204736 / 12**0.5, rel=1e-8)
    assert exponent([member(1, 0), member(1, 1), member(1, 2)]) is None
    assert exponent([member(1, 0), member(2, 1)]) is None
    with pytest.raises(ValueError, match="confidence"):
        exponent([], 1.5)
