"""Membership in sets of integers, extrema and relations over integers: true, false, without meaning."""

from __future__ import annotations

from fractions import Fraction

import pytest
from deciding import cases, check, verdict

from gateproof.proofs_check.checker import verify
from gateproof.proofs_check.engine import decide, integer_certificates
from gateproof.proofs_check.records import Reading, Settings
from gateproof.theory.formula import expand_node, parse_expr
from gateproof.theory.formula.nodes import App, Expr, num


def read(text: str) -> Expr:
    node = expand_node(parse_expr(text))
    assert isinstance(node, Expr)
    return node


TRUE = [
    "for n in Z: n*(n+1)/2 in Z",
    "for n in Z: n*(n+1)*(n+2)/6 in Z",
    "for k in 1..10: k**2 in N",
    "for n in Z: n**2 + 1 in N1",
    "for n in N: 2**n in N1",
    "for n in N: not (n + 1/2 in Z)",
    "for n in 1..3: n in 0..5",
    "sqrt(4) in N",
    "for n in Z \\ {0}: n in Z \\ {0}",
    "for n in Z, m in Z: n*m + n - m in Z",
    "for n in Z: (n**3 - n)/6 in Z",
    "max(n*exp(-n/3), n in N) == 3/e",
    "sup(1/n, n in N1) == 1",
    "inf(1/n, n in N1) == 0",
    "max(1/n, n in N1) == 1",
    "argmax(n*exp(-n/3), n in N) == 3",
    "argmax(n*(5-n), n in N) == {2,3}",
    "argmin((n-1/2)**2, n in Z) == {0,1}",
    "zeros(n**2 - 4, n in Z) == {-2, 2}",
    "zeros(n**2 - 4, n in N) == 2",
    "sup(n, n in N) == oo",
    "max(i*j, i in 1..3, j in 1..3) == 9",
    "for n in Z: n**2 >= n",
    "for n in Z: n**2 != 2",
    "for n in Z: (2*n-1)*(2*n-3) >= -1",
    "for n in N: 2**n > n",
    "for n in N: 2**n >= n + 1",
    "min(n**2 - n, n in Z) == 0",
    "max(exp(-abs(n)), n in Z \\ {0}) == 1/e",
    "max(k**2, k in 1..10) == 100",
    "argmax(sin(k), k in 1..4) == 2",
    "sup(tanh(n), n in N) == 1",
    "max(n*exp(-n/3), n in N) <= 1.1037",
    "sup(tanh(n), n in N) >= 1",
    "sup(tanh(n), n in N) - 1 >= 0",
]
FALSE = [
    "for n in Z: n*(n+1)/3 in Z",
    "for n in Z: n*(n+1)*(n+2)/12 in Z",
    "1/2 in Z",
    "for n in Z: n**2 in N1",
    "for n in Z: n**2 - 1 in N",
    "for n in Z: 2**n in Z",
    "for n in N: not (n/2 in Z)",
    "for n in 1..7: n in 0..5",
    "sqrt(2) in Z",
    "pi in Z",
    "for n in Z: n in Z \\ {0}",
    "for x in R: x in Z",
    "for n in Z: (n**3 - n)/12 in Z",
    "max(n*exp(-n/3), n in N) == 1.1036",
    "inf(1/n, n in N1) > 0",
    "argmax(n*exp(-n/3), n in N) == 4",
    "argmax(n*(5-n), n in N) == 2",
    "argmax(n*(5-n), n in N) == {2,3,4}",
    "zeros(n**2 - 4, n in N) == {-2, 2}",
    "max(i*j, i in 1..3, j in 1..3) == 8",
    "for n in Z: n**2 > n",
    "for n in Z: n**2 >= n+1",
    "for n in Z: (2*n-1)*(2*n-3) >= 0",
    "for n in N: 2**n >= n**2",
    "for n in Z: n**2 != 4",
    "max(n*exp(-n/3), n in N) <= 1.1036",
]
ILL_POSED = [
    "for n in Z: 1/n in Z",
    "min(1/n, n in N1) == 0",
    "argmax(-1/n, n in N1) == 5",
    "max(n, n in N) == 5",
    "sup(1/n, n in N) == 1",
    "max(tanh(n), n in N) == 1",
]


@pytest.mark.parametrize(("text", "allowed"), cases(TRUE, FALSE, ILL_POSED))
def test_verdict(text: str, allowed: tuple[str, ...]) -> None:
    check(text, allowed)


def test_witness_of_a_fraction():
    found = verdict("for n in Z: n*(n + 1)/3 in Z")
    n = int(found.witness["n"])
    assert n * (n + 1) % 3 != 0


@pytest.mark.parametrize(
    "text", ["argmax(sin(n), n in N) == 2", "for n in N: 2**n/n**2 in Z", "sup(sin(n), n in N) == 1"]
)
def test_what_is_not_known_is_not_guessed(text):
    assert verdict(text).verdict in ("inconclusive", "ill-posed")


def test_ties_are_equal_exactly():
    # 10**-30 apart: not a tie.
    assert verdict("argmax(-abs(n - 1/2 - 10**(-30)), n in Z) == 1").verdict == "certified"
    assert verdict("argmax(-abs(n - 1/2 - 10**(-30)), n in Z) == {0, 1}").verdict == "refuted"


CERTIFIED = [
    "max(n*exp(-n/3), n in N) == 3*exp(-1)",
    "argmax(n*exp(-n/3), n in N) == 3",
    "sup(tanh(n), n in N) == 1",
    "max((-1)**n/(n + 1), n in 0..20) == 1",
    "zeros(n**3 - 8, n in Z) == 2",
    "max(sin(n)*m, n in 1..5, m in 1..5) < 5",
    "argmin((n - 5/2)**2, n in Z) == {2, 3}",
    "for n in N: n**2 != 3",
]


@pytest.mark.parametrize("formal", CERTIFIED)
def test_whole_numbers_leave_certificates(formal):
    found = decide(Reading("x", formal), Settings())
    assert found.verdict == "certified"
    assert "mpfr" in found.trust
    assert found.certificate is not None
    assert verify(dict(found.certificate)).accepted
    parts = found.certificate.get("parts", [found.certificate])
    assert [p["kind"] for p in parts].count("finite") == 1


@pytest.mark.parametrize("formal", CERTIFIED)
def test_without_an_accepted_certificate_no_trust_in_mpfr(formal, monkeypatch):
    monkeypatch.setattr(integer_certificates, "accept", lambda document: "no")
    found = decide(Reading("x", formal), Settings())
    assert found.verdict == "certified"
    assert "mpfr" not in found.trust


def test_only_true_maxima_have_certificates():
    # n exp(-n/3) at 2, 3, 4 is 1.0268, 1.1036, 1.0544.
    gap = App("add", (read("n*exp(-n/3)"), num(Fraction(-11, 10))))
    assert integer_certificates.others_below(gap, {"n": (0, None)}, [{"n": 3}]) is not None
    assert integer_certificates.others_below(gap, {"n": (0, None)}, []) is None
    assert integer_certificates.others_below(gap, {"n": (0, None)}, [{"n": 4}]) is None
    assert integer_certificates.others_below(gap, {"n": (4, None)}, []) is not None
    assert integer_certificates.never_zero_but(read("n**2 - 9"), {"n": (None, None)}, [{"n": 3}]) is None
    both = [{"n": 3}, {"n": -3}]
    assert integer_certificates.never_zero_but(read("n**2 - 9"), {"n": (None, None)}, both) is not None
