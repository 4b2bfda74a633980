"""Softmax and attention by gates, proved equal to their definitions for small sizes."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateproof.numerics.points import at_point
from gateproof.theory import attention as att
from gateproof.theory import tg_softmax as ts
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula import expand, parse_expr
from gateproof.theory.formula.nodes import Const, Var, num

A, B, C = Var("a"), Var("b"), Var("c")


def equal(left, right, *names):
    given_ = Assumptions({n: Domain() for n in names})
    return prove_relation(expand(left), "==", expand(right), given_) is not None


@pytest.mark.parametrize("row", [[A, B], [A, B, C], [A, None, B], [None, A, B, C], [A, A, B]])
def test_gate_equals_the_quotient(row):
    for i, z in enumerate(row):
        assert equal(ts.probability(row, i), ts.direct(row, i), "a", "b", "c")
        if z is not None:
            assert equal(ts.as_gate(row, i), ts.direct(row, i), "a", "b", "c")
    wrong = next(i for i, z in enumerate(row) if z is not None)
    assert not equal(ts.probability(row, wrong), ts.direct(row, len(row) - 1 - wrong or 1), "a", "b", "c")


def test_masks_ties_and_a_single_logit():
    assert ts.log_odds([A], 0) == Const("oo")
    assert ts.probability([A], 0) == num(1)
    assert ts.probability([None, A], 0) == num(0)
    assert ts.log_odds([None, A], 0) == ts.MINUS_INF
    assert ts.threshold([A, None], 0) == ts.MINUS_INF
    for n in (2, 3, 5):
        assert equal(ts.probability([A] * n, 0), num(Fraction(1, n)), "a")
    with pytest.raises(ValueError, match="masked"):
        ts.probability([None, None], 0)
    with pytest.raises(ValueError, match="no finite threshold"):
        ts.as_gate([A], 0)
    with pytest.raises(ValueError, match="no logit"):
        ts.log_odds([A, B], 2)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.fractions(0, 9, max_denominator=5), min_size=1, max_size=5))
def test_odds_over_rationals(weights):
    if not any(weights):
        with pytest.raises(ValueError, match="not all 0"):
            ts.odds(weights, 0)
        return
    total = sum(weights)
    found = [ts.odds(weights, i) for i in range(len(weights))]
    assert [1 if o is None else o / (1 + o) for o in found] == [w / total for w in weights]


def test_hard_softmax_shares_ties():
    row = [Fraction(t) for t in (2, 1, 2)]
    assert [ts.hard(row, i) for i in range(3)] == [Fraction(1, 2), 0, Fraction(1, 2)]
    for i, right in enumerate((mp.mpf(1) / 2, 0, mp.mpf(1) / 2)):
        scaled = [mp.exp(400 * mp.mpf(t.numerator)) for t in row]
        assert abs(scaled[i] / sum(scaled) - right) < mp.mpf(10) ** -100


def test_lse_by_gates():
    assert equal(ts.lse_by_gates([A, B]), ts.lse([A, B]), "a", "b")
    assert not equal(ts.maximum(A, B), ts.lse([A, B]), "a", "b")
    # Three logits at ties, gaps and far apart, against mpmath.
    chain = expand(ts.lse_by_gates([A, B, C]))
    for point in product((-3, 0, 40), repeat=3):
        env = dict(zip("abc", map(Fraction, point), strict=True))
        with mp.workdps(40):
            right = mp.log(sum(mp.exp(p) for p in point))
            assert abs(mp.mpf(at_point(chain, env, 160).str(40, radius=False)) - right) < mp.mpf(10) ** -30
    with pytest.raises(ValueError, match="nothing"):
        ts.lse_by_gates([])


def test_softplus_is_the_integral_of_the_gate():
    found = ts.softplus_integral(Var("x"))
    with mp.workdps(20):
        numeric = mp.quad(lambda s: 1 / (1 + mp.exp(-s)), [-mp.inf, 0, mp.mpf(3) / 2])
        assert abs(numeric - mp.log1p(mp.exp(mp.mpf(3) / 2))) < 1e-15
    assert (found.var, found.lo, found.hi) == ("s", ts.MINUS_INF, Var("x"))


@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_running_thresholds(n):
    names = [f"z{k}" for k in range(n)]
    row = [Var(z) for z in names]
    found = ts.thresholds_by_gates(row)
    point = {z: Fraction(k * k, 3) for k, z in enumerate(names)}
    for i, theta in enumerate(found):
        with mp.workdps(30):
            right = mp.log(sum(mp.exp(mp.mpf(k * k) / 3) for k in range(n) if k != i))
            value = mp.mpf(at_point(expand(theta), point, 128).str(30, radius=False))
            assert abs(value - right) < mp.mpf(10) ** -25


def tokens(prefix, n, d):
    return [[Var(f"{prefix}{i}{c}") for c in range(d)] for i in range(n)]


@pytest.mark.parametrize("mask", [None, att.causal(2)])
def test_attention_by_gates_is_attention_two_tokens(mask):
    q, k, v = tokens("q", 2, 1), tokens("k", 2, 1), tokens("v", 2, 2)
    names = [x.name for rows in (q, k, v) for row in rows for x in row]
    a, b = att.reference(q, k, v, mask), att.by_gates(q, k, v, mask)
    for i in range(2):
        for c in range(2):
            assert equal(a.outputs[i][c], b.outputs[i][c], *names)
    assert not equal(a.outputs[1][0], b.outputs[1][1], *names)
    if mask is not None:
        assert b.outputs[0] == (Var("v00"), Var("v01"))


def test_attention_by_gates_three_tokens_against_mpmath():
    q, k, v = (
        [[parse_expr(str((3 * i + c) % 5 - s)) for c in range(2)] for i in range(3)] for s in (1, 2, 0)
    )
    numbers = [[[(3 * i + c) % 5 - s for c in range(2)] for i in range(3)] for s in (1, 2, 0)]
    found = att.by_gates(q, k, v, att.causal(3))
    with mp.workdps(30):
        qn, kn, vn = numbers
        for i in range(3):
            w = [
                mp.exp(sum(a * b for a, b in zip(qn[i], kn[j], strict=True)) / mp.sqrt(2))
                for j in range(i + 1)
            ]
            for c in range(2):
                right = sum(w[j] * vn[j][c] for j in range(i + 1)) / sum(w)
                value = mp.mpf(at_point(expand(found.outputs[i][c]), {}, 128).str(30, radius=False))
                assert abs(value - right) < mp.mpf(10) ** -25


def test_the_mixture_as_gates_with_computed_constants():
    right = parse_expr("(exp(a)*u + exp(b)*v + exp(c)*w)/(exp(a) + exp(b) + exp(c))")
    found = att.mixture_as_gates([A, B, C], [Var("u"), Var("v"), Var("w")])
    assert equal(found, right, "a", "b", "c", "u", "v", "w")


def test_what_is_not_a_gate():
    ops = {o.what: o.count for o in att.not_gates(4, 3, 5)}
    assert ops == {
        "scores: query times key": 4 * 4 * 3,
        "scaling by 1/sqrt(d)": 16,
        "mixture: probability times value": 16 * 5,
    }
    by_kind = {o.kind: o.count for o in att.operations(4, 3, 5, is_causal=True)}
    assert by_kind["gate"] == 2 + 3 + 4
    assert by_kind["integral"] == 3 * (0 + 0 + 1 + 2)


def test_refusals():
    q = tokens("q", 2, 1)
    with pytest.raises(ValueError, match="every key masked"):
        att.scores(q, q, [[True, False], [False, False]])
    with pytest.raises(ValueError, match="as long as keys"):
        att.reference(q, tokens("k", 2, 2), q)
    with pytest.raises(ValueError, match="mask is"):
        att.reference(q, q, q, [[True]])
    with pytest.raises(ValueError, match="at least 1"):
        att.operations(0, 1, 1)


def test_whole_numbers_stay_exact():
    assert ts.odds([1, 2, 5], 0) == Fraction(1, 7)
    assert ts.hard([2, 1, 2], 0) == Fraction(1, 2)
    for f in (ts.odds, ts.hard):
        assert isinstance(f([1, 2, 5], 2), Fraction)
        with pytest.raises(TypeError, match="float"):
            f([0.5, 1], 0)
