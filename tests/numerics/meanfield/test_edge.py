"""The edge of chaos: known values, mpmath, closed forms, what is none or degenerate, and why."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import mpmath as mp
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from known_zoo import ZOO

from gateproof.numerics.meanfield.activation import RefusedActivation, phi
from gateproof.numerics.meanfield.edge import edge, edge_through
from gateproof.numerics.meanfield.folds import double_critical, edge_folds, folds
from gateproof.numerics.meanfield.outcome import Status
from gateproof.numerics.points import rational_bounds


@pytest.fixture(autouse=True)
def many_bits():
    with ctx.workprec(256), mp.workdps(30):
        yield


def at(name, sigma_b2, **options):
    return edge(phi(name), Fraction(sigma_b2), **options)


def only(name, sigma_b2):
    found = at(name, sigma_b2)
    assert found.status is Status.OK
    assert found.certified
    assert found.searched[1] is None, "not searched to infinity"
    assert len(found.points) == 1
    return found.points[0]


def holds(x, printed):
    """Whether a ball agrees with a printed number to all of its digits."""
    unit = Fraction(1, 10 ** len(printed.partition(".")[2]))
    lo, hi = rational_bounds(x)
    return lo - unit <= Fraction(printed) <= hi + unit and hi - lo < unit


def energies(name, q, digits=20):
    """V, D and V' by mpmath: f and its numerical derivative, split at kinks."""
    known = next(k for text, k in ZOO.items() if text == f"{name}(x)")
    kinks = [mp.mpf(place) for place, _ in known.kink_list()]
    with mp.workdps(digits + 10):
        q = mp.mpf(q)
        ends = [k * mp.sqrt(q) for k in (-11, -7, -4, -2, -1, 0, 1, 2, 4, 7, 11)]
        ends = sorted({*ends, *(k for k in kinks if abs(k) < ends[-1])})
        density = lambda x: mp.exp(-x * x / (2 * q)) / mp.sqrt(2 * mp.pi * q)  # noqa: E731
        h = mp.mpf(10) ** (-digits / 2 - 2)

        def slope(x):
            return (known.value(x + h) - known.value(x - h)) / (2 * h)

        value = mp.quad(lambda x: known.value(x) ** 2 * density(x), ends)
        heat = mp.quad(lambda x: known.value(x) ** 2 * (x * x - q) / (2 * q * q) * density(x), ends)
        steep = mp.quad(lambda x: slope(x) ** 2 * density(x), ends)
    return value, steep, heat


def roughly(name, q):
    """V and D to a few digits, by trapezoids in floats."""
    known = next(k for text, k in ZOO.items() if text == f"{name}(x)")
    with mp.workdps(16):
        step, total = mp.mpf("0.07"), [mp.mpf(0), mp.mpf(0)]
        for k in range(-100, 101):
            z, h = k * step, mp.mpf("1e-7")
            x = z * mp.sqrt(q) + mp.mpf("1e-3")
            weight = mp.npdf(z) * step
            total[0] += weight * known.value(x) ** 2
            total[1] += weight * ((known.value(x + h) - known.value(x - h)) / (2 * h)) ** 2
    return total


def test_published_values():
    tanh = only("tanh", "0.05")
    assert holds(tanh.sigma_w2, "1.76095463960673913163")
    assert holds(tanh.q, "0.570047881640764")
    assert tanh.sigma_w2.rad() < arb(10) ** -30
    assert only("tanh", "0.05").stable is True


@pytest.mark.parametrize("name", ["tanh", "silu", "gelu", "sigmoid", "mish", "sin", "elu", "memglu", "selu"])
@pytest.mark.parametrize("sigma_b2", ["0.05", "0.7"])
def test_points_solve_the_equations_in_mpmath(name, sigma_b2):
    point = only(name, sigma_b2)
    q, w = (mp.mpf(x.str(28, radius=False)) for x in (point.q, point.sigma_w2))
    v, d, slope = energies(name, q)
    assert abs(w * d - 1) < 1e-9
    assert abs(w * v + mp.mpf(sigma_b2) - q) < 1e-9 * q
    assert abs(w * slope - mp.mpf(point.chi_parallel.str(15, radius=False))) < 1e-8
    assert point.stable == bool(abs(w * slope) < 1)


