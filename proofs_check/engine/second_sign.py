"""The sign of a core expression at an exact rational point, by MPFR intervals alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateproof.proofs_check.checker.algebra import Rejected
from gateproof.proofs_check.checker.evaluate import Program, rational
from gateproof.proofs_check.checker.interval import Intervals

_BITS = (80, 160, 320, 640, 1280)


def sign_at(tree: Any, point: Mapping[str, str]) -> int | None:
    """-1, 0 or 1; None where the value is undefined or no precision up to 1280 bits tells.

    0 is given only where an interval shrinks to the single number 0 (exact arithmetic).
    """
    try:
        program = Program(tree, frozenset(point))
    except Rejected:
        return None
    for bits in _BITS:
        field = Intervals(bits)
        try:
            values = {name: field.number(rational(text)) for name, text in point.items()}
            found = program.evaluate(field, values)
        except Rejected:
            continue
        signs = field.signs(found)
        if len(signs) == 1:
            return int(next(iter(signs)))
    return None
