"""Nearest true statements: right by hand or by mpmath, decided by the engine, and never false."""

from __future__ import annotations

import re

import mpmath
import pytest

from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.engine.nearest import nearest
from gateproof.proofs_check.records import NEAREST, Reading, Settings

#: A false statement, and what is nearest to it by hand.
BY_HAND = {
    "for z in R: tanh(z)*sech(z) < 1/2": ("for z in R: tanh(z)*sech(z) <= 1/2", "attained"),
    "sup(tanh(x), x in R) < 1": ("sup(tanh(x), x in R) <= 1", "attained"),
    "for x in R: abs(tanh(x)) <= 0.5": ("for x in R: abs(tanh(x)) < 1", "constant"),
    "for z in R: tanh(z)*sech(z) <= 0.4999999": ("for z in R: tanh(z)*sech(z) <= 0.5", "constant"),
    "for x in R: 0.3 < sigmoid(x) < 0.6": ("for x in R: 0 < sigmoid(x) < 1", "constant"),
    "sup(tanh(x), x in R) == oo": ("sup(tanh(x), x in R) == 1", "constant"),
    "for x in R: cosh(x)**2 - sinh(x)**2 == 2": ("for x in R: cosh(x)**2 - sinh(x)**2 == 1", "constant"),
    "sigmoid(0) == 0.25": ("sigmoid(0) == 0.5", "value"),
    "0.1 + 0.2 == 0.30000000000000004": ("0.1 + 0.2 == 0.3", "value"),
    "2/3 == 0.66~": ("2/3 == 0.67~", "value"),
    "limit(exp(x), x, oo) < oo": ("limit(exp(x), x, oo) == oo", "value"),
    "limit(sign(x), x, 0, -) == 1": ("limit(sign(x), x, 0, -) == -1", "value"),
    "at(diff(tanh(x), x, 3), x=0) == 2": ("at(diff(tanh(x), x, 3), x=0) == -2", "value"),
    "sum(k**2, k in 1..10) == 384": ("sum(k**2, k in 1..10) == 385", "value"),
    "diff(x**3, x) == 3*x": ("for x in R: diff(x**3, x) == 3*x**2", "value"),
    "taylor(exp(x), x, 0, 1) == 1 - x": ("for x in R: taylor(exp(x), x, 0, 1) == 1 + x", "value"),
    "argmax(x**2, x in [-1, 1]) == 1": ("argmax(x**2, x in [-1, 1]) == {-1, 1}", "set"),
    "zeros(x**2 - 2, x in R) == sqrt(2)": ("zeros(x**2 - 2, x in R) == {-sqrt(2), sqrt(2)}", "set"),
    "argmax(tanh(z)*sech(z), z in R) == 0.88": ("argmax(tanh(z)*sech(z), z in R) == asinh(1)", "set"),
    "for x in R: tanh(x) in (0, 1)": ("for x in R: tanh(x) in (-1, 1)", "set"),
    "for x in R: silu(x) >= 0": ("for x in [0, oo): silu(x) >= 0", "domain"),
    "for x in [0, 10]: sin(x) >= 0": ("for x in [0, pi]: sin(x) >= 0", "domain"),
    "for x in R: x**2 >= x": ("for x in [1, oo): x**2 >= x", "domain"),
    "for tau > 0: 1/tau <= 1": ("for tau in [1, oo): 1/tau <= 1", "domain"),
    "for x in R: abs(tanh(x) - x) <= 0.2*abs(x)**3": (
        "for x in R: abs(tanh(x) - x) <= (1/3)*abs(x)**3",  # tanh x = x - x**3/3 + ...
        "constant",
    ),
    "for x in R: abs(sin(x)) <= 0.5*abs(x)": ("for x in R: abs(sin(x)) <= abs(x)", "constant"),
    "integrate(x**2, x, 0, 1) == 1/2": ("integrate(x**2, x, 0, 1) == 1/3", "value"),
    "gauss(z**4, z, q=1) == 1": ("gauss(z**4, z, q=1) == 3", "value"),
    "for x in R: limit(sigmoid(t*x), t, oo) == step(x)": (
        "for x in R \\ {0}: limit(sigmoid(t*x), t, oo) == step(x)",  # 1/2 at 0, where the step is 0
        "domain",
    ),
    "for x in R, y in R: max(x, y) == x": ("for x in R, y in R, x >= y: max(x, y) == x", "domain"),
    "for x in R: x > 0 or x < 0": ("for x in R \\ {0}: x > 0 or x < 0", "domain"),
    "for x in R: not (x <= 0 and x >= 0)": ("for x in R \\ {0}: not (x <= 0 and x >= 0)", "domain"),
    "for x in R: x > 0 => x > 1": ("for x in R: x > 1 => x > 0", "direction"),
    "for k in 1..20: 2**k > k**3": ("for k in 10..20: 2**k > k**3", "domain"),  # 1024 > 1000
    "for x in R: exp(x) != 1": ("for x in R \\ {0}: exp(x) != 1", "domain"),
    "for x in R: where(x >= 0, x, 0) == abs(x)": (
        "for x in [0, oo): where(x >= 0, x, 0) == abs(x)",
        "domain",
    ),
    "convex(tanh(x), x in R)": ("convex(tanh(x), x in (-oo, 0])", "domain"),
    "defined(log(x), x in R)": ("defined(log(x), x in (0, oo))", "domain"),
    "defined(1/x, x in [-1, 1])": ("defined(1/x, x in [-1, 1] \\ {0})", "domain"),
    "for x in R: -x**2 == (-x)**2": ("for x in R: -x**2 == -(-x)**2", "sign"),
    "for x in R: tanh(x) == 2*sinh(x)/cosh(x)": (
        "for x in R: tanh(x) == 1/2*(2*sinh(x)/cosh(x))",
        "factor",
    ),
    "odd(x*tanh(x), x in R)": ("even(x*tanh(x), x in R)", "direction"),
    "decreasing(exp(x), x in R)": ("increasing(exp(x), x in R)", "direction"),
    "for x in R: softplus(x) < relu(x)": ("for x in R: softplus(x) > relu(x)", "direction"),
    "for x in R: x**2 > 1 => x > 1": ("for x in R: x > 1 => x**2 > 1", "direction"),
}


