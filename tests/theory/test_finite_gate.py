"""Which functions are finite difference gates: right parameters by hand, and functions proved to be none."""

from __future__ import annotations

import pytest

from gateproof.numerics.points import at_point
from gateproof.theory.exact.critical import equal_constants
from gateproof.theory.exact.domain import Domain
from gateproof.theory.finite_gate import Exact, NotFinite, finite_gate
from gateproof.theory.formula import expand, parse_expr
from gateproof.theory.formula.nodes import Const, Expr, num

#: Formula; sharpnesses; thresholds; (slope, intercept) left to right, all by hand.
GATES: list[tuple[str, str, str, list[tuple[str, str]]]] = [
    ("silu(x)", "1", "0", [("0", "0"), ("1", "0")]),
    ("sigmoid(x)", "1", "0", [("0", "0"), ("0", "1")]),
    ("tanh(x)", "2", "0", [("0", "-1"), ("0", "1")]),
    ("quick_gelu(x)", "1.702", "0", [("0", "0"), ("1", "0")]),
    ("sigmoid(2*x - 3)", "2", "3/2", [("0", "0"), ("0", "1")]),
    ("sigmoid(-x)", "1", "0", [("0", "1"), ("0", "0")]),
    ("tanh(x - 20)", "2", "20", [("0", "-1"), ("0", "1")]),
    ("swish(x, 3)", "3", "0", [("0", "0"), ("1", "0")]),
    ("sigmoid(x) - sigmoid(x - 3)", "1 1", "0 3", [("0", "0"), ("0", "1"), ("0", "0")]),
    ("1/(1 + exp(-x))", "1", "0", [("0", "0"), ("0", "1")]),
    ("x/(1 + exp(-x))", "1", "0", [("0", "0"), ("1", "0")]),
    ("1/(1 + exp(3 - 2*x))", "2", "3/2", [("0", "0"), ("0", "1")]),
    ("(exp(x) - exp(-x))/(exp(x) + exp(-x))", "2", "0", [("0", "-1"), ("0", "1")]),
    ("sinh(x)/cosh(x)", "2", "0", [("0", "-1"), ("0", "1")]),
    ("x*sigmoid(x) + tanh(3*x)/2", "1 6", "0 0", [("0", "-1/2"), ("1", "-1/2"), ("1", "1/2")]),
    ("sigmoid(x) + sigmoid(sqrt(2)*x)", "1 sqrt(2)", "0 0", [("0", "0"), ("0", "1"), ("0", "2")]),
    ("e*tanh(x/pi)", "2/pi", "0", [("0", "-e"), ("0", "e")]),
    # 2 cosh x + 3 = exp(-x) (u + w)(u + 1/w) for w = (3 + sqrt 5)/2.
    (
        "1/(2*cosh(x) + 3)",
        "1 1",
        "-acosh(3/2) acosh(3/2)",
        [("0", "0"), ("0", "1/sqrt(5)"), ("0", "0")],
    ),
    # sinh 2x/(cosh 2x + cosh 1) = (tanh(x + 1/2) + tanh(x - 1/2))/2.
    ("sinh(2*x)/(cosh(2*x) + cosh(1))", "2 2", "-1/2 1/2", [("0", "-1"), ("0", "0"), ("0", "1")]),
    # The poles of sigmoid(2x) are among the six on the circle of sigmoid(6x).
    ("x*sigmoid(6*x) - 3*sigmoid(2*x)", "2 6", "0 0", [("0", "0"), ("0", "-3"), ("1", "-3")]),
    (
        "exp(6*x)/(exp(6*x) + 1) - exp(2*x)/(exp(2*x) + 1)",
        "2 6",
        "0 0",
        [("0", "0"), ("0", "-1"), ("0", "0")],
    ),
    ("relu(x)", "oo", "0", [("0", "0"), ("1", "0")]),
    ("leaky_relu(x, 1/10)", "oo", "0", [("1/10", "0"), ("1", "0")]),
    ("prelu(x, 3)", "oo", "0", [("3", "0"), ("1", "0")]),
    ("hardtanh(x)", "oo oo", "-1 1", [("0", "-1"), ("1", "0"), ("0", "1")]),
    ("hardsigmoid(x)", "oo oo", "-3 3", [("0", "0"), ("1/6", "1/2"), ("0", "1")]),
    ("abs(x - 2)", "oo", "2", [("-1", "2"), ("1", "-2")]),
    ("soft_threshold(x, 2)", "oo oo", "-2 2", [("1", "2"), ("0", "0"), ("1", "-2")]),
    ("relu6(x)", "oo oo", "0 6", [("0", "0"), ("1", "0"), ("0", "6")]),
    ("where(x > 1, 3, 0)", "oo", "1", [("0", "0"), ("0", "3")]),
    ("max(x, pi)", "oo", "pi", [("0", "pi"), ("1", "0")]),
    ("max(x, 0) + tanh(x)", "2 oo", "0 0", [("0", "-1"), ("0", "1"), ("1", "1")]),
    ("abs(x)*tanh(abs(x))", "2", "0", [("-1", "0"), ("1", "0")]),
    ("x*sigmoid(x) + x*sigmoid(-x)", "", "", [("1", "0")]),
    ("sin(x)**2 + cos(x)**2", "", "", [("0", "1")]),
    ("max(x, 0) - max(-x, 0)", "", "", [("1", "0")]),
    ("0*x", "", "", [("0", "0")]),
    ("pi*x - sqrt(2)", "", "", [("pi", "-sqrt(2)")]),
]