STABLE = {
    "sigmoid": (True, True), "mish": (False, True), "sin": (True, True), "elu": (True, True),
    "memglu": (True, True), "silu": (False, True), "gelu": (False, True), "tanh": (True, True),
}  # fmt: skip


@pytest.mark.parametrize("name", STABLE)
def test_stability_at_a_small_and_a_large_bias(name):
    assert (only(name, "0.05").stable, only(name, "0.7").stable) == STABLE[name]


@pytest.mark.parametrize(
    "name", ["sigmoid", "mish", "sin", "elu", "memglu", "soft_threshold", "softplus", "silu"]
)
def test_number_of_points_by_sampling_in_mpmath(name):
    s = mp.mpf("0.05")
    signs = []
    for k in range(12):
        q = s * mp.mpf(2) ** k * mp.mpf("1.01")
        v, d = roughly(name, q)
        signs.append((q - s) * d - v > 0)
    changes = sum(a != b for a, b in pairwise(signs))
    assert len(at(name, "0.05").points) == changes


def test_softplus_has_none_over_all_variances():
    for sigma_b2 in ("0.05", "0", "3"):
        found = at("softplus", sigma_b2)
        assert (found.status, found.points, found.certified) == (Status.NONE, (), True)
        assert found.searched[1] is None
        assert "no fixed point at any q" in found.reason


def test_a_search_that_ends_says_so():
    found = at("softplus", "0.05", largest=Fraction(50))
    assert found.status is Status.NONE
    assert found.searched[1] is not None
    assert "as far as was searched" in found.reason
    # 45.7 is beyond it.
    assert at("sigmoid", "0.05", largest=Fraction(10)).status is Status.NONE
    # Its slopes, +-pi/2, are taken away by no expansion.
    slow = at("x*arctan(x)", "0.05")
    assert slow.searched[1] is not None
    assert "for q <= " in slow.reason


def test_sin_in_closed_form():
    # (q - s)(1 + e^(-2q)) = 1 - e^(-2q), so q - s = tanh(q).
    point = only("sin", "0.05")
    assert (point.q - point.q.tanh()).overlaps(arb("0.05"))
    assert point.sigma_w2.overlaps(2 / (1 + (-2 * point.q).exp()))


def test_erf_in_closed_form():
    point = only("erf", "0.05")
    q, pi = point.q, arb.pi()
    d, v = 4 / pi / (1 + 4 * q).sqrt(), 2 / pi * (2 * q / (1 + 2 * q)).asin()
    assert ((q - arb("0.05")) * d - v).contains(0)
    assert point.sigma_w2.overlaps(1 / d)


def test_a_zero_on_the_border_of_a_box():
    # E x^6 = 15 q^3 and E (3 x^2)^2 = 27 q^2: q = 27 s/12.
    point = only("x**3", "0.05")
    assert point.q.overlaps(arb("0.1125"))
    assert point.stable is False


@pytest.mark.parametrize("name", ["relu", "leaky_relu", "x", "abs(x)", "max(x, -x/3)"])
def test_scale_invariant(name):
    found = at(name, 0)
    assert found.status is Status.SCALE_INVARIANT
    assert found.certified
    none = at(name, "0.05")
    assert (none.status, none.certified) == (Status.NONE, True)
    assert "sigma_b^2 = 0" in none.reason


def test_scale_of_relu():
    assert at("relu", 0).points[0].sigma_w2.overlaps(arb(2))


