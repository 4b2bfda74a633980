"""How a fit moves the critical point of its target: both edges of chaos in balls, and the difference.

Points are paired where that is unambiguous: the ones that attract where each side has one of them, else all
in ascending order of q* where there are as many on both sides. Every ball holds its number by the
certificates of both searches; the difference of two balls holds the shift.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from gateproof.numerics.meanfield.activation import Phi, Target
from gateproof.numerics.meanfield.activation import phi as activation
from gateproof.numerics.meanfield.edge import edge
from gateproof.numerics.meanfield.given import bias_variance
from gateproof.numerics.meanfield.outcome import Outcome, Point
from gateproof.numerics.meanfield.result import exact_text
from gateproof.numerics.meanfield.value import Value
from gateproof.numerics.precision import precision

SIGMA_B2 = Fraction(1, 20)
#: Digits beyond those asked for.
GUARD = 6


@dataclass(frozen=True)
class Moved:
    """A critical point of the target, that of the fit, and fit minus target in balls."""

    target: Point
    fit: Point
    sigma_w2: arb
    q: arb


@dataclass(frozen=True)
class CriticalShift:
    """Both edges at one sigma_b2 and the pairs of points; ``reason`` says how they were paired, or why not.

    ``certified``: both searches are, so that every critical point of either side is listed.
    """

    sigma_b2: Fraction
    target: Outcome
    fit: Outcome
    moved: tuple[Moved, ...]
    reason: str
    certified: bool
    names: tuple[str, str]
    digits: int = 16

    def as_json(self) -> dict[str, Any]:
        """For JSON; numbers are text, balls rounded outward."""
        return {
            "kind": "critical shift",
            "target": self.names[0],
            "fit": self.names[1],
            "sigma_b2": exact_text(self.sigma_b2),
            "digits": self.digits,
            "moved": [
                {
                    "target": _point(m.target, self.digits),
                    "fit": _point(m.fit, self.digits),
                    "shift": {"sigma_w2": _ends(m.sigma_w2, self.digits), "q_star": _ends(m.q, self.digits)},
                }
                for m in self.moved
            ],
            "status": {"target": str(self.target.status), "fit": str(self.fit.status)},
            "reason": self.reason,
            "certified": self.certified,
        }


def critical_shift(
    target: Target | Phi, fit: Target | Phi, sigma_b2: Fraction | float | str = SIGMA_B2, digits: int = 16
) -> CriticalShift:
    """How far the critical points of ``fit`` (a fit, a gate, a formula) lie from those of ``target``.

    ``digits`` are those of both points; the shift keeps as many less as it is smaller than they are. Raises
    RefusedActivation where one of them is no activation or jumps, RefusedNumber for sigma_b2 < 0.
    """
    b2 = bias_variance(sigma_b2)
    first, second = (t if isinstance(t, Phi) else activation(t) for t in (target, fit))
    of_target, of_fit = (edge(phi, b2, digits + GUARD) for phi in (first, second))
    pairs, reason = paired(of_target, of_fit)
    with precision(int((digits + GUARD) * 3.33) + 96):
        moved = tuple(Moved(a, b, b.sigma_w2 - a.sigma_w2, b.q - a.q) for a, b in pairs)
    return CriticalShift(
        b2, of_target, of_fit, moved, reason, of_target.certified and of_fit.certified,
        (first.text, second.text), digits,
    )  # fmt: skip


def paired(target: Outcome, fit: Outcome) -> tuple[list[tuple[Point, Point]], str]:
    """Which point became which, and how that is known."""
    counts = len(target.points), len(fit.points)
    attracting = [[p for p in side.points if p.stable] for side in (target, fit)]
    if 0 in counts:
        return [], _missing(target, fit)
    if counts[0] == counts[1]:
        how = (
            "the one critical point of each"
            if counts == (1, 1)
            else "as many critical points, in order of q*"
        )
        return list(zip(target.points, fit.points, strict=True)), how + _changed(target, fit)
    if len(attracting[0]) == len(attracting[1]) == 1:
        return [(attracting[0][0], attracting[1][0])], (
            f"the one critical point of each that attracts, of {counts[0]} and {counts[1]}"
        )
    return (
        [],
        f"the target has {counts[0]} critical points and the fit {counts[1]}: none can be told to have moved",
    )


def _missing(target: Outcome, fit: Outcome) -> str:
    if not target.points and not fit.points:
        return f"neither has a critical point; target: {target.reason}; fit: {fit.reason}"
    name, side = ("target", target) if not target.points else ("fit", fit)
    return f"the {name} has no critical point: {side.reason}"


def _changed(target: Outcome, fit: Outcome) -> str:
    words = {True: "attracts", False: "repels", None: "is not told to attract or repel"}
    changes = [
        f"; the point at q* = {float(a.q.mid()):.4g} {words[a.stable]}, that of the fit {words[b.stable]}"
        for a, b in zip(target.points, fit.points, strict=True)
        if a.stable is not b.stable
    ]
    return "".join(changes)


def _point(point: Point, digits: int) -> dict[str, Any]:
    return {
        "sigma_w2": _ends(point.sigma_w2, digits),
        "q_star": _ends(point.q, digits),
        "chi_parallel": _ends(point.chi_parallel, digits),
        "stable": point.stable,
    }


def _ends(ball: arb, digits: int) -> dict[str, str] | None:
    value = Value.of(ball)
    return None if value is None else value.ends(digits)
