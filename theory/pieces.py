"""A function of one variable as smooth formulas between its kinks, told by one point each.

What may have a kink at the zeros of u (abs(u), max, a condition) is cut at all of these
zeros. Between two of them u is continuous and not 0, so its sign at one rational point
is its sign on the whole interval. No proof over an interval is needed, and u need not be linear.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

from gateproof.theory.exact.conditions import ALLOWED
from gateproof.theory.exact.critical import sign_of
from gateproof.theory.exact.derivative import kinks, kinks_at
from gateproof.theory.exact.domain import Domain
from gateproof.theory.exact.piecewise import Piece, linear_root
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import (
    And,
    App,
    Expr,
    Implies,
    Node,
    Not,
    Num,
    Or,
    Rel,
    Stmt,
    Where,
    num,
    rebuild,
)
from gateproof.theory.formula.rewriting import mentions
from gateproof.theory.undefined_parts import inner_point
from gateproof.theory.zeros import exact_zeros, is_inside

MAX_PIECES = 32


class _Unplaced(Exception):
    """A kink could not be placed, or a sign not told."""


@lru_cache(maxsize=1024)
def pieces_of(expr: Expr, var: str = "x", domain: Domain | None = None) -> tuple[Piece, ...] | None:
    """The pieces on an open interval where the function has values, ascending; None where not placed."""
    done: list[Piece] = []
    todo: list[tuple[Domain, Expr]] = [(domain or Domain(), expr)]
    try:
        while todo:
            if len(todo) + len(done) > MAX_PIECES:
                return None
            part, formula = todo.pop()
            cuts = _step(formula, var, part)
            if isinstance(cuts, Expr):
                done.append(Piece(part, cuts))
                continue
            ends = [part.lo, *cuts, part.hi]
            todo += [(Domain(a, b), formula) for a, b in reversed(list(pairwise(ends)))]
    except _Unplaced:
        return None
    return tuple(done)


def _step(formula: Expr, var: str, part: Domain) -> Expr | tuple[Expr, ...]:
    """The formula without kinks inside the part, or points to cut it at."""
    sample = inner_point(part.lo, part.hi)
    if sample is None:
        raise _Unplaced
    cleared: set[Expr] = set()
    while True:
        left = [u for u in kinks(formula, var) if u not in cleared]
        for u in left:
            zeros = _zeros(u, var, part)
            if zeros:
                return zeros
            if zeros is not None:
                cleared.add(u)
        told = _told(formula, var, Num(sample), cleared)
        assert isinstance(told, Expr)
        if told == formula:
            if all(u in cleared for u in left):
                return formula
            raise _Unplaced
        formula = told


def _zeros(u: Expr, var: str, part: Domain) -> tuple[Expr, ...] | None:
    """All zeros of a kink's argument inside the part; None for an argument that has kinks itself."""
    root = linear_root(u, var)
    if root is None:
        if kinks(u, var) and not _only_roots(u):
            return None
        return exact_zeros(u, var, part)
    inside = is_inside(root, part)
    if inside is None:
        raise _Unplaced
    return (root,) if inside else ()


def _only_roots(u: Expr) -> bool:
    return not any(
        isinstance(n, Where) or (isinstance(n, App) and n.head in ("abs", "sign", "max", "min"))
        for n in u.walk()
    )


def _told(node: Node, var: str, sample: Num, cleared: set[Expr]) -> Node:
    """abs, sign, max, min and conditions whose arguments keep their sign, replaced by what they are."""
    if isinstance(node, Where) and _is_cleared(node, var, cleared):
        return _told(node.then if _truth(node.cond, var, sample) else node.other, var, sample, cleared)
    cleared_here = isinstance(node, App) and _is_cleared(node, var, cleared)
    done = rebuild(node, lambda child: _told(child, var, sample, cleared))
    assert isinstance(done, Node)
    if not isinstance(done, App) or not cleared_here:
        return done
    if done.head in ("abs", "sign") and mentions(done.args[0], var):
        side = _sign(done.args[0], var, sample)
        if done.head == "sign":
            return num(side)
        return done.args[0] if side > 0 else App("neg", done.args)
    if done.head == "sqrt" and isinstance(done.args[0], App) and done.args[0].head == "pow":
        base, exponent = done.args[0].args
        if exponent == num(2) and mentions(base, var):
            # sqrt(u**2) is |u|, and u is not 0 inside.
            return base if _sign(base, var, sample) > 0 else App("neg", (base,))
    if done.head in ("max", "min"):
        best = done.args[0]
        for other in done.args[1:]:
            gap = _sign(App("add", (other, App("neg", (best,)))), var, sample)
            if gap * (1 if done.head == "max" else -1) > 0:
                best = other
        return best
    return done


def _is_cleared(node: Expr, var: str, cleared: set[Expr]) -> bool:
    return all(u in cleared for u in kinks_at(node) if mentions(u, var))


def _sign(u: Expr, var: str, sample: Num) -> int:
    side = sign_of(substitute(u, {var: sample}))
    if side is None:
        raise _Unplaced
    return side


def _truth(cond: Stmt, var: str, sample: Num) -> bool:
    if isinstance(cond, Rel):
        pairs = zip(cond.ops, cond.terms, cond.terms[1:], strict=False)
        return all(_sign(App("add", (a, App("neg", (b,)))), var, sample) in ALLOWED[op] for op, a, b in pairs)
    if isinstance(cond, And):
        return all(_truth(p, var, sample) for p in cond.parts)
    if isinstance(cond, Or):
        return any(_truth(p, var, sample) for p in cond.parts)
    if isinstance(cond, Not):
        return not _truth(cond.part, var, sample)
    if isinstance(cond, Implies):
        return not _truth(cond.left, var, sample) or _truth(cond.right, var, sample)
    raise _Unplaced
