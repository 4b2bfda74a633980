"""Signs of closed values and at exact points leave certificates, and only true ones."""

from __future__ import annotations

from fractions import Fraction

import pytest

from gateproof.proofs_check.checker import verify
from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.engine.point_certificates import sign_certificate, value_certificate
from gateproof.proofs_check.records import Reading, Settings
from gateproof.theory.formula import expand_node, parse_expr
from gateproof.theory.formula.nodes import Expr


def read(text: str) -> Expr:
    node = expand_node(parse_expr(text))
    assert isinstance(node, Expr)
    return node


def test_only_the_true_sign_has_one():
    # erf(1/3) < erf(1/2); e^40 10^-30 = 2.4e-13 takes more bits than the first try.
    point = {"x": Fraction(1, 3), "y": Fraction(1, 2)}
    assert sign_certificate(read("erf(x) - erf(y)"), point, -1) is not None
    assert sign_certificate(read("erf(x) - erf(y)"), point, 1) is None
    assert sign_certificate(read("erf(x) - erf(y)"), point, 0) is None
    assert sign_certificate(read("exp(40)*(1 + 10**(-30)) - exp(40)"), {}, 1) is not None
    assert sign_certificate(read("1/x"), {"x": Fraction(0)}, 1) is None


def test_values_lie_in_true_bounds_only():
    # pi = 3.14159265..
    assert value_certificate(read("pi"), Fraction(314159, 10**5), Fraction(314160, 10**5)) is not None
    assert value_certificate(read("pi"), Fraction(314160, 10**5), Fraction(314161, 10**5)) is None


@pytest.mark.parametrize(
    ("formal", "verdict"),
    [
        ("0.6232 < asinh(1)/sqrt(2) < 0.6233", "certified"),
        ("asinh(1)/sqrt(2) < 0.6232", "refuted"),
        ("for x in R: silu(x) < 5", "refuted"),
        ("pi in Z", "refuted"),
        ("100*log(29.314~/29.249~) == 0.00~", "refuted"),
        ("1.5~*2.0~ == 3.0~", "proved"),
    ],
)
def test_verdicts_leave_them(formal, verdict):
    found = decide(Reading("x", formal), Settings())
    assert (found.verdict, found.trust) == (verdict, ("arb", "mpfr"))
    assert found.certificate is not None
    assert verify(dict(found.certificate)).accepted
