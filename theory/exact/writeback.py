"""Normal forms back to expressions."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from gateproof.theory.exact import polys
from gateproof.theory.exact.atoms import Atom, Frac
from gateproof.theory.exact.polys import Poly
from gateproof.theory.formula.nodes import App, Const, Expr, Num, Var, num

if TYPE_CHECKING:
    from gateproof.theory.exact.normal import Workspace


def write(ws: Workspace, value: Frac) -> Expr:
    """An expression with this normal form."""
    top = write_poly(ws, value.num)
    return top if value.is_poly else App("div", (top, write_poly(ws, value.den)))


def write_poly(ws: Workspace, p: Poly) -> Expr:
    """A polynomial in the generators as an expression."""
    return total([_term(ws, powers, c) for powers, c in polys.terms_of(p)])


def write_divided(ws: Workspace, p: Poly, by: dict[int, int]) -> Expr:
    """The polynomial divided by powers of generators, term by term: exponents of exp are added."""
    terms: list[Expr] = []
    for powers, c in polys.terms_of(p):
        left = dict(powers)
        for i, d in by.items():
            left[i] = left.get(i, 0) - d
        terms.append(_term(ws, tuple((i, e) for i, e in left.items() if e), c))
    return total(terms)


def total(terms: list[Expr]) -> Expr:
    """The sum of the terms; a negative number behind others is subtracted."""
    if not terms:
        return num(0)
    if len(terms) == 1:
        return terms[0]
    return App("add", (terms[0], *(_subtracted(t) for t in terms[1:])))


def _subtracted(term: Expr) -> Expr:
    if isinstance(term, Num) and term.value < 0:
        return App("neg", (Num(-term.value),))
    return term


def _term(ws: Workspace, powers: tuple[tuple[int, int], ...], c: Fraction) -> Expr:
    parts: list[Expr] = []
    exponent: list[Expr] = []
    for i, e in powers:
        atom = ws.atoms[i]
        if atom.kind == "exp":
            assert atom.arg is not None
            exponent.append(scaled(write(ws, atom.arg), atom.step * e))
        else:
            base = write_atom(ws, atom)
            parts.append(base if e == 1 else App("pow", (base, num(e))))
    if exponent:
        inner = exponent[0] if len(exponent) == 1 else App("add", tuple(exponent))
        parts.append(App("exp", (inner,)))
    if not parts:
        return Num(c)
    body = parts[0] if len(parts) == 1 else App("mul", tuple(parts))
    return scaled(body, c)


def scaled(node: Expr, c: Fraction) -> Expr:
    """c times a node, without a factor 1."""
    if c == 1:
        return node
    if c == -1:
        return App("neg", (node,))
    if isinstance(node, Num):
        return Num(c * node.value)
    if c < 0:
        return App("neg", (scaled(node, -c),))
    if isinstance(node, App) and node.head == "mul":
        return App("mul", (Num(c), *node.args))
    return App("mul", (Num(c), node))


def write_atom(ws: Workspace, atom: Atom) -> Expr:
    """What a generator stands for."""
    if atom.kind == "name":
        return Var(atom.name)
    if atom.kind == "pi":
        return Const("pi")
    assert atom.arg is not None
    inner = write(ws, atom.arg)
    return App(atom.kind, (scaled(inner, atom.step) if atom.kind == "exp" else inner,))
