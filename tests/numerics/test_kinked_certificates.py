"""Certificates of integrals across kinks: the checker accepts them, and they hold mpmath's values."""

from __future__ import annotations

import copy
from fractions import Fraction as F  # noqa: N817
from itertools import pairwise
from typing import Any

import mpmath as mp
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from random_formulas import by_mpmath, formulas

from gateproof.numerics import means
from gateproof.numerics.integral import integral
from gateproof.numerics.kinked_certificate import any_certificate, total
from gateproof.numerics.means import as_range, certificate_of
from gateproof.proofs_check import api
from gateproof.proofs_check.checker import verify
from gateproof.proofs_check.engine import decide, integral_certificates
from gateproof.proofs_check.records import Reading, Settings
from gateproof.theory.formula import expand_node, parse_expr
from gateproof.theory.formula.nodes import App, Expr, Integral, Num, Var


def read(text: str) -> Any:
    return expand_node(parse_expr(text))


def mpf(value: F) -> mp.mpf:
    return mp.mpf(value.numerator) / value.denominator


def trapezoid(f, q: str, step: str = "0.05") -> mp.mpf:
    """E f(sqrt(q) Z) by the trapezoidal rule on R: for f analytic in a strip of half-width a its error is
    about exp(-2 pi a/step), here with a = 3 (in units of the deviation; the bell at 3 i is e^4.5)."""
    h, s = mp.mpf(step), mp.sqrt(mp.mpf(q))
    top = int(16 / h)
    return h * mp.fsum(f(s * h * k) * mp.npdf(h * k) for k in range(-top, top + 1))


SQUARES = {
    "gauss(silu(z)**2, z, q={q})": lambda z: (z / (1 + mp.exp(-z))) ** 2,
    "gauss(tanh(z)**2*sech(z)**2, z, q={q})": lambda z: (mp.tanh(z) * mp.sech(z)) ** 2,
}


@pytest.mark.parametrize("q", ["0.0768", "0.1536"])
@pytest.mark.parametrize("text", SQUARES)
def test_squares_to_twenty_five_digits(text, q):
    found = api.certify(text.format(q=q), 25)
    with mp.workdps(45):
        right, finer = trapezoid(SQUARES[text], q), trapezoid(SQUARES[text], q, "0.04")
        assert abs(right - finer) < mp.mpf(10) ** -40
        low, high = mp.mpf(found["value"]["lo"]), mp.mpf(found["value"]["hi"])
        assert low <= right <= high
        assert high - low <= right * mp.mpf(10) ** -24
        assert verify(found["certificate"]).accepted
        ends = (mpf(F(found["certificate"]["conclusion"][k])) for k in ("lower", "upper"))
        low, high = ends
        assert low <= right <= high
        assert high - low < right * mp.mpf(10) ** -24


def test_fewer_digits_in_the_certificate_are_said():
    found = api.certify("gauss(relu(z), z, q=1)", 45)
    assert found["digits"] == 45
    assert found["reason"] == "the certificate states 40 of the digits"


def holds(document: dict[str, Any], right: mp.mpf, slack: mp.mpf) -> bool:
    low, high = map(mpf, total(document.get("parts", [document])))
    return bool(low - slack <= right <= high + slack)


def roots(g, lo: mp.mpf, hi: mp.mpf, count: int = 300) -> list[mp.mpf]:
    """Sign changes of a function, by a dense grid and bisection."""
    grid = [lo + (hi - lo) * k / count for k in range(count + 1)]
    found = []
    for a, b in pairwise(grid):
        if mp.sign(g(a)) == mp.sign(g(b)):
            continue
        for _ in range(50):
            middle = (a + b) / 2
            a, b = (middle, b) if mp.sign(g(a)) == mp.sign(g(middle)) else (a, middle)
        found.append((a + b) / 2)
    return found


def gap(z: mp.mpf) -> mp.mpf:
    """A gate less gelu."""
    return z / (1 + mp.exp(-mp.mpf("1.702") * z)) - z * mp.ncdf(z)


KNOWN = [
    ("gauss(abs(z*sigmoid(1.702*z) - gelu(z)), z, q=1)", lambda z: abs(gap(z))),
    ("gauss(max(tanh(z), z**2 - 1), z, q=1)", lambda z: max(mp.tanh(z), z**2 - 1)),
    ("gauss(where(z**3 > z, 1, tanh(z)), z, q=1)", lambda z: mp.mpf(1) if z**3 > z else mp.tanh(z)),
]
ARGUMENTS = [
    gap,
    lambda z: mp.tanh(z) - z**2 + 1,
    lambda z: z**3 - z,
]


@pytest.mark.parametrize("k", range(len(KNOWN)))
def test_means_with_kinks_at_irrational_points(k):
    text, f = KNOWN[k]
    node = read(text)
    document, stated = certificate_of(node, 12)
    assert stated == 12
    assert document["kind"] == "composite"
    assert verify(document).accepted
    with mp.workdps(25):
        ends = [mp.mpf(-12), *roots(ARGUMENTS[k], mp.mpf("-11.9"), mp.mpf("12.1")), mp.mpf(12)]
        right = mp.fsum(mp.quad(lambda z: f(z) * mp.npdf(z), mp.linspace(a, b, 5)) for a, b in pairwise(ends))
        assert holds(document, right, mp.mpf(10) ** -16)
        low, high = map(mpf, total(document["parts"]))
        assert high - low < mp.mpf(10) ** -11


