"""What each option of ``gateproof fit`` does to the gate and to what is said of it."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from gateproof import fit
from gateproof.proofs_check.checker import verify
from gateproof.proofs_check.cli import main


def test_a_tolerance_finds_the_fewest_branches():
    # K=2 has 1.392e-2 and K=3 3.844e-3 at best, both with a proved lower bound.
    found = fit("gelu", tol="0.005")
    assert (found.k, found.status.value) == (3, "ok")
    assert found.error.hi <= Fraction("0.005")
    assert fit("gelu", tol="0.0140").k == 2
    assert fit("silu", tol=1e-9).k == 2


def test_a_tolerance_with_hard_gates():
    found = fit("tanh", tol="0.1", sharpness="hard")
    assert found.error.hi <= Fraction("0.1")
    fewer = fit("tanh", found.k - 1, sharpness="hard")
    assert fewer.lower_bound > Fraction("0.1")


def test_the_curve_is_a_table_and_a_list(capsys):
    assert main(["fit", "gelu", "--curve", "-k", "3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["curve"]
    assert [f["k"] for f in found] == [2, 3]
    errors = [Fraction(f["error"]["hi"]) for f in found]
    assert errors == sorted(errors, reverse=True)
    assert main(["fit", "gelu", "--curve", "-k", "2"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("2  0.0139222")
    assert main(["fit", "hardtanh", "--curve", "-k", "6", "--json"]) == 0
    assert [f["status"] for f in json.loads(capsys.readouterr().out)["curve"]] == ["ok", "exact"]


def test_on_an_interval_the_error_outside_is_told():
    found = fit("exp(x)", 2, domain="[-1, 1]")
    assert found.outside.hi is None
    bounded = fit("erf", 2, domain="[-1, 1]", family="constant")
    assert bounded.outside is not None
    assert bounded.outside.hi > bounded.error.hi


def test_the_summary_says_that_the_error_outside_is_infinite(capsys):
    assert main(["fit", "exp(x)", "--domain", "[-1, 1]"]) == 0
    assert "the error on R is infinite: for x -> oo exp(x) approaches no line" in capsys.readouterr().out


def test_tolerances_give_the_certified_worst_case():
    found = fit("gelu", 2, tolerance={"tau": "5%", "theta": "0.01"})
    worst = Fraction(found.tolerant["value"]["hi"])
    assert worst > found.error.hi
    # A corner of the box is one of these devices.
    from gateproof import certify

    tau = Fraction(found.to_json()["tau"][0]) * Fraction(105, 100)
    corner = certify(
        f"sup(abs(tg(x, tau=[{tau}], theta=[1/100], slope=[0, 1], intercept=[0, 0]) - gelu(x)), x in R)", 8
    )
    assert Fraction(corner["value"]["lo"]) <= worst
    assert verify(found.tolerant["certificate"]).accepted
    infinite = fit("gelu", 2, tolerance={"slope": "1%"})
    assert infinite.tolerant["kind"] == "infinite"


def test_quantised_numbers_have_few_bits():
    found = fit("gelu", 2, quantise=6)
    numbers = [Fraction(v) for key in ("tau", "theta", "slope", "intercept") for v in found.to_json()[key]]
    assert all((n.denominator & (n.denominator - 1)) == 0 for n in numbers)
    assert found.error.evidence == "certified"
    assert found.error.hi >= fit("gelu", 2).error.lo
    assert "6 bits" in found.message


def test_root_mean_squares_and_weights():
    # From elsewhere: x sigmoid(1.7119 x) is the least squares fit of gelu under N(0, 1), 6.8412e-3.
    found = fit("gelu", 2, norm="rms")
    assert float(found.error.hi) == pytest.approx(6.84119936e-3, rel=1e-6)
    assert (found.error.evidence, found.certificate) == ("enclosed", None)
    assert float(found.rms) == pytest.approx(float(found.error.hi), rel=1e-6)
    assert found.plain.hi > fit("gelu", 2).error.hi
    weighted = fit("gelu", 2, weight="2")
    assert float(weighted.error.hi) == pytest.approx(2 * 1.39222e-2, rel=1e-4)
    relative = fit("exp(x)", 2, domain="[0, 1]", norm="relative")
    assert float(relative.error.hi) < float(fit("exp(x)", 2, domain="[0, 1]").error.hi)


def test_families_bounds_and_monotone_gates():
    assert {str(v) for v in fit("exp(x)", 2, domain="[0, 1]", family="constant").to_json()["slope"]} == {"0"}
    bounded = fit("gelu", 3, max_coefficient=1)
    assert all(abs(Fraction(v)) <= 1 for v in bounded.to_json()["slope"] + bounded.to_json()["intercept"])
    rising = fit("erf", 3, monotone=True)
    assert rising.error.hi >= fit("erf", 3).error.lo
    assert "rising throughout" in rising.message


def test_small_bounds_are_short():
    from gateproof.numerics.fits.result_json import down, up

    tiny = Fraction(-15720001, 10**41)
    assert (down(tiny, 4), up(tiny, 4)) == ("-1.573e-34", "-1.572e-34")
    assert Fraction(down(tiny, 4)) < tiny < Fraction(up(tiny, 4))
    assert down(Fraction("0.0139222"), 4) == "0.01392"
    assert (down(Fraction(0), 4), up(Fraction(1, 10**7), 3)) == ("0", "1.00e-7")


@pytest.mark.parametrize("algebra", ["difference", "stick", "softmax"])
def test_algebras_agree_for_two_branches(algebra):
    assert float(fit("gelu", 2, gates=algebra).error.hi) == pytest.approx(1.39222e-2, rel=1e-4)


def test_a_difference_of_unequal_sigmoids_is_told():
    from gateproof.numerics.fits.gates_min import smallest_gate
    from gateproof.theory.formula import expand, parse_expr
    from gateproof.theory.gate import Gate

    def closed(*texts):
        return tuple(expand(parse_expr(t)) for t in texts)

    gate = Gate(closed("1", "3"), closed("0", "1"), closed("0", "1/2", "1"), closed("0", "0", "0"))
    # S(x) - S(3 (x - 1)) is negative for x > 3/2.
    low, high = smallest_gate(gate).value
    assert low <= high < 0


def test_targets_in_the_cases_are_fitted():
    # N02 and N08: formulas whose forward or backward overflows as they are typed.
    typed = fit("x*tanh(log(1+exp(x)))", 2)
    assert typed.error == fit("mish", 2).error or float(typed.error.hi) == pytest.approx(
        float(fit("mish", 2).error.hi), rel=1e-6
    )
    assert fit("sqrt(x**2)", 2).status.value == "exact"
    found = fit("where(x > 0, x, exp(x)-1)", 2)
    assert float(found.error.hi) == pytest.approx(float(fit("elu", 2).error.hi), rel=1e-6)
    found = fit("where(x < 20, log(1+exp(x)), x)", 2)
    assert float(found.error.hi) == pytest.approx(float(fit("softplus", 2).error.hi), rel=1e-6)
