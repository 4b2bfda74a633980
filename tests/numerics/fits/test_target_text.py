"""Names and formulas as targets: asymptotes and kinks against calculus, and one line for what is refused."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from gateproof.numerics.backends.formula import formula
from gateproof.numerics.fits.target import RefusedTarget
from gateproof.numerics.fits.target_any import target_of
from gateproof.numerics.fits.target_text import of_gate
from gateproof.theory.formula import to_text
from gateproof.theory.formula.nodes import Const, num
from gateproof.theory.gate import Gate


@pytest.mark.parametrize(
    ("text", "left", "right", "kinks"),
    [
        ("gelu", (0, 0), (1, 0), ()),
        ("leaky_relu(x, 0.1)", (Fraction(1, 10), 0), (1, 0), (0,)),
        ("leaky_relu", (Fraction(1, 100), 0), (1, 0), (0,)),
        ("hardswish", (0, 0), (1, 0), (-3, 3)),
        ("step", (0, 0), (0, 1), (0,)),
        ("3", (0, 3), (0, 3), ()),
        ("x", (1, 0), (1, 0), ()),
        ("x*tanh(log(1+exp(x)))", (0, 0), (1, 0), ()),
        ("where(x > 0, x, exp(x) - 1)", (0, -1), (1, 0), (0,)),
        ("sqrt(x**2)", (-1, 0), (1, 0), (0,)),
        ("where(x < 20, log(1+exp(x)), x)", (0, 0), (1, 0), (20,)),
        ("1e6*gelu(x/1e6)", (0, 0), (1, 0), ()),
        ("1e-6*gelu(1e6*x)", (0, 0), (1, 0), ()),
        ("erf(x) + x/3", (Fraction(1, 3), -1), (Fraction(1, 3), 1), ()),
        ("gelu(x - 1000)", (0, 0), (1, -1000), ()),
        ("gelu(x/1000000 + 7)", (0, 0), (Fraction(1, 10**6), 7), ()),
        (
            "tg(x, tau=[2, 3.25], theta=[1000.5, 1001.25], slope=[0, 0.3333, 1], intercept=[0, 0.2, 0])",
            (0, 0),
            (1, 0),
            (),
        ),
        ("diff(abs(x - 1), x)", (0, -1), (0, 1), (1,)),
    ],
)
def test_lines_and_kinks_are_exact(text, left, right, kinks):
    target = target_of(text)
    assert target.domain == "R"
    for line, (slope, intercept) in ((target.left, left), (target.right, right)):
        assert (line.slope, line.intercept) == (num(slope), num(intercept))
        assert (line.m, line.b) == (float(slope), float(intercept))
    assert target.kinks == kinks


@pytest.mark.parametrize(
    ("text", "domain", "at", "value"),
    [
        ("x*log(x)", "(0, 1]", 0, 0),
        ("(1 - x)*log(1 - x)", "[0, 1)", 1, 0),
        ("x*sin(1/x)", "(0, 1]", 0, 0),
        ("exp(-1/x)", "(0, 2]", 0, 0),
        ("(x**2 - 1)/(x - 1)", "(1, 2)", 1, 2),
        ("where(x <= 0, 5, x + 1)", "(0, 1]", 0, 1),
        ("where(x <= 0, 5, x + 1)", "[0, 1]", 0, 5),
        ("exp(x)", "(0, 1)", 0, 1),
    ],
)
def test_at_an_end_that_is_left_out_the_limit_counts(text, domain, at, value):
    target = target_of(text, domain)
    assert target.function(np.array([float(at)]))[0] == value
    x = np.linspace(float(target.lo), float(target.hi), 100)[1:-1]
    assert np.allclose(target.function(x), formula(text).numpy(x), rtol=1e-15)


@pytest.mark.parametrize(
    ("text", "domain", "word"),
    [
        ("sin(1/x)", "(0, 1]", "no limit at x = 0, the open end"),
        ("log(x)", "(0, 1]", "unbounded at x = 0, the open end"),
        ("1/(x - 2)", "[0, 2)", "unbounded at x = 2, the open end"),
        ("x*log(x)", "[0, 1]", "no value for x <= 0"),
        ("x*log(x)", "(-1, 1]", "no value for x <= 0"),
    ],
)
def test_why_an_end_is_refused(text, domain, word):
    with pytest.raises(RefusedTarget) as refused:
        target_of(text, domain)
    assert word in str(refused.value)
    assert "\n" not in str(refused.value)


def test_symbolic_lines_stay_symbolic():
    target = target_of("x*atan(x)")
    assert to_text(target.right.slope) == "0.5*pi"
    assert target.right.m == float(mp.pi / 2)
    assert target_of("log(cosh(x))").left.b == -float(mp.log(2))


@pytest.mark.parametrize(
    ("text", "at", "right"),
    [
        # Formulas as people type them, whose doubles overflow; the values are mpmath's.
        ("x*tanh(log(1+exp(x)))", -20.0, -4.1223072406287614e-8),
        ("x*tanh(log(1+exp(x)))", 1000.0, 1000.0),
        ("where(x > 0, x, exp(x) - 1)", -1.0, -0.63212055882855768),
        ("where(x > 0, x, exp(x) - 1)", 1000.0, 1000.0),
        ("where(x > 0, sqrt(x), 0)", -1.0, 0.0),
        ("where(x < 20, log(1+exp(x)), x)", -40.0, 4.2483542552915889e-18),
    ],
)
def test_typed_formulas_have_their_values(text, at, right):
    target = target_of(text, (-1000, 1000))
    assert target.function(np.array([at]))[0] == pytest.approx(right, rel=1e-13, abs=0)


def test_kinks_that_are_no_rationals():
    target = target_of("abs(x**2 - 2)", "[-3, 3]")
    assert [float(k) for k in target.kinks] == pytest.approx([-(2**0.5), 2**0.5], abs=1e-15)


@pytest.mark.parametrize(
    ("domain", "lo", "hi", "text"),
    [
        ("R", None, None, "R"),
        ("[-8, 8]", -8, 8, "[-8, 8]"),
        ("x in [-1/2, 0.1]", Fraction(-1, 2), Fraction(1, 10), "[-0.5, 0.1]"),
        ("[0, oo)", 0, None, "[0, oo)"),
        ("(-oo, 1/3]", None, Fraction(1, 3), "(-oo, 1/3]"),
        ((-8, 8.5), -8, Fraction(17, 2), "[-8, 8.5]"),
        ((None, 0.1), None, Fraction(1, 10), "(-oo, 0.1]"),
        ((-np.inf, np.inf), None, None, "R"),
        (("-1/3", 2), Fraction(-1, 3), 2, "[-1/3, 2]"),
    ],
)
def test_domains(domain, lo, hi, text):
    target = target_of("gelu", domain)
    assert (target.lo, target.hi, target.domain) == (lo, hi, text)
    assert (target.left is None) == (lo is not None)


def test_an_irrational_end_becomes_a_double_and_says_so():
    target = target_of("sin", "[-pi, 1]")
    assert target.lo == Fraction("-3.141592653589793")
    assert "the domain's end -pi is taken as -3.141592653589793" in target.notes


def test_a_half_line_is_taken_where_there_is_no_more():
    target = target_of("exp(-sqrt(x))")
    assert (target.lo, target.hi, target.domain) == (0, None, "[0, oo)")
    assert (target.right.m, target.right.b) == (0, 0)
    assert "has values for x >= 0 only" in target.notes[0]


def test_a_window_that_holds_no_threshold():
    target = target_of("tanh(x - 20)", "[-6, 6]")
    # 1 + tanh(-14) is 1.3829e-12.
    assert "the constant -1 to 1.4e-12" in target.notes[0]
    assert target_of("tanh(x - 2)", "[-6, 6]").notes == ()
    assert target_of("2*x + 1", "[-6, 6]").notes == ()
    assert target_of("3", "[-6, 6]").notes == ()
    assert "the line 1*x + 0" in target_of("x + 1e-12*sin(x)", "[-6, 6]").notes[0]


def test_names_with_values():
    target = target_of(formula("a*x/(1 + abs(x))", a="3/2"))
    assert (target.left.b, target.right.b) == (-1.5, 1.5)
    assert target.function(np.array([1.0]))[0] == 0.75


def test_a_gate_is_a_target():
    gate = Gate((num(2), Const("oo")), (num(-1), num(1)), (num(0), num(1), num(0)), (num(0), num(0), num(4)))
    target = target_of(gate)
    assert of_gate(gate).expr == target.expr == gate.expression()
    assert (target.kind, target.kinks) == ("gate", (1,))
    assert (target.right.m, target.right.b) == (0, 4)
    # The middle gate is sigmoid(8) - 1 at x = 3.
    right = [0.5 / (1 + np.exp(-3.0)), 4.0 - 3.0 / (1 + np.exp(8.0))]
    assert target.function(np.array([0.5, 3.0])) == pytest.approx(right, rel=1e-14)


@pytest.mark.parametrize("algebra", ["difference", "stick", "softmax"])
def test_a_gate_of_many_branches_is_a_target(algebra):
    n = 16
    tau, theta = [Fraction(1, 3)] * (n - 1), [Fraction(k, 7) for k in range(n - 1)]
    lines = [Fraction(k * k % 5, 3) for k in range(n)], [Fraction(-k, 9) for k in range(n)]
    gate = Gate(*(tuple(num(v) for v in part) for part in (tau, theta, *lines)), algebra)
    target = target_of(gate)
    assert (target.left.m, target.left.b) == (0.0, 0.0)
    assert target.right.m == float(lines[0][-1])
    assert np.isfinite(target.function(np.linspace(-900, 900, 7))).all()


@pytest.mark.parametrize(
    ("text", "domain", "line"),
    [
        ("sin", None, "cannot be fitted on R: for x -> -oo it is periodic"),
        ("exp", None, "for x -> oo it grows faster than any line, like exp(x)"),
        ("x**2", None, "for x -> -oo it grows faster than any line, like x**2"),
        ("asinh", None, "it leaves every line of its slope, like log(x)"),
        ("snake", None, "it oscillates about a line"),
        (
            "sqrt(x)",
            None,
            "on a half line: for x -> oo it leaves every line of its slope, like sqrt",
        ),
        ("exp", "[0, oo)", 'give an interval, as --domain "[0, 8]"'),
        ("log", None, "values on one side of x = 0 only"),
        ("log", "[0, 8]", "no value for x <= 0"),
        ("1/x", None, "no value at x = 0"),
        ("1/x", "[-1, 1]", "no value at x = 0"),
        ("sinh", "[-1000, 1000]", "no finite value in doubles"),
        ("gelux", None, "did you mean 'gelu'"),
        ("tanh(z)", None, "'z' is not x"),
        ("a*x", None, "'a' is not x"),
        ("Piecewise((x, x>0), (exp(x)-1, True))", None, "where(condition, value, otherwise)"),
        ("softmax", None, "not known"),
        ("sup(x, x in R)", None, "no form for arrays"),
        ("", None, "empty"),
        ("x^2", None, "**"),
        ("2x", None, "column"),
        ("(" * 4000 + "x" + ")" * 4000, None, "3000 symbols"),
        ("gelu", "[3, 1]", "left end must be below"),
        ("gelu", "[1, 1]", "left end must be below"),
        ("gelu", "{1}", "give --domain"),
        ("gelu", "N", "interval of real numbers"),
        ("gelu", "[0, a]", "give --domain"),
        ("gelu", "R, y in R", "one interval"),
        ("gelu", "[oo, 1]", "wrong end"),
        ("gelu", (float("nan"), 1), "cannot be an end"),
        ("gelu", (1, 2, 3), "give --domain"),
        ("gelu", (0, 1j), "not a number"),
        ("gelu", "[1e200, 1e201]", "too large"),
        ("gelu", "[1, 1.0000000000001]", "too narrow"),
    ],
)
def test_one_line_says_what_is_wrong(text, domain, line):
    with pytest.raises(RefusedTarget) as caught:
        target_of(text, domain)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("given", [None, True, object(), {"x": 1}, b"gelu", 1j])
def test_what_is_no_target(given):
    with pytest.raises(RefusedTarget, match="give"):
        target_of(given)
