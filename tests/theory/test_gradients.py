"""Gradients of gates against the exact differentiator, finite differences and hand calculus."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateproof.numerics.points import at_point
from gateproof.theory.exact.derivative import derivative
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula import expand, parse_expr
from gateproof.theory.formula.nodes import Const, Tg, Var, num
from gateproof.theory.gradients import (
    HardGate,
    hard_gate,
    hard_gradient,
    is_subgradient,
    soft_gradient,
    soft_limit_at_threshold,
    telescoped,
)


def symbolic(branches, shared):
    count = 1 if shared else branches - 1
    return Tg(
        Var("x"),
        tuple(Var(f"t{k}") for k in range(count)),
        tuple(Var(f"h{k}") for k in range(branches - 1)),
        tuple(Var(f"s{k}") for k in range(branches)),
        tuple(Var(f"c{k}") for k in range(branches)),
    )


def partials(tg):
    found = soft_gradient(tg)
    yield "x", found.x
    for names, values in (
        (tg.tau, found.tau),
        (tg.theta, found.theta),
        (tg.slope, found.slope),
        (tg.intercept, found.intercept),
    ):
        yield from ((n.name, v) for n, v in zip(names, values, strict=True))


@pytest.mark.parametrize(("branches", "shared"), [(1, True), (2, True), (3, True), (3, False)])
def test_against_the_exact_differentiator(branches, shared):
    tg = symbolic(branches, shared)
    names = {n.name for n in expand(tg).walk() if isinstance(n, Var)}
    given_ = Assumptions({n: Domain() for n in names})
    whole = expand(tg)
    assert prove_relation(telescoped(tg), "==", whole, given_) is not None
    for name, mine in partials(tg):
        right = derivative(whole, name)
        assert prove_relation(expand(mine), "==", right, given_) is not None, name


@pytest.mark.parametrize(("branches", "shared"), [(4, True), (4, False), (6, True), (6, False)])
def test_more_branches_against_the_exact_differentiator_at_points(branches, shared):
    tg = symbolic(branches, shared)
    whole = expand(tg)
    point = {"x": Fraction(3, 7)}
    for k in range(branches):
        point |= {f"t{k}": Fraction(k + 1, 2), f"h{k}": Fraction(k * k - 3, 2)}
        point |= {f"s{k}": Fraction((-2) ** k, 3), f"c{k}": Fraction(5 - 3 * k)}
    for name, mine in partials(tg):
        right = derivative(whole, name)
        assert right is not None
        gap = at_point(expand(mine), point, 160) - at_point(right, point, 160)
        assert abs(gap) < 1e-40, name


def mp_gate(x, tau, theta, slope, intercept):
    s = [1 / (1 + mp.exp(-t * (x - h))) for t, h in zip(tau, theta, strict=True)]
    g = [1 - s[0], *(a - b for a, b in pairwise(s)), s[-1]]
    return sum(w * (a * x + b) for w, a, b in zip(g, slope, intercept, strict=True))


def test_against_finite_differences():
    """K = 3 with separate sharpness, all ten partials, at several inputs."""
    point = {"t0": 2, "t1": 5, "h0": -1, "h1": 1, "s0": 0, "s1": 1, "s2": -2, "c0": 3, "c1": 0, "c2": 1}
    tg = symbolic(3, False)
    with mp.workdps(50):
        for x in (Fraction(-2), Fraction(1, 3), Fraction(1), Fraction(4)):
            env = {"x": x, **{k: Fraction(v) for k, v in point.items()}}

            def value(change, step, env=env):
                e = {k: mp.mpf(v.numerator) / v.denominator for k, v in env.items()}
                e[change] += step
                return mp_gate(
                    e["x"],
                    *([e[f"{p}{k}"] for k in range(n)] for p, n in zip("thsc", (2, 2, 3, 3), strict=True)),
                )

            h = mp.mpf(10) ** -15
            for name, mine in partials(tg):
                slope = (value(name, h) - value(name, -h)) / (2 * h)
                got = mp.mpf(at_point(expand(mine), env, 128).str(30, radius=False))
                assert abs(slope - got) < mp.mpf(10) ** -24, (name, x)


def test_no_digits_lost_far_out():
    """d sigmoid at 40: exp(-40) to first order, where S (1 - S) would print 0 in doubles."""
    tg = parse_expr("tg(x, tau=1, theta=[0], slope=[0,0], intercept=[0,1])")
    got = float(at_point(expand(soft_gradient(tg).x), {"x": Fraction(40)}, 53).mid())
    assert got == pytest.approx(4.248354255291589e-18, rel=1e-12)


def test_a_hard_gate_is_refused_as_soft():
    with pytest.raises(ValueError, match="hard"):
        soft_gradient(Tg(Var("x"), (Const("oo"),), (num(0),), (num(0), num(1)), (num(0), num(0))))


RELU = hard_gate([0], [0, 1], [0, 0])
STEP = hard_gate([0], [0, 0], [0, 1])
TANH = hard_gate([-1, 1], [0, 1, 0], [-1, 0, 1])


def test_relu_and_step_by_hand():
    at = hard_gradient(RELU, 0)
    assert (at.x, at.jump, at.theta, at.differentiable) == ((0, 1), 0, (0,), False)
    assert at.slope == (0, 0)
    assert at.intercept == (1, 0)
    assert soft_limit_at_threshold(RELU, 0) == Fraction(1, 2)
    jump = hard_gradient(STEP, 0)
    assert (jump.x, jump.jump, jump.theta) == (None, 1, (None,))
    assert soft_limit_at_threshold(STEP, 0) is None
    right = hard_gradient(RELU, Fraction(3))
    assert (right.x, right.slope, right.intercept) == ((1, 1), (0, 3), (0, 1))
    assert hard_gradient(TANH, 1).x == (0, 1)
    assert hard_gradient(TANH, -1).x == (0, 1)
    assert hard_gradient(TANH, 0).differentiable


def test_subgradients_of_a_convex_gate():
    points = [Fraction(k, 4) for k in range(-12, 13)]
    for slope in (0, Fraction(1, 2), 1):
        assert is_subgradient(RELU, 0, slope, points)
    assert not is_subgradient(RELU, 0, Fraction(3, 2), points)
    assert not is_subgradient(RELU, 0, -1, points)
    # The hard tanh turns down at 1: a Clarke derivative there is no subgradient.
    assert not is_subgradient(TANH, 1, Fraction(1, 2), points)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(-4, 4), min_size=2, max_size=2, unique=True).map(sorted),
    st.lists(st.integers(-4, 4), min_size=3, max_size=3),
    st.lists(st.integers(-4, 4), min_size=3, max_size=3),
    st.fractions(-6, 6, max_denominator=2),
)
def test_one_sided_difference_quotients(theta, slope, intercept, x):
    """Close enough to x the gate is affine on each side: quotients are exact slopes or a jump shows."""
    gate = hard_gate(theta, slope, intercept)
    found = hard_gradient(gate, x)
    h = Fraction(1, 1000)
    left = (gate(x) - gate(x - h)) / h
    right = (gate(x + 2 * h) - gate(x + h)) / h
    if found.x is None:
        assert gate(x + h) - gate(x) - right * h == found.jump != 0
    else:
        assert sorted((left, right)) == list(found.x)
        assert gate(x + h) == gate(x) + right * h
    eps = Fraction(1, 1000)
    for k in range(3):
        moved = [c + eps * (j == k) for j, c in enumerate(intercept)]
        assert (hard_gate(theta, slope, moved)(x) - gate(x)) / eps == found.intercept[k]
        moved = [s + eps * (j == k) for j, s in enumerate(slope)]
        assert (hard_gate(theta, moved, intercept)(x) - gate(x)) / eps == found.slope[k]
    for k, t in enumerate(found.theta):
        steps = {
            hard_gate([h0 + d * (j == k) for j, h0 in enumerate(theta)], slope, intercept)(x)
            for d in (-h, 0, h)
        }
        assert (len(steps) == 1) == (t == 0)


def test_sharper_soft_gates_take_the_middle_at_a_kink():
    found = soft_gradient(parse_expr("tg(x, tau=t, theta=[1], slope=[-1,2], intercept=[3,0])"))
    value = at_point(expand(found.x), {"x": Fraction(1), "t": Fraction(10**6)}, 128)
    assert float(value.mid()) == soft_limit_at_threshold(hard_gate([1], [-1, 2], [3, 0]), 0) == 0.5


def test_refusals():
    with pytest.raises(ValueError, match="ascend"):
        hard_gate([1, 1], [0, 1, 0], [0, 0, 0])
    with pytest.raises(ValueError, match="K slopes"):
        hard_gate([1], [0], [0])
    with pytest.raises(TypeError, match="float"):
        hard_gate([0.5], [0, 1], [0, 0])


def test_whole_numbers_stay_exact():
    gate = HardGate((0,), (0, 1), (0, 0))
    assert isinstance(soft_limit_at_threshold(gate, 0), Fraction)
    with pytest.raises(TypeError, match="float"):
        HardGate((0.5,), (0, 1), (0, 0))
