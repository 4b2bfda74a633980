"""Means over two correlated normal variables of variance q, in closed form or by one variable.

    u given v is N(c v, q (1 - c^2)): a polynomial in one of them goes by moments
    E abs(u) abs(v) = (2 q/pi) (sqrt(1 - c^2) + c asin(c)),  E sign(u) sign(v) = (2/pi) asin(c),
    E u sign(v) = c sqrt(2 q/pi)
    E erf(a u) erf(b v) = (2/pi) asin(2 a b q c/sqrt((1 + 2 a^2 q)(1 + 2 b^2 q)))

Means over one variable may be left in the result.
"""

from __future__ import annotations

from dataclasses import dataclass

from gateproof.theory.exact.budget import bounded
from gateproof.theory.exact.defined import prove_defined
from gateproof.theory.exact.domain import Assumptions, Derivation, Domain
from gateproof.theory.exact.gaussian import HALF, TWO, Normal, defined_on_reals, moment, tidy
from gateproof.theory.exact.growing import dominated
from gateproof.theory.exact.kernels import (
    ONE,
    PI,
    ZERO,
    kernels,
    linear_in,
    minus,
    over,
    plus,
    polynomial_in,
    raised,
    root,
    times,
)
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.exact.splitting import Span, spans
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Gauss, Gauss2, Var, num
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

MAX_PRODUCTS = 64


@dataclass(frozen=True)
class _Pair:
    """c times a function of u times a function of v."""

    c: Expr
    left: Expr
    right: Expr


class _NoForm(Exception):
    """No closed form is known here."""


@bounded
def gauss2_value(node: Gauss2, given: Assumptions) -> tuple[Expr, Derivation] | None:
    """The mean with its derivation, perhaps with means over one variable left in it; or None.

    The variance must be provably positive or 0 and the correlation provably in [-1, 1].
    """
    if not defined_on_reals(node.body, (node.u, node.v), given):
        return None
    if any(prove_defined(part, given) is None for part in (node.q, node.c)):
        return None
    square = plus(ONE, minus(raised(node.c, 2)))
    if prove_relation(square, ">=", ZERO, given) is None:
        return None
    if prove_relation(node.q, "==", ZERO, given) is not None:
        value = substitute(node.body, {node.u: ZERO, node.v: ZERO})
        return value, Derivation((f"with variance 0: {to_text(node)} = {to_text(value)}",))
    if prove_relation(node.q, ">", ZERO, given) is None:
        return None
    try:
        value, why = _mean(node, given)
    except _NoForm:
        return None
    if not any(isinstance(n, Gauss) for n in value.walk()):
        value = tidy(value, given)
    return value, Derivation((f"{to_text(node)} = {to_text(value)} {why}",))


def _mean(node: Gauss2, given: Assumptions) -> tuple[Expr, str]:
    u = Var(node.u)
    for value, other in ((1, u), (-1, minus(u))):
        if prove_relation(node.c, "==", num(value), given) is not None:
            return Gauss(substitute(node.body, {node.v: other}), node.u, node.q, ZERO), f"for c = {value}"
    try:
        terms = [times(p.c, _product(node, p, given)) for p in _pairs(node.body, node)]
        return plus(*terms), "term by term"
    except _NoForm:
        if _is_odd(node, given):
            return ZERO, "since the integrand is odd"
        raise


def _is_odd(node: Gauss2, given: Assumptions) -> bool:
    """f(-u, -v) = -f(u, v), and f of moderate growth."""
    if not dominated(node.body, node.u, node.v):
        return False
    flipped = substitute(node.body, {n: minus(Var(n)) for n in (node.u, node.v)})
    inner = Assumptions({**given.domains, node.u: Domain(), node.v: Domain()}, given.facts)
    return prove_relation(plus(node.body, flipped), "==", ZERO, inner) is not None


def products(node: Gauss2) -> list[tuple[Expr, Expr, Expr]] | None:
    """The body as a sum of c g(u) h(v), each as (c, g, h); None where it is none."""
    try:
        return [(p.c, p.left, p.right) for p in _pairs(node.body, node)]
    except _NoForm:
        return None


def _pairs(expr: Expr, node: Gauss2) -> list[_Pair]:
    """The body as a sum of products of a function of u and one of v."""
    names = free_names(expr)
    if node.v not in names:
        return [_Pair(ONE, expr, ONE)] if node.u in names else [_Pair(expr, ONE, ONE)]
    if node.u not in names:
        return [_Pair(ONE, ONE, expr)]
    if not isinstance(expr, App):
        raise _NoForm
    if expr.head == "add":
        return _few([p for a in expr.args for p in _pairs(a, node)])
    if expr.head == "neg":
        return [_Pair(minus(p.c), p.left, p.right) for p in _pairs(expr.args[0], node)]
    if expr.head == "mul":
        return _multiplied([_pairs(a, node) for a in expr.args])
    if expr.head == "div" and not free_names(expr.args[1]) & {node.u, node.v}:
        return [_Pair(over(p.c, expr.args[1]), p.left, p.right) for p in _pairs(expr.args[0], node)]
    if expr.head == "pow":
        n = constant_value(expr.args[1])
        if n is not None and n.denominator == 1 and 1 <= n <= 8:
            return _multiplied([_pairs(expr.args[0], node)] * int(n))
    raise _NoForm


