"""The smallest value of any gate on the domain.

A difference of sigmoids with unequal tau is negative somewhere on R.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from gateproof.numerics.extrema import extremum
from gateproof.theory.formula.nodes import Const, Expr, Num
from gateproof.theory.gate import Gate


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
    hard = any(_is_hard(t) for t in gate.tau)
    if _nonnegative(gate) and (lo is None or hi is None):
        attained = hard or any(a == b for a, b in pairwise(gate.theta) if gate.algebra == "difference")
        reason = {
            "difference": "one tau, thresholds ascending: no gate is negative",
            "stick": "stick gates are products of sigmoids",
            "softmax": "softmax gates are positive",
        }[gate.algebra]
        # On a half line the outer gate of the finite end still tends to 0 at the infinite one.
        return SmallestGate((Fraction(0), Fraction(0)), attained, n if lo is None else 1, reason)
    best: SmallestGate | None = None
    for k, weight in enumerate(gate.gates(), 1):
        found = extremum(weight, "x", lo, hi, "inf", digits)
        if found.status != "ok" or found.value is None:
            return SmallestGate(None, None, k, f"gate {k}: {found.reason or found.status}")
        if best is None or best.value is None or found.value[1] < best.value[0]:
            at = float(sum(found.points[0]) / 2) if found.points else None
            best = SmallestGate(found.value, found.attained, k, "", at, found.certificate)
    assert best is not None
    return best


def _is_hard(tau: Expr) -> bool:
    return isinstance(tau, Const) and tau.name == "oo"


def _nonnegative(gate: Gate) -> bool:
    """Whether no gate is negative, by the form of the parameters alone."""
    positive = all(_is_hard(t) or (isinstance(t, Num) and t.value > 0) for t in gate.tau)
    if not positive:
        return False
    if gate.algebra != "difference":
        return True
    if any(t != gate.tau[0] for t in gate.tau):
        return False
    places = [t.value for t in gate.theta if isinstance(t, Num)]
    return len(places) == len(gate.theta) and all(a <= b for a, b in pairwise(places))