def switches(expr: Expr) -> list[Expr]:
    """What abs, max and min in a formula change over at."""
    found = []
    for node in expr.walk():
        if isinstance(node, App) and node.head == "abs":
            found.append(node.args[0])
        if isinstance(node, App) and node.head in ("max", "min"):
            found.append(App("add", (node.args[0], App("neg", (node.args[1],)))))
    return found


@settings(max_examples=6, deadline=None)
@given(formulas(), st.fractions(-3, 1, max_denominator=4), st.fractions(F(1, 2), 3, max_denominator=3))
def test_random_integrands(expr, start, width):
    assume(switches(expr))
    found = integral(expr, "x", Num(start), Num(start + width), 15)
    if found.status != "ok":
        # sqrt, log or poles are not among these formulas.
        pytest.fail(found.reason)
    with mp.workdps(25):
        lo, hi = mpf(start), mpf(start + width)
        cuts = {c for u in switches(expr) for c in roots(lambda x, u=u: by_mpmath(u, x), lo, hi, 60)}
        ends = sorted({lo, hi, *cuts})
        right = mp.fsum(
            mp.quad(lambda x: by_mpmath(expr, x), mp.linspace(a, b, 4), maxdegree=4)
            for a, b in pairwise(ends)
        )
        low, high = map(mpf, found.enclosure)
        slack = mp.mpf(10) ** -12 * (1 + abs(right))
        assert low - slack <= right <= high + slack
    node = Integral(expr, "x", Num(start), Num(start + width))
    on = as_range(node)
    tolerance = (1 + max(map(abs, found.enclosure))) / 10**5
    document = any_certificate(on, found.enclosure, tolerance)
    if document is None:
        return
    told = verify(document)
    assert told.accepted, told.reason
    with mp.workdps(25):
        assert holds(document, right, slack)


def test_every_integral_of_a_composite_is_checked():
    node = read("gauss(abs(tanh(z) - 1/2), z, q=1)")
    document, _ = certificate_of(node, 8)
    assert verify(document).accepted
    for k, part in enumerate(document["parts"]):
        for name, way in (("lower", 1), ("upper", -1)):
            if part["conclusion"][name] is None:
                continue
            worse = copy.deepcopy(document)
            size = F(part["conclusion"]["upper"] or 1) - F(part["conclusion"]["lower"] or 0)
            # Past the other bound: no value is left.
            moved = F(part["conclusion"][name]) + way * (2 * abs(size) + F(1, 100))
            worse["parts"][k]["conclusion"][name] = f"{moved.numerator}/{moved.denominator}"
            assert not verify(worse).accepted, (k, name)


@pytest.mark.parametrize("damage", ["a part removed", "a bound moved", "hash of another", "none at all"])
def test_trust_rests_on_an_accepted_certificate(monkeypatch, damage):
    true = any_certificate
    text = "gauss(abs(tanh(z) - 1/2), z, q=1) < 9/10"

    def damaged(*given):
        document = true(*given)
        if damage == "a part removed":
            document["parts"].pop()
        elif damage == "a bound moved":
            part = next(p for p in document["parts"] if p["kind"] == "integral")
            part["conclusion"]["upper"] = str(F(part["conclusion"]["upper"]) + 1)
        elif damage == "hash of another":
            document["parts"][0]["formula_hash"] = "0" * 64
        else:
            return None
        return document

    integral_certificates._accepted.cache_clear()
    monkeypatch.setattr(means, "any_certificate", damaged)
    found = decide(Reading("x", text), Settings())
    integral_certificates._accepted.cache_clear()
    assert found.verdict == "certified"
    assert found.trust == ("arb",)
    assert found.certificate is None
    monkeypatch.setattr(means, "any_certificate", true)
    found = decide(Reading("x", text), Settings())
    assert found.trust == ("arb", "mpfr")
    assert found.certificate is not None


def test_an_argument_given_twice_is_no_kink():
    x = Var("x")
    twice = App("max", (x, x, App("mul", (Num(F(2)), x))))
    square = App("pow", (App("asinh", (App("max", (x, x)),)), Num(F(2))))
    with mp.workdps(30):
        # The integral of x over [-1, 0] and of 2x over [0, 3].
        both = mpf(17) / 2
        # x asinh(x)^2 - 2 sqrt(1 + x^2) asinh(x) + 2x is an antiderivative of asinh(x)^2.
        right = 3 * mp.asinh(3) ** 2 - 2 * mp.sqrt(10) * mp.asinh(3) + 6
        for body, start, value in ((twice, -1, both), (square, 0, right)):
            low, high = map(mpf, integral(body, "x", Num(F(start)), Num(F(3)), 15).enclosure)
            assert low <= value <= high
            assert high - low < mp.mpf(10) ** -12
