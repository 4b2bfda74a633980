"""The report on 1/kappa^2 as a depth law."""

from __future__ import annotations

import pytest
from edges_of_chaos import tanh_rates

from gateproof.numerics.meanfield.activation import RefusedActivation
from gateproof.numerics.meanfield.given import RefusedNumber
from gateproof.numerics.meanfield.kappa_law import FIXED_Q, MATCHED
from gateproof.numerics.meanfield.kappa_report import kappa_report
from gateproof.numerics.meanfield.mp import mp_engine


def engine(phi):
    return mp_engine(phi, 14)


def test_report_on_tanh():
    report = kappa_report(engine, "tanh", a=1, b=2)
    # At the edge for sigma_b^2 = 0.05 the true rate is seven times what kappa^2 q for E phi''^2 would give.
    by_reading = {p.reading.reading: p for p in report.predictions}
    beta, ratio = tanh_rates()
    assert ratio == pytest.approx(7.1, abs=0.1)
    assert by_reading["inflection"].curvature_ratio == pytest.approx(ratio, rel=1e-10)
    assert report.point_beta == pytest.approx(beta, rel=1e-10)
    assert [(law.condition, law.family) for law in report.laws] == [
        ("fixed q", "phi(b x)"),
        ("fixed q", "phi(b x)/b"),
        ("fixed sigma_b", "phi(b x)"),
        ("fixed sigma_b", "phi(b x)/b"),
        ("matched scale", "phi(b x)"),
    ]
    assert not any(law.fit.admits(-2) for law in report.laws)
    # kappa is b^3 or b^2 times as large and the rates are the same: the exponents are as 2 to 3.
    exponents = [law.fit.value for law in report.laws]
    assert exponents[0] * 3 == pytest.approx(exponents[1] * 2)
    assert exponents[2] * 3 == pytest.approx(exponents[3] * 2)
    said = "\n".join(report.words())
    assert "Invariant: beta_q at matched scale, kappa q/sqrt(D) at matched scale." in said
    assert "times 0.015625" in said


def test_report_without_kappa():
    report = kappa_report(engine, "softplus")
    assert report.point is None
    assert report.laws == ()
    assert any("no critical point" in line for line in report.words())


@pytest.mark.parametrize("line", ["relu", "2*x + 1"])
def test_kinks_and_lines_have_no_rate(line):
    with pytest.raises(RefusedActivation, match="no beta_q"):
        kappa_report(engine, line)
    with pytest.raises(RefusedActivation, match="no beta_q"):
        kappa_report(engine, "tanh", beside=[line])


@pytest.mark.parametrize("wrong", [{"q": 0}, {"q": "x"}, {"sigma_b2": -1}])
def test_bad_numbers_are_refused(wrong):
    with pytest.raises(RefusedNumber):
        kappa_report(engine, "tanh", **wrong)


def test_report_over_activations():
    found = kappa_report(engine, "tanh", beside=["sin", "silu", "gelu"]).over
    laws = {(law.family, law.condition): law for law in found}
    assert {family for family, _ in laws} == {"inflection", "extremum", "gate threshold"}
    assert [m.name for m in laws["inflection", FIXED_Q].members] == ["tanh", "sin", "silu", "gelu"]
    assert laws["inflection", MATCHED].fit.value > -1.5
    # silu and gelu have kappa = 0 at the gate threshold: too few are left for an exponent.
    assert all(law.fit is None for (family, _), law in laws.items() if family == "gate threshold")
    assert "no exponent" in laws["gate threshold", FIXED_Q].words()
