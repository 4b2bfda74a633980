"""Certificates of infinite suprema: far out the function stays above c abs(x), c > 0."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from gateproof.numerics.bounds import Budget, prove_bounds
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.points import at_point, rational_bounds
from gateproof.proofs_check.engine.boxes import accept
from gateproof.theory.exact.domain import Domain
from gateproof.theory.formula.nodes import App, Expr, Num, Var
from gateproof.theory.formula.printer import to_text

#: Where the rate of growth is looked at, where the bound may begin, and the least rate.
_FAR, _STARTS, _LEAST = Fraction(2**12), (1, 8, 64, 1024), Fraction(1, 2**12)


def unbounded_certificate(body: Expr, name: str, domain: Domain, up: bool) -> Mapping[str, Any] | None:
    """An accepted certificate that the supremum (``up``), or infimum, over a domain is infinite; or None."""
    if domain.integer:
        return None
    size = body if up else App("neg", (body,))
    for side, end in ((1, domain.hi), (-1, domain.lo)):
        if end is not None:
            continue
        rate = _rate(size, name, side)
        if rate is None:
            continue
        line = App("mul", (Num(-side * rate), Var(name)))
        gap = App("add", (size, line))
        for start in (Fraction(s) for s in _STARTS):
            box = {name: (start, None) if side > 0 else (None, -start)}
            found = prove_bounds(gap, box, lower=Fraction(0), budget=Budget(300, 256), text=to_text(gap))
            if found.certificate is not None and accept(found.certificate) is None:
                return found.certificate
    return None


def _rate(size: Expr, name: str, side: int) -> Fraction | None:
    """Half of what the function grows by, at most 1; None where it does not seem to grow like x."""
    try:
        low, _ = rational_bounds(at_point(size, {name: side * _FAR}, 128))
    except NumericsError:
        return None
    rate = low / _FAR / 2
    return None if rate < _LEAST else min(Fraction(1), Fraction(int(rate * 2**20), 2**20))
