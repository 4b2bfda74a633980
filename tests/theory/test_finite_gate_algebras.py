"""Softmax and stick gates that are functions exactly, and how few branches do."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest

from gateproof.numerics.points import at_point
from gateproof.theory.exact.critical import equal_constants
from gateproof.theory.finite_gate import Exact, NotFinite, finite_gate
from gateproof.theory.formula import expand, parse_expr
from gateproof.theory.formula.nodes import Expr
from gateproof.theory.gate import Gate


def core(text: str) -> Expr:
    return expand(parse_expr(text))


def gate(text: str, algebra: str, *, shared: bool = False) -> Exact:
    found = finite_gate(core(text), algebra=algebra, shared=shared)
    assert isinstance(found, Exact)
    return found


def softmax_value(found: Gate, x: float) -> mp.mpf:
    """The mean of the lines with weights exp(z_1 + .. + z_(k-1)), by mpmath."""

    def number(e: Expr) -> mp.mpf:
        return mp.mpf(str(at_point(e, {}, 128).mid()).split()[0].strip("[]"))

    weight, total, below = mp.mpf(1), mp.mpf(0), mp.mpf(0)
    for k, (a, b) in enumerate(zip(found.slope, found.intercept, strict=True)):
        if k:
            weight *= mp.exp(number(found.tau[k - 1]) * (x - number(found.theta[k - 1])))
        total += weight * (number(a) * x + number(b))
        below += weight
    return total / below


#: Formula, the least K, and the function in mpmath.
SOFTMAX = [
    ("tanh(x)*sech(x)", 6, lambda x: mp.tanh(x) * mp.sech(x)),
    ("mish(x)", 3, lambda x: x * mp.tanh(mp.log(1 + mp.exp(x)))),
    ("smish(x)", 3, lambda x: x * mp.tanh(mp.log(1 + 1 / (1 + mp.exp(-x))))),
    ("resech(x)", 4, lambda x: x * mp.sech(x)),
    ("sech(x)**2", 3, lambda x: mp.sech(x) ** 2),
    ("1/(1 + exp(x) + exp(2*x))", 3, lambda x: 1 / (1 + mp.exp(x) + mp.exp(2 * x))),
    ("sigmoid(x) - sigmoid(x - 3)", 3, lambda x: _bump(x)),
]


def _bump(x: float) -> mp.mpf:
    return 1 / (1 + mp.exp(-x)) - 1 / (1 + mp.exp(3 - x))


@pytest.mark.parametrize("row", SOFTMAX, ids=[row[0] for row in SOFTMAX])
def test_softmax_gates(row: tuple[str, int, object]) -> None:
    text, branches, right = row
    found = gate(text, "softmax")
    assert found.gate.algebra == "softmax"
    assert found.gate.branches == branches
    assert found.least
    assert callable(right)
    for x in (-3.0, -0.75, 0.0, 0.5, 2.0, 9.0):
        assert abs(softmax_value(found.gate, x) - right(mp.mpf(x))) < mp.mpf(10) ** -12


def test_the_memristor_gate_as_six_softmax_gates() -> None:
    """2 u (u**2 - 1)(1 + u) over (u**2 + 1)**2 (1 + u) = 1 + u + 2 u**2 + 2 u**3 + u**4 + u**5."""
    found = gate("tanh(x)*sech(x)", "softmax", shared=True).gate
    known = ["0", "-log(2)", "0", "log(2)", "0"]
    assert all(equal_constants(t, core(k)) for t, k in zip(found.theta, known, strict=True))
    assert [t.value for t in found.tau] == [1] * 5  # type: ignore[attr-defined]
    assert [c.value for c in found.intercept] == [0, -2, -1, 1, 2, 0]  # type: ignore[attr-defined]
    assert [c.value for c in found.slope] == [0] * 6  # type: ignore[attr-defined]


def test_mish_as_three_softmax_gates() -> None:
    """X (2 u + u**2)/(2 + 2 u + u**2)."""
    found = gate("mish(x)", "softmax", shared=True).gate
    assert [c.value for c in found.slope] == [0, 1, 1]  # type: ignore[attr-defined]
    assert equal_constants(found.theta[0], core("0"))
    assert equal_constants(found.theta[1], core("log(2)"))


def test_free_sharpness_takes_fewer_softmax_gates() -> None:
    """(1 + u)(1 + u**3) has no u**2: four weights with a gap, or six without."""
    text = "sigmoid(x) + sigmoid(3*x)"
    assert gate(text, "softmax").gate.branches == 4
    assert gate(text, "softmax", shared=True).gate.branches == 6


STICK = [
    ("sech(x)**2", 3, ["0", "0"], ["0", "4", "0"]),
    ("tanh(x)**2", 3, ["0", "0"], ["1", "-3", "1"]),
    ("sigmoid(x - 2)**3", 4, ["2", "2", "2"], ["0", "0", "0", "1"]),
    ("hardtanh(x)", 3, ["-1", "1"], ["-1", "0", "1"]),
    ("silu(x)", 2, ["0"], ["0", "0"]),
]


@pytest.mark.parametrize(("text", "branches", "theta", "intercept"), STICK, ids=[row[0] for row in STICK])
def test_stick_gates(text: str, branches: int, theta: list[str], intercept: list[str]) -> None:
    found = gate(text, "stick")
    assert found.gate.branches == branches
    assert found.least
    assert all(equal_constants(t, core(k)) for t, k in zip(found.gate.theta, theta, strict=True))
    assert all(equal_constants(c, core(k)) for c, k in zip(found.gate.intercept, intercept, strict=True))


def test_difference_gates_of_one_sharpness_are_stick_gates_of_as_many_branches() -> None:
    """sigmoid(x) - sigmoid(x - 3) = s_1 - s_2 with s_1 s_2 = (s_1 - e**3 s_2)/(1 - e**3)."""
    found = gate("sigmoid(x) - sigmoid(x - 3)", "stick")
    assert found.gate.branches == 3
    for x in (Fraction(-2), Fraction(1), Fraction(5, 2)):
        value = at_point(found.gate.expression(), {"x": x}, 128)
        assert abs(float(value.mid()) - float(_bump(mp.mpf(x.numerator) / x.denominator))) < 1e-15
    assert gate("x*sigmoid(x) + sigmoid(x - 1) - 2*sigmoid(x + 3)", "stick").gate.branches == 4


@pytest.mark.parametrize("text", ["relu(x)", "hardtanh(x)", "max(x, 0) + tanh(x)", "sign(x)"])
def test_softmax_gates_have_no_kinks(text: str) -> None:
    found = finite_gate(core(text), algebra="softmax")
    assert isinstance(found, NotFinite)
    assert "not smooth" in found.reason


@pytest.mark.parametrize("algebra", ["stick", "softmax"])
@pytest.mark.parametrize(
    "text", ["softplus(x)", "exp(x)", "softsign(x)", "sin(x)", "x**2*sigmoid(x)", "elu(x)", "gelu(x)"]
)
def test_some_functions_are_in_no_algebra(text: str, algebra: str) -> None:
    found = finite_gate(core(text), algebra=algebra)
    assert isinstance(found, NotFinite)
    assert found.every


@pytest.mark.parametrize("text", ["tanh(x)*sech(x)", "resech(x)", "max(x, 0) + tanh(x)"])
def test_what_is_not_decided_is_said_to_be_neither(text: str) -> None:
    assert finite_gate(core(text), algebra="stick") is None
