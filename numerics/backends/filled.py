"""Values of a formula where its text has none but a limit exists, and at infinity; exact."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.limits import limit
from gateproof.theory.formula.nodes import App, Const, Expr, Num


@lru_cache(maxsize=1024)
def limit_at(expr: Expr, name: str, point: Fraction | None, sign: int = 1) -> Expr | None:
    """The limit at a rational point from both sides, or at an infinite end (point None), if found."""
    if point is None:
        at: Expr = Const("oo") if sign > 0 else App("neg", (Const("oo"),))
    else:
        at = Num(point)
    found = limit(expr, name, at, "", Assumptions({name: Domain()}))
    return found[0] if isinstance(found, tuple) else None
