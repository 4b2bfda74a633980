"""Targets recognised as gates: random gates written in other ways, and such that are off by a little."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gateproof
from gateproof.numerics.fits.exact import Exact, NotFinite, elsewhere, recognise, word
from gateproof.numerics.fits.target import Target, of_formula
from gateproof.theory.exact.critical import equal_constants
from gateproof.theory.exact.kernels import minus, plus
from gateproof.theory.formula import expand, parse_expr
from gateproof.theory.formula.nodes import App, Num


def target(text: str, lo: Fraction | None = None, hi: Fraction | None = None) -> Target:
    return of_formula(gateproof.formula(text), expand(parse_expr(text)), lo, hi)


def test_the_kinds_of_sharpness() -> None:
    soft, hard = target("silu(x)"), target("relu(x)")
    assert isinstance(recognise(soft), Exact)
    assert isinstance(recognise(soft, sharpness="shared"), Exact)
    found = recognise(soft, sharpness="hard")
    assert isinstance(found, NotFinite)
    assert "straight" in found.reason
    assert isinstance(recognise(hard, sharpness="hard"), Exact)
    assert isinstance(recognise(target("2*x + 1"), sharpness="hard"), Exact)


def test_a_callable_is_not_decided() -> None:
    assert recognise(Target("f", lambda x: x)) is None


def test_the_domain_counts() -> None:
    assert isinstance(recognise(target("hardswish(x)")), NotFinite)
    found = recognise(target("hardswish(x)", Fraction(4), Fraction(9)))
    assert isinstance(found, Exact)
    assert found.kind == "affine"


def test_the_word_of_branches_left_out() -> None:
    found = recognise(target("relu(x)"))
    assert isinstance(found, Exact)
    assert word(found) == "exact: the target is a hard gate, 2 branches, sharpness oo; error 0, proved"
    assert word(found, 2) == word(found)
    assert word(found, 3).endswith("1 of the 3 branches asked for would change nothing: left out")


def test_the_word_of_another_algebra() -> None:
    word_of_mish = "the target is no difference gate; it is exact as softmax gates, 3 branches"
    assert elsewhere(target("mish(x)")) == word_of_mish
    assert elsewhere(target("sech(x)**2")).endswith(
        "as stick gates, 3 branches and as softmax gates, 3 branches"
    )
    assert elsewhere(target("silu(x)")) == ""
    assert elsewhere(target("softplus(x)")) == ""


def test_the_statement_is_decided_by_the_engine() -> None:
    from gateproof.proofs_check.engine import Reading, Settings, decide

    for text in (
        "silu(x)",
        "hardtanh(x)",
        "x*sigmoid(x) + tanh(3*x)/2",
        "max(x, 0) + tanh(x)",
        "1/(2*cosh(x) + 3)",
    ):
        found = recognise(target(text))
        assert isinstance(found, Exact)
        assert decide(Reading("x", found.statement), Settings()).verdict == "proved"


SMALL = st.fractions(min_value=-3, max_value=3, max_denominator=4)
RATE = st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(2), Fraction(3), Fraction(3, 2)])
STEP = st.tuples(RATE, SMALL, SMALL, SMALL)
#: sigmoid(z) in five ways.
FORMS = [
    "sigmoid({z})",
    "1/(1 + exp(-({z})))",
    "(1 + tanh(({z})/2))/2",
    "exp({z})/(exp({z}) + 1)",
    "exp(({z})/2)/(2*cosh(({z})/2))",
]


def written(steps: list[tuple[Fraction, Fraction, Fraction, Fraction]], forms: list[int]) -> str:
    parts = []
    for (tau, theta, a, b), form in zip(steps, forms, strict=False):
        gate = FORMS[form].format(z=f"({tau})*(x - ({theta}))")
        parts.append(f"(({a})*x + ({b}))*({gate})")
    return " + ".join(parts)


def _recovers(
    steps: list[tuple[Fraction, Fraction, Fraction, Fraction]], forms: list[int], line: Fraction
) -> None:
    """The sum of steps, equal ones merged, is found with its thresholds, sharpnesses and lines."""
    total: dict[tuple[Fraction, Fraction], list[Fraction]] = {}
    for tau, theta, a, b in steps:
        held = total.setdefault((theta, tau), [Fraction(0), Fraction(0)])
        held[0] += a
        held[1] += b
    kept = sorted((k, v) for k, v in total.items() if any(v))
    found = recognise(target(f"{written(steps, forms)} + ({line})*x - 1"))
    assert isinstance(found, Exact)
    gate = found.gate
    assert gate.branches == len(kept) + 1
    lines = [(line, Fraction(-1))]
    for k, ((theta, tau), (a, b)) in enumerate(kept):
        assert equal_constants(gate.theta[k], Num(theta))
        assert equal_constants(gate.tau[k], Num(tau))
        lines.append((lines[-1][0] + a, lines[-1][1] + b))
    for (a, b), slope, intercept in zip(lines, gate.slope, gate.intercept, strict=True):
        assert equal_constants(slope, Num(a))
        assert equal_constants(intercept, Num(b))


QUICK = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


@QUICK
@given(st.lists(STEP, min_size=1, max_size=3), st.lists(st.integers(0, 2), min_size=3, max_size=3), SMALL)
def test_random_gates_are_recovered(
    steps: list[tuple[Fraction, Fraction, Fraction, Fraction]], forms: list[int], line: Fraction
) -> None:
    _recovers(steps, forms, line)


@QUICK
@given(
    st.lists(STEP, min_size=1, max_size=2),
    st.lists(st.integers(0, 2), min_size=3, max_size=3),
    st.sampled_from(
        ["sech(x)**2", "x**2", "softplus(x)", "sech(x)", "erf(x)", "exp(x)", "abs(x)**3", "mish(x)"]
    ),
)
def test_random_gates_with_another_function_added_are_none(
    steps: list[tuple[Fraction, Fraction, Fraction, Fraction]], forms: list[int], other: str
) -> None:
    found = recognise(target(f"{written(steps, forms)} + {other}/1000"))
    assert not isinstance(found, Exact)


RATIO = st.fractions(min_value=Fraction(1, 4), max_value=5, max_denominator=4)


@settings(QUICK, max_examples=8)
@given(st.lists(st.tuples(RATIO, SMALL, SMALL), min_size=2, max_size=3, unique_by=lambda t: t[0]))
def test_one_fraction_falls_into_its_sigmoids(terms: list[tuple[Fraction, Fraction, Fraction]]) -> None:
    """sum (a x + b) u/(u + w) over one denominator: thresholds log w, lines a x + b."""
    below = [f"(exp(x) + {w})" for w, _, _ in terms]
    above = [
        "*".join([f"(({a})*x + ({b}))*exp(x)", *(d for j, d in enumerate(below) if j != i)])
        for i, (_, a, b) in enumerate(terms)
    ]
    one = target(f"({' + '.join(above)})/({'*'.join(below)})")
    found = recognise(one)
    assert isinstance(found, Exact)
    kept = sorted(t for t in terms if t[1] or t[2])
    gate = found.gate
    assert gate.branches == len(kept) + 1
    for k, (w, a, b) in enumerate(kept):
        assert equal_constants(gate.theta[k], App("log", (Num(w),)))
        assert equal_constants(plus(gate.slope[k + 1], minus(gate.slope[k])), Num(a))
        assert equal_constants(plus(gate.intercept[k + 1], minus(gate.intercept[k])), Num(b))
    for algebra in ("stick", "softmax"):
        other = recognise(one, algebra)
        assert isinstance(other, Exact)
        assert other.gate.branches == len(kept) + 1


@pytest.mark.deep
@settings(max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(st.lists(STEP, min_size=1, max_size=3), st.lists(st.integers(0, 4), min_size=3, max_size=3), SMALL)
def test_many_random_gates_are_recovered(
    steps: list[tuple[Fraction, Fraction, Fraction, Fraction]], forms: list[int], line: Fraction
) -> None:
    _recovers(steps, forms, line)
