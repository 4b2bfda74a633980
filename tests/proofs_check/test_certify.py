"""``gateproof certify``: the contract of its JSON, signs in front, and what it says for 4."""

from __future__ import annotations

import copy
import json
import math
from decimal import Decimal
from fractions import Fraction

import pytest

from gateproof.proofs_check import certify_text
from gateproof.proofs_check.api import RefusedError, certify
from gateproof.proofs_check.checker import verify
from gateproof.proofs_check.cli import main
from gateproof.proofs_check.cli.entry import parse
from gateproof.proofs_check.records import Settings
from gateproof.proofs_check.render import terminal

KEYS = {"kind", "value", "points", "attained", "digits", "domain", "certificate"}


def run(capsys, *words):
    code = main(["certify", *words, "--json", "-j", "1"])
    found = json.loads(capsys.readouterr().out)
    assert set(found) >= KEYS
    return code, found


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-exp(1)", "-2.718281828459045235360287471352662497757247093699959574966967627724"),
        ("-1/3 + -1", "-1.333333333333333333333333333333333333333333333333333333333333333333"),
        ("- - 2", "2"),
        ("tanh(1)", "0.761594155955764888119458282604793590412768597257936551596810500121953"),
    ],
)
@pytest.mark.parametrize("digits", [5, 30])
def test_a_value_is_enclosed_to_the_digits_asked_for(capsys, text, value, digits):
    code, found = run(capsys, text, "--digits", str(digits))
    assert (code, found["kind"]) == (0, "value")
    lo, hi = Decimal(found["value"]["lo"]), Decimal(found["value"]["hi"])
    assert lo <= Decimal(value) <= hi
    assert hi - lo <= abs(Decimal(value)) * Decimal(10) ** (1 - digits)
    assert found["digits"] >= digits


def test_a_supremum_has_points_and_a_certificate(capsys):
    code, found = run(capsys, "sup(tanh(x)*sech(x), x in R)", "--digits", "8")
    assert (code, found["kind"], found["attained"]) == (0, "value", True)
    assert Decimal(found["value"]["lo"]) <= Decimal("0.5") <= Decimal(found["value"]["hi"])
    (point,) = found["points"]
    assert point["lo"].startswith("0.8813735")
    assert found["certificate"]["kind"] == "range"


def test_other_kinds(capsys):
    for text, kind in (
        ("argmax(tanh(x)*sech(x), x in R)", "set"),
        ("zeros(exp(x), x in R)", "empty"),
        ("1/0", "undefined"),
        ("sup(x, x in R)", "infinite"),
    ):
        code, found = run(capsys, text, "--digits", "8")
        assert (code, found["kind"]) == (0, kind)
        assert isinstance(found["points"], list)


@pytest.mark.parametrize(("text", "truth"), [("1 < 2", True), ("exp(1) > 3", False)])
def test_a_statement_is_decided(capsys, text, truth):
    code, found = run(capsys, text)
    assert (code, found["kind"], found["value"]) == (0, "boolean", truth)


def test_what_cannot_be_given_is_inconclusive(capsys, monkeypatch):
    monkeypatch.setattr(certify_text, "certify_text", lambda *_: certify_text.undecided("not implemented: x"))
    code, found = run(capsys, "1")
    assert (code, found["kind"], found["reason"]) == (4, None, "not implemented: x")
    assert main(["certify", "1", "-j", "1"]) == 4
    assert capsys.readouterr().out == "inconclusive\ndigits: 0\nreason: not implemented: x\n"


def test_too_few_digits_are_inconclusive():
    found = {**certify_text.undecided(""), "kind": "value", "digits": 7}
    assert certify_text.is_conclusive(found, 7)
    assert not certify_text.is_conclusive(found, 8)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("x", "'x' is not bound; bind it, as in sup(x, x in R)"),
        ("1 +", "column 4: expected a value"),
        ("for x in R: x ==", "column 17: expected a value"),
        ("", "column 1: expected a value"),
    ],
)
def test_no_formula_is_refused(text, part):
    with pytest.raises(RefusedError) as caught:
        certify(text)
    assert part in str(caught.value)


def test_a_worker_answers_too_and_the_clock_can_stop_it(gateproof):
    done = gateproof("certify", "-exp(1)", "--digits", "6")
    assert (done.returncode, done.stdout) == (0, "[-2.71829, -2.71828]\ndigits: 6\n")
    done = gateproof("certify", "-exp(1)", "--timeout", "0.000001", "--json")
    assert (done.returncode, json.loads(done.stdout)["reason"]) == (4, "time")