def core(text: str) -> Expr:
    return expand(parse_expr(text))


def same(found: Expr, text: str) -> bool:
    if text == "oo" or found == Const("oo"):
        return text == "oo" and found == Const("oo")
    return equal_constants(found, core(text)) is True


@pytest.mark.parametrize("row", GATES, ids=[row[0] for row in GATES])
def test_parameters_of_a_gate(row: tuple[str, str, str, list[tuple[str, str]]]) -> None:
    text, tau, theta, lines = row
    found = finite_gate(core(text))
    assert isinstance(found, Exact)
    gate = found.gate
    assert gate.branches == len(lines)
    for known, values in ((tau.split(), gate.tau), (theta.split(), gate.theta)):
        assert len(known) == len(values)
        assert all(same(v, k) for v, k in zip(values, known, strict=True))
    assert all(same(v, a) for v, (a, _) in zip(gate.slope, lines, strict=True))
    assert all(same(v, b) for v, (_, b) in zip(gate.intercept, lines, strict=True))
    assert found.least
    assert found.proof
    assert "arb" in found.trust


#: No difference gate; a word of the reason; whether it is none of any algebra.
NONE = [
    ("tanh(x)*sech(x)", "poles of order 2", False),
    ("sech(x)**2", "poles of order 2", False),
    ("sigmoid(x - 2)**3", "poles of order 3", False),
    ("tanh(x)**2 + x", "poles of order 2", False),
    # Simple poles at +-i pi/2 with residues of unlike sign: not those of tanh.
    ("sech(x)", "residues", False),
    ("resech(x)", "residues", False),
    # 1 + (1 + u)**2 = u**2 + 2 u + 2 at u = -1 +- i.
    ("mish(x)", "residues", False),
    # 5 u**2 + 6 u + 2 at u = (-3 +- i)/5: arctan(1/3)/pi is irrational.
    ("smish(x)", "no power of u is negative", False),
    ("1/(1 + exp(x) + exp(2*x))", "no power of u is negative", False),
    ("gelu(x)", "erf", True),
    ("erf(x)", "erf(x) stays", True),
    ("gelu(2*x - 1) + x", "erf", True),
    ("erf(x)**2 - erf(x)", "erf(x) stays", True),
    ("gaussian(x)", "exp(x**2)", True),
    ("x*exp(-x**2)", "exp(x**2)", True),
    ("sin(x)", "entire", False),
    ("exp(x)", "grows", True),
    ("x**2", "x**2", True),
    ("x**2*sigmoid(x)", "x**2", True),
    ("gelu_tanh(x)", "x**3", True),
    ("telu(x)", "exp(exp(x))", True),
    ("softplus(x)", "branch", True),
    ("softplus(x, sqrt(2))", "branch", True),
    ("log_sigmoid(x)", "branch", True),
    ("arctan(x)", "branch", True),
    ("squareplus(x)", "branch", True),
    ("isru(x)", "branch", True),
    ("asinh(x)", "line", True),
    ("softsign(x)", "denominator", True),
    ("1/(1 + x**2)", "denominator", True),
    ("elu(x)", "x < 0", True),
    ("selu(x)", "x < 0", True),
    ("celu(x, 2)", "x < 0", True),
    ("hardswish(x)", "-3 < x < 3", True),
    ("silu_hard_removal(x)", "two sides", False),
]


