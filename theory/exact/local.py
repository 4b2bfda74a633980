"""Values and derivatives of a normal form at the point 0 of one name."""

from __future__ import annotations

from collections.abc import Callable

from gateproof.theory.exact import calculus
from gateproof.theory.exact.atoms import Frac
from gateproof.theory.exact.domain import Assumptions
from gateproof.theory.exact.monotone import in_workspace
from gateproof.theory.exact.normal import Workspace
from gateproof.theory.exact.polys import ONE, Poly
from gateproof.theory.exact.writeback import write
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, num

MAX_ORDER = 10
POSITIVE = frozenset({1})


def at_zero(ws: Workspace, value: Frac, name: str) -> Expr:
    """The expression with 0 put for the name."""
    return substitute(write(ws, value), {name: num(0)})


def signs_at_zero(ws: Workspace, value: Frac, name: str, rest: Assumptions) -> frozenset[int] | None:
    """Signs of the value at 0, under the assumptions on the other names."""
    node = at_zero(ws, value, name)
    return in_workspace(rest, lambda other: other.signs.of_frac(other.form(node)))


def smooth_at_zero(ws: Workspace, value: Frac, name: str, rest: Assumptions) -> bool:
    """Whether every part of the quotient's polynomials is smooth near 0."""
    return all(_smooth(ws, i, name, rest) for i in value.used())


def _smooth(ws: Workspace, i: int, name: str, rest: Assumptions) -> bool:
    atom = ws.atoms[i]
    if atom.arg is None:
        return True
    if not smooth_at_zero(ws, atom.arg, name, rest):
        return False
    bottom = signs_at_zero(ws, Frac(atom.arg.den, ONE), name, rest)
    if bottom is None or 0 in bottom:
        return False
    if atom.kind in ("log", "sqrt"):
        return signs_at_zero(ws, atom.arg, name, rest) == POSITIVE
    if atom.kind == "asin":
        inner = ws.sub(ws.number(1), ws.mul(atom.arg, atom.arg))
        return signs_at_zero(ws, inner, name, rest) == POSITIVE
    return atom.kind in ("exp", "erf", "atan", "sin", "cos")


def first_derivative(
    ws: Workspace, p: Poly, name: str, rest: Assumptions, ask: Callable[[Expr], None] | None = None
) -> tuple[int, int, Expr] | None:
    """(order, sign, value) of the first derivative at 0 that is not 0, the function itself first.

    None where it is not found or a sign is not known; that value goes to ``ask``.
    """
    value = Frac(p, ONE)
    if not smooth_at_zero(ws, value, name, rest):
        return None
    for order in range(MAX_ORDER):
        signs = signs_at_zero(ws, value, name, rest)
        if signs is None or len(signs) != 1:
            if ask is not None and signs:
                ask(at_zero(ws, value, name))
            return None
        sign = next(iter(signs))
        if sign:
            return order, sign, at_zero(ws, value, name)
        value = calculus.of_frac(ws, value, name)
        if not smooth_at_zero(ws, value, name, rest):
            return None
    return None


def quotient(a: Expr, b: Expr) -> Expr:
    """a / b as an expression."""
    return App("div", (a, b))
