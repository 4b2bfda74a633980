"""Exact critical points, and equality of closed constants."""

from __future__ import annotations

from fractions import Fraction

from gateproof.theory.exact import calculus, roots
from gateproof.theory.exact.atoms import NeedSign, NewStep
from gateproof.theory.exact.bounds import atom_range
from gateproof.theory.exact.budget import Unsupported, bounded
from gateproof.theory.exact.cases import domain_facts
from gateproof.theory.exact.conditions import holds
from gateproof.theory.exact.defined import prove_defined
from gateproof.theory.exact.domain import Assumptions
from gateproof.theory.exact.monotone import in_workspace
from gateproof.theory.exact.normal import Workspace
from gateproof.theory.exact.polys import UndefinedValue
from gateproof.theory.exact.writeback import write, write_poly
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import Expr, Num, Rel, Stmt, num
from gateproof.theory.formula.scopes import free_names

MAX_PIECES = 40
_CHECKS = {1: ">", -1: "<"}


@bounded
def exact_extremum_candidates(expr: Expr, var: str, assumptions: Assumptions) -> tuple[Expr, ...] | None:
    """All points where an extremum can sit: zeros of the derivative, kinks, closed ends; or None.

    Points may lie outside of the domain only where that could not be decided. Infinite and
    open ends are not among them; a stretch on which the expression is constant is there by one
    of its points. At a jump a supremum may be a one-sided limit instead of a value.
    """
    if free_names(expr) - {var} or prove_defined(expr, assumptions) is None:
        return None
    found: list[Expr] = []
    domain = assumptions.domains.get(var)
    if domain is not None:
        found += [e for e, c in ((domain.lo, domain.lo_closed), (domain.hi, domain.hi_closed)) if e and c]
    if not _pieces(expr, var, assumptions, found, [MAX_PIECES]):
        return None
    kept: list[Expr] = []
    for point in found:
        if _outside(point, var, assumptions) or any(equal_constants(point, k) for k in kept):
            continue
        kept.append(point)
    return tuple(kept)


def _pieces(expr: Expr, var: str, assumptions: Assumptions, found: list[Expr], left: list[int]) -> bool:
    """Points of every piece between kinks added to ``found``; False where some are not found."""
    left[0] -= 1
    if left[0] < 0:
        return False
    steps: dict[str, Fraction] = {}
    for _ in range(10):
        ws: Workspace | None = None
        try:
            ws = Workspace(assumptions, steps)
            if ws.signs.contradictory():
                return True
            return _smooth_piece(ws, expr, var, found)
        except NewStep as finer:
            steps[finer.basis] = finer.step
        except NeedSign as need:
            if ws is None:
                return False
            zeros = roots.roots_in_name(ws, need.poly, var)
            if zeros is None:
                return False
            found += [_tidy(z) for z in zeros]
            question = write_poly(ws, need.poly)
            for sign in ws.signs.of(need.poly) - {0}:
                fact = Rel((_CHECKS[sign],), (question, num(0)))
                inner = Assumptions(assumptions.domains, (*assumptions.facts, fact))
                if not _pieces(expr, var, inner, found, left):
                    return False
            return True
        except (Unsupported, UndefinedValue):
            return False
    return False


def _smooth_piece(ws: Workspace, expr: Expr, var: str, found: list[Expr]) -> bool:
    value = ws.form(expr)
    slope = calculus.of_frac(ws, value, var)
    if slope.is_zero:
        return _one_point(ws, var, found)
    # Where a root's argument is 0 the function may fail to be smooth, as at a kink.
    rough = [a.square for a in ws.atoms if a.kind == "sqrt" and a.square is not None]
    for part in (slope.num, *rough):
        zeros = roots.roots_of_factors(ws, part, var)
        if zeros is None:
            return False
        found += [_tidy(z) for z in zeros]
    return all(a.kind != "asin" for a in ws.atoms)


def _one_point(ws: Workspace, var: str, found: list[Expr]) -> bool:
    """A point of the piece, checked against its facts."""
    index = next((a.index for a in ws.atoms if a.kind == "name" and a.name == var), None)
    point = Num(atom_range(ws.signs, index).inner()) if index is not None else num(0)
    facts = [substitute_stmt(f, var, point) for f in ws.assumptions.facts]
    domain = ws.assumptions.domains.get(var)
    facts += domain_facts(point, domain) if domain is not None else []
    found.append(point)
    return all(_is_true(f) for f in facts)


def _tidy(node: Expr) -> Expr:
    found = in_workspace(Assumptions(), lambda ws: write(ws, ws.form(node)))
    return node if found is None or found.size > node.size else found


def _outside(point: Expr, var: str, assumptions: Assumptions) -> bool:
    """Whether the point is surely not in the domain."""
    domain = assumptions.domains.get(var)
    facts: list[Stmt] = list(assumptions.facts)
    put = [substitute_stmt(f, var, point) for f in facts]
    put += domain_facts(point, domain) if domain is not None else []
    return any(_is_false(f) for f in put)


def substitute_stmt(stmt: Stmt, var: str, value: Expr) -> Stmt:
    """A condition with a value put for the name."""
    if isinstance(stmt, Rel):
        return Rel(stmt.ops, tuple(substitute(t, {var: value}) for t in stmt.terms))
    return stmt


def _is_true(stmt: Stmt) -> bool:
    return in_workspace(Assumptions(), lambda ws: holds(ws, stmt)) is True


def _is_false(stmt: Stmt) -> bool:
    return in_workspace(Assumptions(), lambda ws: holds(ws, stmt)) is False


@bounded
def equal_constants(a: Expr, b: Expr) -> bool | None:
    """Whether two closed expressions are the same number; None where not decided."""
    if free_names(a) | free_names(b):
        return None
    nowhere = Assumptions()
    if prove_defined(a, nowhere) is None or prove_defined(b, nowhere) is None:
        return None

    def compare(ws: Workspace) -> frozenset[int]:
        difference = ws.sub(ws.form(a), ws.form(b))
        return ws.signs.of_frac(difference)

    signs = in_workspace(nowhere, compare)
    if signs is None:
        return None
    if signs == {0}:
        return True
    return None if 0 in signs else False


@bounded
def sign_of(node: Expr) -> int | None:
    """The sign of a closed expression, where it is decided."""
    signs = in_workspace(Assumptions(), lambda ws: ws.signs.of_frac(ws.form(node)))
    return next(iter(signs)) if signs is not None and len(signs) == 1 else None
