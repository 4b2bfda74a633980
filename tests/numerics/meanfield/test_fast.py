"""The engine at float speed against trapezoid sums in mpmath, and what a caller of it sees."""

from __future__ import annotations

import itertools

import mpmath as mp
import numpy as np
import pytest
from known_zoo import ZOO
from normal_pairs import gap, line, pair

jax = pytest.importorskip("jax")

from smooth_zoo import DEEP, SMOOTH, points, scaled_error, strip_of  # noqa: E402

from gateproof.numerics.meanfield.fast import FastEngine, NotResolved, fast_engine  # noqa: E402


@pytest.mark.parametrize("text", SMOOTH)
def test_smooth_zoo(text):
    for q, c in points(text, 2):
        assert scaled_error(text, q, c) < 1e-14, (q, c)


@pytest.mark.deep
@pytest.mark.parametrize("text", SMOOTH)
def test_smooth_zoo_at_more_points(text):
    for q, c in points(text, DEEP):
        assert scaled_error(text, q, c) < 1e-14, (q, c)


@pytest.mark.parametrize("text", ["tanh(x)", "silu(x)", "mish(x)", "sigmoid(x)"])
def test_gaps_near_one(text):
    f = ZOO[text].value
    engine = fast_engine(text)
    for q, eps in ((0.3, 1e-2), (2.0, 1e-12)):
        right = gap(f, q, eps, strip_of(text), 17)
        assert abs(mp.mpf(float(engine.gap(q, eps))) - right) < 1e-14 * right


@pytest.mark.parametrize(
    "text",
    ["tanh(x)", "silu(x)", "elu(x)", pytest.param("two_sided_potential(x)", marks=pytest.mark.deep)],
)
def test_gaps_are_the_differences(text):
    engine = fast_engine(text)
    q, eps = np.array([0.2, 3.0]), np.array([0.3, 1.4])
    scale = engine.variance(q)
    assert np.all(abs(engine.gap(q, eps) - (scale - engine.correlation(q, 1 - eps))) < 1e-14 * scale)
    steep = engine.slope_energy(q)
    assert np.all(
        abs(engine.slope_gap(q, eps) - (steep - engine.correlation_slope(q, 1 - eps))) < 1e-14 * steep
    )


@pytest.mark.parametrize("text", ["silu(x)", pytest.param("arctan(x)", marks=pytest.mark.deep)])
def test_large_variances(text):
    """Where no Hermite series is short enough, panels."""
    q, c = 1000.0, -0.5
    right = pair(ZOO[text].value, q, c, strip_of(text), 17)
    scale = pair(ZOO[text].value, q, 1, strip_of(text), 17)
    assert abs(mp.mpf(float(fast_engine(text).correlation(q, c))) - right) < 1e-14 * scale


def test_nothing_cancels_at_small_variances():
    """phi(0) = 1/2 and slope 1/4: V - C = q (1 - c)/16 up to O(q^2)."""
    engine = fast_engine("sigmoid(x)")
    assert abs(engine.gap(1e-13, 0.5) / (1e-13 * 0.5 / 16) - 1) < 1e-11
    assert abs(fast_engine("tanh").variance(1e-200) / 1e-200 - 1) < 1e-14


#: Published and case values (tanh, silu at q = 1; 20 digits, by mpmath).
VALUES = {
    "tanh": (0.3942944903978411744165, 0.464402902448268241972),
    "silu": (0.3557755198173521562308, 0.3794823516328293089963),
}


@pytest.mark.parametrize("text", VALUES)
def test_known_moments(text):
    engine = fast_engine(text)
    assert engine.variance(1.0) == pytest.approx(VALUES[text][0], rel=3e-15)
    assert engine.slope_energy(1.0) == pytest.approx(VALUES[text][1], rel=3e-15)