def _few(found: list[_Pair]) -> list[_Pair]:
    if len(found) > MAX_PRODUCTS:
        raise _NoForm
    return found


def _multiplied(factors: list[list[_Pair]]) -> list[_Pair]:
    total = [_Pair(ONE, ONE, ONE)]
    for factor in factors:
        total = _few(
            [
                _Pair(times(a.c, b.c), times(a.left, b.left), times(a.right, b.right))
                for a in total
                for b in factor
            ]
        )
    return total


def _product(node: Gauss2, p: _Pair, given: Assumptions) -> Expr:
    """E left(u) right(v)."""
    if prove_relation(node.c, "==", ZERO, given) is not None:
        if not (dominated(p.left, node.u) and dominated(p.right, node.v)):
            raise _NoForm
        return times(_single(p.left, node.u, node.q), _single(p.right, node.v, node.q))
    for f, x, g, y in ((p.left, node.u, p.right, node.v), (p.right, node.v, p.left, node.u)):
        powers = polynomial_in(f, x)
        if powers is not None and dominated(g, y):
            law = Normal(times(node.q, plus(ONE, minus(raised(node.c, 2)))), times(node.c, Var(y)), given)
            inner = plus(*(times(a, moment(law, k)) for k, a in powers.items()))
            return _single(times(inner, g), y, node.q)
    found = _error_functions(node, p)
    return found if found is not None else _bent(node, p, given)


def _single(f: Expr, name: str, q: Expr) -> Expr:
    return f if name not in free_names(f) else Gauss(f, name, q, ZERO)


def _error_functions(node: Gauss2, p: _Pair) -> Expr | None:
    left, right = kernels(p.left, node.u), kernels(p.right, node.v)
    if left is None or right is None:
        return None
    total: list[Expr] = []
    for s in left:
        for t in right:
            plain = all(
                x.k == 0 and x.quad == ZERO and x.lin == ZERO and x.wave is None and len(x.erfs) < 2
                for x in (s, t)
            )
            if not plain or any(b != ZERO for x in (s, t) for _, b in x.erfs):
                return None
            if len(s.erfs) != len(t.erfs):
                continue  # one is constant and the other odd
            value: Expr = ONE
            if s.erfs:
                (a, _), (b, _) = s.erfs[0], t.erfs[0]
                spread = [plus(ONE, times(TWO, raised(e, 2), node.q)) for e in (a, b)]
                below = spread[0] if a == b else root(times(*spread))
                value = over(times(TWO, App("asin", (over(times(TWO, a, b, node.q, node.c), below),))), PI)
            total.append(times(s.c, t.c, value))
    return plus(*total)


def _lines(f: Expr, name: str, given: Assumptions) -> tuple[Expr, Expr, Expr, Expr]:
    """a, b, c, d with f = a + b x + c abs(x) + d sign(x) for x != 0."""
    if name not in free_names(f):
        return f, ZERO, ZERO, ZERO
    parts = spans(f, name, Span(None, None, f), given)
    if parts is None or len(parts) > 2 or (len(parts) == 2 and parts[0].hi != ZERO):
        raise _NoForm
    found = [linear_in(part.expr, name) for part in parts]
    left, right = found[0], found[-1]
    if left is None or right is None:
        raise _NoForm
    (m, b), (n, d) = left, right
    return (
        times(HALF, plus(b, d)),
        times(HALF, plus(m, n)),
        times(HALF, plus(n, minus(m))),
        times(HALF, plus(d, minus(b))),
    )


def _bent(node: Gauss2, p: _Pair, given: Assumptions) -> Expr:
    """Two functions made of two lines each that meet at 0."""
    a, b, c, d = _lines(p.left, node.u, given)
    e, f, g, h = _lines(p.right, node.v, given)
    r, q = node.c, node.q
    angle, size = App("asin", (r,)), root(over(times(TWO, q), PI))
    both = over(times(TWO, q, plus(root(plus(ONE, minus(raised(r, 2)))), times(r, angle))), PI)
    return plus(
        times(a, e),
        times(plus(times(a, g), times(c, e)), size),
        times(b, f, q, r),
        times(plus(times(b, h), times(d, f)), r, size),
        times(c, g, both),
        times(d, h, over(times(TWO, angle), PI)),
    )
