"""Random identities and bounds: true ones are never rejected, damaged ones never accepted.

A damaged statement counts as false only where mpmath at 60 digits shows a point of the scope
at which it fails; a damage that happens to do nothing is passed over.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from random_trees import DIGITS, TAU, Env, Tree, X, call, damaged, differ, formula, mul, num, rewritten, text
from random_trees import add as plus
from random_trees import value as tree_value
from wall_clock import within

from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Reading, Settings

PASSED = frozenset({"proved", "certified"})
BUDGET = Settings(boxes=2_000, wall_seconds=20)


def decided(statement: str) -> str:
    with within(60):
        return decide(Reading("random", statement), BUDGET).verdict


# --- scopes ----------------------------------------------------------------------

_ONE = (Fraction(1),)
_TAUS = (Fraction(1), Fraction(1, 3), Fraction(5, 2))
_FAR = Fraction(12)
#: Scope in words: its names, and where points are taken from it.
SCOPES = {
    "for x in R": ((X,), -_FAR, _FAR, _ONE),
    "for x in R, tau > 0": ((X, TAU), -_FAR, _FAR, _TAUS),
    "for x in [-3, 2]": ((X,), Fraction(-3), Fraction(2), _ONE),
    "for x > 0": ((X,), Fraction(0), _FAR, _ONE),
    "for x in (-oo, 1)": ((X,), -_FAR, Fraction(1), _ONE),
}


@cache
def points(scope: str) -> tuple[Env, ...]:
    """Halves, and points beside them: a branch that moved by 1e-9 differs only there."""
    _, lo, hi, taus = SCOPES[scope]
    halves = [Fraction(k, 2) for k in range(-24, 25)]
    close = Fraction(1, 2 * 10**9)
    values = [h + d for d in (Fraction(1, 7), Fraction(0), close, -close) for h in halves]
    with mp.workdps(DIGITS):
        return tuple(
            {"x": mpf(v.numerator) / v.denominator, "tau": mpf(t.numerator) / t.denominator}
            for t in taus
            for v in values
            if lo < v < hi
        )


@st.composite
def identities(draw: Any) -> tuple[str, Tree, Tree]:
    """A scope, a formula and the same formula in other words."""
    scope = draw(st.sampled_from(["for x in R", *SCOPES]))
    left = formula(draw, SCOPES[scope][0], draw(st.integers(1, 3)), draw(st.booleans()))
    right = rewritten(draw, left, draw(st.integers(1, 3)))
    assume(len(text(left)) + len(text(right)) < 500)
    assume(left != right)
    return scope, left, right


def _budget(examples: int) -> settings:
    slow = (HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large)
    return settings(
        max_examples=examples,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=slow,
        phases=(Phase.explicit, Phase.generate),
    )


# --- identities ------------------------------------------------------------------


def true_identities(examples: int) -> Counter[str]:
    seen: Counter[str] = Counter()

    @_budget(examples)
    @given(identities())
    def run(case: tuple[str, Tree, Tree]) -> None:
        scope, left, right = case
        # The identities themselves are on trial first.
        assert differ(left, right, points(scope)[::5]) is None
        statement = f"{scope}: {text(left)} == {text(right)}"
        found = decided(statement)
        seen[found] += 1
        assert found in PASSED | {"inconclusive"}, f"{found}: {statement}"

    run()
    return seen


def false_identities(examples: int) -> Counter[str]:
    seen: Counter[str] = Counter()

    @_budget(examples)
    @given(identities(), st.data())
    def run(case: tuple[str, Tree, Tree], data: st.DataObject) -> None:
        scope, left, right = case
        wrong = damaged(data.draw, right)
        env = differ(left, wrong, points(scope))
        assume(env is not None)
        statement = f"{scope}: {text(left)} == {text(wrong)}"
        found = decided(statement)
        seen[found] += 1
        assert found in {"refuted", "ill-posed", "inconclusive"}, f"{found}, but fails at {env}: {statement}"

    run()
    return seen


# --- bounds ----------------------------------------------------------------------

FLAT = ("tanh", "sigmoid", "sech", "sin", "cos", "erf", "atan")


@st.composite
def waves(draw: Any) -> tuple[tuple[Fraction, Fraction], Tree]:
    """An interval and a sum of two or three bounded functions with slopes of moderate size."""
    size = st.sampled_from([Fraction(1), Fraction(-1), Fraction(1, 2), Fraction(3, 2), Fraction(-2)])
    shift = st.sampled_from([Fraction(0), Fraction(1), Fraction(-1, 2), Fraction(1, 3)])
    tree: Tree | None = None
    for _ in range(draw(st.integers(1, 3))):
        inner = plus(mul(num(draw(size)), X), num(draw(shift)))
        part = mul(num(draw(size)), call(draw(st.sampled_from(FLAT)), inner))
        if draw(st.integers(0, 3)) == 0:
            part = mul(part, call("sech", X))
        tree = part if tree is None else plus(tree, part)
    assert tree is not None
    lo = Fraction(draw(st.integers(-6, 4)), 2)
    return (lo, lo + Fraction(draw(st.integers(1, 8)), 2)), tree


def supremum(tree: Tree, lo: Fraction, hi: Fraction, cells: int = 400) -> tuple[Any, Any]:
    """The greatest value on [lo, hi], to 40 digits, and where: samples, then Newton's method."""
    with mp.workdps(DIGITS):
        a, b = mpf(lo.numerator) / lo.denominator, mpf(hi.numerator) / hi.denominator

        def f(t: Any) -> Any:
            return tree_value(tree, {"x": t})

        with mp.workdps(20):
            samples = [(f(t), t) for t in (a + (b - a) * k / cells for k in range(cells + 1))]
        starts = sorted(samples, key=lambda s: s[0], reverse=True)[:3]
        best = max(((f(t), t) for t in (a, b)), key=lambda s: s[0])
        for _, t in starts:
            try:
                root = mpmath.findroot(lambda u: mpmath.diff(f, u), t, tol=mpf(10) ** -50, maxsteps=40)
            except (ValueError, ZeroDivisionError):
                continue
            if a <= root <= b and f(root) > best[0]:
                best = (f(root), root)
        assert best[0] >= starts[0][0] - mpf(10) ** -15, "the search lost its own best sample"
        return best


