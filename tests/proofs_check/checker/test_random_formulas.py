"""Formulas of every kind at random: what each arithmetic accepts holds the values mpmath finds."""

from __future__ import annotations

import random
from fractions import Fraction

import gmpy2
import mpmath as mp
import pytest
from naive_certificates import hash_of, make, number, random_tree, truth, value, write

from gateproof.proofs_check.checker import verify
from gateproof.proofs_check.checker.algebra import Rejected
from gateproof.proofs_check.checker.evaluate import Program
from gateproof.proofs_check.checker.interval import Interval, Intervals
from gateproof.proofs_check.checker.jet import Jets
from gateproof.proofs_check.checker.tail import Tails

F = Fraction
FIELD = Intervals(90)
SEEDS = [pytest.param(seed, marks=[pytest.mark.deep] if seed >= 4 else []) for seed in range(100)]
CANNOT = (OverflowError, mp.libmp.NoConvergence)  # of mpmath, with exp(exp(...)) and the like


def mpf(end):
    if gmpy2.is_infinite(end):
        return mp.inf if end > 0 else -mp.inf
    return number(F(*map(int, end.as_integer_ratio())))


def inside(low, real, high) -> bool:
    room = mp.mpf("1e-50") * (1 + abs(real))
    return bool(low - room <= real <= high + room)


def points(dice, lo, hi):
    return [lo, hi, (lo + hi) / 2, *(lo + (hi - lo) * F(dice.randint(1, 99), 100) for _ in range(4))]


def check_boxes(dice, tree):
    """Natural and Taylor enclosures on one box."""
    lo = F(dice.randint(-16, 16), dice.choice([3, 8]))
    hi = lo + F(dice.randint(0, 10), dice.choice([3, 7, 100]))
    box = Interval(FIELD.number(lo).lo, FIELD.number(hi).hi)
    program, jets = Program(tree, {"x"}), Jets(FIELD, 2)
    try:
        over = program.evaluate(FIELD, {"x": box})
    except Rejected:
        return 0
    try:
        coefficients = program.evaluate(jets, {"x": jets.variable(box)})
    except Rejected:
        coefficients = None
    for x in points(dice, lo, hi):
        real = value(tree, number(x))
        assert inside(mpf(over.lo), real, mpf(over.hi)), (lo, hi, x, tree)
        if coefficients is not None and lo < hi:
            # f(x) - f(m) - f'(m) (x - m) lies in c_2 (x - m)^2, and so does the slope in c_1.
            middle = (lo + hi) / 2
            step = number(x - middle)
            first = value(tree, number(middle))
            low, high = mpf(coefficients[1].lo) * step, mpf(coefficients[1].hi) * step
            assert inside(min(low, high), real - first, max(low, high)), (lo, hi, x, tree)
            if step:
                at = program.evaluate(jets, {"x": jets.variable(FIELD.number(middle))})
                rest = (real - first) / step**2
                slope = mpf(at[1].lo) / step, mpf(at[1].hi) / step
                low, high = rest - max(slope), rest - min(slope)
                assert low <= mpf(coefficients[2].hi) + mp.mpf("1e-20") * (1 + abs(rest)), (lo, hi, x, tree)
                assert high >= mpf(coefficients[2].lo) - mp.mpf("1e-20") * (1 + abs(rest)), (lo, hi, x, tree)
    return 1


def check_tail(dice, tree):
    """The expansion from a cut on, and the signs told from it."""
    cut, side = F(dice.choice([1, 2, 3, 5, 12])), dice.choice([1, -1])
    try:
        tails = Tails(FIELD, cut, side)
        found = Program(tree, {"x"}).evaluate(tails, {"x": tails.variable})
        signs = tails.signs(found)
    except Rejected:
        return 0
    for step in (0, "1/7", 1, 10, 25):
        x = number(cut + F(step))
        parts = [
            (number(lo), number(hi), x**k * mp.exp(-number(a) * x)) for (k, a), (lo, hi) in found.items()
        ]
        low, high = (mp.fsum([ends[i] * size for *ends, size in parts]) for i in (0, 1))
        with mp.workdps(400):  # differences of nearly equal values far out
            real = value(tree, side * x)
        room = mp.mpf("1e-60") * (abs(low) + abs(high))
        assert low - room <= real <= high + room, (cut, side, step, tree)
        assert int(mp.sign(real)) in signs, (cut, side, step, tree)
    return 1


def check_certificate(dice, tree):
    """A certificate of one leaf whose bound is a little past a value of the formula is rejected."""
    lo = F(dice.randint(-16, 16), dice.choice([3, 8]))
    hi = lo + F(dice.randint(1, 10), dice.choice([3, 7, 100]))
    rule = dice.choice(["natural", *(["taylor", n] for n in (1, 2, 3, 4))])
    document = make("x", lo, hi, lower=0, pieces=1, rule=rule)
    document |= {"core": tree, "formula_hash": hash_of(tree)}
    free = {"lower": None, "lower_strict": False, "upper": None, "upper_strict": False}
    generous = document | {"conclusion": free | {"lower": write(-(10**40))}}
    if not verify(generous).accepted:
        return 0
    values = [value(tree, number(x)) for x in points(dice, lo, hi)]
    for side, extreme, sign in (("lower", min(values), 1), ("upper", max(values), -1)):
        if abs(extreme) > mp.mpf("1e1000"):
            return 0
        # exp(-exp(20)) is no fraction that a computer holds; beside 1e-9 it is 0.
        near = F(mp.nstr(extreme, 40)) if abs(extreme) > mp.mpf("1e-60") else F(0)
        past = near + sign * F(1, 10**9) * (1 + abs(near))
        assert not verify(document | {"conclusion": free | {side: write(past)}}).accepted, (
            side,
            past,
            rule,
            tree,
        )
    return 1


@pytest.mark.parametrize("check", [check_boxes, check_tail, check_certificate])
@pytest.mark.parametrize("seed", SEEDS)
def test_accepted_formulas_have_the_values(check, seed):
    dice = random.Random(seed)
    accepted = 0
    with mp.workdps(80):
        for _ in range(200):
            tree = random_tree(dice, dice.randint(1, 5))
            try:
                # A ValueError here, no value in the domain, is a failure.
                accepted += check(dice, tree)
            except CANNOT:
                continue
    assert accepted > 60


def test_conditions_of_points():
    field = Intervals(60)
    dice = random.Random(1)
    for _ in range(300):
        relation = ["rel", [dice.choice(["<", "<=", "==", ">", "!=", ">="])], ["var", "x"], ["num", "1/1"]]
        condition = dice.choice([relation, ["not", relation], ["and", relation, ["not", relation]]])
        x = dice.randint(-1, 3)
        found = Program(["where", condition, ["num", "1/1"], ["num", "0/1"]], {"x"}).evaluate(
            field, {"x": field.number(x)}
        )
        assert found.lo == found.hi == truth(condition, number(x))
