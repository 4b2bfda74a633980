"""Activations against what calculus says of them: derivatives, jumps, parity, homogeneity."""

from __future__ import annotations

import mpmath as mp
import pytest
from known_zoo import ZOO

from gateproof.numerics.backends import prepare
from gateproof.numerics.backends.formula import Formula, formula
from gateproof.numerics.meanfield.activation import RefusedActivation, X, phi
from gateproof.theory.formula import expand, parse_expr
from gateproof.theory.formula.nodes import Const, num
from gateproof.theory.gate import Gate


def at(expr, x):
    # Built from the expression: some third derivatives are longer than the texts that are read.
    return Formula("f", expr, (X,), {}, prepare.core(expr)).mp(x)


@pytest.mark.parametrize("text", ZOO)
def test_derivatives_against_finite_differences_of_mpmath(text):
    made, known = phi(text), ZOO[text]
    for x in (mp.mpf("-2.37"), mp.mpf("-0.31"), mp.mpf("0.173"), mp.mpf("1.81")):
        with mp.workdps(60):
            for order, expr in enumerate((made.expr, made.slope, made.curvature, made.third)):
                right = mp.diff(known.value, x, order) if order else known.value(x)
                assert abs(at(expr, x) - right) < 1e-12 * (1 + abs(right)), (text, order)
            branch = next(
                b for b in made.branches
                if (b.lo is None or at(b.lo, 0) < x) and (b.hi is None or x < at(b.hi, 0))
            )  # fmt: skip
            assert abs(at(branch.curvature, x) - at(made.curvature, x)) < 1e-25


@pytest.mark.parametrize("text", ZOO)
def test_parity_and_kinks(text):
    made, known = phi(text), ZOO[text]
    assert made.parity == {"even": 1, "odd": -1, "": 0}[known.parity]
    assert [k.order for k in made.kinks] == [order for _, order in known.kink_list()]
    assert made.has_jump == any(order < 0 for _, order in known.kink_list())
    for corner, (place, _) in zip(made.kinks, known.kink_list(), strict=True):
        assert abs(at(corner.at, 0) - formula(place).mp()) < 1e-12
        with mp.workdps(50):
            h, x = mp.mpf(10) ** -20, at(corner.at, 0)
            jump = known.value(x + h) - known.value(x - h)
            assert abs(at(corner.jump, 0) - jump) < 1e-12
            steep = [(known.value(x + s * 2 * h) - known.value(x + s * h)) / (s * h) for s in (1, -1)]
            assert abs(at(corner.slope_jump, 0) - (steep[0] - steep[1])) < 1e-12


HOMOGENEOUS = {"relu(x)", "leaky_relu(x)", "leaky_relu(x, 2)", "prelu(x)", "prelu(x, -1)"}


@pytest.mark.parametrize("text", ZOO)
def test_homogeneous(text):
    assert phi(text).homogeneous == (text in HOMOGENEOUS)


@pytest.mark.parametrize("text", ["x", "abs(x)", "2*x + abs(x)/3", "relu(3*x)", "max(x, -x)"])
def test_other_homogeneous_functions(text):
    assert phi(text).homogeneous


@pytest.mark.parametrize("text", ["x + 1", "relu(x - 1)", "relu(x) + 1", "x**2", "where(x > 1, x, 2*x)"])
def test_not_homogeneous(text):
    assert not phi(text).homogeneous


def test_piecewise_linear():
    assert phi("hardtanh").piecewise_linear
    assert not phi("hardswish").piecewise_linear


def test_targets_of_every_kind():
    gate = Gate((num(2),), (num(0),), (num(0), num(1)), (num(0), num(0)))

    class Fit:
        pass

    Fit.gate = gate
    given = ["x*sigmoid(2*x)", expand(parse_expr("x*sigmoid(2*x)")), gate, Fit()]
    for target in given:
        right = mp.diff(lambda x: x / (1 + mp.exp(-2 * x)), mp.mpf("0.3"))
        assert abs(at(phi(target).slope, mp.mpf("0.3")) - right) < 1e-12
    hard = Gate((Const("oo"),), (num(0),), (num(0), num(1)), (num(0), num(0)))
    assert phi(hard).homogeneous
    assert phi("gelu").text == "gelu"


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("", "empty"),
        ("gelo", "did you mean 'gelu'"),
        ("x*", "expected"),
        ("a*x", "'a' is not x"),
        ("log(x)", "no value"),
        ("1/x", "no value"),
        ("sqrt(x)", "no value"),
    ],
)
def test_refusals(target, says):
    with pytest.raises(RefusedActivation, match=says):
        phi(target)


def test_a_number_is_no_activation():
    with pytest.raises(TypeError, match="a name, a formula"):
        phi(3)
