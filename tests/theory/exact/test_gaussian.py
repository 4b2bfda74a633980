"""Closed forms of normal means against mpmath's quadrature and against sums known from textbooks."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from mpmath import mp

from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.gaussian import gauss_value
from gateproof.theory.exact.gaussian_pairs import gauss2_value
from gateproof.theory.exact.growing import dominated
from gateproof.theory.exact.kernels import kernels
from gateproof.theory.formula import expand_node, parse_expr
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import Expr, Gauss, Gauss2, Num, num
from gateproof.theory.formula.printer import to_text

GIVEN = Assumptions(
    {
        "q": Domain(lo=num(0)),
        "d": Domain(lo=num(0)),
        "t": Domain(),
        "c": Domain(num(-1), num(1), True, True),
    }
)
#: Values put for the names where a closed form is compared.
POINTS = [
    {"q": "1", "d": "1/2", "t": "1/3", "c": "1/2"},
    {"q": "5/2", "d": "2", "t": "-1", "c": "-4/5"},
]


def read(text: str) -> Expr:
    node = expand_node(parse_expr(text))
    assert isinstance(node, Expr)
    return node


def at(expr: Expr, point: dict[str, str]) -> mp.mpf:
    from gateproof.numerics.points import enclosure

    lo, hi = enclosure(substitute(expr, {k: Num(Fraction(v)) for k, v in point.items()}), 256)
    middle = (lo + hi) / 2
    return mp.mpf(middle.numerator) / middle.denominator


ONE = [
    # text, the integrand as mpmath computes it, where it has kinks
    ("gauss(z**2, z, q=q)", lambda z, p: z**2, ()),
    ("gauss(z**3 - 2*z, z, q=q, mean=t)", lambda z, p: z**3 - 2 * z, ()),
    ("gauss(relu(z)**2, z, q=q)", lambda z, p: max(z, 0) ** 2, (0,)),
    ("gauss(relu(z - d), z, q=q)", lambda z, p: max(z - p["d"], 0), ("d",)),
    ("gauss(soft_threshold(z, d)**2, z, q=q)", lambda z, p: max(abs(z) - p["d"], 0) ** 2, ("d", "-d")),
    ("gauss(abs(z - 1), z, q=q, mean=t)", lambda z, p: abs(z - 1), (1,)),
    ("gauss(max(-1, min(1, z))**2, z, q=q)", lambda z, p: max(-1, min(1, z)) ** 2, (-1, 1)),
    ("gauss(exp(t*z), z, q=q)", lambda z, p: mp.exp(p["t"] * z), ()),
    ("gauss(exp(-z**2)*z**2, z, q=q, mean=t)", lambda z, p: mp.exp(-(z**2)) * z**2, ()),
    ("gauss(z*sinh(z), z, q=q)", lambda z, p: z * mp.sinh(z), ()),
    ("gauss(cos(2*z + 1), z, q=q, mean=t)", lambda z, p: mp.cos(2 * z + 1), ()),
    ("gauss(z*sin(z), z, q=q)", lambda z, p: z * mp.sin(z), ()),
    ("gauss(sin(z)**2, z, q=q)", lambda z, p: mp.sin(z) ** 2, ()),
    ("gauss(erf(z), z, q=q, mean=t)", lambda z, p: mp.erf(z), ()),
    ("gauss(erf(z)**2, z, q=q)", lambda z, p: mp.erf(z) ** 2, ()),
    ("gauss(z*erf(z), z, q=q, mean=t)", lambda z, p: z * mp.erf(z), ()),
    ("gauss(gelu(z), z, q=q)", lambda z, p: z * mp.ncdf(z), ()),
    ("gauss(gelu(z)**2, z, q=q)", lambda z, p: (z * mp.ncdf(z)) ** 2, ()),
    ("gauss(step(z), z, q=q)", lambda z, p: 1 if z > 0 else 0, (0,)),
    ("gauss(leaky_relu(z, 1/10)**2, z, q=q)", lambda z, p: (z if z > 0 else z / 10) ** 2, (0,)),
    ("gauss(sigmoid(z), z, q=q)", lambda z, p: 1 / (1 + mp.exp(-z)), ()),
    ("gauss(tanh(z)*sech(z), z, q=q)", lambda z, p: mp.tanh(z) * mp.sech(z), ()),
]


@pytest.mark.parametrize(("text", "f", "kinks"), ONE, ids=[t for t, _, _ in ONE])
def test_closed_forms_of_one_variable(text, f, kinks):
    node = read(text)
    assert isinstance(node, Gauss)
    found = gauss_value(node, GIVEN)
    assert found is not None
    for point in POINTS:
        p = {k: mp.mpf(Fraction(v).numerator) / Fraction(v).denominator for k, v in point.items()}
        with mp.workdps(20):
            q, m = p["q"], at(node.mean, point)
            s = mp.sqrt(q)
            places = [p["d"] if k == "d" else -p["d"] if k == "-d" else mp.mpf(k) for k in kinks]
            ends = sorted([m - 12 * s, m, *places, m + 12 * s])
            right = mp.quad(lambda z: f(z, p) * mp.npdf(z, m, s), ends)  # noqa: B023
            assert abs(at(found[0], point) - right) < mp.mpf(10) ** -15 * (1 + abs(right))


def test_known_values():
    for text, value in [
        ("gauss(z**4, z, q=1)", "3"),
        ("gauss(z**6, z, q=1)", "15"),
        ("gauss(z**2, z, q=2, mean=3)", "11"),
        ("gauss(relu(z)**2, z, q=1)", "1/2"),
        ("gauss(tanh(z), z, q=0)", "tanh(0)"),
    ]:
        node = read(text)
        assert isinstance(node, Gauss)
        found = gauss_value(node, Assumptions())
        assert found is not None
        assert at(found[0], {}) == at(read(value), {}), text


PAIRS = [
    ("gauss2(u*v, u, v, q=q, c=c)", lambda u, v: u * v),
    ("gauss2(u**2*v**2, u, v, q=q, c=c)", lambda u, v: u**2 * v**2),
    ("gauss2((u + v)**2, u, v, q=q, c=c)", lambda u, v: (u + v) ** 2),
    ("gauss2(erf(u)*erf(v), u, v, q=q, c=c)", lambda u, v: math.erf(u) * math.erf(v)),
    ("gauss2(gelu(u)*v, u, v, q=q, c=c)", lambda u, v: u * (1 + math.erf(u / math.sqrt(2))) / 2 * v),
]
KINKED = [
    ("gauss2(relu(u)*relu(v), u, v, q=q, c=c)", lambda u, v: max(u, 0) * max(v, 0)),
    ("gauss2(sign(u)*sign(v), u, v, q=q, c=c)", lambda u, v: mp.sign(u) * mp.sign(v)),
    ("gauss2(step(u)*step(v), u, v, q=q, c=c)", lambda u, v: (u > 0) * (v > 0)),
    ("gauss2(abs(u)*step(v), u, v, q=q, c=c)", lambda u, v: abs(u) * (v > 0)),
    ("gauss2(leaky_relu(u, 1/4)*sign(v), u, v, q=q, c=c)", lambda u, v: (u if u > 0 else u / 4) * mp.sign(v)),
]


def pair_value(text: str, point: dict[str, str]) -> mp.mpf:
    node = read(text)
    assert isinstance(node, Gauss2)
    found = gauss2_value(node, GIVEN)
    assert found is not None
    from gateproof.theory.exact.means import reduced

    whole = reduced(found[0], GIVEN)
    assert isinstance(whole, tuple), to_text(found[0])
    return at(whole[0], point)


@pytest.mark.parametrize(("text", "f"), PAIRS, ids=[t for t, _ in PAIRS])
def test_closed_forms_of_two_variables(text, f):
    # The trapezoidal rule is exponentially exact for these entire integrands.
    point = {"q": "3/2", "c": "-1/3", "d": "1", "t": "0"}
    s, c, h = math.sqrt(1.5), -1 / 3, 0.25
    d = math.sqrt(1 - c * c)
    grid = [h * k for k in range(-36, 37)]
    weight = {x: h * math.exp(-x * x / 2) / math.sqrt(2 * math.pi) for x in grid}
    right = math.fsum(
        float(f(s * x, s * (c * x + d * y))) * weight[x] * weight[y] for x in grid for y in grid
    )
    assert abs(float(pair_value(text, point)) - right) < 1e-11 * (1 + abs(right))


@pytest.mark.parametrize(("text", "f"), KINKED, ids=[t for t, _ in KINKED])
@pytest.mark.parametrize("c", ["1/2", "-4/5", "1", "-1"])
def test_kinked_pairs_in_polar_coordinates(text, f, c):
    """u = s r cos(a), v = s r cos(a - b) with cos(b) = c: homogeneous functions leave an integral over a."""
    with mp.workdps(20):
        fraction = Fraction(c)
        b = mp.acos(mp.mpf(fraction.numerator) / fraction.denominator)
        degree = {0: mp.mpf(1), 1: mp.sqrt(mp.pi / 2), 2: mp.mpf(2)}
        order = sum(name in text for name in ("relu(u", "abs(u", "relu(v"))
        ends = sorted(
            {mp.mpf(0), mp.pi / 2, 3 * mp.pi / 2, *(((b + k * mp.pi / 2) % (2 * mp.pi)) for k in (1, 3))}
        )
        ends.append(2 * mp.pi)
        over_angle = mp.quad(lambda a: f(mp.cos(a), mp.cos(a - b)), ends) / (2 * mp.pi)
        right = over_angle * degree[order] * mp.sqrt(mp.mpf(2)) ** order
        assert abs(pair_value(text, {"q": "2", "c": c}) - right) < mp.mpf(10) ** -12


def test_what_has_no_closed_form_gets_none():
    for text in ("gauss(tanh(z)**2, z, q=1)", "gauss(exp(z**2), z, q=1)", "gauss(sinh(z**3), z, q=1)"):
        node = read(text)
        assert isinstance(node, Gauss)
        assert gauss_value(node, Assumptions()) is None
    node = read("gauss(z**2, z, q=t)")
    assert isinstance(node, Gauss)
    # t may be negative.
    assert gauss_value(node, GIVEN) is None


def test_growth_is_seen_and_not_guessed():
    for text in (
        "tanh(x)**2*x",
        "exp(3*x)*x**2",
        "softplus(x)",
        "x/(1 + exp(-x))",
        "sqrt(1 + x**2)",
        "abs(x)**3",
    ):
        assert dominated(read(text), "x"), text
    for text in (
        "exp(x**2)",
        "sinh(x**3)",
        "exp(exp(x))",
        "1/x",
        "where(x == 0, 0, 1/x)",
        "log(x)",
        "x/(1 - x)",
    ):
        assert not dominated(read(text), "x"), text


def test_kernels_leave_out_what_they_do_not_know():
    assert kernels(read("tanh(x)*x"), "x") is None
    assert kernels(read("exp(x**3)"), "x") is None
    assert kernels(read("1/x"), "x") is None
    found = kernels(read("(x + 1)**2"), "x")
    assert found is not None
    assert sorted(t.k for t in found) == [0, 1, 2]
