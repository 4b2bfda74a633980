"""Hard gates without jumps, exactly: the printed lines of neighbours have one value at their threshold.

Slopes and thresholds are short decimals, and intercepts follow: c_(k+1) = c_k + (s_k - s_(k+1)) theta_k.
Between two given outer lines one number is left to solve for: a threshold, a fraction; or, where those lines
are irrational, a middle slope, so that all thresholds are rational. Of a symmetric target the right half is
the mirror image of the left one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from gateproof.numerics.backends.numbers import to_float
from gateproof.numerics.fits.certified_gate import nearest
from gateproof.numerics.fits.joined_sums import Sum, sum_of
from gateproof.numerics.fits.normal import Normal
from gateproof.numerics.fits.target import Line
from gateproof.theory.exact.domain import Assumptions
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.nodes import App, Expr, Num
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.gate import Gate
from gateproof.theory.threshold_gate import branch

#: Significant digits tried, and the relative loss that shorter numbers may cost.
DIGITS, LOSS = (7, 9, 11, 13, 15, 17), 1e-7


def jumps(gate: Gate) -> list[Sum]:
    """The exact jump at each threshold. Raises ValueError where one is not rational."""
    found = []
    for k, place in enumerate(gate.theta):
        at = constant_value(place)
        if at is None:
            raise ValueError("a threshold is not rational")
        rise = sum_of(gate.slope[k + 1]) - sum_of(gate.slope[k])
        found.append(rise.times(at) + sum_of(gate.intercept[k + 1]) - sum_of(gate.intercept[k]))
    return found


def is_continuous(gate: Gate) -> bool:
    """Whether neighbouring lines are proved to have one value at each threshold, in exact arithmetic."""
    if all(constant_value(t) is not None for t in gate.theta) and all(j.zero for j in jumps(gate)):
        return True
    for k, place in enumerate(gate.theta):
        left, right = (branch(place, gate.slope[j], gate.intercept[j]) for j in (k, k + 1))
        if prove_relation(left, "==", right, Assumptions()) is None:
            return False
    return True


def largest_jump(gate: Gate) -> float:
    """The size of the largest jump, in floats."""
    return max((abs(float(j)) for j in jumps(gate)), default=0.0)


def joined(gate: Gate, normal: Normal, error: Callable[[Gate], float]) -> Gate | None:
    """The hard gate without jumps, with numbers as short as the error allows; None where there is none.

    ``gate`` is continuous to rounding, ``error`` in floats. Outer lines that are asymptotes stay.
    """
    if is_continuous(gate) and all(_is_short(v) for v in (*gate.theta, *gate.slope, *gate.intercept)):
        return gate
    met = _two_given(gate, normal)
    if met is not None:
        return met
    most, least = error(gate) * (1 + LOSS), math.inf
    best: Gate | None = None
    for digits in DIGITS:
        for made in _made(gate, normal, digits):
            if not is_continuous(made):
                continue
            size = error(made)
            if size <= most:
                return made
            if size < least:
                best, least = made, size
    return best


def _two_given(gate: Gate, normal: Normal) -> Gate | None:
    """Two given lines that meet at an irrational place; None for others."""
    ends = [_end(gate, k, line) for k, line in ((0, normal.target.left), (-1, normal.target.right))]
    if gate.branches != 2 or ends[0] is None or ends[1] is None:
        return None
    turn, rise = sum_of(gate.slope[0]) - sum_of(gate.slope[1]), ends[1] - ends[0]
    if turn.zero or rise.over(turn) is not None:
        return None
    if float(turn) < 0:
        turn, rise = turn.times(Fraction(-1)), rise.times(Fraction(-1))
    made = replace(gate, theta=(App("div", (rise.expression, turn.expression)),))
    return made if is_continuous(made) else None


def _is_short(value: Expr) -> bool:
    known = constant_value(value)
    return known is None or len(str(known.numerator)) <= DIGITS[0]


def _made(gate: Gate, normal: Normal, digits: int) -> Iterator[Gate]:
    """The mirrored gate, and the plain one."""
    theta, slope = _rounded(gate, normal, digits)
    lines = (0, normal.target.left), (-1, normal.target.right)
    ends = [_end(gate, k, line, normal.height, digits) for k, line in lines]
    for make in (_mirrored, _solved):
        chain = make(gate, normal, _Chain(theta, slope, ends[0], ends[1]), digits)
        if chain is not None and all(a < b for a, b in pairwise(chain.theta)):
            yield _gate(gate, chain)


@dataclass(frozen=True)
class _Chain:
    """Thresholds, slopes and intercepts; ``left`` and ``right`` are intercepts that are given.

    ``half``: it is the left half, and the slope of its last line, which goes on to 0, is free.
    """

    theta: list[Fraction]
    slope: list[Sum]
    left: Sum | None
    right: Sum | None
    half: bool = False
    intercept: list[Sum] | None = None


def _end(gate: Gate, k: int, line: Line | None, height: float = 0.0, digits: int = 0) -> Sum | None:
    """The intercept of an outer line that is the asymptote; a decimal beside an irrational slope.

    Other lines are fitted to that one: of the tails the number has to be rational, to be seen to cancel.
    """
    if line is None or gate.slope[k] != line.slope:
        return None
    if gate.intercept[k] == line.intercept:
        return sum_of(line.intercept)
    irrational = digits and constant_value(line.slope) is None
    return Sum(nearest(to_float(gate.intercept[k]), height, digits)) if irrational else None


def _rounded(gate: Gate, normal: Normal, digits: int) -> tuple[list[Fraction], list[Sum]]:
    theta = [nearest(to_float(t), normal.width, digits) for t in gate.theta]
    slope = []
    for k, s in enumerate(gate.slope):
        line = normal.target.left if k == 0 else normal.target.right if k == gate.branches - 1 else None
        given = line is not None and s == line.slope
        steep = normal.height / normal.width
        slope.append(sum_of(s) if given else Sum(nearest(to_float(s), steep, digits)))
    return theta, slope


def _solved(gate: Gate, normal: Normal, chain: _Chain, digits: int) -> _Chain | None:
    """With intercepts: from a given end on, from a middle line on, or with one number solved for."""
    theta, slope, n = chain.theta, chain.slope, len(chain.slope)
    if chain.left is not None and chain.right is not None:
        return _between(chain)
    if chain.left is not None:
        start, first = 0, chain.left
    elif chain.right is not None:
        start, first = n - 1, chain.right
    else:
        # A line with a rational slope, so that no other than the outer ones has irrational numbers.
        plain = [k for k in range(n) if not slope[k].terms] or [0]
        start = plain[len(plain) // 2]
        first = Sum(nearest(to_float(gate.intercept[start]), normal.height, digits))
    found: list[Sum] = [first] * n
    for k in range(start, n - 1):
        found[k + 1] = found[k] + (slope[k] - slope[k + 1]).times(theta[k])
    for k in range(start, 0, -1):
        found[k - 1] = found[k] + (slope[k] - slope[k - 1]).times(theta[k - 1])
    return replace(chain, intercept=found)


def _between(chain: _Chain) -> _Chain | None:
    """Between two given lines."""
    theta, slope, n = list(chain.theta), list(chain.slope), len(chain.slope)
    assert chain.left is not None
    assert chain.right is not None
    turns = [slope[k] - slope[k + 1] for k in range(n - 1)]
    rest = chain.right - chain.left
    for turn, at in zip(turns, theta, strict=True):
        rest = rest - turn.times(at)
    if not rest.zero:
        sharp = max(range(n - 1), key=lambda k: abs(float(turns[k])))
        moved = rest.over(turns[sharp])
        if moved is not None:
            theta[sharp] += moved
        else:
            # A change of a slope by d moves what comes after by d times the piece's length: the longest one.
            lengths = [b - a for a, b in pairwise([*theta, Fraction(0)] if chain.half else theta)]
            if max(lengths, default=0) <= 0:
                return None
            k = lengths.index(max(lengths))
            slope[k + 1] = slope[k + 1] + rest.times(1 / lengths[k])
    found = [chain.left]
    for k in range(n - 1):
        found.append(found[k] + (slope[k] - slope[k + 1]).times(theta[k]))
    return replace(chain, theta=theta, slope=slope, intercept=found)


def _mirrored(gate: Gate, normal: Normal, chain: _Chain, digits: int) -> _Chain | None:
    """The left half solved, and its mirror image; None where the target is not symmetric about 0."""
    n, even = len(chain.slope), normal.symmetry == "even"
    if not normal.symmetry or normal.centre or n < 2 or (not even and n % 2 == 0):
        return None
    if (chain.left is None) != (chain.right is None):
        return None
    half = Fraction(1, 2)
    tilt = Sum(Fraction(repr(float(normal.m))))
    level = Sum(Fraction(repr(float(normal.b))))
    target = normal.target
    if target.left is not None and target.right is not None:
        tilt = (chain.slope[0] + chain.slope[-1]).times(half)
        level = (sum_of(target.left.intercept) + sum_of(target.right.intercept)).times(half)
    count = (n + 1) // 2
    slope, theta = chain.slope[:count], chain.theta[: count - 1]
    if n % 2 and even:
        slope[-1] = tilt
    part = _Chain(theta, slope, chain.left, None if even else level, half=True)
    done = _solved(gate, normal, part, digits)
    if done is None or done.intercept is None:
        return None
    middle = [] if n % 2 else [Fraction(0)]
    outer = slice(0, n // 2)
    slopes = [tilt.times(Fraction(2)) - s if even else s for s in done.slope[outer]]
    levels = [c if even else level.times(Fraction(2)) - c for c in done.intercept[outer]]
    return _Chain(
        [*done.theta, *middle, *(-t for t in reversed(done.theta))],
        [*done.slope, *reversed(slopes)],
        chain.left,
        chain.right,
        intercept=[*done.intercept, *reversed(levels)],
    )


def _gate(gate: Gate, chain: _Chain) -> Gate:
    """The gate of a chain; given outer lines as they were written."""
    assert chain.intercept is not None
    slope, intercept = (
        tuple(old if sum_of(old) == new else new.expression for old, new in zip(was, now, strict=True))
        for was, now in ((gate.slope, chain.slope), (gate.intercept, chain.intercept))
    )
    return replace(gate, theta=tuple(Num(t) for t in chain.theta), slope=slope, intercept=intercept)