@pytest.mark.parametrize("text", ["tanh(x)", "silu(x)", "softplus(x)"])
def test_slopes_of_energies_by_the_heat_equation(text):
    f, q = ZOO[text].value, mp.mpf(3) / 2
    engine, strip = fast_engine(text), strip_of(text)
    heat = line(lambda x: f(x) ** 2 * (x * x - q) / (2 * q * q), q, strip, 22)
    assert engine.variance_slope(1.5) == pytest.approx(float(heat), rel=1e-14)
    for name, slope in (("variance", "variance_slope"), ("slope_energy", "slope_energy_slope")):
        h = 1e-4
        up, down = getattr(engine, name)(np.array([1.5 + h, 1.5 - h]))
        assert getattr(engine, slope)(1.5) == pytest.approx((up - down) / (2 * h), rel=1e-6, abs=1e-8)


def test_kinks_by_hand():
    """elu at c = 0: C = M^2; E elu'^2 = 1/2 + exp(2 q) Phi(-2 sqrt(q)); the sign of u as a jump."""
    engine, q = fast_engine("elu"), 2.0
    tail = float(mp.exp(2 * q) * mp.ncdf(-2 * mp.sqrt(q)))
    assert engine.slope_energy(q) == pytest.approx(0.5 + tail, rel=1e-14)
    assert engine.correlation(q, 0.0) == pytest.approx(engine.mean(q) ** 2, rel=1e-13)
    sign = fast_engine("sign(x)")
    assert sign.correlation(q, 0.3) == pytest.approx(2 / np.pi * np.arcsin(0.3), rel=1e-13)
    assert sign.correlation_slope(q, 0.3) == pytest.approx(2 / np.pi / np.sqrt(1 - 0.09) / q, rel=1e-13)
    assert sign.slope_energy(q) == np.inf
    assert sign.gap(q, 1e-8) == pytest.approx(2 / np.pi * np.arccos(1 - 1e-8), rel=1e-8)


def test_a_kinked_activation_agrees_with_its_closed_form():
    """Panels against Price's formula: the same function, once as lines and once not seen as such."""
    lines = fast_engine("hardtanh")
    curved = FastEngine(lines.phi)
    curved.form = None
    q, c, eps = np.array([0.1, 5.0]), np.array([0.8, -0.999]), np.array([1e-9, 0.04])
    assert np.all(abs(curved.correlation(q, c) - lines.correlation(q, c)) < 1e-14 * lines.variance(q))
    assert np.allclose(curved.gap(q, eps), lines.gap(q, eps), rtol=1e-12, atol=0)
    assert np.allclose(curved.variance_slope(q), lines.variance_slope(q), rtol=1e-13, atol=0)
    assert np.allclose(curved.slope_energy_slope(q), lines.slope_energy_slope(q), rtol=1e-12, atol=0)


# --- what a caller sees ---------------------------------------------------------


def test_the_configuration_of_the_caller_stays():
    before = jax.config.jax_enable_x64
    assert not before, "the test is about a caller in x32"
    results = [
        fast_engine("gelu").correlation([0.5, 1.0], 0.3),
        fast_engine("tanh").correlation([0.5, 1.0], 0.3),
        fast_engine("elu").variance([0.5, 1.0]),
        *fast_engine("tanh").estimated("gap", [1.0], 1e-9),
    ]
    assert all(r.dtype == np.float64 for r in results)
    assert jax.config.jax_enable_x64 == before
    assert jax.numpy.ones(2).dtype == jax.numpy.float32
    assert jax.jit(lambda x: x + 1)(np.ones(2)).dtype == jax.numpy.float32


def test_arguments_broadcast():
    engine = fast_engine("tanh")
    grid = engine.correlation(np.array([[0.5], [2.0]]), np.array([0.1, 0.5, 0.9]))
    assert grid.shape == (2, 3)
    for (i, q), (j, c) in itertools.product(enumerate((0.5, 2.0)), enumerate((0.1, 0.5, 0.9))):
        assert grid[i, j] == pytest.approx(engine.correlation(q, c), rel=1e-15)
    assert isinstance(engine.variance(1.0), float)


