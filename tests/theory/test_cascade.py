"""Activations behind maps or on inputs: words, exact networks, graphs with skips."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateproof.numerics.points import difference_sign
from gateproof.theory.cascade import (
    Node,
    affine,
    boundary,
    compose,
    evaluate,
    onto_inputs,
    run,
    word,
    written_out,
)
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.folding import vector
from gateproof.theory.formula import parse_expr
from gateproof.theory.formula.nodes import App, Var

LAYERS = [
    affine([[1, -2], [3, 1]], [1, -1]),
    affine([[2, 1], [-1, 1]], [0, 5]),
    affine([[1, 1]], [Fraction(1, 2)]),
]


def relu(t: Fraction) -> Fraction:
    return max(t, Fraction(0))


def test_words():
    assert word(2, "after") == ("L1", "A", "L2", "A")
    assert word(2, "inputs") == ("A", "L1", "A", "L2")
    assert word(1, "inputs", first=False) == ("L1",)


def test_what_the_ends_need():
    network = ("L1", "A", "L2")
    assert boundary(2, "inputs", network) == ("leave the input as it is",)
    assert boundary(2, "after", network) == ("leave the output as it is",)
    assert boundary(2, "inputs", word(2, "after")) == ("leave the input as it is", "activate the output")
    assert boundary(3, "after", word(3, "after")) == ()
    with pytest.raises(ValueError, match="inner"):
        boundary(2, "inputs", ("L1", "L2"))


def test_the_two_formulas_as_they_stand_differ():
    """By hand at (1, -1): after 2*4 + 0 -> ..., on inputs relu drops -1 first."""
    x = (1, -1)
    after = run(word(3, "after"), LAYERS, relu, x)
    inputs = run(word(3, "inputs"), LAYERS, relu, x)
    # after: L1 -> (4, 1), A; L2 -> (9, 2), A; L3 -> 23/2.
    assert after == (Fraction(23, 2),)
    # inputs: A -> (1, 0); L1 -> (2, 2); L2 -> (6, 5); L3 -> 23/2. Equal here ...
    assert inputs == (Fraction(23, 2),)
    # ... but not at (-1, -1): after (2, -5) -> (2, 0) -> (4, 3) -> 15/2; inputs (0, 0) -> (1, -1) -> ...
    assert run(word(3, "after"), LAYERS, relu, (-1, -1)) == (Fraction(15, 2),)
    assert run(word(3, "inputs"), LAYERS, relu, (-1, -1)) == (Fraction(13, 2),)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.fractions(-9, 9, max_denominator=3), min_size=2, max_size=2))
def test_the_right_ends_make_them_equal(x):
    one = run(word(3, "inputs", first=False, last=True), LAYERS, relu, x)
    assert one == run(word(3, "after"), LAYERS, relu, x)
    # Conjugate: activating before the input-side cascade is activating behind the other.
    lead = run(("A", *word(3, "after", last=False)), LAYERS, relu, x)
    assert lead == run(word(3, "inputs"), LAYERS, relu, x)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.fractions(-9, 9, max_denominator=3), min_size=2, max_size=2))
def test_without_activations_layers_collapse(x):
    whole = compose(LAYERS[2], compose(LAYERS[1], LAYERS[0]))
    assert run(("L1", "L2", "L3"), LAYERS, relu, x) == whole(vector(x))


def test_the_right_ends_over_symbols():
    """The same with tanh and symbolic inputs, as proofs; the wrong ends are not proved."""

    def tanh(u):
        return App("tanh", (u,))

    given_ = Assumptions({"x": Domain(), "y": Domain()})
    x = (Var("x"), Var("y"))
    (after,) = written_out(word(3, "after"), LAYERS, tanh, x)
    (same,) = written_out(word(3, "inputs", first=False, last=True), LAYERS, tanh, x)
    (lead,) = written_out(("A", *word(3, "after", last=False)), LAYERS, tanh, x)
    (inputs,) = written_out(word(3, "inputs"), LAYERS, tanh, x)
    assert prove_relation(after, "==", same, given_) is not None
    assert prove_relation(lead, "==", inputs, given_) is not None
    assert prove_relation(after, "==", inputs, given_) is None
    point = {"x": Fraction(1, 3), "y": Fraction(-2)}
    assert difference_sign(after, inputs, point) not in (0, None)
    # The collapse without activations, by hand for the first output of two layers at (x, y):
    # 2 (x - 2 y + 1) + (3 x + y - 1) = 5 x - 3 y + 1.
    first, _ = written_out(("L1", "L2"), LAYERS, tanh, x)
    assert prove_relation(first, "==", parse_expr("5*x - 3*y + 1"), given_) is not None


RESIDUAL = (
    Node("x", "input"),
    Node("up", "linear", ("x",)),
    Node("act", "activation", ("up",)),
    Node("down", "linear", ("act",)),
    Node("sum", "add", ("up", "down")),
    Node("act2", "activation", ("sum",)),
    Node("next", "linear", ("act2",)),
    Node("skip", "add", ("act2", "next")),
    Node("y", "output", ("skip",)),
)
MAPS = {
    "up": LAYERS[0],
    "down": LAYERS[1],
    "next": LAYERS[0],
    "act": lambda v: tuple(map(relu, v)),
    "act2": lambda v: tuple(map(relu, v)),
}


def test_a_skip_connection_needs_a_gate_of_its_own():
    found = onto_inputs(RESIDUAL)
    assert found.moved == (("act", "down"), ("act2", "next"))
    assert found.alone == (("act2", "skip", "add"),)
    assert found.plain == ("up",)
    assert not found.complete
    chain = (*RESIDUAL[:4], Node("y", "output", ("down",)))
    assert onto_inputs(chain).complete


def test_normalisation_and_products_block_the_move():
    network = (
        Node("x", "input"),
        Node("a", "activation", ("x",)),
        Node("n", "normalisation", ("a",)),
        Node("p", "product", ("a", "x")),
        Node("l", "linear", ("p",)),
    )
    assert [kind for _, _, kind in onto_inputs(network).alone] == ["normalisation", "product"]
    assert onto_inputs(network).plain == ("l",)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.fractions(-9, 9, max_denominator=3), min_size=2, max_size=2))
def test_the_moved_network_computes_the_same(x):
    a = evaluate(RESIDUAL, MAPS, vector(x))
    b = evaluate(RESIDUAL, MAPS, vector(x), on_inputs=True)
    assert a["y"] == b["y"]
    assert b["act"] == a["up"]


def test_normalisation_does_not_commute_with_the_activation():
    """Centred (1, -1, 3): relu first gives (1, 0, 3) - 4/3, relu last (0, 0, 2)."""

    def centre(v):
        return tuple(t - sum(v) / len(v) for t in v)

    v = vector((1, -1, 3))
    first = centre(tuple(map(relu, v)))
    last = tuple(map(relu, centre(v)))
    assert first == (Fraction(-1, 3), Fraction(-4, 3), Fraction(5, 3))
    assert last == (0, 0, 2)


def test_refusals():
    with pytest.raises(ValueError, match="biases"):
        affine([[1]], [1, 2])
    with pytest.raises(ValueError, match="reads what is not"):
        onto_inputs((Node("l", "linear", ("x",)),))
    with pytest.raises(ValueError, match="a layer"):
        word(0, "after")
    with pytest.raises(ValueError, match="numbers for rows"):
        LAYERS[0](vector((1, 2, 3)))
