"""Relations with integrals and normal means in them.

Each has a meaning, or the statement is ill-posed; then it is replaced by its closed form where one is known;
what is left is enclosed, for closed statements, or bounded over the names that it depends on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gateproof.numerics.means import NAMES, contradicted
from gateproof.numerics.points import compare
from gateproof.proofs_check.engine.calculus import Elimination
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.definedness import decide_defined
from gateproof.proofs_check.engine.fundamental import by_fundamental_theorem
from gateproof.proofs_check.engine.outcome import (
    IllPosedError,
    NotYetError,
    Outcome,
    UndecidedError,
    conjunction,
)
from gateproof.proofs_check.engine.relation import decide_relation
from gateproof.proofs_check.engine.sample import points
from gateproof.proofs_check.engine.space import Space, infinite_sign
from gateproof.theory.exact.definite import NoIntegral
from gateproof.theory.exact.domain import Domain
from gateproof.theory.exact.means import Mean, holds_mean, mean_value, reduced
from gateproof.theory.formula.library import substitute, substitute_node
from gateproof.theory.formula.nodes import (
    App,
    At,
    Diff,
    Expr,
    Extremum,
    Gauss,
    Gauss2,
    Integral,
    Limit,
    Node,
    Num,
    Rel,
    Series,
    Stmt,
    Taylor,
    Var,
    num,
    rebuild,
)
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

_CALCULUS = (At, Diff, Limit, Series, Taylor)
Decide = Callable[[Space, Rel], Outcome]
#: Points at which a closed form is held against quadrature.
_CHECK_POINTS = 2


def decide_means(space: Space, relation: Rel, context: Context, decide: Decide) -> Outcome:
    """Decide a binary relation with an integral, gauss or gauss2 in it.

    ``decide`` decides the relation once none is left. Raises as the engine's other methods.
    """
    if space.vectors:
        raise NotYetError("integrals over vectors")
    split = _at_variance_zero(space, relation)
    if split is not None:
        return conjunction([decide_means(s, r, context, decide) for s, r in split])
    relation = Rel(relation.ops, tuple(_plain(space, t) for t in relation.terms))
    for node in relation.walk():
        if isinstance(node, Mean) and not free_names(node) - set(space.domains):
            _must_have_meaning(space, node, context)
    known = by_fundamental_theorem(space, relation, context)
    if known is not None:
        return known
    left, right, steps = _reduced(space, relation, context)
    done = Rel(relation.ops, (left, right))
    if not holds_mean(done):
        found = decide(space, done)
        trust = tuple(dict.fromkeys(("flint", *found.trust, "arb")))
        return replace(found, steps=(*steps, *found.steps), trust=trust)
    outcome = _left_over(space, done, context, decide)
    return replace(outcome, steps=(*steps, *outcome.steps))


def _plain(space: Space, expr: Expr) -> Expr:
    """The expression with derivatives, limits and sums inside of integrands written out."""

    def visit(part: Node) -> Node:
        if not isinstance(part, Mean) or not any(isinstance(n, _CALCULUS) for n in part.body.walk()):
            done = rebuild(part, visit)
            assert isinstance(done, Node)
            return done
        names = (part.u, part.v) if isinstance(part, Gauss2) else (part.var,)
        inner = space
        for name in names:
            inner = inner.with_domain(name, _line(part))
        work = Elimination(inner)
        body = work.expr(part.body)
        for condition in work.owed:
            if isinstance(part, Integral) and _avoided(condition, part):
                continue
            if condition in work.certain and not (isinstance(part, Integral) and _apart(part)):
                raise IllPosedError(f"in {to_text(part)}: no derivative where {to_text(condition)} fails")
            raise UndecidedError(f"a derivative may not exist where {to_text(condition)} fails")
        return replace(part, body=body)

    found = visit(expr)
    assert isinstance(found, Expr)
    return found


def _line(node: Mean) -> Domain:
    """What the variable ranges over: between fixed ends of an integral, else all of R."""
    if not isinstance(node, Integral) or _apart(node):
        return Domain()
    low, high = _ascending(node.lo, node.hi)
    return Domain(None if infinite_sign(low) else low, None if infinite_sign(high) else high)


def _avoided(condition: Stmt, node: Integral) -> bool:
    """Whether a point that the variable must avoid is seen not to lie strictly between the ends."""
    if not isinstance(condition, Rel) or condition.ops != ("!=",) or condition.terms[0] != Var(node.var):
        return False
    at = condition.terms[1]
    if free_names(at) | free_names(node.lo) | free_names(node.hi):
        return False
    low, high = _ascending(node.lo, node.hi)
    before = bool(infinite_sign(low)) or compare(low, at) == -1
    after = bool(infinite_sign(high)) or compare(at, high) == -1
    if before and after:
        return False
    return any(
        not infinite_sign(end) and (end == at or compare(end, at) in (0, order))
        for end, order in ((low, 1), (high, -1))
    )


def _apart(node: Integral) -> bool:
    """Whether the ends depend on names, so that a point may lie between them or not."""
    return bool(free_names(node.lo) | free_names(node.hi))


def _left_over(space: Space, relation: Rel, context: Context, decide: Decide) -> Outcome:
    from gateproof.proofs_check.engine import closed, gauss, quadrature

    for node in relation.walk():
        if isinstance(node, Mean) and free_names(node) - set(space.domains) and not _holds_extremum(relation):
            raise NotYetError(f"{NAMES[type(node).__name__]} inside of a limit, a derivative or a sum")
    split = _by_order(space, relation)
    if split is not None:
        return conjunction([decide_means(s, r, context, decide) for s, r in split])
    if _holds_extremum(relation):
        if free_names(relation) & set(space.domains):
            raise NotYetError("integrals and extrema that depend on other names")
        return closed.decide_closed(relation, context)
    if not free_names(relation):
        return quadrature.decide_closed_means(relation, context, lambda r: decide(Space(), r))
    return gauss.decide_over_names(space, relation, context, lambda s, r: decide_means(s, r, context, decide))


def _at_variance_zero(space: Space, relation: Rel) -> list[tuple[Space, Rel]] | None:
    """The relation at q = 0 and for q > 0 where a variance is a name that starts at 0."""
    for node in relation.walk():
        if not isinstance(node, Gauss | Gauss2) or not isinstance(node.q, Var):
            continue
        domain = space.domains.get(node.q.name)
        if domain is None or not domain.lo_closed or domain.lo != num(0):
            continue
        if domain.integer or domain.hi == num(0):
            continue
        name = node.q.name
        at = substitute_node(relation, {name: num(0)})
        facts = tuple(_stmt(substitute_node(f, {name: num(0)})) for f in space.facts)
        assert isinstance(at, Rel)
        zero = replace(space.without(name), facts=facts)
        return [(zero, at), (space.with_domain(name, replace(domain, lo_closed=False)), relation)]
    return None


def _by_order(space: Space, relation: Rel) -> list[tuple[Space, Rel]] | None:
    """The relation below, at and above the fixed end of an integral, where its other end is a name."""
    for node in relation.walk():
        if not isinstance(node, Integral):
            continue
        for end, fixed in ((node.hi, node.lo), (node.lo, node.hi)):
            domain = space.domains.get(end.name) if isinstance(end, Var) else None
            if (
                domain is None
                or domain.integer
                or domain.without
                or infinite_sign(fixed)
                or free_names(fixed)
            ):
                continue
            assert isinstance(end, Var)
            if _beyond(domain.lo, fixed, -1) and _beyond(domain.hi, fixed, 1):
                return _around(space, relation, end.name, fixed)
    return None


def _beyond(end: Expr | None, fixed: Expr, side: int) -> bool:
    return end is None or compare(end, fixed) == side


def _around(space: Space, relation: Rel, name: str, fixed: Expr) -> list[tuple[Space, Rel]]:
    domain, value = space.domains[name], {name: fixed}
    below = space.with_domain(name, replace(domain, hi=fixed, hi_closed=False))
    above = space.with_domain(name, replace(domain, lo=fixed, lo_closed=False))
    at = replace(space.without(name), facts=tuple(_stmt(substitute_node(f, value)) for f in space.facts))
    found = substitute_node(relation, value)
    assert isinstance(found, Rel)
    return [(below, relation), (at, found), (above, relation)]


def _stmt(node: Node) -> Stmt:
    assert isinstance(node, Stmt)
    return node


def _must_have_meaning(space: Space, node: Mean, context: Context) -> None:
    """Raise IllPosedError where a variance is negative, a correlation too large or an integrand undefined."""
    if any(holds_mean(child) or _holds_extremum(child) for child in node.children()):
        return
    if isinstance(node, Integral):
        _integrand(space, node, context)
        return
    conditions = [(Rel((">=",), (node.q, num(0))), "the variance is negative")]
    names: tuple[str, ...] = (node.u, node.v) if isinstance(node, Gauss2) else (node.var,)
    if isinstance(node, Gauss2):
        square = App("pow", (node.c, num(2)))
        conditions.append((Rel(("<=",), (square, num(1))), "the correlation lies outside [-1, 1]"))
    for condition, reason in conditions:
        _need(space, condition, f"{to_text(node)} has no value: {reason}", context)
    if node.q == num(0):
        # Nothing but the mean is looked at.
        centre = node.mean if isinstance(node, Gauss) else num(0)
        _defined(space, substitute(node.body, dict.fromkeys(names, centre)), node, context)
        return
    inner = space
    for name in names:
        inner = inner.with_domain(name, Domain())
    _defined(inner, node.body, node, context)


def _holds_extremum(node: Node) -> bool:
    return any(isinstance(n, Extremum) for n in node.walk())


def _need(space: Space, condition: Rel, reason: str, context: Context) -> None:
    if free_names(condition):
        found = decide_relation(space, condition, context.deeper())
    else:
        from gateproof.proofs_check.engine.closed import decide_constants

        found = decide_constants(condition.ops[0], *condition.terms)
    if found.ill_posed:
        raise IllPosedError(found.reason)
    if found.truth is False:
        at = ", ".join(f"{k} = {v}" for k, v in (found.witness or {}).items() if k in space.domains)
        raise IllPosedError(f"{reason} at {at}" if at else reason)
    if found.truth is None:
        raise UndecidedError(f"it was not shown that {to_text(condition)}: {found.reason}")


def _integrand(space: Space, node: Integral, context: Context) -> None:
    """The integrand must have a value strictly between the ends."""
    lo, hi = node.lo, node.hi
    for end in (lo, hi):
        if not infinite_sign(end):
            found = decide_defined(space, end, context)
            if found.ill_posed:
                raise IllPosedError(found.reason)
    # An infinite end has one side only: nothing lies beyond it.
    turned = _apart(node) and not (infinite_sign(lo) or infinite_sign(hi))
    orders = [(lo, hi), (hi, lo)] if turned else [_ascending(lo, hi)]
    everywhere = space.with_domain(node.var, Domain())
    if _apart(node) and decide_defined(everywhere, node.body, context).truth is True:
        return
    for low, high in orders:
        closed = [None if infinite_sign(e) or free_names(e) else e for e in (low, high)]
        facts = []
        if free_names(low):
            facts.append(Rel(("<",), (low, Var(node.var))))
        if free_names(high):
            facts.append(Rel(("<",), (Var(node.var), high)))
        inner = space.with_domain(node.var, Domain(closed[0], closed[1])).given(*facts)
        _defined(inner, node.body, node, context)


def _ascending(lo: Expr, hi: Expr) -> tuple[Expr, Expr]:
    if infinite_sign(lo) or infinite_sign(hi):
        return (hi, lo) if infinite_sign(lo) > infinite_sign(hi) else (lo, hi)
    return (hi, lo) if compare(lo, hi) == 1 else (lo, hi)


def _defined(space: Space, body: Expr, node: Mean, context: Context) -> None:
    found = decide_defined(space, body, context)
    if found.ill_posed:
        raise IllPosedError(f"in {to_text(node)}: {found.reason}")


def _reduced(space: Space, relation: Rel, context: Context) -> tuple[Expr, Expr, tuple[str, ...]]:
    """Both sides with closed forms put in, each held against quadrature."""
    sides: list[Expr] = []
    steps: list[str] = []
    given = space.assumptions()
    for term in relation.terms:
        found = reduced(term, given)
        if isinstance(found, NoIntegral):
            raise IllPosedError(found.reason)
        sides.append(found[0])
        steps += found[1]
    for node in relation.walk():
        if isinstance(node, Mean) and not free_names(node) - set(space.domains):
            _hold_against_quadrature(space, node, context)
    return sides[0], sides[1], tuple(dict.fromkeys(steps))


def _hold_against_quadrature(space: Space, node: Mean, context: Context) -> None:
    """Raise UndecidedError where an enclosure excludes the closed form at a point of the scope."""
    exact = mean_value(node, space.assumptions())
    if not isinstance(exact, tuple) or holds_mean(exact[0]):
        return
    tried = (
        points(space, (node,), context.settings.seed + 5, _CHECK_POINTS) if free_names(node) else iter([{}])
    )
    for point in tried:
        values: dict[str, Expr] = {k: Num(v) for k, v in point.items()}
        at, value = substitute(node, values), substitute(exact[0], values)
        if contradicted(at, value, context.budget()):
            raise UndecidedError(f"engines disagree on {to_text(at)}")
