"""Statements with sets of the mean field; expected numbers come from closed forms solved in mpmath."""

from __future__ import annotations

import mpmath as mp
import pytest

from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.engine.nearest import nearest
from gateproof.proofs_check.records import Reading, Settings
from gateproof.theory.formula import FormulaError, parse_claim, to_text
from gateproof.theory.formula.latex import to_latex


def decided(formal: str):
    return decide(Reading(name="as stated", formal=formal))


#: Closed forms of E phi^2, E phi'^2 and E phi''^2 for erf (Williams 1997) and for sin.
MEANS = {
    "erf": (
        lambda q: 2 / mp.pi * mp.asin(2 * q / (1 + 2 * q)),
        lambda q: 4 / (mp.pi * mp.sqrt(1 + 4 * q)),
        lambda q: 16 * q / (mp.pi * (1 + 4 * q) ** 1.5),
    ),
    "sin": (
        lambda q: (1 - mp.exp(-2 * q)) / 2,
        lambda q: (1 + mp.exp(-2 * q)) / 2,
        lambda q: (1 - mp.exp(-2 * q)) / 2,
    ),
}


def around(value, digits=18):
    """Two decimals with the value strictly between them."""
    scale = 10**digits
    low = int(mp.floor(value * scale))
    return f"{low}/{scale}", f"{low + 1}/{scale}"


@pytest.mark.parametrize("name", MEANS)
@pytest.mark.parametrize("bias", ["1/20", "7/10"])
def test_critical_points_are_those_of_the_closed_forms(name, bias):
    v, d, k = MEANS[name]
    with mp.workdps(40):
        top, bottom = map(int, bias.split("/"))
        s = mp.mpf(top) / bottom
        q = mp.findroot(lambda q: (q - s) * d(q) - v(q), (s + 0.1, s + 3), solver="anderson")
        for call, value in (
            ("edge_of_chaos", 1 / d(q)),
            ("edge_variance", q),
            ("depth_rate", 2 * d(q) / (q * k(q))),
        ):
            low, high = around(value)
            term = f"{call}({name}(x), x, sigma_b2={bias})"
            assert decided(f"{low} < {term} < {high}").verdict == "certified"
            assert decided(f"{term} < {low}").verdict == "refuted"
            assert decided(f"{high} < {term}").verdict == "refuted"


