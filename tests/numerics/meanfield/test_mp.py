"""The engine for any number of digits against closed forms, published values and mpmath's own quadrature."""

from __future__ import annotations

import pytest
from mpmath import mp

from gateproof.numerics.meanfield.mp import NotReached, mp_engine


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(60):
        yield


def close(found, value, digits):
    assert abs(found - value) <= mp.mpf(10) ** -digits * abs(value), (found, value)


# Cho and Saul; Williams; Rahimi and Recht: V, D, C(c), E phi'(u) phi'(v) in closed form.
def erf_forms(q, c):
    return (
        2 / mp.pi * mp.asin(2 * q / (1 + 2 * q)),
        4 / mp.pi / mp.sqrt(1 + 4 * q),
        2 / mp.pi * mp.asin(2 * q * c / (1 + 2 * q)),
        4 / mp.pi / mp.sqrt((1 + 2 * q) ** 2 - (2 * q * c) ** 2),
    )


def sin_forms(q, c):
    e = mp.exp(-q)
    return e * mp.sinh(q), e * mp.cosh(q), e * mp.sinh(c * q), e * mp.cosh(c * q)


def relu_forms(q, c):
    t = mp.acos(c)
    return q / 2, mp.mpf(1) / 2, q * (mp.sin(t) + (mp.pi - t) * c) / (2 * mp.pi), (mp.pi - t) / (2 * mp.pi)


@pytest.mark.parametrize(("name", "forms"), [("erf(x)", erf_forms), ("sin", sin_forms), ("relu", relu_forms)])
@pytest.mark.parametrize("q", ["1/1000000", "0.5", "4"])
def test_closed_forms_to_50_digits(name, forms, q):
    engine = mp_engine(name, 50)
    with mp.workdps(150):
        exact = mp.mpf(1) / 1000000 if "/" in q else mp.mpf(q)
    for c in (mp.mpf("0.3"), mp.mpf("-0.7"), 1 - mp.mpf(10) ** -9):
        with mp.workdps(150):
            v, d, both, slopes = forms(exact, c)
        close(engine.variance(q), v, 50)
        close(engine.slope_energy(q), d, 50)
        assert abs(engine.correlation(q, c) - both) <= mp.mpf(10) ** -50 * v
        assert abs(engine.correlation_slope(q, c) - slopes) <= mp.mpf(10) ** -50 * d


@pytest.mark.parametrize("power", [4, 12, 30])
def test_near_one_to_the_last_digit(power):
    eps = mp.mpf(10) ** -power
    with mp.workdps(150):
        q, c = mp.mpf(1), 1 - eps
        erf, sin = erf_forms(q, c), sin_forms(q, c)
        relu = relu_forms(q, c)
        wanted = [(f[0] - f[2], f[1] - f[3]) for f in (erf, sin, relu)]
    for name, (gap, slope) in zip(("erf(x)", "sin", "relu"), wanted, strict=True):
        engine = mp_engine(name, 40)
        close(engine.gap(1, eps), gap, 40)
        close(engine.slope_gap(1, eps), slope, 40)


# Public reference values (E phi^2, E phi'^2) at q = 1/2, 1, 4, to 22 digits.
KNOWN = {
    "tanh": [
        ("0.2736763079367389090183", "0.5924257933717963939799"),
        ("0.3942944903978411744165", "0.464402902448268241972"),
        ("0.6352612342569399248564", "0.2559504432252089123862"),
    ],
    "gelu": [
        ("0.1895565418322276020221", "0.4072479685443647687178"),
        ("0.4252214825702986749186", "0.4558508656492871221136"),
        ("1.929865015864443146342", "0.5060447640537989844772"),
    ],
    "silu": [
        ("0.1585762495658272461707", "0.3347089583480498958313"),
        ("0.3557755198173521562308", "0.3794823516328293089963"),
        ("1.757889866678815323914", "0.4664250548387369129057"),
    ],
    "memglu": [
        ("0.1338978986914646970018", "0.4020056981803878851783"),
        ("0.1413026071538905836115", "0.3055016975979714148587"),
        ("0.1087883225178511627574", "0.1718397552155212165185"),
    ],
}


@pytest.mark.parametrize("name", KNOWN)
def test_published_values(name):
    engine = mp_engine(name, 25)
    for q, (v, d) in zip(("0.5", "1", "4"), KNOWN[name], strict=True):
        close(engine.variance(q), mp.mpf(v), 20)
        close(engine.slope_energy(q), mp.mpf(d), 20)


@pytest.mark.parametrize("name", ["tanh", "silu", "elu"])
def test_slopes_in_the_variance_are_differences(name):
    engine = mp_engine(name, 30)
    h = mp.mpf(10) ** -10
    for value, slope in (("variance", "variance_slope"), ("slope_energy", "slope_energy_slope")):
        ahead, behind = (getattr(engine, value)(mp.mpf(2) + s * h) for s in (1, -1))
        close(getattr(engine, slope)(2), (ahead - behind) / (2 * h), 12)


