"""A line plus lines times sigmoids: what every difference gate is, and in one way only.

    y = a x + b + sum_k (slope_k x + intercept_k) sigmoid(tau_k (x - theta_k)),    tau_k > 0, oo for a step.

The pairs (tau_k, theta_k) are distinct and no line beside a sigmoid is 0. Then K - 1 of them are a gate of K
branches, and no difference gate with fewer equals it: see docs/theory.md, "Which functions are finite gates".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cmp_to_key

from gateproof.theory.exact import balls
from gateproof.theory.exact.critical import equal_constants, sign_of
from gateproof.theory.exact.domain import Assumptions
from gateproof.theory.exact.kernels import ZERO, minus, plus, times
from gateproof.theory.exact.monotone import in_workspace
from gateproof.theory.exact.writeback import write
from gateproof.theory.formula.nodes import Const, Expr, Num
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.gate import Gate

HARD = Const("oo")


class UndecidedError(Exception):
    """The sign or the equality of two constants was not told."""


@dataclass(frozen=True)
class Step:
    """(slope x + intercept) sigmoid(tau (x - theta)); for tau = oo the line right of theta."""

    tau: Expr
    theta: Expr
    slope: Expr
    intercept: Expr

    @property
    def hard(self) -> bool:
        """Whether it is a step or a kink."""
        return self.tau == HARD


@dataclass(frozen=True)
class GateSum:
    """The line at the left end, and the steps."""

    slope: Expr = ZERO
    intercept: Expr = ZERO
    steps: tuple[Step, ...] = ()

    @property
    def affine(self) -> bool:
        """Whether it is a line as it stands."""
        return not self.steps

    def plus(self, other: GateSum) -> GateSum:
        """The sum, not merged."""
        return GateSum(
            plus(self.slope, other.slope),
            plus(self.intercept, other.intercept),
            self.steps + other.steps,
        )

    def scaled(self, c: Expr) -> GateSum:
        """A multiple by a constant."""
        steps = tuple(Step(s.tau, s.theta, times(c, s.slope), times(c, s.intercept)) for s in self.steps)
        return GateSum(times(c, self.slope), times(c, self.intercept), steps)

    def by_x(self) -> GateSum:
        """x times it, where all lines are constants."""
        steps = tuple(Step(s.tau, s.theta, s.intercept, ZERO) for s in self.steps)
        return GateSum(self.intercept, ZERO, steps)

    @property
    def level(self) -> bool:
        """Whether all lines are visibly constants."""
        return self.slope == ZERO and all(s.slope == ZERO for s in self.steps)


def closed(node: Expr) -> Expr:
    """A constant in its shorter form."""
    value = constant_value(node)
    if value is not None:
        return Num(value)
    found = in_workspace(Assumptions(), lambda ws: write(ws, ws.form(node)))
    return node if found is None or found.size > node.size else found


def sign(node: Expr) -> int:
    """The sign of a constant. Raises UndecidedError."""
    value = constant_value(node)
    if value is not None:
        return (value > 0) - (value < 0)
    found = balls.sign_of_constant(node)
    if found is None:
        found = sign_of(node)
    if found is None:
        raise UndecidedError
    return found


def merged(total: GateSum) -> GateSum:
    """Steps at one place with one sharpness are one; those of weight 0 are left out; thresholds ascend.

    Raises UndecidedError.
    """
    kept: list[Step] = []
    for step in total.steps:
        for i, other in enumerate(kept):
            if _same(step.tau, other.tau) and _same(step.theta, other.theta):
                kept[i] = Step(
                    other.tau,
                    other.theta,
                    plus(other.slope, step.slope),
                    plus(other.intercept, step.intercept),
                )
                break
        else:
            kept.append(step)
    tidy = [Step(closed(s.tau), closed(s.theta), _number(s.slope), _number(s.intercept)) for s in kept]
    tidy = [s for s in tidy if s.slope != ZERO or s.intercept != ZERO]
    return GateSum(_number(total.slope), _number(total.intercept), tuple(_ascending(tidy)))


def _number(node: Expr) -> Expr:
    """The constant, ZERO where it is 0."""
    found = closed(node)
    return found if constant_value(found) is not None or sign(found) else ZERO


def _same(a: Expr, b: Expr) -> bool:
    if a == b:
        return True
    if HARD in (a, b):
        return False
    found = equal_constants(a, b)
    if found is None:
        raise UndecidedError
    return found


def _ascending(steps: Iterable[Step]) -> list[Step]:
    """By threshold, at one threshold by sharpness."""

    def before(a: Step, b: Step) -> int:
        order = 0 if a.theta == b.theta else sign(_less(a.theta, b.theta))
        if order or a.tau == b.tau:
            return order
        if a.hard or b.hard:
            return 1 if a.hard else -1
        return sign(_less(a.tau, b.tau))

    return sorted(steps, key=cmp_to_key(before))


def _less(a: Expr, b: Expr) -> Expr:
    return plus(a, minus(b))


def gate_of(total: GateSum) -> Gate:
    """The difference gate of a merged sum."""
    slope, intercept = [total.slope], [total.intercept]
    for step in total.steps:
        slope.append(closed(plus(slope[-1], step.slope)))
        intercept.append(closed(plus(intercept[-1], step.intercept)))
    return Gate(
        tuple(s.tau for s in total.steps),
        tuple(s.theta for s in total.steps),
        tuple(slope),
        tuple(intercept),
    )
