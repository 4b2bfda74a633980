"""Extrema beside poles, logarithms and powers, and bounds that are reached at one point."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import mpmath
import pytest

from gateproof.numerics.certify import certify
from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Reading, Settings
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.peak import prove_at_peak
from gateproof.theory.formula import expand, parse_expr
from gateproof.theory.formula.nodes import num


def verdict(text: str) -> str:
    return decide(Reading("x", text), Settings()).verdict


E = mpmath.e


#: Elementary calculus: the place is a zero of the derivative, or the limit at an end.
@pytest.mark.parametrize(
    ("text", "truth", "attained"),
    [
        ("sup(log(x)/x, x > 0)", lambda: 1 / E, True),
        ("inf(x*log(x), x > 0)", lambda: -1 / E, True),
        ("inf(x + 1/x, x > 0)", lambda: mpmath.mpf(2), True),
        ("inf(x + 1/x**2, x > 0)", lambda: 3 / mpmath.cbrt(4), True),
        ("sup(x**(1/x), x > 0)", lambda: mpmath.exp(1 / E), True),
        ("inf(x**x, x > 0)", lambda: mpmath.exp(-1 / E), True),
        ("inf(x*exp(1/x), x > 0)", lambda: +E, True),
        ("sup(log(x)/x**2, x > 0)", lambda: 1 / (2 * E), True),
        ("sup(log(1 + x)/x, x > 0)", lambda: mpmath.mpf(1), False),
        ("inf(1/x, x > 0)", lambda: mpmath.mpf(0), False),
        ("inf(tan(x) - x, x in (0, pi/2))", lambda: mpmath.mpf(0), False),
        ("sup(log(sin(x)), x in (0, pi))", lambda: mpmath.mpf(0), True),
        ("sup(log(x)*(1 - x), x in (0, 1))", lambda: mpmath.mpf(0), False),
        ("sup(abs(x*log(x)), x in (0, 1))", lambda: 1 / E, True),
        ("sup(abs(1/x - 3), x in [1/10, oo))", lambda: mpmath.mpf(7), True),
        ("sup(abs(1/x - 3), x in (1, oo))", lambda: mpmath.mpf(3), False),
    ],
)
def test_values_beside_open_ends(text: str, truth: Callable[[], mpmath.mpf], attained: bool) -> None:
    found = certify(expand(parse_expr(text)), 15)
    assert found["kind"] == "value"
    lo, hi = (Fraction(found["value"][k]) for k in ("lo", "hi"))
    with mpmath.workdps(40):
        assert (
            mpmath.mpf(lo.numerator) / lo.denominator <= truth() <= mpmath.mpf(hi.numerator) / hi.denominator
        )
    assert hi - lo <= Fraction(1, 10**13)
    assert found["attained"] is attained


@pytest.mark.parametrize(
    "text", ["sup(1/x, x in (0, 1])", "sup(atanh(x), x in (-1, 1))", "inf(log(x), x > 0)"]
)
def test_poles_are_infinite(text: str) -> None:
    assert certify(expand(parse_expr(text)), 15)["kind"] == "infinite"


@pytest.mark.parametrize(
    "text",
    [
        "sup(x**2*exp(-x), x > 0) == 4*exp(-2)",
        "for x > 0: x**2*exp(-x) <= 4*exp(-2)",
        "for x in (0, 2]: x**2*exp(-x) <= 4*exp(-2)",
        "for x >= 0: sqrt(x)*exp(-x) <= exp(-1/2)/sqrt(2)",
        "for x > 0: x**2*log(x) >= -1/(2*e)",
        "sup(x**3*exp(-x**2), x > 0) == (3/2)**(3/2)*exp(-3/2)",
        "inf(x**x, x > 0) == exp(-1/e)",
        "sup(x*exp(-x), x > 0) == sup(log(x)/x, x > 0)",
    ],
)
def test_proved_at_a_peak(text: str) -> None:
    assert verdict(text) == "proved"


@pytest.mark.parametrize(
    "text",
    ["sup(sin(x), x in R) == sup(cos(x), x in R)", "2*sup(sin(x), x in R) == sup(2*sin(x), x in R)"],
)
def test_extrema_of_equal_value(text: str) -> None:
    assert verdict(text) in ("proved", "certified")


@pytest.mark.parametrize(
    "text",
    [
        "sup(x**2*exp(-x), x > 0) < 4*exp(-2)",
        "for x > 0: x**2*exp(-x) < 4*exp(-2)",
        "for x in [-3, 3]: x**2*exp(-x) <= 4*exp(-2)",
        "for x > 0: x**2*log(x) >= -1/(2*e) + 1/1000000",
        "inf(x + 1/x, x > 0) > 2",
        "sup(log(x)/x, x > 0) <= 0.36787944117",
        "sup(sin(x), x in R) < sup(cos(x), x in R)",
        "sup(log(1 + x)/x, x > 0) < 1",
    ],
)
def test_near_misses_are_refuted(text: str) -> None:
    assert verdict(text) == "refuted"


def test_a_second_peak_is_not_overlooked() -> None:
    """x**2*(x - 3)**2 has peaks of 81/16 at 3/2 alone inside, and grows beyond 3: no one peak bounds it."""
    body, bound = expand(parse_expr("x**2*(x - 3)**2")), num(Fraction(81, 16))
    inside = Assumptions({"x": Domain(num(0), num(3), True, True)})
    wide = Assumptions({"x": Domain(num(0), num(4), True, True)})
    assert prove_at_peak(body, "<=", bound, inside) is not None
    assert prove_at_peak(body, "<=", bound, wide) is None
    assert prove_at_peak(body, "<", bound, inside) is None