DEGENERATE = {
    # 1/phi'(0)^2, and whether q = 0 attracts: from V = a1^2 q + 3 (a2^2 + 2 a1 a3) q^2.
    "tanh": ("1", True), "sin": ("1", True), "erf": ("0.785398163397448309616", True), "gelu": ("4", False),
    "silu": ("4", False), "memglu": ("1", True), "elu": ("1", True), "mish": (str(Fraction(25, 9)), False),
    "hardtanh": ("1", True), "asinh": ("1", True), "arctan": ("1", True), "softsign": ("1", True),
}  # fmt: skip


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_without_bias(name):
    found = at(name, 0)
    assert (found.status, found.certified) == (Status.DEGENERATE, True)
    (point,) = found.points
    assert point.q.is_zero()
    right, stable = DEGENERATE[name]
    assert abs(point.sigma_w2 - arb(Fraction(right).numerator) / Fraction(right).denominator) < 1e-20
    assert point.stable is stable


@pytest.mark.parametrize("name", DEGENERATE)
def test_the_way_of_the_degenerate_point_by_iteration(name):
    # A little above 0 the map at 1/phi'(0)^2 lowers or raises the variance.
    point = at(name, 0).points[0]
    w, q = mp.mpf(point.sigma_w2.str(25, radius=False)), mp.mpf("0.02")
    if name != "hardtanh":
        assert (w * energies(name, q, 12)[0] < q) == point.stable


@pytest.mark.parametrize("name", ["soft_threshold", "tanhshrink", "x**3", "x**2"])
def test_none_where_the_slope_vanishes_at_0(name):
    found = at(name, 0)
    assert (found.status, found.certified) == (Status.NONE, True)
    assert "phi'(0) = 0" in found.reason


def test_no_bias_and_a_value_at_0():
    for name in ("sigmoid", "cos"):
        point = only(name, 0)
        assert point.q > 0
        assert point.stable is True


def test_soft_threshold_is_double_critical_everywhere():
    # It bends only where it is 0, so that E phi phi'' = 0 and V' = D; V'' = D' > 0.
    for sigma_b2 in ("0.05", "0.7"):
        point = only("soft_threshold", sigma_b2)
        q = mp.mpf(point.q.str(25, radius=False))
        x = mp.mpf("0.5") / mp.sqrt(2 * q)
        d = mp.erfc(x)
        v = (q + mp.mpf("0.25")) * d - mp.sqrt(2 * q / mp.pi) / 2 * mp.exp(-x * x)
        assert abs((q - mp.mpf(sigma_b2)) * d - v) < 1e-18
        assert point.chi_parallel == 1
        assert point.stable is None
        assert "from below" in point.note
    with pytest.raises(RefusedActivation, match="every critical point is double-critical"):
        double_critical(phi("soft_threshold"), (Fraction(1, 10), Fraction(10)))


def test_an_irrational_intercept_far_out():
    # x + log(1 + e^(-2))/4 .. at oo; V and D by mpmath far beyond the proved start.
    point = only("two_sided_potential", "0.05")
    _, d, _ = energies("two_sided_potential", mp.mpf(point.q.str(25, radius=False)))
    assert abs(mp.mpf(point.sigma_w2.str(20, radius=False)) * d - 1) < 1e-9


def test_the_edge_through_a_variance():
    whole = only("gelu", "0.7")
    lo, hi = rational_bounds(whole.q)
    point = edge_through(phi("gelu"), (lo + hi) / 2)
    assert point.sigma_b2.overlaps(arb("0.7") + arb(0, 1e-28))
    assert point.sigma_w2.overlaps(whole.sigma_w2 + arb(0, 1e-28))
    assert point.stable is True
    # For softplus q D < V everywhere.
    assert edge_through(phi("softplus"), Fraction(3)).sigma_b2 < 0
    with pytest.raises(ValueError, match="> 0"):
        edge_through(phi("gelu"), Fraction(0))


