"""Fixed points that iteration misses: none, a line of them, an unstable one, one reached only like 1/l."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb, ctx

from gateproof.numerics.meanfield.activation import phi
from gateproof.numerics.meanfield.certified import certified_engine
from gateproof.numerics.meanfield.edge import edge
from gateproof.numerics.meanfield.fixed_points import fixed_points
from gateproof.numerics.meanfield.outcome import Status


@pytest.fixture(autouse=True)
def many_bits():
    with ctx.workprec(160):
        yield


def map_of(name, sigma_w2, sigma_b2="0"):
    return fixed_points(phi(name), Fraction(sigma_w2), Fraction(sigma_b2))


def holds(x, printed):
    """Whether a ball rounds to a printed number, to within one of its last digits."""
    unit = arb(10) ** -len(printed.partition(".")[2])
    return x.rad() < unit and x.overlaps(arb(printed) + arb(0, 1) * unit)


@pytest.mark.parametrize(
    ("sigma_w2", "factor"), [("2", "1"), ("2.1", "131.501257846304"), ("1.9", "0.005920529220334")]
)
def test_relu_over_100_layers(sigma_w2, factor):
    # (sigma_w^2/2)^100 in exact rationals: 1, 1.05^100, 0.95^100.
    found = map_of("relu", sigma_w2)
    (point,) = found.points
    assert holds(point.chi_parallel**100, factor)
    exact = (Fraction(sigma_w2) / 2) ** 100
    assert (point.chi_parallel**100 * exact.denominator).overlaps(arb(exact.numerator))
    assert found.certified
    if sigma_w2 == "2":
        assert found.status is Status.SCALE_INVARIANT
        assert "keeps every variance" in found.reason
    else:
        assert point.q.is_zero()
        assert point.stable == (sigma_w2 == "1.9")


def test_tanh_at_its_degenerate_point():
    found = map_of("tanh", "1")
    assert [p.q.is_zero() for p in found.points] == [True]
    assert found.points[0].stable is True
    assert found.certified
    assert found.searched[1] is None
    assert edge(phi("tanh"), Fraction(0)).status is Status.DEGENERATE


def test_tanh_reaches_it_like_1_over_2l():
    engine, q = certified_engine("tanh", 12), arb(1)
    for _ in range(10_000):
        q = arb(engine.variance(q).mid())
    assert abs(q * 10_000 - arb("0.50016")) < 1e-5


@pytest.mark.parametrize(
    ("name", "sigma_b2", "q", "sigma_w2"),
    [
        ("tanh", "0.05", "0.570047881640764", "1.76095463960674"),
        ("tanh", "0.01", "0.273300913458231", "1.4242052904886"),
        ("erf", "0.05", "0.517176837981", "1.37583900735"),
    ],
)
def test_criticality(name, sigma_b2, q, sigma_w2):
    found = edge(phi(name), Fraction(sigma_b2))
    (point,) = found.points
    assert holds(point.q, q)
    assert holds(point.sigma_w2, sigma_w2)
    assert not holds(point.q + arb(10) ** -8, q)
    assert point.stable is True
    assert found.certified


def test_gelu_without_bias_has_an_unstable_fixed_point():
    found = map_of("gelu", "2.1")
    zero, point = found.points
    assert found.certified
    assert zero.q.is_zero()
    assert zero.stable is True
    assert holds(point.q, "3.10536821884788")
    assert point.stable is False
    # From 3 the variance falls to 0, from 10 it grows without bound: no endless loop, both are told.
    assert zero.q < 3 < point.q < 10
    assert "grows without bound" in found.reason
    engine = certified_engine("gelu", 12)
    for start, end in ((arb(3), 1e-3), (arb(10), 1e6)):
        q = start
        for _ in range(400):
            q = arb((arb("2.1") * engine.variance(q)).mid())
            if not 1e-3 < q < 1e6:
                break
        assert (q <= 1e-3) == (end < 1)