def test_elu_at_a_corner_of_the_second_derivative():
    engine = mp_engine("elu", 20)

    def at(x):
        return x if x > 0 else mp.expm1(x)

    def bell(x):
        return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)

    with mp.workdps(30):
        mean = mp.quad(lambda x: at(x) * bell(x), [-16, -8, -4, -2, 0, 2, 4, 8, 16])
        mirrored = mp.quad(lambda x: 2 * at(x) * at(-x) * bell(x), [0, 2, 4, 8, 16])
    close(engine.mean(1), mean, 20)
    assert abs(engine.correlation(1, 0) - mean**2) < mp.mpf(10) ** -18
    assert abs(engine.correlation(1, -1) - mirrored) < mp.mpf(10) ** -18
    # phi'' jumps from 1 to 0.
    assert engine.third_energy(1) == mp.inf


def test_what_does_not_exist_is_infinite_or_refused():
    relu, step = mp_engine("relu", 15), mp_engine("where(x > 0, 1, 0)", 15)
    assert relu.curvature_energy(1) == mp.inf
    assert mp_engine("elu", 15).third_energy(1) == mp.inf
    assert step.slope_energy(1) == mp.inf
    # Sheppard: the correlation of signs.
    close(step.correlation(1, "0.5"), mp.mpf(1) / 3, 15)
    close(step.correlation_slope(1, "0.5"), 1 / (2 * mp.pi * mp.sqrt(1 - mp.mpf("0.25"))), 12)
    with pytest.raises(NotReached):
        mp_engine("exp(x**2)", 8).variance(1)
    close(mp_engine("exp(x)", 15).variance(9), mp.exp(18), 15)


@pytest.mark.parametrize(
    ("what", "numbers"), [("variance", (0,)), ("variance", (-1,)), ("gap", (1, 3)), ("correlation", (1, 2))]
)
def test_outside_is_refused(what, numbers):
    with pytest.raises(ValueError, match="expected"):
        getattr(mp_engine("tanh", 15), what)(*numbers)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), "nothing"])
def test_no_number_is_refused(bad):
    with pytest.raises(ValueError, match="expected"):
        mp_engine("tanh", 15).variance(bad)


@pytest.mark.parametrize("k", [20, 100])
def test_waves_that_look_slow_on_a_grid_of_halves(k):
    # 100 is near to 2 pi 16: on grids of step 1/8, 1/16 sin(100 x) has the values of a slow wave.
    engine, q = mp_engine(f"sin({k}*x)", 15), mp.mpf(k) ** 2
    close(engine.variance(1), (1 - mp.exp(-2 * q)) / 2, 15)
    for c in ("0.5", "0.9999"):
        both = mp.exp(-q) * mp.sinh(mp.mpf(c) * q)
        assert abs(engine.correlation(1, c) - both) < mp.mpf(10) ** -15


@pytest.mark.parametrize("power", [-300, -30, 30, 200])
def test_tiny_and_huge_variances(power):
    q = mp.mpf(10) ** power
    small = power < 0
    erf, elu, relu = (mp_engine(name, 15) for name in ("erf(x)", "elu", "relu"))
    close(erf.variance(q), erf_forms(q, 0)[0], 15)
    close(erf.slope_energy(q), erf_forms(q, 0)[1], 15)
    close(
        relu.gap(q, "0.5"), q * relu_forms(mp.mpf(1), mp.mpf("0.5"))[0] - relu_forms(q, mp.mpf("0.5"))[2], 14
    )
    # elu is x for small x, and relu less 1 on half of the line for large ones.
    close(elu.variance(q), q if small else q / 2, 14)


@pytest.mark.parametrize("name", ["0", "1", "3*x - 1", "x**3"])
def test_polynomials(name):
    engine = mp_engine(name, 20)
    v, d, c = {"0": (0, 0, 0), "1": (1, 0, 1), "3*x - 1": (10, 9, 5.5), "x**3": (15, 27, 5.25)}[name]
    assert abs(engine.variance(1) - v) < mp.mpf(10) ** -20 * max(1, v)
    assert abs(engine.slope_energy(1) - d) < mp.mpf(10) ** -20 * max(1, d)
    assert abs(engine.correlation(1, "0.5") - c) < mp.mpf(10) ** -20 * max(1, v)


def test_a_wrong_digit_is_seen():
    with pytest.raises(AssertionError):
        close(mp_engine("tanh", 25).variance(1), mp.mpf("0.3942944903978411754165"), 20)


def test_estimates_are_of_the_size_of_the_error():
    engine = mp_engine("erf(x)", 20)
    for what, second, place in (
        ("variance", None, 0),
        ("correlation", "0.5", 2),
        ("correlation_slope", "0.5", 3),
    ):
        value, error = engine.estimated(what, "0.5", second)
        truth = erf_forms(mp.mpf("0.5"), mp.mpf("0.5"))[place]
        assert abs(value - truth) <= error + mp.mpf(10) ** -55
        assert error <= mp.mpf(10) ** -20
