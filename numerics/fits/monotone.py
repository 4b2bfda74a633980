"""Whether an exact gate is monotone: the sign of its derivative in ball arithmetic, tails included."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gateproof.numerics.extrema import extremum
from gateproof.numerics.fits.monotone_proof import sign_of_slope
from gateproof.theory.exact.derivative import derivative, neg
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.gate import Gate

DIGITS = 6


@dataclass(frozen=True)
class Monotone:
    """``holds`` is None where undecided. ``steepest``: an enclosure of the infimum of direction * dy/dx.

    It and its ``certificate`` are there only where the sign alone was not seen (numbers that are not
    rational, many branches). Gates of hard thresholds are looked at exactly.
    """

    holds: bool | None
    reason: str
    steepest: tuple[Fraction, Fraction] | None = None
    certificate: dict[str, Any] | None = None


def certify_monotone(
    gate: Gate, direction: int, lo: Fraction | None = None, hi: Fraction | None = None
) -> Monotone:
    """Whether direction * y nowhere falls on the interval (None: infinite), for direction 1 or -1.

    The gate with these numbers, not one near it. ValueError for another direction.
    """
    if direction not in (1, -1):
        raise ValueError("direction is 1 (rising) or -1 (falling)")
    hard = gate.hard
    if any(hard):
        if all(hard) and gate.algebra == "difference":
            return _hard(gate, direction, lo, hi)
        return Monotone(None, "gates with soft and hard thresholds are not decided")
    proof = sign_of_slope(gate, direction, lo, hi)
    if proof.holds is not None:
        return Monotone(proof.holds, proof.reason)
    slope = derivative(gate.expression(), "x")
    if slope is None:
        return Monotone(None, "the derivative was not found")
    found = extremum(slope if direction > 0 else neg(slope), "x", lo, hi, "inf", DIGITS)
    if found.status == "infinite":
        return Monotone(False, "the slope is unbounded against the direction")
    if found.status != "ok" or found.value is None:
        return Monotone(None, f"the smallest slope was not found: {found.reason}")
    low, high = found.value
    if low >= 0:
        return Monotone(True, "its derivative nowhere changes sign", found.value, found.certificate)
    if high < 0:
        return Monotone(False, f"its derivative reaches {float(low):.3g}", found.value, found.certificate)
    return Monotone(None, f"its smallest slope is within {float(low):.1g} of 0", found.value, None)


def _hard(gate: Gate, direction: int, lo: Fraction | None, hi: Fraction | None) -> Monotone:
    """Pieces between sorted thresholds: every slope and every jump has the direction."""
    numbers = [constant_value(e) for e in (*gate.theta, *gate.slope, *gate.intercept)]
    if any(v is None for v in numbers):
        return Monotone(None, "numbers that are not rational are not decided for hard thresholds")
    values = [v for v in numbers if v is not None]
    n = gate.branches
    theta, slope, intercept = values[: n - 1], values[n - 1 : 2 * n - 1], values[2 * n - 1 :]
    # At equal thresholds the branch between has no place; out of order the sum of indicators decides.
    cuts = sorted(t for t in set(theta) if (lo is None or t >= lo) and (hi is None or t < hi))
    lines = []
    for at in (None, *cuts):
        beyond = [t <= at if at is not None else (lo is not None and t < lo) for t in theta]
        m, c = slope[0], intercept[0]
        for k, passed in enumerate(beyond):
            if passed:
                m, c = m + slope[k + 1] - slope[k], c + intercept[k + 1] - intercept[k]
        lines.append((m, c))
    # Where the first cut is the left end itself, the piece before it is that one point.
    for k, (m, _) in enumerate(lines):
        if m * direction < 0 and not (k == 0 and cuts and lo is not None and cuts[0] == lo):
            return Monotone(False, f"the slope {float(m):.3g} is against the direction")
    for at, (m, c), (m2, c2) in zip(cuts, lines, lines[1:], strict=False):
        jump = (m2 - m) * at + c2 - c
        if jump * direction < 0:
            return Monotone(False, f"it jumps by {float(jump):.3g} at {float(at):.6g}")
    return Monotone(True, "slopes and jumps have the direction")
