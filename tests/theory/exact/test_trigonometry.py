"""Addition theorems, special angles, functions without slope (Abramowitz and Stegun 4.3, 4.4)."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.nodes import App, Const, Num, Var, num

TRUE = [
    "for x in R: sin(2*x) == 2*sin(x)*cos(x)",
    "for x in R, y in R: sin(x + y) == sin(x)*cos(y) + cos(x)*sin(y)",
    "for x in R, y in R: cos(x - y) == cos(x)*cos(y) + sin(x)*sin(y)",
    "for x in R: cos(3*x) == 4*cos(x)**3 - 3*cos(x)",
    "for x in R: sin(5*x) == 16*sin(x)**5 - 20*sin(x)**3 + 5*sin(x)",
    "for x in R: sin(x/2)**2 == (1 - cos(x))/2",
    "for x in R: sin(x + pi/3) == sin(x)/2 + sqrt(3)*cos(x)/2",
    "for x in R: sin(x + 2*pi) == sin(x)",
    "sin(pi/5) == sqrt(10 - 2*sqrt(5))/4",
    "cos(pi/12) == (sqrt(6) + sqrt(2))/4",
    "cos(pi/8) == sqrt(2 + sqrt(2))/2",
    "for x > 0: atan(x) + atan(1/x) == pi/2",
    "for x < 0: atan(x) + atan(1/x) == -pi/2",
    "for x in (-1, oo): atan(x) + atan((1 - x)/(1 + x)) == pi/4",
    "for x in [1, oo): atan(x) + atan(1/x) == pi/2",
    "4*atan(1/5) - atan(1/239) == pi/4",
]
FALSE = [
    "for x in R, y in R: cos(x - y) == cos(x)*cos(y) - sin(x)*sin(y)",
    "for x in R: sin(2*x) == 2*sin(x)",
    "for x in R: cos(3*x) == 4*cos(x)**3 + 3*cos(x)",
    "sin(pi/5) == sqrt(10 + 2*sqrt(5))/4",
    "for x < 0: atan(x) + atan(1/x) == pi/2",
    # another branch
    "for x in (-oo, -1): atan(x) + atan((1 - x)/(1 + x)) == pi/4",
    "for x in [0, 1]: atan(x) + atan((1 - x)/(1 + x)) == pi/3",
    # no value at 0
    "for x in [0, oo): atan(x) + atan(1/x) == pi/2",
]


@pytest.mark.parametrize("text", TRUE)
def test_identities(prove, text):
    assert prove(text) is not None


@pytest.mark.parametrize("text", FALSE)
def test_near_misses_are_not_proved(prove, text):
    assert prove(text) is None


@pytest.mark.parametrize("r", [Fraction(k, n) for n in (8, 10, 12) for k in range(-3, 2 * n, 2)])
def test_special_angles_against_numbers(r):
    from gateproof.theory.exact.monotone import in_workspace
    from gateproof.theory.exact.writeback import write

    for head, function in (("sin", mp.sin), ("cos", mp.cos)):
        node = App(head, (App("mul", (Num(r), Const("pi"))),))
        found = in_workspace(Assumptions(), lambda ws, n=node: write(ws, ws.form(n)))
        assert found is not None
        assert not any(isinstance(n, App) and n.head in ("sin", "cos") for n in found.walk())
        exact = function(mp.pi * r.numerator / r.denominator)
        bounds = mp.mpf(10) ** -30
        low, high = (num(Fraction(int(mp.floor((exact + s * bounds) * 10**40)), 10**40)) for s in (-1, 1))
        assert prove_relation(low, "<", found, Assumptions()) is not None
        assert prove_relation(found, "<", high, Assumptions()) is not None


QUIET = {"derandomize": True, "deadline": None, "suppress_health_check": list(HealthCheck)}
angles = st.lists(st.tuples(st.integers(-3, 3).filter(bool), st.sampled_from("xy")), min_size=1, max_size=3)


@settings(max_examples=5, **QUIET)
@given(angles, angles)
def test_products_to_sums_and_perturbed(first, second):
    # sin u cos v = (sin(u + v) + sin(u - v))/2
    def total(parts):
        return App("add", (num(0), *(App("mul", (num(k), Var(n))) for k, n in parts)))

    u, v = total(first), total(second)
    left = App("mul", (App("sin", (u,)), App("cos", (v,))))
    minus = App("add", (u, App("neg", (v,))))
    sums = [App("sin", (App("add", (u, v)),)), App("sin", (minus,))]
    line = Assumptions({"x": Domain(), "y": Domain()})
    right = App("div", (App("add", tuple(sums)), num(2)))
    assert prove_relation(left, "==", right, line) is not None
    for wrong in (App("add", (right, num("1/1000"))), App("mul", (right, num("1001/1000")))):
        if prove_relation(left, "==", num(0), line) is None or wrong.head == "add":
            assert prove_relation(left, "==", wrong, line) is None
