"""Limits at infinity of functions of one variable by their tails: a rational limit, or a wave without one."""

from __future__ import annotations

from fractions import Fraction

from gateproof.theory.exact.domain import Assumptions, Derivation, Domain
from gateproof.theory.exact.limit_search import tidy
from gateproof.theory.exact.limits import NoLimit
from gateproof.theory.exact.tails import NoForm, limit, tail_form
from gateproof.theory.formula.nodes import App, Const, Expr, Num
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names
from gateproof.theory.periods import period_of

_OO = Const("oo")
#: Where the tail begins; a limit does not depend on it.
_STARTS = (Fraction(16), Fraction(1024))


def by_tail(body: Expr, var: str, point: Expr) -> tuple[Expr, Derivation] | NoLimit | None:
    """The limit of a core body without other names at oo or -oo; None where the tail does not fix it."""
    if free_names(body) != {var} or point not in (_OO, App("neg", (_OO,))):
        return None
    side = "+" if point == _OO else "-"
    for start in _STARTS:
        form = tail_form(body, var, side, start)
        if isinstance(form, NoForm):
            continue
        found = limit(form)
        if found is None:
            continue
        value = Num(found) if isinstance(found, Fraction) else _OO if found == "oo" else App("neg", (_OO,))
        line = f"{to_text(body)} tends to {to_text(value)}: no other term of its expansion stays"
        return value, Derivation(("tail arithmetic", line), ("fractions",))
    period = period_of(tidy(body, Assumptions({var: Domain()})), var)
    if period is not None and period.slope == 0:
        return NoLimit(f"it repeats with period {to_text(period.length)} and is not constant")
    return None
