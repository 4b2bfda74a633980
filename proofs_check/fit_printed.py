"""What a fit's document says beside its error: whether status, places and root mean square go with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from gateproof.proofs_check import fit_check_keys
from gateproof.proofs_check.fit_match import BITS, abs_least, pieces
from gateproof.proofs_check.fit_numbers import Check, read
from gateproof.proofs_check.refused import RefusedError
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.gate import Gate

if TYPE_CHECKING:
    from gateproof.numerics.fits.target import Target

EVIDENCE = ("certified", "proved", "enclosed", "sampled")
#: Places are printed to ten digits; an error smaller than this share of itself from the lower end reaches it.
NEAR, SHARE = Fraction(1, 10**8), Fraction(1, 10**6)
#: Keys of floats and words that nothing is held against.
UNCHECKED = (
    "rms", "alternation", "condition", "gates_min", "attained", "infimum", "finite", "error_sup",
    "error_outside", "options", "message", "steps",
)  # fmt: skip


def status(values: Mapping[str, Any], hi: Fraction | None) -> list[Check]:
    """Whether status and evidence go with the error that is printed."""
    from gateproof.numerics.fits.result import Status

    said, evidence = values.get("status"), values.get("evidence")
    if evidence is None and said is None:
        return []
    if evidence not in EVIDENCE:
        return [Check("evidence", False, f"{evidence!r:.40} is none of {', '.join(EVIDENCE)}")]
    if said not in (None, *(word.value for word in Status)):
        return [Check("status", False, f"{said!r:.40} is no status of a fit")]
    norm = values.get("norm") or "sup"
    if evidence == "certified" and norm == "rms":
        return [Check("evidence", False, "a root mean square is enclosed or sampled, and never certified")]
    if evidence == "enclosed" and norm != "rms":
        return [Check("evidence", False, "only a root mean square is enclosed, and this is another error")]
    if evidence == "proved" and hi != 0:
        return [Check("evidence", False, "only an error of 0 is proved, and this one is another")]
    if said == Status.EXACT.value and evidence != "proved":
        return [Check("status", False, "exact is a proved error of 0, and this one is another")]
    if said in (Status.SAMPLED.value, Status.NOT_CERTIFIED.value) and evidence != "sampled":
        return [Check("status", False, f"{said}, and the error is {evidence}")]
    if said == Status.OK.value and evidence == "sampled":
        return [Check("status", False, "ok is of an error with a bound, and this one is sampled")]
    if evidence in ("enclosed", "sampled") and values.get("certificate") is not None:
        return [Check("evidence", False, f"{evidence}, and it holds a certificate")]
    return []


def places(
    path: str, values: Mapping[str, Any], gate: Gate, target: Target | None, hi: Fraction | None
) -> list[Check]:
    """Whether the error is reached near the places that are printed, in balls."""
    listed, error = values.get("argmax"), values.get("error")
    if listed in (None, []) or hi in (None, 0) or not isinstance(error, dict) or values.get("norm") == "rms":
        return []
    if not isinstance(listed, list):
        raise RefusedError(f"{path}: argmax is a list of numbers")
    found, lo = [read(path, x) for x in listed], read(path, error.get("lo"))
    if lo > hi:
        return []
    if target is None or target.expr is None:
        return []
    unit = max([abs(t) for t in map(constant_value, gate.theta) if t is not None], default=Fraction(1))
    reached = True
    for x in found:
        near = NEAR * max(abs(x), unit, Fraction(1, 10**6))
        least, most = _sizes(gate, target, x, near)
        if most is not None and most < lo:
            size = f"the error at and near x = {_short(x)} is below {_short(lo)}"
            return [Check("argmax", False, size)]
        reached &= least is not None and least >= lo * (1 - SHARE)
    count = "the place" if len(found) == 1 else f"all {len(found)} places"
    if reached:
        return [Check("argmax", True, f"the error is {_short(lo)} at {count}, to 6 digits")]
    return [Check("argmax", None, f"that the error is reached at {count} was not seen in balls")]


def _sizes(
    gate: Gate, target: Target, x: Fraction, near: Fraction
) -> tuple[Fraction | None, Fraction | None]:
    """A size that the error has at x or close by, and one that it nowhere exceeds there; None: not known."""
    least, most, all_seen, met = None, Fraction(0), True, False
    for error, lo, hi in pieces(gate, target):
        a = x - near if lo is None else max(lo, x - near)
        b = x + near if hi is None else min(hi, x + near)
        if a > b:
            continue
        met = True
        for at in {a, min(max(a, x), b), b}:
            one = _range(error, at, at)
            if one is not None:
                size = abs_least(*one)
                least = size if least is None else max(least, size)
        one = _range(error, a, b)
        if one is None:
            all_seen = False
        else:
            most = max(most, one[1], -one[0])
    # A place outside of the domain has no error at all.
    return least, most if all_seen or not met else None


def _range(error: Any, a: Fraction, b: Fraction) -> tuple[Fraction, Fraction] | None:
    """Bounds of a formula on an interval; None where balls give none."""
    from gateproof.numerics import interval as iv
    from gateproof.numerics.ball import compiled
    from gateproof.numerics.errors import NumericsError
    from gateproof.numerics.points import rational_bounds
    from gateproof.numerics.precision import precision

    with precision(BITS):
        low, high = iv.down(iv.rational(a)), iv.up(iv.rational(b))
        try:
            value = iv.to_ball(compiled(error)({"x": (low, high)}))
            return rational_bounds(value) if value.is_finite() else None
        except (NumericsError, ArithmeticError, ValueError):
            return None


def mean(path: str, values: Mapping[str, Any], gate: Gate, hi: Fraction | None) -> list[Check]:
    """A root mean square is not above the largest error; it is not computed again."""
    said = values.get("rms")
    if (
        said is None
        or hi is None
        or (values.get("norm") or "sup") != "sup"
        or values.get("weight") is not None
    ):
        return []
    known = [constant_value(v) for v in (*gate.slope, *gate.intercept)]
    size = max([Fraction(1), *(abs(v) for v in known if v is not None)])
    if read(path, said) > hi * (1 + SHARE) + size * Fraction(1, 10**8):
        return [Check("rms", False, f"{said} is above the largest error")]
    return []


def unchecked(values: Mapping[str, Any]) -> list[Check]:
    """What is printed and was not looked at."""
    keys = [key for key in UNCHECKED if values.get(key) not in (None, [])]
    if values.get("argmax") and (values.get("norm") == "rms" or values.get("evidence") == "sampled"):
        keys = ["argmax", *keys]
    return [Check("others", None, f"{', '.join(keys)}: as the document has them")] if keys else []


def _short(value: Fraction) -> str:
    return f"{float(value):.6g}"


def all_of(
    path: str, values: Mapping[str, Any], gate: Gate, target: Target | None, hi: Fraction | None
) -> Iterator[Check]:
    """The checks of what is printed beside the error and its bounds."""
    yield from status(values, hi)
    yield from places(path, values, gate, target, hi)
    yield from mean(path, values, gate, hi)
    yield from fit_check_keys.all_of(path, values, gate, target, hi)
    yield from unchecked(values)
