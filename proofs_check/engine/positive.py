"""Half-lines and intervals with an open end at which a formula has no value.

x = a + exp(u) maps R onto (a, oo), and x = b - exp(u) onto (-oo, b): log and powers of the
distance to the open end become polynomials and exponentials in u, and the open end goes to -oo.
"""

from __future__ import annotations

from fractions import Fraction

from gateproof.proofs_check.engine.space import Space
from gateproof.theory.exact.domain import Domain
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Node, Num, Var, num, rebuild


def through_exponential(space: Space, name: str, gap: Expr) -> tuple[Space, Expr, Expr] | None:
    """The space, the expression and x as a formula in u where the domain has an open lower end, else None."""
    domain = space.domains[name]
    if domain.lo is None or domain.lo_closed or domain.integer or domain.without or space.facts:
        return None
    step = App("exp", (Var(name),))
    start = domain.lo
    value: Expr = step if start == num(0) else App("add", (start, step))
    hi: Expr | None = None
    if domain.hi is not None:
        width = domain.hi if start == num(0) else App("add", (domain.hi, App("neg", (start,))))
        hi = App("log", (width,))
    mapped = simplified(substitute(gap, {name: value}))
    return (
        space.with_domain(name, Domain(None, hi, False, domain.hi_closed and hi is not None)),
        mapped,
        value,
    )


def simplified(node: Node) -> Expr:
    """log(exp(u)) -> u, exp(u)**k -> exp(k u), sqrt(exp(u)) -> exp(u/2), valid for all real u."""
    done = rebuild(node, simplified)
    assert isinstance(done, Expr)
    if not isinstance(done, App) or not done.args:
        return done
    inner = done.args[0]
    if not (isinstance(inner, App) and inner.head == "exp"):
        return done
    (u,) = inner.args
    if done.head == "log":
        return u
    if done.head == "sqrt":
        return App("exp", (App("mul", (Num(Fraction(1, 2)), u)),))
    if done.head == "pow" and isinstance(done.args[1], Num):
        return App("exp", (App("mul", (done.args[1], u)),))
    if done.head == "abs":
        return inner
    return done
