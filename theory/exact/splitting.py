"""A function cut at its kinks, which may be placed by other names: relu(z - t) at z = t."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.kernels import ZERO, linear_in, minus, over, plus
from gateproof.theory.exact.piecewise import resolve
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.nodes import App, Expr, Node, Rel, Var, Where
from gateproof.theory.formula.rewriting import replaced
from gateproof.theory.formula.scopes import free_names

MAX_CUTS = 8


@dataclass(frozen=True)
class Span:
    """The function is ``expr``, without kinks, strictly between lo and hi; None is infinite."""

    lo: Expr | None
    hi: Expr | None
    expr: Expr


def spans(expr: Expr, var: str, whole: Span, given: Assumptions) -> list[Span] | None:
    """The pieces of the function on an interval, ascending, or None where a kink could not be placed."""
    cuts: list[Expr] = []
    for argument in _corners(expr, var):
        found = _cuts(argument, var)
        if found is None:
            return None
        for cut in found:
            if not _placed(cut, cuts, given):
                return None
    inside: list[Expr] = []
    for cut in cuts:
        where = _inside(cut, whole, given)
        if where is None:
            return None
        if where:
            inside.append(cut)
    if len(inside) > MAX_CUTS:
        return None
    ends = [whole.lo, *inside, whole.hi]
    parts = []
    for lo, hi in pairwise(ends):
        smooth = resolve(expr, between(lo, hi, var, given))
        if not isinstance(smooth, Expr) or _corners(smooth, var):
            return None
        parts.append(Span(lo, hi, smooth))
    return parts


def _corners(expr: Expr, var: str) -> list[Expr]:
    """Arguments of abs, sign, max, min and conditions: at a zero another formula takes over."""
    found = [u for node in expr.walk() for u in _own_corners(node)]
    return list(dict.fromkeys(u for u in found if var in free_names(u)))


def _own_corners(node: Node) -> list[Expr]:
    if isinstance(node, Where):
        relations = [part for part in node.cond.walk() if isinstance(part, Rel)]
        return [plus(a, minus(b)) for r in relations for a, b in pairwise(r.terms)]
    if isinstance(node, App) and node.head in ("abs", "sign"):
        return [node.args[0]]
    if isinstance(node, App) and node.head in ("max", "min"):
        return [plus(a, minus(b)) for i, a in enumerate(node.args) for b in node.args[i + 1 :]]
    return []


def between(lo: Expr | None, hi: Expr | None, var: str, given: Assumptions) -> Assumptions:
    """Assumptions with the variable strictly between two ends."""
    facts = list(given.facts)
    closed: list[Expr | None] = []
    for end, op in ((lo, ">"), (hi, "<")):
        fixed = end is not None and not free_names(end)
        closed.append(end if fixed else None)
        if end is not None and not fixed:
            facts.append(Rel((op,), (Var(var), end)))
    return Assumptions({**given.domains, var: Domain(closed[0], closed[1])}, tuple(facts))


def _cuts(argument: Expr, var: str) -> list[Expr] | None:
    """Where the argument of a kink can be 0."""
    if isinstance(argument, App) and argument.head in ("abs", "neg"):
        return _cuts(argument.args[0], var)
    inner = _inner_kink(argument)
    if inner is not None:
        # On either side of the inner kink the argument is another line.
        found: list[Expr] = []
        for replaced in inner:
            cuts = _cuts(replaced, var)
            if cuts is None:
                return None
            found += cuts
        return found
    line = linear_in(argument, var)
    if line is None or line[0] == ZERO:
        return [] if line is not None else None
    return [over(minus(line[1]), line[0])]


def _inner_kink(argument: Expr) -> list[Expr] | None:
    """The formulas that an argument with an inner abs, max or min may stand for, and where those change."""
    for node in argument.walk():
        if not isinstance(node, App) or node.head not in ("abs", "max", "min"):
            continue
        choices = [node.args[0], minus(node.args[0])] if node.head == "abs" else list(node.args)
        found = [replaced(argument, {node: choice}) for choice in choices]
        if node.head == "abs":
            return [*found, node.args[0]]
        return [*found, *(plus(a, minus(b)) for i, a in enumerate(node.args) for b in node.args[i + 1 :])]
    return None


def _placed(cut: Expr, cuts: list[Expr], given: Assumptions) -> bool:
    """Put a cut in order among the others; False where that is not known."""
    for i, other in enumerate(cuts):
        if prove_relation(cut, "==", other, given) is not None:
            return True
        if prove_relation(cut, "<", other, given) is not None:
            cuts.insert(i, cut)
            return True
        if prove_relation(cut, ">", other, given) is None:
            return False
    cuts.append(cut)
    return True


def _inside(cut: Expr, whole: Span, given: Assumptions) -> bool | None:
    """Whether a cut lies strictly inside; None where that is not known."""
    for end, inner, outer in ((whole.lo, ">", "<="), (whole.hi, "<", ">=")):
        if end is None or prove_relation(cut, inner, end, given) is not None:
            continue
        return False if prove_relation(cut, outer, end, given) is not None else None
    return True
