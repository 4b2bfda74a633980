"""Derivatives of normal forms, and where a normal form is smooth."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from gateproof.theory.exact import functions, polys
from gateproof.theory.exact.atoms import Frac
from gateproof.theory.exact.budget import Unsupported
from gateproof.theory.exact.polys import ONE, Poly
from gateproof.theory.exact.writeback import write
from gateproof.theory.formula.nodes import Expr
from gateproof.theory.special import Function, find
from gateproof.theory.special.symbolic import conditions, off_poles, slope_at

if TYPE_CHECKING:
    from gateproof.theory.exact.normal import Workspace


def of_frac(ws: Workspace, u: Frac, name: str) -> Frac:
    """The derivative of a quotient in a name."""
    top = of_poly(ws, u.num, name)
    if u.is_poly:
        return top
    bottom = of_poly(ws, u.den, name)
    den = Frac(u.den, ONE)
    inner = ws.sub(ws.mul(top, den), ws.mul(Frac(u.num, ONE), bottom))
    return ws.div(inner, ws.mul(den, den))


def of_poly(ws: Workspace, p: Poly, name: str) -> Frac:
    """The chain rule over the generators."""
    total = ws.number(0)
    for i in polys.used(p):
        inner = of_generator(ws, i, name)
        if not inner.is_zero:
            total = ws.add(total, ws.mul(ws.frac(p.derivative(i), ONE), inner))
    return total


def of_generator(ws: Workspace, i: int, name: str) -> Frac:
    """The derivative of one generator."""
    atom = ws.atoms[i]
    if atom.kind == "name":
        return ws.number(1 if atom.name == name else 0)
    if atom.arg is None:
        return ws.number(0)
    inner = of_frac(ws, atom.arg, name)
    if inner.is_zero:
        return inner
    return ws.mul(inner, _outer(ws, i))


def _outer(ws: Workspace, i: int) -> Frac:
    atom = ws.atoms[i]
    u = atom.arg
    assert u is not None
    generator = Frac(polys.GENS[i], ONE)
    square = ws.mul(u, u)
    if atom.kind == "exp":
        return ws.mul(ws.number(atom.step), generator)
    if atom.kind == "log":
        return ws.div(ws.number(1), u)
    if atom.kind == "sqrt":
        return ws.div(ws.number(Fraction(1, 2)), generator)
    if atom.kind == "erf":
        bell = functions.exp(ws, Frac(-square.num, square.den))
        root = functions.sqrt(ws, Frac(ws.atom("pi"), ONE))
        return ws.div(ws.mul(ws.number(2), bell), root)
    if atom.kind == "atan":
        return ws.div(ws.number(1), ws.add(ws.number(1), square))
    if atom.kind == "asin":
        return ws.div(ws.number(1), functions.sqrt(ws, ws.sub(ws.number(1), square)))
    if atom.kind == "sin":
        return Frac(ws.atom("cos", u), ONE)
    if atom.kind == "cos":
        square_of_sine = ONE - polys.GENS[i] * polys.GENS[i]
        sine = ws.atom("sin", u, square=square_of_sine)
        return Frac(-sine, ONE)
    slope = slope_at(atom.kind, write(ws, u))
    if slope is None:
        raise Unsupported(atom.kind)
    return ws.form(slope)


def is_regular(ws: Workspace, u: Frac, *, smooth: bool) -> bool:
    """Whether the quotient is continuous (or smooth) wherever the workspace's facts hold."""
    if 0 in ws.signs.of(u.den):
        return False
    return all(_regular_generator(ws, i, smooth=smooth) for i in u.used())


def _regular_generator(ws: Workspace, i: int, *, smooth: bool) -> bool:
    atom = ws.atoms[i]
    if atom.arg is None:
        return True
    if not is_regular(ws, atom.arg, smooth=smooth):
        return False
    if atom.kind == "log":
        return ws.signs.of_frac(atom.arg) <= {1}
    weak = frozenset({1} if smooth else {0, 1})
    if atom.kind == "sqrt":
        return ws.signs.of_frac(atom.arg) <= weak
    if atom.kind == "asin":
        inner = ws.sub(ws.number(1), ws.mul(atom.arg, atom.arg))
        return ws.signs.of_frac(inner) <= weak
    special = find(atom.kind)
    return special is None or inside(ws, special, atom.arg, smooth=smooth)


def inside(ws: Workspace, special: Function, arg: Frac, *, smooth: bool) -> bool:
    """In the open domain a special function is smooth, at a closed end of it continuous."""
    argument = write(ws, arg)

    def surely(expr: Expr, allowed: frozenset[int]) -> bool:
        return ws.signs.of_frac(ws.form(expr)) <= (allowed - {0} if smooth else allowed)

    if special.span.poles and not any(surely(e, allowed) for e, allowed in off_poles(argument)):
        return False
    return all(surely(e, allowed) for e, allowed in conditions(special, argument))