def test_a_gate_as_an_activation():
    # One gate of silu's form is silu.
    gate = edge(phi("tg(x, tau=1, theta=[0], slope=[0, 1], intercept=[0, 0])"), Fraction(1, 20)).points[0]
    assert gate.q.overlaps(only("silu", "0.05").q)


def test_too_fast_growth_is_refused_in_words():
    with pytest.raises(RefusedActivation, match="grow"):
        at("exp(x**2/4)", 1)


def test_refusals():
    with pytest.raises(RefusedActivation, match="jumps"):
        at("hardshrink", 1)
    with pytest.raises(ValueError, match=">= 0"):
        at("tanh", -1)


def test_double_critical_point_parts_stable_from_unstable():
    found = double_critical(phi("gelu"), (Fraction(1, 100), Fraction(200)))
    (point,) = found.points
    lo, hi = rational_bounds(point.sigma_b2)
    below, above = (
        only("gelu", str(Fraction(round(x * 10**6), 10**6)))
        for x in (lo - Fraction(1, 10**3), hi + Fraction(1, 10**3))
    )
    assert (below.stable, above.stable) == (False, True)
    v, d, slope = energies("gelu", mp.mpf(point.q.str(25, radius=False)))
    assert abs(d - slope) < 1e-9
    assert (
        abs(mp.mpf(point.sigma_b2.str(20, radius=False)) - (mp.mpf(point.q.str(25, radius=False)) - v / d))
        < 1e-9
    )


def test_a_steep_step_far_from_0():
    # V' - D = E phi phi'' is as small as 1e-17 at the start of the range.
    found = double_critical(phi("x+3*tanh(5*(x-4))"), (Fraction(1, 100), Fraction(256)), 15)
    assert found.certified

    def gap(q):
        q = mp.mpf(q)
        ends = sorted(
            {k * mp.sqrt(q) for k in (-12, -6, -2, 0, 2, 6, 12)} | {3, mp.mpf("3.8"), 4, mp.mpf("4.2"), 5}
        )

        def body(x):
            t = mp.tanh(5 * (x - 4))
            return (x + 3 * t) * -150 * t * (1 - t * t) * mp.exp(-x * x / (2 * q))

        return mp.quad(body, ends) / mp.sqrt(2 * mp.pi * q)

    assert [mp.sign(gap(q)) for q in ("0.01", "0.2", "0.6", "5", "256")] == [-1, -1, 1, -1, -1]
    assert len(found.points) == 2
    assert all(abs(gap(p.q.str(15, radius=False))) < 1e-12 for p in found.points)


def test_folds_of_silu():
    found = folds(phi("silu"), Fraction(1, 20), (Fraction(51, 1000), Fraction(20)))
    assert len(found.points) == 1
    q = mp.mpf(found.points[0].q.str(25, radius=False))
    v, _, slope = energies("silu", q)
    assert abs((q - mp.mpf("0.05")) * slope - v) < 1e-9
    assert found.points[0].chi_parallel.overlaps(arb(1))
    assert folds(phi("tanh"), Fraction(1, 20), (Fraction(51, 1000), Fraction(20))).points == ()
    assert edge_folds(phi("silu"), (Fraction(1, 10), Fraction(100))).points == ()


@settings(max_examples=2, deadline=None)
@given(
    st.fractions(Fraction(1, 100), Fraction(2), max_denominator=1000),
    st.sampled_from(["tanh", "gelu", "elu"]),
)
def test_scaling_the_input_scales_the_point(sigma_b2, name):
    # phi(2 x): V2(q) = V(4 q), so that q* and sigma_b^2 fall by 4.
    whole, half = at(name, sigma_b2, digits=15), at(f"{name}(2*x)", sigma_b2 / 4, digits=15)
    assert len(whole.points) == len(half.points)
    for a, b in zip(whole.points, half.points, strict=True):
        assert (b.q * 4).overlaps(a.q)
        assert (b.sigma_w2 * 4).overlaps(a.sigma_w2)
