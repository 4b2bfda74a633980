"""The differential pair: derived share proved a sigmoid, constants against hand figures."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest

from gateproof.numerics.points import at_point
from gateproof.theory import differential_pair as dp
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula import expand, parse_expr, substitute
from gateproof.theory.formula.nodes import num

POSITIVE = Domain(num(0), None)
NAMES = {v: Domain() for v in ("V1", "V2", "VT1", "VT2", "VS")}
GIVEN = Assumptions(
    {**NAMES, **dict.fromkeys(("n", "UT", "IS1", "IS2", "Ib", "VDS1", "VDS2", "n1", "n2"), POSITIVE)}
)


def proved(left, right):
    return prove_relation(expand(left), "==", expand(right), GIVEN) is not None


def value(expr, **point):
    found = at_point(expand(expr), {k: Fraction(v) for k, v in point.items()}, 160)
    return mp.mpf(found.str(35, radius=False))


def test_the_share_of_two_exponential_laws_is_the_gate():
    assert proved(dp.share(), dp.gate())
    wrong = substitute(dp.gate(), {"V1": parse_expr("V2"), "V2": parse_expr("V1")})
    assert not proved(dp.share(), wrong)


def test_the_source_voltage_makes_the_currents_sum_to_the_tail():
    total = substitute(parse_expr("a + b"), {"a": dp.drain_current(1), "b": dp.drain_current(2)})
    point = {
        "IS1": "1e-6",
        "IS2": "2e-6",
        "V1": "0.4",
        "V2": "0.41",
        "VT1": "0.45",
        "VT2": "0.44",
        "n": "1.4",
        "UT": "0.026",
    }
    with mp.workdps(30):
        vs = value(dp.source_voltage(), Ib="1e-9", **point)
        found = value(total, VS=Fraction(str(vs)), **point)
        assert abs(found / mp.mpf("1e-9") - 1) < 1e-20


def test_unsaturated_drains_shift_the_threshold():
    point = {
        "IS1": 1,
        "IS2": 3,
        "V1": "0.1",
        "V2": "0.2",
        "VT1": 0,
        "VT2": "0.05",
        "VS": "0.3",
        "n": 2,
        "UT": "0.03",
        "VDS1": "0.02",
        "VDS2": "0.4",
    }
    with mp.workdps(30):
        exact = value(dp.share(saturated=False), **point)
        shifted = value(dp.share_with_drains(), **{k: v for k, v in point.items() if k != "VS"})
        assert abs(exact - shifted) < 1e-25
        assert (
            abs(exact - value(dp.gate(), **{k: v for k, v in point.items() if k[:2] != "VD" and k != "VS"}))
            > 0.01
        )
        assert abs(value(dp.saturation_shortfall(4)) - mp.exp(-4)) < 1e-25


def test_unequal_slope_factors():
    point = {"IS1": 1, "IS2": 3, "V1": "0.1", "V2": "0.2", "VT1": 0, "VT2": "0.05", "UT": "0.03"}
    with mp.workdps(30):
        both = value(dp.share_with_slopes(), n1="1.5", n2="1.5", **point)
        assert abs(both - value(dp.gate(), n="1.5", **point)) < 1e-25
        # A common shift of the inputs: no effect with equal slope factors, some with others.
        shifted = {**point, "V1": "1.1", "V2": "1.2"}
        assert abs(value(dp.share_with_slopes(), n1="1.5", n2="1.5", **shifted) - both) < 1e-25
        other = value(dp.share_with_slopes(), n1="1.5", n2="1.6", **point)
        assert abs(value(dp.share_with_slopes(), n1="1.5", n2="1.6", **shifted) - other) > 0.1


def test_constants_at_300_kelvin():
    """CODATA: k/q = 8.617333262e-5 V/K, so U_T = 25.852 mV and tau = 25.788 per volt at n = 1.5."""
    pair = dp.Pair(Fraction(300), Fraction(3, 2), Fraction(1, 10**9))
    assert float(pair.thermal_voltage) == pytest.approx(300 * 8.617333262e-5, rel=1e-9)
    assert float(pair.sharpness) == pytest.approx(1 / (1.5 * 0.02585199979), rel=1e-9)
    assert pair.sharpness_drift == Fraction(-1, 300)
    assert pair.sharpness * 300 == dp.Pair(Fraction(330), Fraction(3, 2), pair.tail).sharpness * 330
    # Largest slope of I_b sigmoid(tau v): I_b tau/4.
    assert float(pair.transconductance) == pytest.approx(1e-9 * 25.78784 / 4, rel=1e-5)


def test_mismatch_is_a_shift_of_the_threshold():
    pair = dp.Pair(Fraction(300), Fraction(3, 2), Fraction(1), Fraction(5, 1000), Fraction(11, 10))
    with mp.workdps(30):
        right = (
            mp.mpf("0.2")
            + mp.mpf("0.005")
            - mp.mpf("1.5") * 300 * mp.mpf("1.380649e-23") / mp.mpf("1.602176634e-19") * mp.log(mp.mpf("1.1"))
        )
        assert abs(value(pair.threshold(Fraction(1, 5))) - right) < 1e-20
    assert value(dp.Pair(Fraction(300), Fraction(1), Fraction(1)).threshold()) == 0


def test_strong_inversion_by_hand():
    """Overdrives a, b with (a^2 + b^2)/2 = 1 and a - b = x: the share is a^2/2."""
    with mp.workdps(30):
        for x in ("0", "0.5", "1", "-1.2"):
            half = mp.mpf(x) / 2
            a = half + mp.sqrt(1 - half**2)
            assert abs(value(dp.square_law_share(), x=x) - a**2 / 2) < 1e-25
        edge = expand(substitute(dp.square_law_share(), {"x": parse_expr("sqrt(2)")}))
        assert prove_relation(edge, "==", num(1), Assumptions()) is not None


def test_refusals():
    with pytest.raises(ValueError, match="positive"):
        dp.Pair(Fraction(0), Fraction(1), Fraction(1))
    with pytest.raises(ValueError, match="at least 1"):
        dp.Pair(Fraction(300), Fraction(1, 2), Fraction(1))
    with pytest.raises(ValueError, match="sides"):
        dp.drain_current(3)


def test_whole_numbers_stay_exact():
    pair = dp.Pair(300, 2, 1)
    assert isinstance(pair.sharpness_drift, Fraction)
    assert isinstance(pair.transconductance, Fraction)
    with pytest.raises(TypeError, match="float"):
        dp.Pair(300.0, 2, 1)
