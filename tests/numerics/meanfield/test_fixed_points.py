"""Fixed points of the variance map: closed forms, known networks, what is proved far out and near 0."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import mpmath as mp
import pytest
from flint import arb, ctx

from gateproof.numerics.meanfield.activation import phi
from gateproof.numerics.meanfield.closed_means import closed_means
from gateproof.numerics.meanfield.curves import Maps, fixed_point_curve
from gateproof.numerics.meanfield.far_lines import lines
from gateproof.numerics.meanfield.far_out import edge_far, fixed_point_far, supremum_squared
from gateproof.numerics.meanfield.field import MeanField
from gateproof.numerics.meanfield.fixed_points import fixed_points
from gateproof.numerics.meanfield.near_zero import below_its_lines, drift, ratio_sign
from gateproof.numerics.meanfield.outcome import Status
from gateproof.numerics.meanfield.zeros import zeros
from gateproof.theory.formula import to_text


@pytest.fixture(autouse=True)
def many_bits():
    with ctx.workprec(200), mp.workdps(35):
        yield


def at(name, sigma_w2, sigma_b2, **options):
    return fixed_points(phi(name), Fraction(sigma_w2), Fraction(sigma_b2), **options)


def roots_of(curve, lo, hi):
    """Zeros of a closed form by sampling and bisection in mpmath."""
    grid = [mp.mpf(lo) * (mp.mpf(hi) / lo) ** (mp.mpf(k) / 400) for k in range(401)]
    pairs = [(a, b) for a, b in pairwise(grid) if curve(a) * curve(b) < 0]
    return [mp.findroot(curve, p, solver="anderson", tol=1e-30) for p in pairs]


CLOSED = {
    "sin": lambda q: (1 - mp.exp(-2 * q)) / 2,
    "cos": lambda q: (1 + mp.exp(-2 * q)) / 2,
    "erf": lambda q: 2 / mp.pi * mp.asin(2 * q / (1 + 2 * q)),
    "gaussian": lambda q: 1 / mp.sqrt(1 + 4 * q),
    "x**3": lambda q: 15 * q**3,
    "x**2 - x": lambda q: 3 * q**2 + q,
    "soft_threshold": lambda q: (
        (q + mp.mpf("0.25")) * mp.erfc(1 / mp.sqrt(8 * q)) - mp.sqrt(q / (2 * mp.pi)) * mp.exp(-1 / (8 * q))
    ),
}


@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize(("sigma_w2", "sigma_b2"), [("0.3", "0.02"), ("1.5", "0.1"), ("3", "0.01")])
def test_closed_forms(name, sigma_w2, sigma_b2):
    w, s = mp.mpf(sigma_w2), mp.mpf(sigma_b2)
    right = roots_of(lambda q: w * CLOSED[name](q) + s - q, s / 2, 100)
    found = at(name, sigma_w2, sigma_b2)
    assert found.certified
    assert found.searched[1] is None
    assert len(found.points) == len(right)
    for point, q in zip(found.points, right, strict=True):
        assert point.q.overlaps(arb(mp.nstr(q, 30)) * (1 + arb(0, 1e-24)))
        slope = mp.diff(CLOSED[name], q) * w
        assert point.stable == bool(abs(slope) < 1)


def test_selu_keeps_variance_1():
    # Klambauer et al. 2017: its constants are chosen so, to the 31 digits printed.
    zero, point = at("selu", "1", "0").points
    assert point.q.overlaps(arb(1) + arb(0, 1e-30))
    assert point.stable is True
    assert zero.stable is False


def test_homogeneous_maps_are_lines():
    (point,) = at("relu", "1.9", "0.1").points
    assert point.q.overlaps(arb(2))
    assert at("relu", "2", "0.1").status is Status.NONE
    assert at("relu", "2.1", "0.1").status is Status.NONE


def test_a_jump_of_phi_has_fixed_points_too():
    # V' is finite; chi_1 is not.
    found = at("hardshrink", "0.5", "0.1")
    assert found.certified
    assert all(p.stable is not None for p in found.points)


@pytest.mark.parametrize("name", ["gelu", "silu", "mish", "softplus", "elu", "tanhshrink"])
def test_expansions_far_out_against_the_engine(name):
    maps = Maps(phi(name))
    w, s = Fraction("1.9"), Fraction("0.3")
    far, edge = fixed_point_far(maps, w, s), edge_far(maps, s)
    assert far is not None
    assert edge is not None
    for k in (1, 7, 300):
        q = far.beyond * k
        value = fixed_point_curve(maps, arb("1.9"), arb("0.3"))(q, 16)[0]
        assert value > 0 if far.sign > 0 else value < 0
        q = edge.beyond * k
        m = maps.at(q, 16)
        value = (q - arb("0.3")) * m.second[0] - m.first[0]
        assert value > 0 if edge.sign > 0 else value < 0


def test_bounds_of_bounded_functions():
    assert 1 <= supremum_squared(phi("tanh")) < 1.01
    assert mp.mpf("0.25") <= float(supremum_squared(phi("memglu"))) < 0.3
    assert supremum_squared(phi("relu")) is None
    assert lines(phi("softsign")) is None, "1/x falls too slowly"
    assert lines(phi("sin")) is None


@pytest.mark.parametrize(
    ("name", "sign"),
    # 3 (a2^2 + 2 a1 a3), and for elu a1 (a2+ - a2-) = -1/2.
    [("tanh", -1), ("gelu", 1), ("silu", 1), ("elu", -1), ("sin", -1), ("selu", -1)],
)
def test_the_order_after_the_first_at_0(name, sign):
    assert drift(phi(name)) == sign


def test_flat_to_all_orders():
    assert drift(phi("hardtanh")) is None
    assert below_its_lines(phi("hardtanh"))
    assert not below_its_lines(phi("tanhshrink"))
    (point,) = at("hardtanh", "1", "0").points
    assert point.stable is True


def test_near_0():
    # w V/q - 1 tends to w - 1 for tanh.
    for w, sign in (("0.9", -1), ("1.1", 1)):
        found = ratio_sign(phi("tanh"), arb(w), critical=False)
        assert found is not None
        assert found[0] == sign
    critical = ratio_sign(phi("gelu"), arb(4), critical=True)
    assert critical is not None
    assert critical[0] == 1


def test_closed_forms_of_theory_are_found():
    found = closed_means(phi("sin"))
    assert found is not None
    assert "exp" in to_text(found.variance)
    assert closed_means(phi("tanh")) is None


@pytest.mark.parametrize(("sigma_w2", "sigma_b2"), [("0", "1"), ("-1", "0"), ("1", "-0.1")])
def test_refusals(sigma_w2, sigma_b2):
    with pytest.raises(ValueError, match="variances"):
        at("tanh", sigma_w2, sigma_b2)


def test_zeros_of_a_known_curve():
    def curve(q, digits):
        return (
            (q - 1) * (q - 2) * (q - arb("2.001")),
            3 * q * q - arb("10.002") * q + arb("8.003"),
            6 * q - arb("10.002"),
        )

    found = zeros(curve, arb("0.25"), arb(64), 40)
    assert not found.open
    assert [round(float(x), 9) for x in found.found] == [1, 2, 2.001]
    assert all(x.rad() < arb(10) ** -40 * x for x in found.found)


def test_a_double_zero_is_left_open_and_not_lost():
    def curve(q, digits):
        return (q - 3) ** 2, 2 * (q - 3), arb(2)

    found = zeros(curve, arb(1), arb(10), 20)
    assert not found.found
    assert any(x.contains(3) for x in found.open)


@pytest.mark.parametrize(
    ("name", "above"), [("tanh", "1e-7"), ("sin", "1e-12"), ("erf(x)*sqrt(pi)/2", "1e-5")]
)
def test_just_above_the_critical_weights(name, above):
    # w V = q by the series of V at 0, from the even moments 1, 3, 15, 105 of a standard normal.
    powers = {
        "tanh": ("1", "-2/3", "17/45", "-62/315"), "sin": ("1", "-1/3", "2/45", "-1/315"),
        "erf(x)*sqrt(pi)/2": ("1", "-2/3", "14/45", "-4/35"),
    }[name]  # fmt: skip
    w = 1 + Fraction(above)
    with mp.workdps(60):
        terms = [
            mp.mpf(Fraction(p).numerator) / Fraction(p).denominator * m
            for p, m in zip(powers, (1, 3, 15, 105), strict=True)
        ]
        rest = mp.mpf(w.denominator) / w.numerator
        right = mp.findroot(lambda q: mp.polyval(terms[::-1], q) - rest, mp.mpf(above) / 2)
        found = at(name, str(w), 0)
        zero, point = found.points
        assert found.certified
        assert (zero.stable, point.stable) == (False, True)
        off = mp.mpf(point.q.str(32, radius=False)) / right - 1
    assert abs(off) < 100 * float(above) ** 3 + 1e-30


@pytest.mark.parametrize(
    ("name", "sigma_w2", "stable"),
    [("relu6", 2, True), ("min(max(x/3, x), 2)", "1.8", True), ("-relu6(x)", 2, True)],
)
def test_what_stays_below_its_own_lines_falls_to_0(name, sigma_w2, stable):
    found = at(name, sigma_w2, 0)
    assert (found.certified, found.searched[1], len(found.points)) == (True, None, 1)
    assert found.points[0].stable is stable
    assert "falls from every q > 0 to 0" in found.reason
    # Steeper lines: one more fixed point.
    assert len(at(name, str(Fraction(sigma_w2) + 1), 0).points) == 2


@pytest.mark.parametrize("engine", ["certified", "mp"])
def test_depth_scales_at_the_fixed_point_0(engine):
    # chi_1 = chi_parallel = sigma_w^2 phi'(0)^2 = 4/5, and 1/log(5/4) layers.
    zero = MeanField(phi("tanh"), engine=engine).fixed_points("0.8", 0)[0]
    for value in (zero.xi_q, zero.xi_gradient):
        assert abs(float(value) - 1 / mp.log(mp.mpf(5) / 4)) < 1e-14
    assert zero.stable is True
