"""Distributions of inputs and root mean squares, against SciPy's and mpmath's quadrature."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
from scipy import integrate, special

from gateproof.numerics.fits.measure import chi_squared, measure_of
from gateproof.numerics.fits.measure_rms import rms, rms_enclosure
from gateproof.numerics.fits.measure_weight import weighted
from gateproof.numerics.fits.target import RefusedTarget
from gateproof.numerics.fits.target_any import target_of
from gateproof.theory.formula.nodes import Const, Num, num
from gateproof.theory.gate import Gate


def gate(tau="1.702", theta="0", slope=(0, 1), intercept=(0, 0)):
    sharp = Const("oo") if tau == "oo" else Num(Fraction(tau))
    lines = tuple(map(num, slope)), tuple(map(num, intercept))
    return Gate((sharp,), (Num(Fraction(theta)),), *lines)


def gelu(x):
    return x * special.ndtr(x)


def swish(x):
    return x * special.expit(1.702 * x)


def by_quad(function, density, lo, hi, points=(0.0,)):
    cuts = [lo, *(p for p in points if lo < p < hi), hi]
    parts = list(pairwise(cuts))

    def over(f):
        return sum(integrate.quad(f, a, b, epsabs=1e-16, epsrel=1e-13, limit=400)[0] for a, b in parts)

    return (over(lambda x: density(x) * function(x) ** 2) / over(density)) ** 0.5


def test_the_published_value():
    # 6.90724523851516e-3 is the root mean square of x*sigmoid(1.702x) - gelu(x) under N(0, 1).
    target = target_of("gelu")
    measure = measure_of(target)
    assert measure.text == "N(0, 1)"
    assert rms(gate(), target, measure) == pytest.approx(6.90724523851516e-3, rel=1e-12)
    lo, hi = rms_enclosure(gate(), target, measure)
    assert lo <= Fraction("6.90724523851516e-3") <= hi
    assert hi - lo < lo * Fraction(1, 10**6)


LINE = (-np.inf, np.inf)
BINS = np.array([1, 3]), np.array([-1.0, 0.5, 4.0])


@pytest.mark.parametrize(
    ("domain", "options", "text", "density", "ends"),
    [
        (None, {"mu": 1, "sigma": 2}, "N(1, 2^2)", lambda x: np.exp(-((x - 1) ** 2) / 8), (-75, 77)),
        (None, {"sigma": Fraction(1, 2)}, "N(0, 0.5^2)", lambda x: np.exp(-2 * x * x), (-18, 18)),
        ((-8, 8), {}, "uniform on [-8, 8]", lambda x: 1.0, (-8, 8)),
        ("[-2, 5]", {"sigma": 1}, "N(0, 1) within [-2, 5]", lambda x: np.exp(-x * x / 2), (-2, 5)),
        ("[0, oo)", {}, "N(0, 1) within [0, oo)", lambda x: np.exp(-x * x / 2), (0, 38)),
        (None, {"weight": "1/(1+x**2)"}, "density 1/(1+x**2) on R", lambda x: 1 / (1 + x * x), LINE),
        ((-3, 1), {"weight": "x**2"}, "density x**2 on [-3, 1]", lambda x: x * x, (-3, 1)),
        (
            None,
            {"histogram": BINS},
            "2 bins of the histogram",
            lambda x: 2 / 3 if x < 0.5 else 6 / 7,
            (-1, 4),
        ),
    ],
)
def test_means_are_those_of_scipy(domain, options, text, density, ends):
    target = target_of("gelu", domain)
    measure = measure_of(target, **options)
    assert measure.text == text
    right = by_quad(lambda x: swish(x) - gelu(x), density, *ends, points=(-1.0, 0.0, 0.5, 1.0))
    assert rms(gate(), target, measure) == pytest.approx(right, rel=1e-10)
    if "histogram" not in options:
        lo, hi = rms_enclosure(gate(), target, measure)
        assert float(lo) * (1 - 1e-10) <= right <= float(hi) * (1 + 1e-10)
        assert float(hi - lo) < 1e-5 * right


@pytest.mark.parametrize("theta", ["-1.25", "0", "0.7"])
def test_kinks_and_jumps_split_the_range(theta):
    # A hard step at theta against step(x): the error is 1 between 0 and theta, the mean a difference of ndtr.
    target = target_of("step")
    found = rms(gate("oo", theta, (0, 0), (0, 1)), target, measure_of(target))
    right = abs(special.ndtr(float(Fraction(theta))) - 0.5) ** 0.5
    assert found == pytest.approx(right, rel=1e-12, abs=1e-15)


def test_sharp_gates_are_resolved():
    # Against relu the error is x*sigmoid(-tau*|x|): its mean square under N(0, 1), by mpmath.
    target = target_of("relu")
    for tau in (10, 1000, 100000):
        with mp.workdps(25):

            def squared(x, tau=tau):
                return 2 * (x / (1 + mp.exp(tau * x))) ** 2 * mp.npdf(x)

            cuts = [mp.mpf(c) / tau for c in (0, 1, 4, 20, 90)]
            right = mp.sqrt(mp.quad(squared, cuts))
        assert rms(gate(str(tau)), target, measure_of(target)) == pytest.approx(float(right), rel=1e-11)


def test_narrow_features_far_away_are_seen():
    # tanh(1000 (x - 5)) against a hard step at 5: with t = 1000 (x - 5) the square is (1 - tanh|t|)^2, whose
    # integral over t is 2 (2 log 2 - 1), under a density that is flat there.
    target = target_of("tanh(1000*(x - 5))")
    found = rms(gate("oo", "5", (0, 0), (-1, 1)), target, measure_of(target))
    right = (2 * (2 * np.log(2) - 1) / 1000 * np.exp(-12.5) / np.sqrt(2 * np.pi)) ** 0.5
    assert found == pytest.approx(right, rel=1e-4)


@pytest.mark.parametrize("scale", ["1e6", "1e-6"])
def test_scales(scale):
    s = float(scale)
    target = target_of(f"{scale}*gelu(x/{scale})")
    found = rms(
        gate(str(Fraction("1.702") / Fraction(scale))), target, measure_of(target, sigma=Fraction(scale))
    )
    assert found == pytest.approx(6.90724523851516e-3 * s, rel=1e-11)


def test_callables_have_no_proof():
    target = target_of(gelu)
    assert rms(gate(), target, measure_of(target)) == pytest.approx(6.90724523851516e-3, rel=1e-11)
    assert rms_enclosure(gate(), target, measure_of(target)) is None
    rough = target_of(lambda x: gelu(x).astype(np.float32))
    assert rms(gate(), rough, measure_of(rough)) == pytest.approx(6.90724523851516e-3, rel=1e-5)


def test_exact_gates_have_error_0():
    target = target_of("silu")
    assert rms(gate("1"), target, measure_of(target)) < 1e-15
    assert rms_enclosure(gate("1"), target, measure_of(target))[0] == 0


def test_samples(tmp_path):
    x = np.random.default_rng(0).normal(size=(200, 5)).astype(np.float32)
    x[0, 0], x[1, 1] = np.nan, np.inf
    np.save(tmp_path / "h.npy", x)
    target = target_of("gelu")
    measure = measure_of(target, histogram=tmp_path / "h.npy")
    good = x[np.isfinite(x)].astype(np.float64)
    right = np.sqrt(np.mean((swish(good) - gelu(good)) ** 2))
    assert rms(gate(), target, measure) == pytest.approx(right, rel=1e-12)
    assert measure.notes == ("2 of 1000 samples are not finite and are left out",)
    inside = measure_of(target_of("gelu", (0, 1)), histogram=x)
    assert inside.x.min() >= 0
    assert "lie outside of [0, 1]" in inside.notes[-1]
    (tmp_path / "h.csv").write_text("a\n" + "\n".join(map(repr, map(float, good))))
    again = measure_of(target, histogram=str(tmp_path / "h.csv"))
    assert rms(gate(), target, again) == pytest.approx(right, rel=1e-12)


def test_bins_of_a_file_are_those_of_numpy(tmp_path):
    x = np.random.default_rng(1).normal(size=5000)
    counts, edges = np.histogram(x, 40)
    lines = [f"{a!r},{b!r},{n}" for a, b, n in zip(edges, edges[1:], counts, strict=False)]
    path = tmp_path / "bins.csv"
    path.write_text(
        "left,right,count\n" + "\n".join(map(str.lower, lines)).replace("np.float64(", "").replace(")", "")
    )
    target = target_of("gelu")
    found = rms(gate(), target, measure_of(target, histogram=path))
    assert found == pytest.approx(
        rms(gate(), target, measure_of(target, histogram=(counts, edges))), rel=1e-13
    )
    assert found == pytest.approx(6.9e-3, rel=0.05)


def test_data_have_their_own_points():
    x = np.linspace(-3, 3, 50)
    se = np.where(x < 0, 1.0, 0.5)
    target = target_of((x, gelu(x), se))
    measure = measure_of(target)
    weight = 1 / se**2
    right = np.sqrt((weight * (swish(x) - gelu(x)) ** 2).sum() / weight.sum())
    assert rms(gate(), target, measure) == pytest.approx(right, rel=1e-12)
    assert measure.text == "the points by 1/se^2"
    assert chi_squared(target, 2 * se, 10) == pytest.approx(50 * 4 / 40)
    assert chi_squared(target_of((x, x)), x, 10) is None


@pytest.mark.parametrize(
    ("text", "domain", "options", "line"),
    [
        ("gelu", None, {"sigma": 0}, "above 0"),
        ("gelu", None, {"sigma": -1}, "above 0"),
        ("gelu", None, {"sigma": float("nan")}, "finite number"),
        ("gelu", None, {"mu": float("inf")}, "finite number"),
        ("gelu", None, {"sigma": 1, "weight": "1"}, "each say how inputs are distributed"),
        ("gelu", (50, 60), {"sigma": 1}, "do not come near [50, 60]"),
        ("gelu", None, {"weight": "x"}, "is negative at x = "),
        ("gelu", (0, 1), {"weight": "1/x"}, "no finite value at x = 0"),
        ("gelu", None, {"weight": "0*x"}, "is 0 on the whole domain"),
        ("gelu", None, {"weight": "w*x"}, "'w' is not x"),
        ("gelu", None, {"weight": "x +"}, "--weight"),
        ("gelu", None, {"histogram": "none.npy"}, "no such file"),
        ("gelu", None, {"histogram": np.array([1.0, 1.0])}, "two or more"),
        ("gelu", None, {"histogram": np.array([1j, 2])}, "real numbers"),
        ("gelu", None, {"histogram": ([1, 2], [0, 1])}, "n bins have n + 1 edges"),
        ("gelu", None, {"histogram": ([1, -2], [0, 1, 2])}, "must not be negative"),
        ("gelu", None, {"histogram": ([1, 2], [0, 2, 1])}, "must ascend"),
        ("gelu", (5, 6), {"histogram": ([1, 2], [0, 1, 2])}, "no bin with a count meets"),
    ],
)
def test_one_line_says_what_is_wrong(text, domain, options, line):
    with pytest.raises(RefusedTarget) as caught:
        measure_of(target_of(text, domain), **options)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_infinite_means_are_refused():
    target = target_of("gelu")
    off = gate(slope=(0, 2))
    assert np.isfinite(rms(off, target, measure_of(target)))
    for weight, line in (("1/(1+x**2)", "is infinite under"), ("1/(1+abs(x))", "no finite integral")):
        with pytest.raises(RefusedTarget, match=line):
            rms(off, target, measure_of(target, weight=weight))


def test_weights_of_the_sup_norm():
    target = weighted(target_of("gelu"), "sup", "exp(-x**2)")
    assert target.weight(np.array([0.0, 1.0])) == pytest.approx([1, np.exp(-1)], rel=1e-15)
    assert target.weight_expr is not None
    relative = weighted(target_of("exp", (-2, 3)), "relative")
    assert relative.weight(np.array([1.0])) == pytest.approx([np.exp(-1)], rel=1e-15)
    assert relative.weight_expr is not None
    assert weighted(target_of("sqrt(x**2+1)"), "relative").weight is not None


@pytest.mark.parametrize(
    ("text", "domain", "line"),
    [
        ("gelu", None, "tends to 0 for x -> -oo"),
        ("gelu", (-8, 8), "is 0 near x = 0"),
        ("tanh", None, "is 0 near x = 0"),
        ("sigmoid", None, '--weight "1/max(abs(sigmoid'),
        ("sin", (1, 4), "is 0 near x = 3.14"),
        ("exp", (-40, 0), "too small beside 1 for doubles"),
    ],
)
def test_relative_errors_that_no_gate_bounds(text, domain, line):
    with pytest.raises(RefusedTarget) as caught:
        weighted(target_of(text, domain), "relative")
    assert line in str(caught.value)