@pytest.mark.parametrize(("text", "why", "every"), NONE, ids=[row[0] for row in NONE])
def test_functions_that_are_none(text: str, why: str, every: bool) -> None:
    found = finite_gate(core(text))
    assert isinstance(found, NotFinite)
    assert why in found.reason
    assert found.every == every


@pytest.mark.parametrize(
    ("text", "misses", "value"),
    [
        ("sign(x)", ["0"], "-1"),
        ("where(x >= 0, 1, 0)", ["0"], "0"),
        ("hardshrink(x)", ["-1/2"], "-1/2"),
        ("where(x == 0, 1, sigmoid(x))", ["0"], "1/2"),
    ],
)
def test_a_jump_with_another_value_at_it_is_missed_there(text: str, misses: list[str], value: str) -> None:
    """A hard gate has the left branch's value at its threshold."""
    found = finite_gate(core(text))
    assert isinstance(found, NotFinite)
    assert found.near is not None
    assert all(same(m, k) for m, k in zip(found.misses, misses, strict=True))
    point = at_point(found.near.expression(), {"x": found.misses[0].value}, 64)  # type: ignore[attr-defined]
    assert float(point.mid()) == float(at_point(core(value), {}, 64).mid())


def test_a_value_missing_at_one_point_is_not_passed_over() -> None:
    assert finite_gate(core("x*tanh(x)/x")) is None
    assert finite_gate(core("(exp(x) - 1)*sigmoid(x)/(exp(x) - 1)")) is None


def test_on_an_interval_only_its_pieces_count() -> None:
    right = finite_gate(core("relu(x)"), "x", Domain(num(1), num(5), True, True))
    assert isinstance(right, Exact)
    assert right.kind == "affine"
    assert right.statement == "for x in [1, 5]: max(x, 0) == x"
    bent = finite_gate(core("hardswish(x)"), "x", Domain(num(3), None, True, False))
    assert isinstance(bent, Exact)
    assert isinstance(finite_gate(core("hardswish(x)"), "x", Domain(num(2), None, True, False)), NotFinite)
    # At 0 the function is 1, beside it 0.
    assert finite_gate(core("where(x > 0, 0, 1)"), "x", Domain(num(0), num(1), True, True)) is None


def test_one_sharpness_is_not_two() -> None:
    found = finite_gate(core("x*sigmoid(x) + tanh(3*x)/2"), shared=True)
    assert isinstance(found, NotFinite)
    assert "sharpnesses 1, 6" in found.reason
    assert isinstance(finite_gate(core("hardtanh(x)"), shared=True), Exact)


def test_near_misses_are_not_taken_for_the_gate() -> None:
    """One digit off in a coefficient, a shift or a rate."""
    found = finite_gate(core("x/(1 + exp(-1.7020001*x))"))
    assert isinstance(found, Exact)
    assert same(found.gate.tau[0], "1.7020001")
    for text in (
        "x/(1 + exp(-x) + exp(-2*x)*0.2500001)",
        "tanh(x) + tanh(x)**2/10**9",
        "sigmoid(x) + x**2/10**9",
        "max(x, x**2/10**9)",
    ):
        assert not isinstance(finite_gate(core(text)), Exact)


def test_large_formulas_end_soon() -> None:
    text = "tanh(x)"
    for k in range(1, 20):
        text = f"tanh({text} + {k}*x*sigmoid({k}*x))"
    assert finite_gate(core(text), limits=False) is None
    product = "*".join(f"sigmoid({k}*x - {k})" for k in range(1, 20))
    assert not isinstance(finite_gate(core(product), limits=False), Exact)
