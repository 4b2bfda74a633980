"""The smallest value of any gate on the domain.

A difference gate S_a - S_b of sigmoids with unequal tau changes sign where z_a = z_b = z*, and is negative
beyond: right of it if tau_a < tau_b, where S_a - S_b = C_b - C_a >= -C_a >= -sigmoid(-z*), else left of it,
where S_a - S_b >= -S_b >= -sigmoid(z*).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.bounds import Budget
from gateproof.numerics.extrema import extremum
from gateproof.numerics.precision import precision
from gateproof.theory.formula.nodes import Num
from gateproof.theory.gate import Gate
from gateproof.theory.threshold_gate import is_hard

#: A crossing farther out than this (in z) is told by its bound; boxes for one extremum.
_FAR, _BOXES = 25, 2000


@dataclass(frozen=True)
class SmallestGate:
    """An enclosure of the infimum of all gates over the domain, and whether it is a value; None: undecided.

    ``gate`` counts from 1, left to right; ``at`` is where, roughly. ``value`` is None where it was not found,
    with the ``reason``. ``certificate``: of the extremum; None where ``reason`` is a proof in words.
    """

    value: tuple[Fraction, Fraction] | None
    attained: bool | None
    gate: int
    reason: str
    at: float | None = None
    certificate: dict[str, Any] | None = None


def smallest_gate(
    gate: Gate, lo: Fraction | None = None, hi: Fraction | None = None, digits: int = 8
) -> SmallestGate:
    """The smallest gate value on the interval (None: infinite).

    On R exact where the gates are nonnegative: stick and softmax gates are products, difference gates with
    one tau and ascending thresholds decrease in the threshold; each outer gate tends to 0.
    """
    n = gate.branches
    if n == 1:
        return SmallestGate((Fraction(1), Fraction(1)), True, 1, "one branch: its gate is 1")
    if lo is not None and hi is not None:
        return _least([_extremum(gate, k, lo, hi, digits) for k in range(1, n + 1)])
    # At an infinite end an outer gate tends to 0; hard ones and equal thresholds reach it.
    outer = n if lo is None else 1
    hard = any(gate.hard)
    if _nonnegative(gate):
        equal = gate.algebra == "difference" and any(a == b for a, b in pairwise(gate.theta))
        reason = {
            "difference": "one tau, thresholds ascending: no gate is negative",
            "stick": "stick gates are products of sigmoids",
            "softmax": "softmax gates are positive",
        }[gate.algebra]
        return SmallestGate((Fraction(0), Fraction(0)), hard or equal, outer, reason)
    found = [SmallestGate((Fraction(0), Fraction(0)), hard, outer, "an outer gate tends to 0")]
    for k in range(1, n + 1) if gate.algebra != "difference" else range(2, n):
        crossed = _crossing(gate, k, lo, hi, digits) if gate.algebra == "difference" else None
        found.append(crossed or _extremum(gate, k, lo, hi, digits))
    return _least(found)


def _least(found: list[SmallestGate]) -> SmallestGate:
    known = []
    for one in found:
        if one.value is None:
            return one
        known.append((one.value, one))
    (low, high), best = min(known, key=lambda entry: entry[0])
    least = min(value[1] for value, _ in known)
    # Where enclosures overlap, a certificate of one says too little.
    return best if least == high else replace(best, value=(low, least), certificate=None)


def _extremum(gate: Gate, k: int, lo: Fraction | None, hi: Fraction | None, digits: int) -> SmallestGate:
    found = extremum(gate.gates()[k - 1], "x", lo, hi, "inf", digits, Budget(boxes=_BOXES))
    if found.status != "ok" or found.value is None:
        return SmallestGate(None, None, k, f"gate {k}: {found.reason or found.status}")
    at = float(sum(found.points[0]) / 2) if found.points else None
    return SmallestGate(found.value, found.attained, k, "", at, found.certificate)


def _crossing(
    gate: Gate, k: int, lo: Fraction | None, hi: Fraction | None, digits: int
) -> SmallestGate | None:
    """Gate k = S_a - S_b of a difference by where its two sigmoids cross; None where that does not tell."""
    numbers = (gate.tau[k - 2], gate.theta[k - 2], gate.tau[k - 1], gate.theta[k - 1])
    rational = [Fraction(e.value) for e in numbers if isinstance(e, Num)]
    if len(rational) < len(numbers) or rational[0] <= 0 or rational[2] <= 0:
        return None
    tau_a, a, tau_b, b = rational
    if tau_a == tau_b:
        nothing = SmallestGate((Fraction(0), Fraction(0)), a == b, k, "one tau, thresholds ascending")
        return nothing if a <= b else None
    at = (tau_a * a - tau_b * b) / (tau_a - tau_b)
    z = tau_a * (at - a)
    right = tau_a < tau_b
    if (right and hi is not None and at >= hi) or (not right and lo is not None and at <= lo):
        return SmallestGate((Fraction(0), Fraction(0)), False, k, "positive in the domain")
    with precision(128):
        bound = iv.upper_fraction(iv.up(1 / (1 + iv.rational(z if right else -z).exp())))
    if (z if right else -z) > _FAR:
        reason = f"gate {k} is negative beyond x = {float(at):.6g}, by less than {float(bound):.1e}"
        return SmallestGate((-bound, Fraction(0)), True, k, reason, float(at))
    # Beyond X the sigmoid that bounds the gate is smaller than the minimum found before it.
    slow, start = (tau_a, z) if right else (tau_b, -z)
    for steps in (20, 60, 200):
        far = at + (1 if right else -1) * steps / slow
        low, high = (at, far) if right else (far, at)
        low, high = low if lo is None else max(low, lo), high if hi is None else min(high, hi)
        found = _extremum(gate, k, low, high, digits)
        with precision(128):
            rest: arb = 1 / (1 + iv.rational(start + steps).exp())
            if found.value is None or iv.rational(-found.value[1]) > rest:
                return found
    return None


def _nonnegative(gate: Gate) -> bool:
    """Whether no gate is negative, by the form of the parameters alone."""
    positive = all(is_hard(t) or (isinstance(t, Num) and t.value > 0) for t in gate.tau)
    if not positive:
        return False
    if gate.algebra != "difference":
        return True
    if any(t != gate.tau[0] for t in gate.tau):
        return False
    places = [t.value for t in gate.theta if isinstance(t, Num)]
    return len(places) == len(gate.theta) and all(a <= b for a, b in pairwise(places))