def _exact(number: Any) -> Fraction:
    return Fraction(int(mpmath.floor(number * mpf(10) ** 45)), 10**45)


def bounds(examples: int) -> Counter[str]:
    seen: Counter[str] = Counter()

    @_budget(examples)
    @given(waves(), st.integers(2, 9), st.booleans(), st.booleans())
    def run(case: tuple[tuple[Fraction, Fraction], Tree], places: int, holds: bool, whole: bool) -> None:
        (lo, hi), tree = case
        best, _ = supremum(tree, lo, hi)
        with mp.workdps(DIGITS):
            slack = Fraction(1, 10**places)
            bound = _exact(best) + (slack if holds else -slack)
        scope = f"x in [{lo}, {hi}]"
        if whole:
            statement = f"sup({text(tree)}, {scope}) {'<=' if holds else '>'} {text(num(bound))}"
            # Both say what is true of sup f; the damaged one is the other relation.
            statement = statement if holds else statement.replace(") > ", ") <= ")
        else:
            statement = f"for {scope}: {text(tree)} <= {text(num(bound))}"
        found = decided(statement)
        seen[f"{'true' if holds else 'false'} {found}"] += 1
        right = PASSED if holds else {"refuted"}
        assert found in right | {"inconclusive"}, f"{found}: {statement}"

    run()
    return seen


# --- tests -----------------------------------------------------------------------


def share(seen: Counter[str], names: frozenset[str] | set[str]) -> float:
    return sum(seen[n] for n in names) / max(1, seen.total())


def test_identities_pass() -> None:
    seen = true_identities(60)
    assert share(seen, PASSED) >= 0.8, seen


def test_damaged_identities_never_pass() -> None:
    seen = false_identities(60)
    assert share(seen, {"refuted"}) >= 0.8, seen


def test_bounds_with_known_slack() -> None:
    seen = bounds(20)
    assert share(seen, {"true proved", "true certified", "false refuted"}) >= 0.8, seen


@pytest.mark.deep
def test_identities_pass_deep() -> None:
    seen = true_identities(600)
    assert share(seen, PASSED) >= 0.8, seen


@pytest.mark.deep
def test_damaged_identities_never_pass_deep() -> None:
    seen = false_identities(600)
    assert share(seen, {"refuted"}) >= 0.8, seen


@pytest.mark.deep
def test_bounds_with_known_slack_deep() -> None:
    seen = bounds(200)
    assert share(seen, {"true proved", "true certified", "false refuted"}) >= 0.8, seen
