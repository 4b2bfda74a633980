"""How far a critical point moves, against closed forms of the critical points of both sides."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import mpmath
import pytest

from gateproof.numerics.meanfield.activation import RefusedActivation
from gateproof.numerics.meanfield.outcome import Outcome, Point, Status
from gateproof.numerics.meanfield.shift import critical_shift, paired
from gateproof.theory.formula import parse_expr
from gateproof.theory.formula.nodes import num
from gateproof.theory.gate import Gate


def bell(b, s):
    """q* and sigma_w^2 of exp(-b x^2): V = (1+4bq)^(-1/2), D = 4 b^2 q (1+4bq)^(-3/2)."""
    # 4 b^2 q (q - s) = 1 + 4 b q
    half = 4 * b + 4 * b * b * s
    q = (half + mpmath.sqrt(half**2 + 16 * b * b)) / (8 * b * b)
    return q, (1 + 4 * b * q) ** 1.5 / (4 * b * b * q)


def test_the_shift_of_a_bell_is_that_of_its_closed_form():
    found = critical_shift("exp(-x**2)", "exp(-(11/10)*x**2)", "0.05", 25)
    with mpmath.workdps(40):
        s = mpmath.mpf(1) / 20
        (q1, w1), (q2, w2) = bell(mpmath.mpf(1), s), bell(mpmath.mpf(11) / 10, s)
        assert found.certified
        (moved,) = found.moved
        for ball, right in ((moved.q, q2 - q1), (moved.sigma_w2, w2 - w1)):
            off = abs(mpmath.mpf(ball.mid().str(35, radius=False)) - right)
            assert off <= float(ball.rad()) + 1e-33
            assert off < 1e-20
    assert q1 == 1.25


def test_ends_of_the_shift_hold_it():
    written = critical_shift("exp(-x**2)", "exp(-2*x**2)", Fraction(1, 20)).as_json()
    shift = written["moved"][0]["shift"]["q_star"]
    right = bell(2, 0.05)[0] - bell(1, 0.05)[0]
    assert float(shift["lo"]) <= right + 1e-15
    assert right - 1e-15 <= float(shift["hi"])
    assert float(shift["hi"]) - float(shift["lo"]) < 1e-12


@dataclass(frozen=True)
class Fit:
    gate: Gate


def test_a_gate_that_is_its_target_moves_nothing():
    silu = Fit(Gate((num(1),), (num(0),), (num(0), num(1)), (num(0), num(0))))
    (moved,) = critical_shift("silu", silu, "0.7").moved
    for ball in (moved.q, moved.sigma_w2):
        assert ball.contains(0)
        assert ball.rad() < 1e-13
    assert moved.target.stable
    assert moved.fit.stable


def test_a_gate_near_its_target_has_the_shift_that_mpmath_finds():
    tau = parse_expr("17/10")
    found = critical_shift("gelu", Gate((tau,), (num(0),), (num(0), num(1)), (num(0), num(0))), "0.7", 15)
    (moved,) = found.moved

    def critical(f, slope, start):
        def mean(g, q):
            cuts = [-14, -6, -3, -1, 0, 1, 3, 6, 14]
            return mpmath.quad(lambda z: g(mpmath.sqrt(q) * z) ** 2 * mpmath.npdf(z), cuts)

        # An absolute tolerance of 1e-12 of F, whose slope is about 0.01.
        q = mpmath.findroot(lambda q: (q - mpmath.mpf("0.7")) * mean(slope, q) - mean(f, q), start, tol=1e-24)
        return q, 1 / mean(slope, q)

    def sigmoid(x):
        return 1 / (1 + mpmath.exp(-x))

    t = mpmath.mpf("1.7")
    right = critical(
        lambda x: x * sigmoid(t * x),
        lambda x: sigmoid(t * x) * (1 + t * x * sigmoid(-t * x)),
        (float(moved.fit.q.mid()) * 0.99, float(moved.fit.q.mid()) * 1.01),
    )
    left = critical(
        lambda x: x * mpmath.ncdf(x),
        lambda x: mpmath.ncdf(x) + x * mpmath.npdf(x),
        (float(moved.target.q.mid()) * 0.99, float(moved.target.q.mid()) * 1.01),
    )
    assert float(moved.q.mid()) == pytest.approx(float(right[0] - left[0]), rel=1e-6)
    assert float(moved.sigma_w2.mid()) == pytest.approx(float(right[1] - left[1]), rel=1e-6)


def test_a_fit_without_a_critical_point_is_said_to_have_none():
    found = critical_shift("relu", "silu", "0.05")
    assert found.moved == ()
    assert "target has no critical point" in found.reason
    assert found.certified


def test_a_change_of_stability_is_said():
    # sqrt-like growth attracts, x^2 repels: at its critical point V'/D = 3/2.
    assert "attracts" in critical_shift("tanh", "x**2", "0.05").reason


def test_pairs_are_made_only_where_they_are_told():
    from flint import arb

    def outcome(*stable):
        points = tuple(Point(arb(k + 1), arb(1), arb(0), arb(1), arb(0), s) for k, s in enumerate(stable))
        return Outcome(Status.OK, points, "", (arb(0), None), True)

    assert len(paired(outcome(True, False), outcome(True, False))[0]) == 2
    (pair,) = paired(outcome(True, False), outcome(False, True, False))[0]
    assert pair[1].q == 2
    assert paired(outcome(True), outcome(True, True))[0] == []


def test_wrong_input_is_refused():
    with pytest.raises(RefusedActivation, match="jumps"):
        critical_shift("relu", "where(x > 0, x + 1, 0)", "0.05")
    with pytest.raises(ValueError, match="variance"):
        critical_shift("tanh", "erf", "-0.05")
