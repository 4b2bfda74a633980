"""Targets recognised as gates: random gates written in other ways, and such that are off by a little."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gateproof
from gateproof.numerics.fits.exact import Exact, NotFinite, everywhere, recognise, word
from gateproof.numerics.fits.request import Request
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


def said(text: str, lo: Fraction | None = None, hi: Fraction | None = None, **options: Any) -> str:
    return word(everywhere(target(text, lo, hi)), Request(**options))


def test_the_word_of_another_algebra() -> None:
    mish = said("mish(x)", branches=3)
    assert mish.startswith(
        "this function is a gate of 3 softmax branches: --gates softmax -k 3; no difference gate"
    )
    assert "stick branches: --gates" not in mish
    assert said("sech(x)**2").startswith(
        "this function is a gate of 3 stick branches and a gate of 3 softmax branches: "
        "--gates stick -k 3 or --gates softmax -k 3; no difference gate: it has poles of order 2"
    )
    assert said("mish(x)", gates="stick").endswith("--gates softmax -k 3")


def test_the_word_of_the_same_algebra() -> None:
    two = "this function is a gate of 2 difference branches"
    assert said("silu(x)", branches=1) == f"{two}: -k 2"
    assert said("silu(x)", sharpness="hard") == f"{two}: -k 2 without --sharpness hard"
    assert said("silu(x)", family="constant") == f"{two}, which the constraints asked for leave out"
    three = "this function is a gate of 3 difference branches: -k 3 --sharpness free"
    assert said("sigmoid(x) + tanh(3*x)", branches=4) == three
    assert said("hardtanh(x)") == "this function is a gate of 3 hard difference branches: -k 3"


def test_the_word_where_there_is_no_gate() -> None:
    never = "no gate of any number of branches is this function, in any algebra: "
    for text in ("gelu(x)", "erf(x)", "softplus(x)", "elu(x)", "atan(x)", "x*x", "softsign(x)"):
        assert said(text, Fraction(-2), Fraction(2)).startswith(never), text
    assert said("sin(x)", Fraction(-2), Fraction(2)).endswith("; stick and softmax gates: not decided")
    assert said("hardshrink(x)").startswith(
        "no difference gate is this function: it is the gate tg(x, tau=oo"
    )


def test_nothing_is_said_where_nothing_is_decided() -> None:
    assert said("asinh(x)", Fraction(-3), Fraction(3)) == ""


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
