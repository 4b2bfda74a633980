"""Reference values of E f(sqrt(q) Z)^2 and E f'(sqrt(q) Z)^2, and the scale c0 from MemGLU to SwiGLU."""

from __future__ import annotations

from fractions import Fraction

import pytest

from gateproof.numerics.certify import certify
from gateproof.numerics.meanfield.certified import certified_engine
from gateproof.numerics.points import rational_bounds
from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Reading
from gateproof.theory.formula import parse_expr

#: Right values, from mpmath at high precision, outside of this project: q, E f^2, E f'^2.
MOMENTS = {
    "tanh(z)": [
        ("0.5", "0.2736763079367389090183", "0.5924257933717963939799"),
        ("1", "0.3942944903978411744165", "0.464402902448268241972"),
        ("4", "0.6352612342569399248564", "0.2559504432252089123862"),
    ],
    "gelu(z)": [
        ("0.5", "0.1895565418322276020221", "0.4072479685443647687178"),
        ("1", "0.4252214825702986749186", "0.4558508656492871221136"),
        ("4", "1.929865015864443146342", "0.5060447640537989844772"),
    ],
    "silu(z)": [
        ("0.5", "0.1585762495658272461707", "0.3347089583480498958313"),
        ("1", "0.3557755198173521562308", "0.3794823516328293089963"),
        ("4", "1.757889866678815323914", "0.4664250548387369129057"),
    ],
    "erf(z)": [
        ("0.5", "0.3333333333333333333333", "0.7351051938957227326818"),
        ("1", "0.4645590543975399785095", "0.5694100347337416467814"),
        ("4", "0.6970439505474131132813", "0.3088059488033187202244"),
    ],
    "tanh(z)*sech(z)": [
        ("0.5", "0.1338978986914646970018", "0.4020056981803878851783"),
        ("1", "0.1413026071538905836115", "0.3055016975979714148587"),
        ("4", "0.1087883225178511627574", "0.1718397552155212165185"),
    ],
}
SCALES = {
    "0.25": "0.8137593038806298318395",
    "0.5": "1.08825880675318706399",
    "1": "1.586766209153567604231",
    "2": "2.474475755125281952513",
    "4": "4.019802271551210152551",
}


def holds(text: str, right: str) -> bool:
    """Whether certify gives at least 20 digits that hold the value, as far as that was printed."""
    found = certify(parse_expr(text), 22)
    assert found["kind"] == "value"
    lo, hi = (Fraction(found["value"][k]) for k in ("lo", "hi"))
    unit = Fraction(1, 10 ** len(right.partition(".")[2]))
    assert hi - lo < Fraction(1, 10**20)
    return lo - unit <= Fraction(right) <= hi + unit


@pytest.mark.parametrize("f", MOMENTS)
def test_second_moments_to_20_digits(f: str) -> None:
    for q, square, slope in MOMENTS[f]:
        assert holds(f"gauss(({f})**2, z, q={q})", square)
        assert holds(f"gauss(diff({f}, z)**2, z, q={q})", slope)


@pytest.mark.parametrize("f", MOMENTS)
def test_the_certified_engine_holds_them(f: str) -> None:
    engine = certified_engine(f.replace("z", "x"), 24)
    for q, *printed in MOMENTS[f]:
        for ball, right in zip((engine.variance(q), engine.slope_energy(q)), printed, strict=True):
            lo, hi = rational_bounds(ball)
            unit = Fraction(1, 10 ** len(right.partition(".")[2]))
            assert hi - lo < Fraction(1, 10**20)
            assert lo - unit <= Fraction(right) <= hi + unit
            assert not lo - unit <= Fraction(right) + Fraction(1, 10**15) <= hi + unit


@pytest.mark.parametrize("q", SCALES)
def test_scale_of_the_memristive_gate(q: str) -> None:
    ratio = f"sqrt(gauss(silu(z)**2, z, q={q})/gauss(tanh(z)**2*sech(z)**2, z, q={q}))"
    assert holds(ratio, SCALES[q])
    digit = SCALES[q][-3]
    assert not holds(ratio, SCALES[q][:-3] + ("5" if digit < "3" else "0") + SCALES[q][-2:])


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("gauss(erf(z)**2, z, q=1/2) == 1/3", "proved"),
        ("gauss(erf(z)**2, z, q=1) == (2/pi)*asin(2/3)", "proved"),
        ("for q > 0: gauss(erf(z)**2, z, q=q) == (2/pi)*asin(2*q/(1 + 2*q))", "proved"),
        ("for q > 0: gauss(erf(z)**2, z, q=q) == (2/pi)*asin(q/(1 + q))", "refuted"),
        ("abs(gauss(tanh(z)**2, z, q=1) - 0.394294490397841) < 1e-15", "certified"),
        ("abs(gauss(tanh(z)**2, z, q=1) - 0.394294490397840) < 1e-15", "refuted"),
    ],
)
def test_claims_about_moments(text: str, verdict: str) -> None:
    found = decide(Reading("case", text))
    assert found.verdict == verdict, found.reason
