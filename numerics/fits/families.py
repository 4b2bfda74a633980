"""Kinds of branches: general, multiplicative (x times a weight), constant (levels); what rules a kind out.

The threshold-gating paper names the kinds: "multiplicative" branches slope * x, "constant" branches that are
numbers, general ones lines. Both conditions are equations in the target's coordinates, so in normal ones

    intercept = 0:  intercept' = slope' centre/width - b/height,      slope = 0:  slope' = -m width/height.
"""

from __future__ import annotations

from gateproof.numerics.fits.embedding import Contradiction, Embedding
from gateproof.numerics.fits.normal import Normal
from gateproof.numerics.fits.target import Line, Target
from gateproof.theory.formula.printer import to_text

FAMILIES = ("general", "multiplicative", "constant")


def bind_family(tied: Embedding, found: Normal, family: str) -> None:
    """Bind all branches to a family. Contradiction where fixed ends are not of it.

    Of the limits of gates (:mod:`...fits.infimum`) lines that do not belong to weights of sum 1 are bound
    without the constant; where all do not, Contradiction unless the constant is 0.
    """
    n, at, algebra = tied.gates.branches, tied.gates.place, tied.gates.algebra
    turn, shift = found.centre / found.width, -found.b / found.height
    level = -found.m * found.width / found.height
    if algebra == "product" and {"multiplicative": shift, "constant": level}.get(family):
        raise Contradiction
    for k in range(n):
        apart = algebra == "pair" and k == n - 2
        if family == "multiplicative":
            tied.tie(at("intercept", k), at("slope", k), turn, 0.0 if apart else shift)
        elif family == "constant":
            tied.fix(at("slope", k), 0.0 if apart else level)


def family_refusal(target: Target, family: str, ends: str) -> str:
    """Why no gate of a family has the wanted ends, and what has; '' where some have. One line."""
    for line, side in ((target.left, "-oo"), (target.right, "oo")):
        if line is None or ends == "free":
            continue
        if family == "constant" and line.m != 0:
            return (
                f"{target.name} has slope {_short(line, 'slope')} at {side}, which constant branches cannot "
                "follow: take --family general or multiplicative, or an interval with --domain"
            )
        if family == "multiplicative" and ends == "pinned" and line.b != 0:
            return (
                f"{target.name} has intercept {_short(line, 'intercept')} at {side}, which multiplicative "
                "branches cannot have: take --ends slopes (the slopes stay exact), or --family general"
            )
    return ""


def possible_ends(target: Target, family: str) -> str:
    """The strictest ends that a family can have: 'pinned', 'slopes' where it misses an intercept."""
    return "slopes" if family_refusal(target, family, "pinned") and family == "multiplicative" else "pinned"


def bound_refusal(target: Target, ends: str, most: float) -> str:
    """Why no gate with the wanted ends has all |slope| and |intercept| <= most; '' where some have."""
    for line, side in ((target.left, "-oo"), (target.right, "oo")):
        if line is None or ends == "free":
            continue
        kinds = [("slope", line.m)] + [("intercept", line.b)] * (ends == "pinned")
        for kind, value in kinds:
            if abs(value) > most:
                return (
                    f"{target.name} has {kind} {_short(line, kind)} at {side}, beyond --max-coefficient "
                    f"{most:g}: give at least {abs(value):.6g}"
                    + (", or --ends slopes" if kind == "intercept" else ", or an interval with --domain")
                )
    return ""


def direction(target: Target) -> tuple[int, str]:
    """1 where the target rises from end to end, -1 where it falls; 0 and a reason where it does neither."""
    signs = []
    if target.left is not None and target.left.m:
        signs.append((1 if target.left.m > 0 else -1, "-oo"))
    if target.right is not None and target.right.m:
        signs.append((1 if target.right.m > 0 else -1, "oo"))
    if len(signs) == 2 and signs[0][0] != signs[1][0]:
        return 0, (
            f"{target.name} {'rises' if signs[0][0] > 0 else 'falls'} at -oo and "
            f"{'rises' if signs[1][0] > 0 else 'falls'} at oo: no monotone gate follows both; "
            "take an interval with --domain"
        )
    if signs:
        return signs[0][0], ""
    low, high = _end(target, "-"), _end(target, "+")
    if low == high:
        return 0, f"{target.name} has the same value at both ends: only a constant is monotone between them"
    return (1 if high > low else -1), ""


def monotone_refusal(target: Target, branches: int, ends: str) -> str:
    """Why no soft gate of so few branches is monotone; '' where one may be. One line.

    Beside a level end the gate of two branches is slope * x * exp(-tau |x|) to first order, which is not.
    """
    left, right = target.left, target.right
    if branches != 2 or ends == "free" or left is None or right is None or (left.m == 0) == (right.m == 0):
        return ""
    return (
        f"no gate of 2 branches is monotone that is level at {'-oo' if left.m == 0 else 'oo'} and slopes at "
        "the other end: take -k 3, or --sharpness hard"
    )


def _end(target: Target, side: str) -> float:
    import numpy as np

    line, at = (target.left, target.lo) if side == "-" else (target.right, target.hi)
    if line is not None:
        return line.b
    far = float(at) if at is not None else (-1e6 if side == "-" else 1e6)
    return float(target.function(np.array([far]))[0])


def _short(line: Line, kind: str) -> str:
    return to_text(line.slope if kind == "slope" else line.intercept)