CERTIFIED = [
    "edge_of_chaos(tanh(x), x, sigma_b2=0.05) == 1.76095463960673913163~",
    "edge_of_chaos(tanh(x), x, sigma_b2=0.05) != 1.76095463960673913163",
    "edge_of_chaos(tanh(x), x, sigma_b2=0) == 1 and edge_variance(tanh(x), x, sigma_b2=0) == {0}",
    "edge_of_chaos(relu(x), x, sigma_b2=0) == 2",
    "edge_of_chaos(leaky_relu(x), x, sigma_b2=0) == 2/(1 + 1/100**2)",
    "depth_rate(relu(x), x, sigma_b2=0, power=2) == 9*pi**2/2 and depth_rate(relu(x), x, sigma_b2=0) == 0",
    "edge_of_chaos(relu(x), x, sigma_b2=1/100) == {}",
    "edge_of_chaos(softplus(x), x, sigma_b2=0.05) == {}",
    "0 in fixed_points(gelu(x), x, sigma_w2=2.1, sigma_b2=0)",
    "fixed_points(relu(x), x, sigma_w2=1, sigma_b2=1/3) == 2/3",
    "fixed_points(x**2, x, sigma_w2=1, sigma_b2=1) == {}",
    "edge_of_chaos(diff(softplus(x), x), x, sigma_b2=0.05) == edge_of_chaos(sigmoid(y), y, sigma_b2=1/20)",
    "for k in 1..2: edge_of_chaos(tanh(k*x), x, sigma_b2=0) == 1/k**2",
    "edge_of_chaos(tanh(x), x, sigma_b2=0.05) < oo",
    "edge_of_chaos(tanh(x), x, sigma_b2=0) == integrate(exp(-x), x, 0, oo)",
    # chi_1 = 1 at the critical point, by quadrature over all variances of its enclosure.
    (
        "abs(edge_of_chaos(tanh(x), x, sigma_b2=0.05)"
        "*gauss(diff(tanh(z), z)**2, z, q=edge_variance(tanh(x), x, sigma_b2=0.05)) - 1) < 1e-9"
    ),
]
REFUTED = [
    "edge_of_chaos(tanh(x), x, sigma_b2=0.05) == 1.76095463960673913164~",
    "edge_of_chaos(tanh(x), x, sigma_b2=0.05) == 1.76095463960673913163",
    "edge_of_chaos(tanh(x), x, sigma_b2=0.05) == {}",
    "edge_of_chaos(tanh(x), x, sigma_b2=0) == 1.0000000001",
    "edge_of_chaos(relu(x), x, sigma_b2=0) == {}",
    "edge_of_chaos(softplus(x), x, sigma_b2=0.05) == 2.5~",
    "depth_rate(relu(x), x, sigma_b2=0, power=2) == 9*pi**2/2 + 1e-12",
    "edge_variance(relu(x), x, sigma_b2=0) == 1",
    "-1 in edge_variance(relu(x), x, sigma_b2=0)",
    "fixed_points(gelu(x), x, sigma_w2=2.1, sigma_b2=0) == 0",
    "fixed_points(gelu(x), x, sigma_w2=2.1, sigma_b2=0) == {0, 3.1~, 4}",
    "1 in fixed_points(gelu(x), x, sigma_w2=2.1, sigma_b2=0)",
    "edge_of_chaos(tanh(x), x, sigma_b2=0.05) == edge_of_chaos(erf(x), x, sigma_b2=0.05)",
    "edge_of_chaos(tanh(x), x, sigma_b2=0.05) == at(diff(x**2, x), x=0.88)",
    # A point that was found is enough, whatever lies beyond the range.
    "edge_variance(exp(abs(x)), x, sigma_b2=0.05) == 1.06~",
]
ILL_POSED = {
    "edge_of_chaos(log(x), x, sigma_b2=0.05) == 1": "undefined at x = 0",
    "edge_of_chaos(step(x), x, sigma_b2=0.05) == 1": "jumps",
    "edge_of_chaos(diff(relu(x), x), x, sigma_b2=0.05) == 1": "no derivative",
    "edge_of_chaos(tanh(x), x, sigma_b2=-1) == 1": "variances",
    "fixed_points(tanh(x), x, sigma_w2=0, sigma_b2=1) == 1": "variances",
    "edge_of_chaos(softplus(x), x, sigma_b2=0.05) < 1": "empty set",
    "edge_variance(relu(x), x, sigma_b2=0) < 1": "no one value",
    "fixed_points(gelu(x), x, sigma_w2=2.1, sigma_b2=0) < 1": "no one value",
    "depth_rate(tanh(x), x, sigma_b2=0) > 1": "q* = 0",
    "depth_rate(x, x, sigma_b2=0) > 1": "a line",
    "depth_rate(tanh(x), x, sigma_b2=0.05, power=2) > 1": "continuous",
    "edge_of_chaos(tanh(x), x, sigma_b2=0.05) == 1/0": "division by 0",
    "gauss(z, z, q=edge_variance(tanh(x), x, sigma_b2=0.05) - 1) < 1": "the variance is negative",
    "{1, 2} in edge_of_chaos(tanh(x), x, sigma_b2=0.05)": "a set stands on its left",
}
UNDECIDED = {
    # phi'^2 = phi^2, so that q = 1 + sigma_b^2 is the one critical variance.
    "edge_variance(exp(abs(x)), x, sigma_b2=0.05) == 1.05~": "q <= 64",
    "edge_of_chaos(exp(x**2), x, sigma_b2=0.05) == 1": "growth",
    "edge_of_chaos(x**2, x, sigma_b2=0.05) == 5/4": "digits; equality was not proved",
    "for a in R: edge_of_chaos(tanh(a*x), x, sigma_b2=0) == 1": "statement over a",
    "for x in R: x > 0 or edge_of_chaos(tanh(z), z, sigma_b2=0) < 2": "statement over x",
    "exists y in R: (y == edge_of_chaos(tanh(z), z, sigma_b2=0))": "exists",
    "defined(edge_of_chaos(tanh(z), z, sigma_b2=0), x in R)": "predicate",
    "sup(tanh(x), x in R) < edge_of_chaos(tanh(z), z, sigma_b2=0.05)": "beside sup",
    "edge_of_chaos(tanh(x), x, sigma_b2=pi) > 1": "rational",
    "edge_of_chaos(tanh(x), x, sigma_b2=0.05) == oo": "infinity",
    "limit(edge_of_chaos(tanh(x), x, sigma_b2=s), s, 0) == 1": "inside of limit",
    "sum(edge_of_chaos(tanh(x), x, sigma_b2=k), k in 1..2) > 1": "inside of series",
    "edge_of_chaos(gauss(tanh(x + z), z, q=1), x, sigma_b2=1) == 1": "means in it",
}


@pytest.mark.parametrize("formal", CERTIFIED)
def test_certified(formal):
    found = decided(formal)
    assert found.verdict == "certified", found.reason
    assert set(found.trust) <= {"arb", "flint", "fractions", "sympy", "mpfr"}


@pytest.mark.parametrize("formal", REFUTED)
def test_refuted(formal):
    assert decided(formal).verdict == "refuted"


