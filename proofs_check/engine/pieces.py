"""One variable: the domain cut at kinks, and kinks resolved on each piece."""

from __future__ import annotations

from fractions import Fraction

from gateproof.numerics.errors import MaybeUndefined, Undefined
from gateproof.numerics.points import at_point, rational_bounds
from gateproof.proofs_check.engine.space import Space, contains
from gateproof.theory.exact.derivative import kinks
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.nodes import App, Expr, Node, Num, Rel, Stmt, Var, Where, num, rebuild

MAX_PIECES = 12


def linear_root(expr: Expr, name: str) -> Fraction | None:
    """The zero of an expression that is (provably) a*x + b with rational a != 0, b."""
    found: list[Fraction] = []
    for value in (0, 1):
        try:
            lo, hi = rational_bounds(at_point(expr, {name: Fraction(value)}, 128))
        except (Undefined, MaybeUndefined):
            return None
        if lo != hi:
            lo = hi = ((lo + hi) / 2).limit_denominator(10**9)
        found.append(lo)
    slope = found[1] - found[0]
    if slope == 0:
        return None
    line = App("add", (App("mul", (Num(slope), Var(name))), Num(found[0])))
    if prove_relation(expr, "==", line, Assumptions({name: Domain()})) is None:
        return None
    return -found[0] / slope


def cuts(exprs: tuple[Expr, ...], name: str, domain: Domain) -> list[Fraction]:
    """Rational kink points of the expressions strictly inside the domain, ascending."""
    found: set[Fraction] = set()
    for expr in exprs:
        for argument in kinks(expr, name):
            root = linear_root(argument, name)
            if root is not None and contains(domain, root):
                found.add(root)
    return sorted(found)[: MAX_PIECES - 1]


def split(space: Space, name: str, at: list[Fraction]) -> list[Space]:
    """The space cut at points into pieces that hold their ends."""
    domain = space.domains[name]
    found: list[Space] = []
    lo, lo_closed = domain.lo, domain.lo_closed
    for point in at:
        found.append(
            space.with_domain(name, Domain(lo, Num(point), lo_closed, True, domain.integer, domain.without))
        )
        lo, lo_closed = Num(point), True
    found.append(
        space.with_domain(
            name, Domain(lo, domain.hi, lo_closed, domain.hi_closed, domain.integer, domain.without)
        )
    )
    return found


def resolve(node: Node, given: Assumptions) -> Node:
    """The node with abs, sign, max, min and where replaced wherever the prover decides them."""
    done = rebuild(node, lambda child: resolve(child, given))
    assert isinstance(done, Node)
    if isinstance(done, Where):
        return _where(done, given)
    if not isinstance(done, App):
        return done
    if done.head == "abs":
        (u,) = done.args
        if _holds(u, ">=", given):
            return u
        if _holds(u, "<=", given):
            return App("neg", (u,))
    if done.head == "sign":
        (u,) = done.args
        for op, value in ((">", 1), ("<", -1)):
            if _holds(u, op, given):
                return num(value)
    if done.head in ("max", "min") and len(done.args) > 1:
        return _extreme(done, given)
    return done


def _holds(u: Expr, op: str, given: Assumptions) -> bool:
    return prove_relation(u, op, num(0), given) is not None


def _extreme(node: App, given: Assumptions) -> Expr:
    best, rest = node.args[0], node.args[1:]
    over, under = (">=", "<=") if node.head == "max" else ("<=", ">=")
    kept: list[Expr] = []
    for other in rest:
        gap = App("add", (best, App("neg", (other,))))
        if _holds(gap, over, given):
            continue
        if _holds(gap, under, given):
            best = other
        else:
            kept.append(other)
    return App(node.head, (best, *kept)) if kept else best


def _where(node: Where, given: Assumptions) -> Expr:
    found = _truth(node.cond, given)
    if found is None:
        return node
    return node.then if found else node.other


def _truth(cond: Stmt, given: Assumptions) -> bool | None:
    if not isinstance(cond, Rel) or len(cond.ops) != 1:
        return None
    (op,), (a, b) = cond.ops, cond.terms
    if prove_relation(a, op, b, given) is not None:
        return True
    opposite = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}[op]
    return False if prove_relation(a, opposite, b, given) is not None else None