@pytest.mark.parametrize(
    ("name", "at", "said"),
    [
        ("variance", (0.0,), "q = 0: q > 0"),
        ("variance", (np.nan,), "q = nan"),
        ("correlation", (1.0, 1.5), r"c = 1.5: c in \[-1, 1\]"),
        ("gap", (1.0, -1e-9), r"eps = -1e-09: eps in \[0, 2\]"),
        ("gap", (np.inf, 0.5), "q = inf"),
        ("correlation", ([1.0, 2.0, 3.0], [0.5, np.nan, 0.1]), "c = nan"),
        ("estimated", ("correlations", 1.0, 0.5), "no mean is called 'correlations'; there are mean, "),
    ],
)
def test_points_outside_are_refused(name, at, said):
    with pytest.raises(ValueError, match=said):
        getattr(fast_engine("tanh"), name)(*at)


@pytest.mark.parametrize(
    "text", ["sin(x)", "gelu(x)", "relu(x)", "gaussian(x)", "x**3 - x", "x + 1", "exp(x)"]
)
def test_few_points_and_many_have_the_same_closed_form(text):
    """One formula in NumPy and in JAX, which many points take; silent at overflow."""
    engine, count = fast_engine(text), 5000
    q, c = np.geomspace(1e-3, 30, count), np.linspace(-1, 1, count)
    with np.errstate(all="raise"):
        for name, second in (("correlation", c), ("gap", 1 - c), ("correlation_slope", c)):
            few, many = (getattr(engine, name)(q[::step], second[::step]) for step in (500, 1))
            scale = engine.slope_energy(q[::500]) if "slope" in name else engine.variance(q[::500])
            assert np.all(abs(few - many[::500]) <= 1e-14 * scale), name
        assert fast_engine("exp(x)").variance(1e3) == np.inf


def test_what_is_not_resolved_is_refused():
    engine = fast_engine("tanh", tolerance=0.0)
    with pytest.raises(NotResolved, match="its estimated error"):
        engine.correlation(1.0, 0.5)


@pytest.mark.parametrize("text", ["tanh", "silu", "gelu", "elu"])
def test_estimates_hold(text):
    engine = fast_engine(text)
    rng = np.random.default_rng(5)
    q, c = np.exp(rng.uniform(-3, 3, 6)), rng.uniform(-1, 1, 6)
    value, error = engine.estimated("correlation", q, c)
    assert np.all(error >= 0)
    assert np.all(error < 1e-10 * engine.variance(q))
    assert np.all(value == engine.correlation(q, c))


def test_traced_functions():
    engine = fast_engine("tanh")
    one = engine.traced("correlation", q_max=4.0)
    with pytest.raises(TypeError, match="x64 is off"):
        one(1.0, 0.5)
    with jax.enable_x64(True):
        q = np.array([0.5, 4.0])
        grid = jax.jit(jax.vmap(jax.vmap(one, (None, 0)), (0, None)))(q, np.array([0.2, 0.7]))
        right = engine.correlation(q[:, None], np.array([0.2, 0.7]))
        assert np.allclose(grid, right, rtol=0, atol=2e-15)
        # The slope at c = 1 is whole: automatic differentiation of a clipped root gives half of it.
        slope = jax.grad(one, argnums=1)(2.0, 1.0)
        assert float(slope) == pytest.approx(2.0 * engine.slope_energy(2.0), rel=1e-13)
        rise = jax.grad(engine.traced("variance", q_max=4.0))(2.0)
        assert float(rise) == pytest.approx(float(engine.variance_slope(2.0)), rel=1e-12)


def test_progress_of_a_grid():
    heard: list[tuple[int, int]] = []
    engine = fast_engine("tanh", progress=lambda done, total: heard.append((done, total)))
    engine.correlation(np.geomspace(0.1, 1, 20)[:, None], np.linspace(-0.9, 0.9, 500))
    assert len(heard) > 3
    assert heard[-1] == (10_000, 10_000)
    assert [d for d, _ in heard] == sorted(d for d, _ in heard)
