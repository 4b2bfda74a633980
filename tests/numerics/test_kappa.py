"""kappa against mpmath's numerical third derivative, at every reading of every activation."""

from __future__ import annotations

import mpmath as mp
import pytest
from known_zoo import ZOO, Known

from gateproof.numerics.kappa import EXTREMUM, GATE, INFLECTION, kappas
from gateproof.numerics.points import enclosure
from gateproof.theory.formula import expand, parse_expr


@pytest.mark.parametrize("known", ZOO.values(), ids=ZOO)
def test_every_reading_is_the_third_derivative_there(known: Known) -> None:
    found = kappas(expand(parse_expr(known.text)))
    assert found.reason == ""
    assert found.values[0].reading == GATE
    rough = [enclosure(expand(parse_expr(at))) for at, order in known.kink_list() if order < 3]
    for kappa in found.values:
        at_kink = any(lo <= kappa.theta[1] and kappa.theta[0] <= hi for lo, hi in rough)
        assert (kappa.refused is not None) == at_kink
        if kappa.lo is None or kappa.hi is None:
            assert isinstance(kappa.inverse_square(), str)
            continue
        with mp.workdps(80):
            theta = (mp.mpf(p.numerator) / p.denominator for p in kappa.theta)
            right = abs(mp.diff(known.value, sum(theta) / 2, 3, h=mp.mpf(10) ** -16))
            lo, hi = (mp.mpf(p.numerator) / p.denominator for p in (kappa.lo, kappa.hi))
            # The difference quotient is off by f''''' h**2.
            assert lo - mp.mpf(10) ** -12 <= right <= hi + mp.mpf(10) ** -12
            assert hi - lo <= mp.mpf(10) ** -20


@pytest.mark.parametrize(
    ("text", "inflections", "extrema"),
    [("gelu(x)", 2, 1), ("tanh(x)", 1, 0), ("relu(x)", 0, 0), ("memglu(x)", 3, 2), ("mish(x)", 2, 1)],
)
def test_how_many_readings_there_are(text: str, inflections: int, extrema: int) -> None:
    names = [k.reading for k in kappas(expand(parse_expr(text))).values]
    assert names.count(INFLECTION) == inflections
    assert names.count(EXTREMUM) == extrema


def test_readings_that_were_not_found_are_said_to_be_missing() -> None:
    found = kappas(expand(parse_expr("sin(x**2)")))
    assert [k.reading for k in found.values] == [GATE]
    assert found.reason
