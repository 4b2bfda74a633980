"""Verdicts about zeros and places of extrema rest on certificates that the checker accepts."""

from __future__ import annotations

from fractions import Fraction

import pytest

from gateproof.proofs_check import api
from gateproof.proofs_check.checker import verify
from gateproof.proofs_check.engine.root_certificates import sign_change_certificate, zeros_certificate
from gateproof.theory.exact.domain import Domain
from gateproof.theory.formula import expand, parse_expr

F = Fraction


@pytest.mark.parametrize(
    ("text", "verdict", "kind"),
    [
        ("zeros(x**3 - x, x in R) == {0, 1, -1}", "certified", "root"),
        ("zeros(x**3 - x, x in R) == {0, 1}", "refuted", "root"),
        ("zeros(x**3 - x, x in R) == {0, 1, 2}", "refuted", "root"),
        ("zeros(diff(silu(x), x), x in R) == {-1}", "refuted", "root"),
        ("zeros(diff(gelu(x), x, 2), x in R) == {sqrt(2), -sqrt(2)}", "certified", "composite"),
        ("zeros(diff(gelu(x), x, 2), x in R) == {sqrt(2), -1.41421356}", "refuted", "composite"),
        # Multiple zeros, and one at an end that the set leaves out.
        ("zeros(x**2 - 2*x + 1, x in R) == {1}", "certified", "root"),
        ("zeros(x*(1 - x)**2, x in [0, 1]) == {0, 1}", "certified", "root"),
        ("zeros(x*(1 - x)**2, x in (0, 1]) == {1}", "certified", "root"),
        ("zeros(cos(x), x in [0, 7]) == {pi/2, 3*pi/2}", "certified", "root"),
        ("zeros(abs(x - 1) - 2, x in R) == {-1, 3}", "certified", "root"),
        ("zeros(exp(x) - 2, x in R) == 0.693~", "certified", "root"),
        ("zeros(exp(x) - 2, x in R) == 0.694~", "refuted", "root"),
        ("exists x in [0, 2]: (exp(x) == 3)", "certified", "root"),
        ("exists x in R: (x**3 == 2)", "certified", "root"),
        ("exists x in [0, 1]: (cos(x) == x)", "certified", "root"),
        ("exists x in R: (x**2 == 4)", "certified", "range"),
        ("argmin(silu(x), x in R) == -1.2785~", "certified", "composite"),
        ("argmin(silu(x), x in R) == -1.2784~", "refuted", "composite"),
        ("argmax(tanh(x)*sech(x), x in R) == 0.8814~", "certified", "composite"),
        ("argmin(silu(x), x in R) == {-1}", "refuted", "range"),
        ("zeros(x**2 - 1, x in R) == zeros(x**3 - x, x in R)", "refuted", "composite"),
        ("zeros(exp(x) - 2, x in R) == zeros(exp(2*x) - 4, x in R)", "certified", "composite"),
        ("zeros(exp(x) - 2, x in R) == zeros(exp(x) - 3, x in R)", "refuted", "composite"),
    ],
)
def test_verdicts_and_what_they_rest_on(text, verdict, kind):
    found = api.decide_text(text)
    assert found.verdict == verdict, found.reason
    assert found.certificate is not None
    assert found.certificate["kind"] == kind
    assert verify(dict(found.certificate)).accepted
    assert "mpfr" in found.trust


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("x**3 - x", [-1, 0]),
        ("x**3 - x", [-1, 0, 1, 2]),
        ("x**2*(x - 1)", [1]),
        ("(x - 1)*(x - 1 - 1/10**25)", [1]),
        ("sin(x)", [0]),
        ("exp(-x)", []),
        ("max(x, 0)", [0]),
    ],
)
def test_wrong_lists_and_what_has_no_certificate(text, places):
    body = expand(parse_expr(text))
    found = zeros_certificate(body, "x", Domain(), [(F(p), F(p)) for p in places])
    if text == "exp(-x)":
        assert found is not None
        assert found["conclusion"] == {"roots": [], "complete": True}
    else:
        assert found is None


def test_no_change_of_sign_no_certificate():
    gap = expand(parse_expr("x**2 - 2"))
    assert sign_change_certificate(gap, "x", F(1), F(2)) is not None
    assert sign_change_certificate(gap, "x", F(2), F(3)) is None
    assert sign_change_certificate(expand(parse_expr("1/x")), "x", F(-1), F(2)) is None
    assert sign_change_certificate(expand(parse_expr("sign(x - 1/3)")), "x", F(0), F(1)) is None


@pytest.mark.parametrize(
    "text",
    [
        # Each a near miss of a true statement above.
        "exists x in [0, 1]: (exp(x) == 3)",
        "exists x in R: (exp(-x) == 0)",
        "zeros(x**2*exp(-x), x in R) == {}",
        "zeros(x**2*exp(-x), x in (0, oo)) == {0}",
        "zeros((x - 1)*(x - 1 - 1/10**25), x in R) == {1}",
        "zeros(sin(x), x in R) == {0}",
    ],
)
def test_never_certified(text):
    assert api.decide_text(text).verdict not in ("proved", "certified")
