"""Sums and products up to a symbolic n. Right values: textbook identities, or made by differences."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateproof.theory.exact.closed_sums import closed_form, exact_value, infinite_sum
from gateproof.theory.exact.domain import Assumptions
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.exact.summation import prove_for_all_n
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Num, Series, Var, num

QUIET = {"derandomize": True, "deadline": None, "suppress_health_check": list(HealthCheck)}

TRUE = [
    "for n in N1: sum(k, k in 1..n) == n*(n + 1)/2",
    "for n in N: sum(k**2, k in 1..n) == n*(n + 1)*(2*n + 1)/6",
    "for n in N: sum(k**3, k in 1..n) == sum(k, k in 1..n)**2",
    r"for n in N, r in R \ {1}: sum(r**k, k in 0..n) == (1 - r**(n + 1))/(1 - r)",
    "for n in N: prod(1 + 1/k, k in 1..n) == n + 1",
    "for n in N: prod(2, k in 1..n) == 2**n",
    "for n in N: sum(1/(k*(k + 1)), k in 1..n) == n/(n + 1)",
    "for n in N: sum(k*2**k, k in 0..n) == (n - 1)*2**(n + 1) + 2",
    "for n in N1: sum(1/k**2, k in 1..n) <= 2 - 1/n",
    "for n in N1: sum(1/k, k in n + 1..2*n) == sum((-1)**(k + 1)/k, k in 1..2*n)",
    (
        "for n in N, x in R: sum(sigmoid(x - k) - sigmoid(x - k - 1), k in 0..n)"
        " == sigmoid(x) - sigmoid(x - n - 1)"
    ),
    "for n in N: 2**n > n",
    "for n in N: (-1)**(2*n) == 1",
    "for n in N: -1 <= (-1)**n <= 1",
    "for n in N, x >= -1: (1 + x)**n >= 1 + n*x",
    # an empty sum is 0 and an empty product 1, for every n below the lower end
    "for n in Z: sum(k, k in 1..n) >= 0",
    "for n in N: sum(k, k in 1..n - 1) == n*(n - 1)/2",
    "for n in N1: sum(2*k - 1, k in 1..n) == n**2",
]
NEVER = [
    "for n in N: sum(k, k in 1..n) == n*(n + 1)/2 + 1",
    # true from n = 1 on, false below
    "for n in Z: sum(k, k in 1..n) == n*(n + 1)/2",
    # true from n = 4 on: the empty sums below are 0
    "for n in N: sum(k, k in 5..n) == n*(n + 1)/2 - 10",
    "for n in N, r in R: sum(r**k, k in 0..n) == (1 - r**(n + 1))/(1 - r)",
    r"for n in N, r in R \ {1}: sum(r**k, k in 0..n) == (1 - r**n)/(1 - r)",
    "for n in N: sum(1/k, k in 0..n) == sum(1/k, k in 0..n)",
    "for n in N: prod(1 + 1/k, k in 0..n) >= 0",
    # the base has no value for r <= 0
    "for n in N, r in R: log(r)**n == log(r)**n",
    "for n in N, r in R: sum(log(r)**k, k in 1..n) == sum(log(r)**k, k in 1..n)",
    "for n in Z, r in R: r**n == r**n",
    "for n in N: 2**n >= n**2",
    "for n in N, x in R: (1 + x)**n >= 1 + n*x",
    # the step holds, the base does not; and the other way round
    "for n in N: n >= n + 1",
    "for n in N1: sum(k, k in 1..n) >= n**2",
    "for n in N1: sum(1/k**2, k in 1..n) <= 2 - 2/n",
]


def found(claim, text):
    relation, assumptions = claim(text)
    sides = list(zip(relation.ops, relation.terms, relation.terms[1:], strict=False))
    return [prove_for_all_n(a, op, b, "n", assumptions) for op, a, b in sides]


@pytest.mark.parametrize("text", TRUE)
def test_proved_for_every_n(claim, text):
    assert all(d is not None for d in found(claim, text))


@pytest.mark.parametrize("text", NEVER)
def test_false_or_without_a_value_is_never_proved(claim, text):
    assert any(d is None for d in found(claim, text))


def polynomial(coefficients, name):
    k = Var(name)
    terms = [App("mul", (Num(Fraction(c)), App("pow", (k, num(j + 1))))) for j, c in enumerate(coefficients)]
    return App("add", (num(0), *terms))


coefficients = st.lists(st.integers(-5, 5), min_size=1, max_size=4).filter(any)
bases = st.sampled_from([None, num(2), num(3), num("1/2"), num("-2/3"), Var("r")])


@settings(max_examples=20, **QUIET)
@given(coefficients, bases, st.integers(0, 3), st.integers(0, 3))
def test_sums_of_differences_and_near_misses(claim, numbers, base, lo, place):
    # f(k) = G(k) - G(k - 1) sums to G(n) - G(lo - 1), by its making.
    whole = polynomial(numbers, "k")
    if base is not None:
        whole = App("mul", (whole, App("pow", (base, App("add", (Var("k"), num(1)))))))
    before = substitute(whole, {"k": App("add", (Var("k"), num(-1)))})
    body = App("mul", (num(1), App("add", (whole, App("neg", (before,))))))
    _, assumptions = claim(rf"for n in N, r in R \ {{0, 1}}, n >= {lo}: n + r == n + r")
    series = Series("sum", body, "k", num(lo + 1), Var("n"))
    value = App("add", (substitute(whole, {"k": Var("n")}), App("neg", (substitute(whole, {"k": num(lo)}),))))
    right = prove_for_all_n(series, "==", value, "n", Assumptions(assumptions.domains))
    if lo == 0:
        assert right is not None
    wrong = list(numbers)
    wrong[place % len(wrong)] += 1
    other = App("add", (value, polynomial(wrong, "n"), App("neg", (polynomial(numbers, "n"),))))
    assert prove_for_all_n(series, "==", other, "n", Assumptions(assumptions.domains)) is None


@settings(max_examples=40, **QUIET)
@given(coefficients, bases, st.integers(-2, 3), st.integers(0, 9))
def test_closed_forms_against_sums_written_out(numbers, base, lo, count):
    base = num(5) if isinstance(base, Var) else base
    body = polynomial(numbers, "k")
    if base is not None:
        body = App("mul", (body, App("pow", (base, Var("k")))))
    series = Series("sum", body, "k", num(lo), num(lo + count - 1))
    form, exact = closed_form(series, Assumptions()), exact_value(series, 100)
    assert form is not None
    assert exact is not None
    assert prove_relation(form, "==", Num(exact), Assumptions()) is not None


def test_power_series_inside_the_disc_only(claim):
    k = Var("k")
    body = App("mul", (k, App("pow", (Var("r"), k))))
    series = Series("sum", body, "k", num(0), num(0))
    inside = claim("for r in (-1, 1): r == r")[1]
    relation, _ = claim("for r in (-1, 1): r/(1 - r)**2 == r")
    form = infinite_sum(series, inside)
    assert form is not None
    assert prove_relation(form, "==", relation.terms[0], inside) is not None
    for wider in ("[-1, 1]", "(-1, 2)", "R"):
        assert infinite_sum(series, claim(f"for r in {wider}: r == r")[1]) is None