@pytest.mark.parametrize("formal", [*ILL_POSED, *UNDECIDED])
def test_not_decided_with_a_reason(formal):
    found = decided(formal)
    assert found.verdict == ("ill-posed" if formal in ILL_POSED else "inconclusive")
    assert {**ILL_POSED, **UNDECIDED}[formal] in found.reason


def test_controls_are_planted_and_caught():
    found = decided("fixed_points(gelu(x), x, sigma_w2=2.1, sigma_b2=0) == {0, 3.1053682188~}")
    assert (found.verdict, found.controls.planted, found.controls.caught) == ("certified", 1, 1)


@pytest.mark.parametrize(
    ("text", "true"),
    [
        ("edge_of_chaos(relu(x), x, sigma_b2=0) == 3", "edge_of_chaos(relu(x), x, sigma_b2=0) == 2"),
        ("edge_of_chaos(relu(x), x, sigma_b2=1) == 2", "edge_of_chaos(relu(x), x, sigma_b2=1) == {}"),
        (
            "edge_of_chaos(tanh(x), x, sigma_b2=0.05) == {}",
            "edge_of_chaos(tanh(x), x, sigma_b2=0.05) == {1.76095~}",
        ),
        # 9 pi^2/2 = 44.413219.., rounded up.
        (
            "depth_rate(relu(x), x, sigma_b2=0, power=2) < 44",
            "depth_rate(relu(x), x, sigma_b2=0, power=2) <= 44.4133",
        ),
    ],
)
def test_the_nearest_true_statement(text, true):
    found = nearest(Reading("", text), Settings())
    assert found is not None
    assert found["formal"] == true


@pytest.mark.parametrize(
    "text",
    [
        "edge_of_chaos(tanh(x), sigma_b2=1) == 1",
        "edge_of_chaos(tanh(x), x) == 1",
        "edge_of_chaos(tanh(x), x, sigma_w2=1, sigma_b2=1) == 1",
        "fixed_points(tanh(x), x, sigma_b2=1) == 1",
        "edge_of_chaos(tanh(x), x, sigma_b2=s) == 1",
        "edge_of_chaos(tanh(y), x, sigma_b2=1) == 1",
        "for x in R: edge_of_chaos(tanh(x), x, sigma_b2=1) == x",
        "for depth_rate in R: depth_rate > 0",
        "depth_rate(relu(x), x, sigma_b2=0, power=3) == 1",
        "edge_variance == 1",
    ],
)
def test_slips_are_refused_with_a_column(text):
    with pytest.raises(FormulaError, match="column"):
        parse_claim(text)


@pytest.mark.parametrize(
    "text",
    [
        "depth_rate(relu(x), x, sigma_b2=0, power=2) == 9*pi**2/2",
        "0 in fixed_points(silu(z), z, sigma_w2=2, sigma_b2=1/3)",
        "gauss(z**2, z, q=edge_variance(tanh(x), x, sigma_b2=1)) < 1",
    ],
)
def test_text_reads_back(text):
    assert to_text(parse_claim(text)) == text


def test_latex():
    relation = parse_claim("fixed_points(tanh(x), x, sigma_w2=2, sigma_b2=0) == 0").body
    given = r"\tanh\left(x\right); \sigma_w^2 = 2, \sigma_b^2 = 0"
    assert to_latex(relation) == rf"\operatorname{{fixed\_points}}_{{x}}\left({given}\right) = 0"


@pytest.mark.parametrize("text", ["1 - sign(x)**2", "x + 1 - sign(x)**2", "where(x == 0, 1, max(x, 0))"])
def test_a_value_at_zero_alone_is_no_fixed_point_at_zero(text):
    # phi(0) = 1, so that 0 -> sigma_w^2 V(0) = 1/2: scale-invariant but for that one value.
    for formal in (
        f"0 in fixed_points({text}, x, sigma_w2=1/2, sigma_b2=0)",
        f"fixed_points({text}, x, sigma_w2=1/2, sigma_b2=0) == {{0}}",
    ):
        assert decided(formal).verdict in ("refuted", "inconclusive")


@pytest.mark.parametrize("infinite", ["oo", "integrate(1/s, s, 1, oo)", "limit(s, s, oo)"])
def test_infinity_is_no_variance(infinite):
    # Every real q >= 0 is a fixed point of relu at sigma_w^2 = 2; oo is not in R.
    found = decided(f"{infinite} in fixed_points(relu(x), x, sigma_w2=2, sigma_b2=0)")
    assert found.verdict in ("refuted", "inconclusive")


def test_a_huge_number_is_a_variance():
    assert decided("10**30 in fixed_points(relu(x), x, sigma_w2=2, sigma_b2=0)").verdict == "proved"