@pytest.mark.parametrize(
    "words",
    [
        ["certify", "-x**2", "--digits", "7"],
        ["certify", "--digits", "7", "-x**2"],
        ["--digits=7", "-x**2"],
        ["certify", "--digits", "7", "--", "-x**2"],
        ["-j2", "certify", "-x**2", "--digits=7"],
        ["--seed", "3", "certify", "-x**2", "--digits=7"],
    ],
)
def test_a_minus_in_front_is_no_option(words):
    words = words if "certify" in words else ["certify", *words]
    options = parse(words)
    assert (options.command, options.formula, options.digits) == ("certify", "-x**2", 7)


def test_a_mean_to_25_digits_with_its_certificate(capsys):
    from gateproof.proofs_check.checker import verify

    code, found = run(capsys, "gauss(silu(z)**2, z, q=0.0768)", "--digits", "25")
    assert (code, found["kind"], found["digits"]) == (0, "value", 25)
    # mpmath, by quadrature with 40 digits.
    right = Fraction("0.0202400917431414685643655111852250671695")
    assert Fraction(found["value"]["lo"]) <= right <= Fraction(found["value"]["hi"])
    bounds = found["certificate"]["conclusion"]
    assert Fraction(bounds["lower"]) < right < Fraction(bounds["upper"])
    assert verify(found["certificate"]).accepted


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("integrate(1/x, x, 1, oo)", "infinite"),
        ("integrate(1/x, x, -1, 1)", "undefined"),
        ("integrate(sin(x), x, 0, oo)", "undefined"),
        ("gauss(z**2, z, q=-1)", "undefined"),
        ("integrate(tanh(x), x, 0, oo) - 1", None),
        ("integrate(sin(x)/x, x, 1, oo)", None),
        ("1 + gauss2(tanh(u)*tanh(v), u, v, q=1, c=1/2)", "value"),
    ],
)
def test_kinds_of_integrals(capsys, text, kind):
    _, found = run(capsys, text, "--digits", "6")
    assert found["kind"] == kind
    assert kind in ("value", "infinite") or found["reason"]


@pytest.mark.parametrize(
    "text",
    [
        "tanh(1)",
        "-1/3",
        "0.5",
        "exp(40)*(1 + 10**(-30)) - exp(40)",
        "2*gauss(abs(tanh(z) - 1/3), z, q=1) + 1",
    ],
)
def test_values_have_certificates_that_the_checker_accepts(text):
    found = certify(text, 20)
    told = verify(found["certificate"])
    assert told.accepted, told.reason


def test_the_certificate_of_a_value_is_about_that_value():
    found = certify("tanh(1)", 20)["certificate"]
    unit = Fraction(1, 10**19)
    for name, way in (("lower", 1), ("upper", -1)):
        worse = copy.deepcopy(found)
        moved = Fraction(worse["conclusion"][name]) + 2 * way * unit
        worse["conclusion"][name] = f"{moved.numerator}/{moved.denominator}"
        assert not verify(worse).accepted


def test_a_value_without_all_digits_has_none():
    found = certify("sin(pi)", 20)
    assert found["digits"] == 0
    assert found["certificate"] is None


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("boxes", "the 7 boxes of the budget are used up"),
        ("boxes; the rest", "the 7 boxes of the budget are used up; the rest"),
        ("time", "the 3 s of --timeout are over"),
        ("timely boxes", "timely boxes"),
    ],
)
def test_budgets_are_told_in_words(reason, said):
    found = certify_text.undecided(reason)
    lines = terminal.certified(found, Settings(boxes=7, wall_seconds=3.0)).splitlines()
    assert (lines[0], lines[-1]) == ("inconclusive", f"reason: {said}")
    assert found["reason"] == reason


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("at(diff(tanh(x), x), x=0)", 1.0),
        ("at(diff(x*tanh(softplus(x)), x), x=0)", 0.6),  # tanh(log 2) = 3/5
        ("at(diff(gelu(x), x, 3), x=sqrt(2))", -2 / (math.e * math.sqrt(math.pi))),  # (x^3 - 4x) phi(x)
        ("limit(sin(x)/x, x, 0) + 1", 2.0),
        ("limit(tanh(x)*sech(x), x, oo)", 0.0),
        ("at(taylor(exp(x), x, 0, 3), x=1)", 1 + 1 + 1 / 2 + 1 / 6),
        ("at(diff(abs(x), x), x=2)", None),
        ("at(diff(abs(x), x), x=0)", None),
        ("limit(sin(x), x, oo)", None),
        ("limit(1/x, x, 0)", None),
    ],
)
def test_values_limits_and_taylor_polynomials_are_worked_out(text, value):
    found = certify_text.certify_text(text, 10, Settings())
    if value is None:
        assert found["value"] is None
        return
    lo, hi = float(found["value"]["lo"]), float(found["value"]["hi"])
    assert lo - 1e-12 <= value <= hi + 1e-12
    assert hi - lo <= 1e-8
