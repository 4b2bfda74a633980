"""Closed expressions as floats, rounded once."""

from __future__ import annotations

from functools import lru_cache

from flint import arb

from gateproof.numerics.errors import NumericsError
from gateproof.numerics.points import at_point
from gateproof.theory.formula.errors import FormulaError
from gateproof.theory.formula.nodes import Expr, Num
from gateproof.theory.formula.printer import to_text

_BITS = (128, 512, 2048)


@lru_cache(maxsize=4096)
def to_float(node: Expr) -> float:
    """The double nearest to the number (to 2**-100 of it). Raises FormulaError where there is none."""
    if isinstance(node, Num):
        try:
            return float(node.value)
        except OverflowError:
            return float("inf") if node.value > 0 else float("-inf")
    value = arb(0)
    for bits in _BITS:
        try:
            value = at_point(node, {}, bits)
        except NumericsError as error:
            if bits == _BITS[-1]:
                raise FormulaError(f"{to_text(node)} has no value: {error}") from None
            continue
        if value.is_zero() or value.rel_accuracy_bits() > 100:
            return float(value.mid())
    return float(value.mid())
