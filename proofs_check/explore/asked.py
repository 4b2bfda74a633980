"""What the page asks, read strictly: everything is text from a browser until it has passed here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from gateproof.proofs_check.given_gate import target_formula
from gateproof.proofs_check.refused import RefusedError
from gateproof.theory.formula.nodes import Const, Expr, num
from gateproof.theory.gate import Gate

#: Characters of a formula and of a number, branches, and how far out the page looks.
MAX_FORMULA, MAX_NUMBER, MOST, FARTHEST = 300, 24, 8, 1_000
LISTS = ("tau", "theta", "slope", "intercept")
_NUMBER = re.compile(r"[+-]?(\d{1,12}(\.\d{0,20})?|\.\d{1,20})(e[+-]?\d{1,2})?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Asked:
    """A target as a formula in x and, where the question has one, a gate and a window."""

    target: str
    gate: Gate | None = None
    window: tuple[Fraction, Fraction] = (Fraction(-6), Fraction(6))


def read(task: Mapping[str, Any], *, gate: bool) -> Asked:
    """The question's target and gate. Raises RefusedError with one line."""
    lo, hi = (number("the window", end) for end in _list("the window", task.get("window", ["-6", "6"]), 2))
    if not -FARTHEST <= lo < hi <= FARTHEST:
        raise RefusedError(f"the window must be LO < HI, between -{FARTHEST} and {FARTHEST}")
    return Asked(target(task.get("target")), read_gate(task.get("gate")) if gate else None, (lo, hi))


def target(given: Any) -> str:
    """A name or a formula in x, as a formula; never a file. Raises RefusedError."""
    if not isinstance(given, str) or not given.strip():
        raise RefusedError("the target is empty; type a name, as gelu, or a formula in x, as x*tanh(x)")
    if len(given) > MAX_FORMULA:
        raise RefusedError(f"the target is longer than {MAX_FORMULA} characters")
    return target_formula(given)


def whole(name: str, given: Any, least: int, most: int) -> int:
    """A whole number within limits. Raises RefusedError."""
    if type(given) is not int or not least <= given <= most:
        raise RefusedError(f"{name} must be a whole number from {least} to {most}")
    return given


def number(name: str, given: Any) -> Fraction:
    """A decimal as the exact number that is written. Raises RefusedError."""
    if not isinstance(given, str) or len(given) > MAX_NUMBER or not _NUMBER.fullmatch(given.strip()):
        raise RefusedError(f"{name}: {given!r:.30} is no number; write it as 1.702")
    found = Fraction(given.strip())
    if abs(found) > 10**9 or 0 < abs(found) < Fraction(1, 10**15):
        raise RefusedError(f"{name}: {given!r:.30} is too large or too small; scale the formula")
    return found


def read_gate(given: Any) -> Gate:
    """A difference gate in exact numbers; a sharpness may be ``oo``. Raises RefusedError."""
    if not isinstance(given, dict) or set(given) != set(LISTS):
        raise RefusedError(f"a gate has the lists {', '.join(LISTS)}")
    count = len(_list("slope", given["slope"], None))
    if not 1 <= count <= MOST:
        raise RefusedError(f"a gate here has 1 to {MOST} branches")
    theta = [number("theta", t) for t in _list("theta", given["theta"], count - 1)]
    if any(b < a for a, b in pairwise(theta)):
        raise RefusedError("thresholds go from left to right; move them back in order")
    tau: list[Expr] = []
    for text in _list("tau", given["tau"], count - 1):
        if text == "oo":
            tau.append(Const("oo"))
            continue
        sharp = number("tau", text)
        if sharp <= 0:
            raise RefusedError("a sharpness is above 0; oo makes a hard gate")
        tau.append(num(sharp))
    lines = {key: [number(key, v) for v in _list(key, given[key], count)] for key in ("slope", "intercept")}
    return Gate(
        tuple(tau),
        tuple(map(num, theta)),
        tuple(map(num, lines["slope"])),
        tuple(map(num, lines["intercept"])),
    )


def _list(name: str, given: Any, length: int | None) -> list[Any]:
    if not isinstance(given, list) or len(given) > MOST or (length is not None and len(given) != length):
        raise RefusedError(f"{name} must be a list{'' if length is None else f' of {length} numbers'}")
    return given