@pytest.mark.parametrize("text", BY_HAND)
def test_the_nearest_true_statement(text):
    assert decide(Reading("", text)).verdict == "refuted"
    found = nearest(Reading("", text), Settings())
    assert found is not None
    assert (found["formal"], found["kind"]) == BY_HAND[text]
    again = decide(Reading("", found["formal"]))
    assert again.verdict == found["verdict"]
    assert again.controls.caught == again.controls.planted


def _gelu(x):
    return x * (1 + mpmath.erf(x / mpmath.sqrt(2))) / 2


def _sigmoid(x):
    return 1 / (1 + mpmath.exp(-x))


def _peak(f, start):
    """The value of f at the zero of its derivative near a point."""
    return f(mpmath.findroot(lambda x: mpmath.diff(f, x), start))


def _quick(x):
    return x * _sigmoid(mpmath.mpf("1.702") * x) - _gelu(x)


#: A false bound, the form of the nearest true one, and the number in it, found by mpmath.
SHARP = [
    (
        "sup(abs(x*sigmoid(1.702*x) - gelu(x)), x in R) <= 0.003",
        r"sup\(.*\) <= ([0-9.]+)",
        lambda: abs(_peak(_quick, 2.27)),
        "up",
    ),
    (
        "for x in R: abs(x*sigmoid(1.702*x) - gelu(x)) <= 0.003",
        r"for x in R: .* <= ([0-9.]+)",
        lambda: abs(_peak(_quick, 2.27)),
        "up",
    ),
    (
        "for x in R: silu(x) >= -0.2",
        r"for x in R: silu\(x\) >= (-[0-9.]+)",
        lambda: _peak(lambda x: x * _sigmoid(x), -1.28),
        "down",
    ),
    (
        "for x in R, tau > 0: abs(x*sigmoid(tau*x) - relu(x)) <= 0.2/tau",
        r"for x in R, tau in \(0, oo\): .* <= ([0-9.]+)/tau",
        lambda: -_peak(lambda x: x * _sigmoid(x), -1.28),
        "up",
    ),
    ("sigmoid(1) == 0.25", r"sigmoid\(1\) == ([0-9.]+)~", lambda: _sigmoid(1), "round"),
    (
        "increasing(silu(x), x in R)",
        r"increasing\(silu\(x\), x in \[(-[0-9.]+), oo\)\)",
        lambda: mpmath.findroot(lambda x: mpmath.diff(lambda t: t * _sigmoid(t), x), -1.28),
        "up",
    ),
    (
        "for x > 0: log(x) < x/3",
        r"for x in \[([0-9.]+), oo\): .*",
        lambda: mpmath.findroot(lambda x: mpmath.log(x) - x / 3, 4.5),
        "up",
    ),
]


@pytest.mark.parametrize(("text", "form", "right", "rounding"), SHARP, ids=[s[0] for s in SHARP])
def test_a_constant_is_sharp_to_six_digits_and_rounded_outward(text, form, right, rounding):
    found = nearest(Reading("", text), Settings())
    assert found is not None
    match = re.fullmatch(form, found["formal"])
    assert match, found
    with mpmath.workdps(30):
        shown, exact = mpmath.mpf(match.group(1)), right()
        unit = mpmath.mpf(10) ** (mpmath.floor(mpmath.log10(abs(exact))) - 5)
        gap = shown - exact
    assert {"up": 0 <= gap < unit, "down": -unit < gap <= 0, "round": abs(gap) <= unit / 2}[rounding]


@pytest.mark.parametrize(
    "text",
    [
        "for x in R: x**2 - 1 == (x - 1)**2",  # unbounded apart, equal at one point
        "not (1 < 2)",
        "1 == 2",  # that 1 is 1 is no help
        "exists x in R: (tanh(x) == 1)",
        "even(silu(x), x in R)",  # neither even nor odd
        "for x in R: tg(x, tau=1, theta=[0], slope=[1, 0], intercept=[0, 0]) == silu(x)",
    ],
)
def test_nothing_is_shown_where_nothing_was_found(text):
    assert decide(Reading("", text)).verdict == "refuted"
    assert nearest(Reading("", text), Settings()) is None


def test_every_wrong_part_is_put_right():
    found = nearest(Reading("", "for x in R: silu(x) >= -0.2 and tanh(x) <= 0.3"), Settings())
    assert found is not None
    assert found["formal"].startswith("for x in R: silu(x) >= -0.278465 and tanh(x) <")


def test_own_definitions_are_kept():
    reading = Reading("", "for x in R: f(x) >= 0.5", define={"f": "x*sigmoid(x)"})
    found = nearest(reading, Settings())
    assert found is not None
    assert "f(x)" in found["formal"]
    assert decide(Reading("", found["formal"], define=reading.define)).verdict == found["verdict"]


def test_the_answer_is_the_same_each_time():
    reading = Reading("", "for x in R: gelu(x) == gelu_tanh(x)")
    first = nearest(reading, Settings())
    assert first == nearest(reading, Settings())
    assert first is not None
    assert first["kind"] == "distance"


def test_kinds_are_a_closed_set():
    assert {kind for _, kind in BY_HAND.values()} | {"distance"} == set(NEAREST)
