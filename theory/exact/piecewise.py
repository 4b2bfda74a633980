"""A function of one variable as smooth formulas between its kinks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from gateproof.theory.exact.derivative import derivative, kinks
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Node, Num, Rel, Stmt, Var, Where, num, rebuild
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.scopes import free_names

MAX_PIECES = 16
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


@dataclass(frozen=True)
class Piece:
    """On the open interval inside ``domain`` the function equals ``expr``, which has no kinks."""

    domain: Domain
    expr: Expr


def may_jump(expr: Expr) -> bool:
    """Whether the expression may be discontinuous where it is defined."""
    return any(isinstance(n, Where) or (isinstance(n, App) and n.head == "sign") for n in expr.walk())


def has_no_kink(expr: Expr, var: str, given: Assumptions) -> bool:
    """Whether it is proved that the domain holds no kink: the argument of each is not 0 there."""
    return all(prove_relation(u, "!=", num(0), given) is not None for u in kinks(expr, var))


def linear_root(expr: Expr, var: str) -> Expr | None:
    """The zero of an expression that is provably a*x + b with rational a != 0 and a closed b."""
    first, second = (_folded(substitute(expr, {var: num(k)})) for k in (0, 1))
    slope_node = derivative(expr, var)
    slope = constant_value(_folded(slope_node)) if slope_node is not None else None
    if slope is None and constant_value(first) is not None and constant_value(second) is not None:
        slope = (constant_value(second) or Fraction(0)) - (constant_value(first) or Fraction(0))
    if not slope or free_names(first):
        return None
    line = App("add", (App("mul", (Num(slope), Var(var))), first))
    if prove_relation(expr, "==", line, Assumptions({var: Domain()})) is None:
        return None
    start = constant_value(first)
    return Num(-start / slope) if start is not None else _tidy(App("mul", (Num(-1 / slope), first)))


def _tidy(expr: Expr) -> Expr:
    """A product with a rational, written without 0, 1 and doubled signs where it is a plain sum."""
    assert isinstance(expr, App)
    factor, rest = expr.args
    assert isinstance(factor, Num)
    terms = rest.args if isinstance(rest, App) and rest.head == "add" else (rest,)
    terms = tuple(t for t in terms if constant_value(t) != 0)
    if factor.value == -1:
        terms = tuple(
            t.args[0] if isinstance(t, App) and t.head == "neg" else App("neg", (t,)) for t in terms
        )
    whole = terms[0] if len(terms) == 1 else App("add", terms)
    return whole if abs(factor.value) == 1 else App("mul", (factor, whole))


def _folded(expr: Expr) -> Expr:
    """abs, sign, max and min of numbers done."""
    done = rebuild(expr, lambda c: _folded(c) if isinstance(c, Expr) else c)
    assert isinstance(done, Expr)
    if not isinstance(done, App) or done.head not in ("abs", "sign", "max", "min"):
        return done
    values = [constant_value(a) for a in done.args]
    known = [v for v in values if v is not None]
    if len(known) != len(values):
        return done
    if done.head == "abs":
        return Num(abs(known[0]))
    if done.head == "sign":
        return num((known[0] > 0) - (known[0] < 0))
    return Num(max(known) if done.head == "max" else min(known))


def smooth_pieces(
    expr: Expr, var: str, domain: Domain, given: Assumptions | None = None
) -> list[Piece] | None:
    """The pieces in ascending order, or None where a kink could not be placed."""
    others = given or Assumptions()
    todo: list[Domain] = [domain]
    done: list[Piece] = []
    while todo:
        if len(todo) + len(done) > MAX_PIECES:
            return None
        part = todo.pop()
        inside = replace(part, lo_closed=False, hi_closed=False)
        known = Assumptions({**others.domains, var: inside}, others.facts)
        smooth = resolve(expr, known)
        assert isinstance(smooth, Expr)
        arguments = tuple(u for u in kinks(smooth, var) if not _holds(u, "!=", known))
        if not arguments:
            done.append(Piece(part, smooth))
            continue
        cut = _cut(arguments, var, inside)
        if cut is None:
            return _by_points(expr, var, domain)
        todo.append(replace(part, lo=cut, lo_closed=True))
        todo.append(replace(part, hi=cut, hi_closed=True))
    return done


def _by_points(expr: Expr, var: str, domain: Domain) -> list[Piece] | None:
    """The pieces where every kink has a closed place and every sign is told by one point."""
    from gateproof.theory.pieces import pieces_of

    if free_names(expr) - {var} or domain.integer or domain.without:
        return None
    found = pieces_of(expr, var, Domain(domain.lo, domain.hi))
    if found is None:
        return None
    last = len(found) - 1
    return [
        Piece(
            replace(
                p.domain,
                lo_closed=domain.lo_closed if i == 0 else True,
                hi_closed=domain.hi_closed if i == last else True,
            ),
            p.expr,
        )
        for i, p in enumerate(found)
    ]


def cut_points(pieces: list[Piece]) -> list[Expr]:
    """Where two pieces meet, ascending: closed expressions."""
    return [p.domain.lo for p in pieces[1:] if p.domain.lo is not None]


def _cut(arguments: tuple[Expr, ...], var: str, inside: Domain) -> Expr | None:
    for argument in arguments:
        root = linear_root(argument, var)
        if root is not None and _strictly_inside(root, inside):
            return root
    return None


def _strictly_inside(root: Expr, domain: Domain) -> bool:
    below = domain.lo is None or prove_relation(domain.lo, "<", root, Assumptions()) is not None
    above = domain.hi is None or prove_relation(root, "<", domain.hi, Assumptions()) is not None
    return below and above


def resolve(node: Node, given: Assumptions) -> Node:
    """The node with abs, sign, max, min and where replaced wherever the prover decides them."""
    if isinstance(node, Where):
        found = _truth(node.cond, given)
        if found is not None:
            return resolve(node.then if found else node.other, given)
    done = rebuild(node, lambda child: resolve(child, given))
    assert isinstance(done, Node)
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
        if prove_relation(best, over, other, given) is not None:
            continue
        if prove_relation(best, under, other, given) is not None:
            best = other
        else:
            kept.append(other)
    return App(node.head, (best, *kept)) if kept else best


def _truth(cond: Stmt, given: Assumptions) -> bool | None:
    if not isinstance(cond, Rel) or len(cond.ops) != 1:
        return None
    (op,), (a, b) = cond.ops, cond.terms
    if prove_relation(a, op, b, given) is not None:
        return True
    return False if prove_relation(a, _OPPOSITE[op], b, given) is not None else None
