"""Extrema and roots where Newton's method runs away: found whole, to 30 digits, from no start at all."""

from __future__ import annotations

from decimal import Decimal, localcontext

import mpmath as mp
import pytest

from gateproof.proofs_check import api
from gateproof.proofs_check.cli import main

DIGITS = 30
# Where the extremum is and what it is, from mpmath's findroot between two signs of the slope at 50 digits.
EXTREMA = {
    "gelu": ("argmin(gelu(x), x in R)", "min(gelu(x), x in R)", lambda x: x * mp.ncdf(x), (-1, -0.5)),
    "silu": ("argmin(silu(x), x in R)", "min(silu(x), x in R)", lambda x: x / (1 + mp.exp(-x)), (-2, -1)),
    "mish": (
        "argmin(mish(x), x in R)",
        "min(mish(x), x in R)",
        lambda x: x * mp.tanh(mp.log1p(mp.exp(x))),
        (-2, -1),
    ),
    "memglu": (
        "argmax(tanh(x)*sech(x), x in R)",
        "max(tanh(x)*sech(x), x in R)",
        lambda x: mp.tanh(x) * mp.sech(x),
        (0.5, 1.5),
    ),
}
# As the case lists them.
PUBLISHED = {
    "gelu": ("-0.75179152469356445745790494678", "-0.169971207479903661693868470982"),
    "silu": ("-1.27846454276107379510935873902", "-0.278464542761073795109358739023"),
    "mish": ("-1.192431214515495212137588", "-0.3088434130172504066287602"),
    "memglu": ("0.88137358701954302523260932498", "0.5"),
}


def encloses(entry, value) -> None:
    """The enclosure holds a number of 40 digits and is 30 digits narrow."""
    with localcontext() as context:
        context.prec = 60
        lo, hi, right = Decimal(entry["lo"]), Decimal(entry["hi"]), Decimal(value)
        # The reference is rounded in its 40th digit.
        slack = abs(right) * Decimal(10) ** -39
        assert lo - slack <= right <= hi + slack
        assert hi - lo <= abs(right) * Decimal(10) ** (1 - DIGITS)


@pytest.mark.parametrize("name", EXTREMA)
def test_place_and_value_to_30_digits(name):
    place, value, function, between = EXTREMA[name]
    with mp.workdps(50):
        x = mp.findroot(lambda s: mp.diff(function, s), between, solver="anderson", tol=1e-42)
        right = mp.nstr(x, 40), mp.nstr(function(x), 40)
    found = api.certify(place, DIGITS)
    assert found["kind"] == "set"
    assert found["digits"] >= DIGITS
    assert found["attained"] is True
    assert len(found["points"]) == 1
    encloses(found["points"][0], right[0])
    found = api.certify(value, DIGITS)
    assert found["kind"] == "value"
    encloses(found["value"], right[1])
    for text, published in zip(right, PUBLISHED[name], strict=True):
        shown = len(published.lstrip("-0.").replace(".", ""))
        assert abs(Decimal(text) - Decimal(published)) <= abs(Decimal(published)) * Decimal(10) ** (1 - shown)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        # Flat left of 1: a start at 0 never moves.
        ("zeros(max(0, x - 1) - 1/2, x in R)", "1.5"),
        # Flat on both sides of a steep step.
        ("zeros(tanh(50*(x - 1)), x in R)", "1"),
    ],
)
def test_flat_and_steep_roots(text, right):
    found = api.certify(text, DIGITS)
    assert found["kind"] == "set"
    assert len(found["points"]) == 1
    encloses(found["points"][0], right)


def test_a_bracket_is_no_answer_where_there_is_no_root():
    assert api.certify("zeros(tanh(50*(x - 1)) + 2, x in R)", DIGITS)["kind"] == "empty"
    assert api.certify("zeros(max(0, x - 1) + 1/2, x in R)", DIGITS)["kind"] == "empty"


def test_command(capsys):
    assert main(["certify", "argmin(gelu(x), x in R)", "--digits", "30", "-j", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("at [-0.7517915246935644574579049467")
    assert "attained: yes" in lines


def test_infinite_value_reads_sensibly(capsys):
    assert main(["certify", "sup(x**2, x in R)", "-j", "1"]) == 0
    assert capsys.readouterr().out.splitlines() == ["oo", "attained: no", "domain: x in R"]


def test_sets_of_integers_are_exact(capsys):
    assert main(["certify", "argmax(n*(5 - n), n in N)", "-j", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == ["at 2", "at 3"]
