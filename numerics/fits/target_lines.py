"""The lines that a formula approaches, also where its features lie far from 0."""

from __future__ import annotations

from fractions import Fraction

from gateproof.theory.asymptotes import Asymptote, NoAsymptote, asymptote
from gateproof.theory.exact.tails import Expansion, tail_form
from gateproof.theory.formula.nodes import Expr

#: Where tails may start; beyond the first are those of formulas with features far from 0.
STARTS = tuple(Fraction(2**k) for k in (4, 8, 12, 20, 30, 40))


def line_of(core: Expr, side: str) -> Asymptote | NoAsymptote | None:
    """The asymptote of a core expression in x at '-' or '+' infinity, as :func:`...asymptotes.asymptote`.

    Tail forms are tried first, from 16 on and further out: a tail of gelu(x - 1000) starts beyond 1000.
    """
    for start in STARTS:
        form = tail_form(core, "x", side, start)
        if not isinstance(form, Expansion):
            continue
        falls = all(t.k < 0 or t.a != 0 or t.c == 0 for t in form.remainder)
        if falls and all(k in (0, 1) for k, c in form.poly.items() if c):
            # The left tail is expanded in -x.
            slope = form.poly.get(1, Fraction(0))
            return Asymptote(slope if side == "+" else -slope, form.poly.get(0, Fraction(0)))
        break
    return asymptote(core, "x", side)
