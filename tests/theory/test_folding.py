"""Folding branches into weights: by hand, by properties, against the written-out gate."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.folding import (
    GatedLinear,
    absorb,
    bind,
    fold,
    keeps_zero,
    outputs,
    same_function,
    spread,
    unfold,
)
from gateproof.theory.formula import expand, parse_expr
from gateproof.theory.formula.nodes import Var, num
from gateproof.theory.threshold_gate import gates

small = st.fractions(min_value=-5, max_value=5, max_denominator=4)


def tables(rows, columns):
    return st.lists(st.lists(small, min_size=columns, max_size=columns), min_size=rows, max_size=rows)


def plain_value(weight, bias, slope, intercept, x, g):
    """sum_i W_ji (sum_k g_ik (s_ik x_i + c_ik)) + b_j, the layer behind its gates."""
    y = [
        sum(g[i][k] * (slope[i][k] * xi + intercept[i][k]) for k in range(len(g[i])))
        for i, xi in enumerate(x)
    ]
    return [sum(w * v for w, v in zip(row, y, strict=True)) + b for row, b in zip(weight, bias, strict=True)]


def test_by_hand():
    layer = fold([[2, 3], [0, -1]], [5, 7], [[0, 1]], [[-1, 4]])
    assert layer.weights == (((0, 0), (0, 0)), ((2, 3), (0, -1)))
    assert layer.constants == (((-2, -3), (0, 1)), ((8, 12), (0, -4)))
    assert layer.bias == (5, 7)
    assert absorb(layer).bias == (0, 8)
    assert absorb(layer).constants == (((0, 0), (0, 0)), ((10, 15), (0, -5)))


@settings(max_examples=25, deadline=None)
@given(tables(2, 3), st.lists(small, min_size=2, max_size=2), tables(3, 2), tables(3, 2), st.data())
def test_same_values_for_gates_that_sum_to_one(weight, bias, slope, intercept, data):
    layer = fold(weight, bias, slope, intercept)
    x = data.draw(st.lists(small, min_size=3, max_size=3))
    g = [[1 - a, a] for a in data.draw(st.lists(small, min_size=3, max_size=3))]
    right = plain_value(weight, bias, slope, intercept, x, g)

    def value(one):
        return [
            b
            + sum(
                g[i][k] * (one.weights[k][j][i] * x[i] + one.constants[k][j][i])
                for i in range(3)
                for k in range(2)
            )
            for j, b in enumerate(one.bias)
        ]

    for one in (layer, absorb(layer), absorb(layer, 1), spread(layer), spread(layer, 2)):
        assert value(one) == right
        assert same_function(one, layer)
    assert not any(spread(layer).bias)


@settings(max_examples=25, deadline=None)
@given(tables(2, 3), st.lists(small, min_size=2, max_size=2), tables(3, 3), tables(3, 3))
def test_the_reverse(weight, bias, slope, intercept):
    layer = fold(weight, bias, slope, intercept)
    back = unfold(layer, weight)
    assert back is not None
    for i in range(3):
        if i in back.free:
            assert not any(row[i] for row in weight)
        else:
            assert list(back.slope[i]) == slope[i]
            assert list(back.intercept[i]) == intercept[i]
    again = bind(layer)
    assert again is not None
    assert fold(again.weight, again.bias, again.slope, again.intercept) == layer


def test_branch_weights_of_their_own_bind_to_no_single_matrix():
    """TG_W is larger than TGA: the two columns (1, 0) and (0, 1) are no multiples of one column."""
    layer = GatedLinear(
        (((Fraction(1),), (Fraction(0),)), ((Fraction(0),), (Fraction(1),))),
        (((Fraction(0),), (Fraction(0),)),) * 2,
        (Fraction(0), Fraction(0)),
    )
    assert bind(layer) is None
    assert unfold(layer, [[1], [1]]) is None


def test_what_differs_is_not_the_same_function():
    layer = fold([[1, 2]], [3], [[0, 1]], [[0, 1]])
    for other in (
        fold([[1, 2]], [4], [[0, 1]], [[0, 1]]),
        fold([[1, 2]], [3], [[1, 0]], [[0, 1]]),
        fold([[1, 2]], [3], [[0, 1]], [[0, 2]]),
        fold([[1, 2, 0]], [3], [[0, 1]], [[0, 1]]),
    ):
        assert not same_function(layer, other)
    # ... but constants may move between the bias and the branches.
    assert same_function(layer, fold([[1, 2]], [0], [[0, 1]], [[1, 2]]))


def test_outputs_are_those_of_the_gates_written_out():
    """SiLU and tanh in front of (2, -3) with bias 1: 2 silu(x) - 3 tanh(y) + 1."""
    layer = fold([[2, -3]], [1], [[0, 1], [0, 0]], [[0, 0], [-1, 1]])
    x, y = Var("x"), Var("y")
    pairs = [gates(x, (num(1),), (num(0),)), gates(y, (num(2),), (num(0),))]
    (found,) = outputs(layer, [x, y], pairs)
    given_ = Assumptions({"x": Domain(), "y": Domain()})
    right = expand(parse_expr("2*silu(x) - 3*tanh(y) + 1"))
    wrong = expand(parse_expr("2*silu(x) - 3*tanh(y) + 2"))
    assert prove_relation(found, "==", right, given_) is not None
    assert prove_relation(found, "==", wrong, given_) is None


@pytest.mark.parametrize(
    ("at_zero", "intercept", "kept"),
    [
        ((Fraction(1, 2), Fraction(1, 2)), (-1, 1), True),
        ((Fraction(1, 2), Fraction(1, 2)), (0, 1), False),
        ((1, 0), (0, 0), True),
    ],
    ids=["tanh", "sigmoid", "relu"],
)
def test_padding_with_zeros(at_zero, intercept, kept):
    assert keeps_zero(at_zero, intercept) is kept


def test_refusals():
    with pytest.raises(TypeError, match="float"):
        fold([[0.5]], [0], [[0, 1]], [[0, 0]])
    with pytest.raises(ValueError, match="one row of K"):
        fold([[1, 2]], [0], [[0, 1]] * 3, [[0, 0]])
    with pytest.raises(ValueError, match="rows"):
        fold([[1, 2], [3]], [0, 0], [[0, 1]], [[0, 0]])
    with pytest.raises(ValueError, match="sum to 1"):
        keeps_zero((1, 1), (0, 0))
    with pytest.raises(ValueError, match="no input"):
        spread(fold([[1]], [0], [[0, 1]], [[0, 0]]), 1)
    with pytest.raises(ValueError, match="1 x 1"):
        unfold(fold([[1]], [0], [[0, 1]], [[0, 0]]), [[1, 2]])


def test_whole_numbers_stay_exact():
    """W = (3), branch weights (1) and (2): slopes 1/3 and 2/3, no rounding."""
    layer = GatedLinear((((1,),), ((2,),)), (((0,),), ((0,),)), (0,))
    back = unfold(layer, [[3]])
    assert back is not None
    assert back.slope == ((Fraction(1, 3), Fraction(2, 3)),)
    assert all(isinstance(s, Fraction) for s in back.slope[0])
