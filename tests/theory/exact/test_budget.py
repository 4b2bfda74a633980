"""The budget of a question counts long coefficients, and constants inside of far tails have a form."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp

from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Reading, Settings
from gateproof.theory.exact import polys
from gateproof.theory.exact.budget import Exhausted, bounded
from gateproof.theory.exact.tails import NoForm, tail_bounds, tail_form
from gateproof.theory.formula import expand, parse_expr

SMOOTH = "abs(sign(x)*(softplus(4*(abs(x) - 1)) - softplus(-4))/4 - soft_threshold(x, 1))"


@bounded
def products(constant: Fraction) -> int | None:
    """How many products the budget of one question allows (at most 200,000)."""
    done = 0
    p = polys.GENS[0] + polys.constant(constant)
    try:
        while done < 200_000:
            polys.times(p, p)
            done += 1
    except Exhausted:
        pass
    return done


def test_long_coefficients_cost_more():
    short, long = products(Fraction(1, 3)), products(Fraction(3**20_000, 2**20_000))
    assert short is not None
    assert long is not None
    assert 0 < long < short / 20


def test_powers_of_long_bounds_end_and_balls_decide():
    # At x = 1 the difference is (log 2 - log(1 + exp(-4)))/4 = 0.16874931..
    with mp.workdps(30):
        peak = (mp.log(2) - mp.log1p(mp.exp(-4))) / 4
        assert mp.mpf("0.16874") < peak < mp.mpf("0.16875")
    right = decide(Reading("end", f"for x in R: {SMOOTH} <= 0.16875"), Settings())
    wrong = decide(Reading("end", f"for x in R: {SMOOTH} <= 0.16874"), Settings())
    assert (right.verdict, wrong.verdict) == ("certified", "refuted")


def test_tail_of_softplus_with_a_limit():
    for text, value in (("softplus(-4)", -4), ("softplus(3 + 1/x)", 3), ("softplus(2 - exp(-x))", 2)):
        form = tail_form(expand(parse_expr(f"x - x + {text}")), "x", "+", Fraction(64))
        assert not isinstance(form, NoForm)
        lo, hi = tail_bounds(form, Fraction(64))
        with mp.workdps(30):
            for x in (64, 1000, 10**6):
                inner = {-4: mp.mpf(-4), 3: 3 + mp.mpf(1) / x, 2: 2 - mp.exp(-x)}[value]
                right = mp.log1p(mp.exp(inner))
                assert mp.mpf(lo.numerator) / lo.denominator <= right <= mp.mpf(hi.numerator) / hi.denominator
        assert hi - lo < Fraction(1, 10)
