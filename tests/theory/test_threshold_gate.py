"""The TG primitive: partition of unity, exact instances, order of branches."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest

from gateproof.numerics.points import at_point
from gateproof.theory.formula import expand, parse_expr
from gateproof.theory.formula.nodes import Const, Tg, Var, num
from gateproof.theory.threshold_gate import gates, paper_order

POINTS = [Fraction(t) for t in ["-7", "-1", "-1/3", "0", "1/5", "1", "2", "6"]]


def value(text: str, x: Fraction) -> float:
    return float(at_point(expand(parse_expr(text)), {"x": x}, 128).mid())


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("tg(x, tau=1, theta=[0], slope=[0,1], intercept=[0,0])", lambda x: x / (1 + mp.exp(-x))),
        ("tg(x, tau=2, theta=[0], slope=[0,0], intercept=[-1,1])", mp.tanh),
        ("tg(x, tau=1, theta=[0], slope=[0,0], intercept=[0,1])", lambda x: 1 / (1 + mp.exp(-x))),
        ("tg(x, tau=oo, theta=[0], slope=[0,1], intercept=[0,0])", lambda x: max(x, 0)),
        ("tg(x, tau=oo, theta=[-1,1], slope=[0,1,0], intercept=[-1,0,1])", lambda x: max(-1, min(1, x))),
        ("tg(x, tau=3, theta=[], slope=[2], intercept=[5])", lambda x: 2 * x + 5),
    ],
)
def test_exact_instances(text: str, right: object) -> None:
    for x in POINTS:
        assert callable(right)
        assert value(text, x) == pytest.approx(float(right(mp.mpf(x.numerator) / x.denominator)), abs=1e-15)


@pytest.mark.parametrize("branches", [1, 2, 3, 6])
def test_gates_sum_to_one_also_with_separate_sharpness(branches: int) -> None:
    theta = tuple(num(k) for k in range(branches - 1))
    tau = tuple(num(k + 1) for k in range(branches - 1)) or (num(1),)
    parts = gates(Var("x"), tau, theta)
    assert len(parts) == branches
    for x in POINTS:
        total = sum(float(at_point(g, {"x": x}, 128).mid()) for g in parts)
        assert total == pytest.approx(1, abs=1e-14)


def test_with_separate_sharpness_a_gate_can_go_negative() -> None:
    """sigmoid(x) - sigmoid(3(x - 1)) < 0 at x = 3: 0.9526 against 0.9975."""
    middle = gates(Var("x"), (num(1), num(3)), (num(0), num(1)))[1]
    assert float(at_point(middle, {"x": Fraction(3)}, 128).mid()) == pytest.approx(
        0.95257 - 0.99753, abs=1e-4
    )


def test_hard_gate_is_zero_at_its_threshold() -> None:
    above = gates(Var("x"), (Const("oo"),), (num(0),))[1]
    assert [float(at_point(above, {"x": Fraction(x)}, 64).mid()) for x in (-1, 0, 1)] == [0, 0, 1]


def test_the_paper_lists_branches_right_to_left() -> None:
    tg = parse_expr("tg(x, tau=1, theta=[0], slope=[0,1], intercept=[2,3])")
    assert isinstance(tg, Tg)
    order = paper_order(tg)
    assert order["s"] == (num(1), num(0))
    assert order["c"] == (num(3), num(2))
