"""Exact real roots of polynomials in one generator, as constant expressions."""

from __future__ import annotations

from fractions import Fraction

from gateproof.theory.exact import balls, polys
from gateproof.theory.exact.bounds import names_in
from gateproof.theory.exact.normal import Workspace
from gateproof.theory.exact.polys import ZERO, Poly
from gateproof.theory.exact.writeback import write
from gateproof.theory.formula.nodes import App, Expr, Num


def roots_of_factors(ws: Workspace, p: Poly, name: str) -> list[Expr] | None:
    """All values of the name at which a polynomial that is not 0 vanishes, factor by factor, or None."""
    found: list[Expr] = []
    for f, _ in polys.factors(p)[1]:
        if 0 not in ws.signs.of(f):
            continue
        zeros = roots_in_name(ws, f, name)
        if zeros is None:
            return None
        found += zeros
    return found


def roots_in_name(ws: Workspace, f: Poly, name: str) -> list[Expr] | None:
    """All values of the name at which an irreducible polynomial is 0, or None.

    The polynomial must be one in the name alone, or in one of exp(c name) and log(name); its
    coefficients may be closed numbers such as e or pi where it is linear.
    """
    used = [i for i in polys.used(f) if names_in(ws.signs, [i])]
    if len(used) != 1:
        return None
    atom = ws.atoms[used[0]]
    parts = polys.coefficients_in(f, atom.index)
    if all(c.is_constant() for c in parts.values()):
        values = real_roots({k: polys.constant_of(c) for k, c in parts.items()})
    else:
        values = _linear_root(ws, parts)
    if values is None:
        return None
    if atom.kind == "name":
        return values if atom.name == name else None
    if atom.arg is None or not atom.arg.is_poly or atom.kind not in ("exp", "log"):
        return None
    inner = atom.arg.used()
    if len(inner) != 1 or atom.arg.num != polys.GENS[inner[0]] or ws.atoms[inner[0]].name != name:
        return None
    if atom.kind == "log":
        return [App("exp", (v,)) for v in values]
    found: list[Expr] = []
    for v in values:
        sign = balls.sign_of_constant(v)
        if sign is None:
            return None
        if sign > 0:
            log = App("log", (v,))
            found.append(log if atom.step == 1 else App("div", (log, Num(atom.step))))
    return found


def _linear_root(ws: Workspace, parts: dict[int, Poly]) -> list[Expr] | None:
    """The root of a k + b with closed coefficients, a not 0."""
    if max(parts) != 1 or ws.signs.of(parts[1]) not in ({1}, {-1}):
        return None
    value = ws.frac(-parts.get(0, ZERO), parts[1])
    return [write(ws, value)]


def real_roots(coefficients: dict[int, Fraction]) -> list[Expr] | None:
    """Real roots of degree 1 and 2, and of quadratics in a square; None for others."""
    degree = max(coefficients)
    if degree == 1:
        return [Num(-coefficients.get(0, Fraction(0)) / coefficients[1])]
    if degree == 2:
        return _quadratic(coefficients)
    if set(coefficients) <= {0, 2, 4} and degree == 4:
        inner = real_roots({k // 2: c for k, c in coefficients.items()})
        if inner is None:
            return None
        found: list[Expr] = []
        for v in inner:
            sign = balls.sign_of_constant(v)
            if sign is None:
                return None
            if sign > 0:
                root = App("sqrt", (v,))
                found += [root, App("neg", (root,))]
        return found
    return None


def _quadratic(coefficients: dict[int, Fraction]) -> list[Expr]:
    a, b, c = (coefficients.get(k, Fraction(0)) for k in (2, 1, 0))
    discriminant = b * b - 4 * a * c
    if discriminant < 0:
        return []
    if discriminant == 0:
        return [Num(-b / (2 * a))]
    root = App("sqrt", (Num(discriminant / (4 * a * a)),))
    middle = Num(-b / (2 * a))
    if middle.value == 0:
        return [root, App("neg", (root,))]
    return [App("add", (middle, root)), App("add", (middle, App("neg", (root,))))]
