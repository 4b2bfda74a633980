"""What is true of a function of one variable: where it is undefined, symmetry, kinks, asymptotes, period.

All facts are derived from the formula by exact means; where the exact methods do not reach,
the fact is None. Nothing is stated by hand, so a changed formula changes its facts.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from gateproof.theory.asymptotes import NO_VALUES, Asymptote, NoAsymptote, asymptote
from gateproof.theory.exact.derivative import derivative
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.piecewise import Piece, cut_points
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Num, Var
from gateproof.theory.periods import Period, period_of
from gateproof.theory.pieces import pieces_of
from gateproof.theory.undefined_parts import Part, defined_parts, undefined_parts

__all__ = ["Asymptote", "Facts", "Kink", "NoAsymptote", "asymptote", "facts", "kinks_of", "parity"]

#: Derivatives compared at a cut, and the size of one that is still looked at.
MAX_ORDER = 12
MAX_SIZE = 4_000
SMOOTH = 10**9


@dataclass(frozen=True)
class Kink:
    """A point where the function is C^order and not C^(order+1); order -1 is a jump.

    ``at`` is a rational, or a closed expression where it is none.
    """

    at: Fraction | Expr
    order: int


@dataclass(frozen=True)
class Facts:
    """Facts of a function of one variable; None in a field means that it was not decided.

    ``parity`` is 'even', 'odd' or None where neither is proved; ``kinks`` lie inside the
    parts where the function has values; ``left`` and ``right`` are asymptotes or why there
    are none; ``undefined`` the points and intervals without a value; ``period`` None where
    no period was found.
    """

    parity: str | None
    kinks: tuple[Kink, ...] | None
    left: Asymptote | NoAsymptote | None
    right: Asymptote | NoAsymptote | None
    undefined: tuple[Part, ...] | None
    period: Period | None

    @property
    def smoothness(self) -> int | None:
        """Largest k with the function in C^k; None for smooth (or not placed, see kinks)."""
        return min((k.order for k in self.kinks), default=None) if self.kinks else None


def facts(expr: Expr, var: str = "x") -> Facts:
    """The facts of a core expression in one variable."""
    missing = undefined_parts(expr, var)
    parts = None if missing is None else defined_parts(missing)
    total = missing == ()
    return Facts(
        parity(expr, var) if total else None,
        None if parts is None else _kinks_in(expr, var, parts),
        _end(expr, var, "-", missing),
        _end(expr, var, "+", missing),
        missing,
        period_of(expr, var) if total else None,
    )


def _end(expr: Expr, var: str, side: str, missing: tuple[Part, ...] | None) -> Asymptote | NoAsymptote | None:
    if missing and (missing[0].lo if side == "-" else missing[-1].hi) is None:
        return NoAsymptote(NO_VALUES)
    return asymptote(expr, var, side)


def _kinks_in(expr: Expr, var: str, parts: tuple[Domain, ...]) -> tuple[Kink, ...] | None:
    found: list[Kink] = []
    for part in parts:
        kinks = kinks_of(expr, var, part)
        if kinks is None:
            return None
        found += kinks
    return tuple(found)


def parity(expr: Expr, var: str = "x") -> str | None:
    """'even', 'odd', or None where neither is proved."""
    mirrored = substitute(expr, {var: App("neg", (Var(var),))})
    given = Assumptions({var: Domain()})
    if prove_relation(mirrored, "==", expr, given) is not None:
        return "even"
    if prove_relation(mirrored, "==", App("neg", (expr,)), given) is not None:
        return "odd"
    return None


@lru_cache(maxsize=1024)
def kinks_of(expr: Expr, var: str = "x", domain: Domain | None = None) -> tuple[Kink, ...] | None:
    """The points where the pieces do not continue each other, with the order of the break."""
    pieces = pieces_of(expr, var, domain)
    if pieces is None:
        return None
    found: list[Kink] = []
    for at, left, right in zip(cut_points(list(pieces)), pieces, pieces[1:], strict=False):
        order = _break(left, right, expr, var, at)
        if order is None:
            return None
        if order < SMOOTH:
            found.append(Kink(at.value if isinstance(at, Num) else at, order))
    return tuple(found)


def _break(left: Piece, right: Piece, whole: Expr, var: str, at: Expr) -> int | None:
    """Order of smoothness at a cut: -1 for a jump, SMOOTH where both sides are one function."""
    here = {var: at}
    a, b = left.expr, right.expr
    for order in range(MAX_ORDER + 1):
        values = [substitute(a, here), substitute(b, here)]
        if order == 0:
            values.append(substitute(whole, here))
        for other in values[1:]:
            if prove_relation(values[0], "==", other, Assumptions()) is None:
                unequal = prove_relation(values[0], "!=", other, Assumptions())
                return order - 1 if unequal is not None else None
        if order == 2 and _same(left.expr, right.expr, var):
            return SMOOTH
        next_a, next_b = derivative(a, var), derivative(b, var)
        if next_a is None or next_b is None or max(next_a.size, next_b.size) > MAX_SIZE:
            return None
        a, b = next_a, next_b
    return None


def _same(left: Expr, right: Expr, var: str) -> bool:
    return prove_relation(left, "==", right, Assumptions({var: Domain()})) is not None
