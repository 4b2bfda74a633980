"""Means over a logistic or a uniform variable, written out as integrals; of polynomials exactly.

The standard logistic variable has the density sech(z/2)**2/4, moments E z**(2 k) = (2**(2 k) - 2) pi**(2 k)
|B_(2 k)|, and odd ones 0 (Johnson, Kotz, Balakrishnan, Continuous Univariate Distributions 2, 23.3).
"""

from __future__ import annotations

from fractions import Fraction

from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Average, Const, Expr, Integral, Num, Var, num
from gateproof.theory.formula.scopes import free_names

#: Polynomials of a higher degree are integrated like other functions.
MAX_DEGREE = 24


def write_out(node: Average) -> Expr:
    """The mean in core functions and one integral. The body must be written out already."""
    if node.law == "uniform":
        whole = Integral(node.body, node.var, node.first, node.second)
        return App("div", (whole, _minus(node.second, node.first)))
    scale, mean, name = node.first, node.second, node.var
    taken = free_names(scale) | free_names(mean)
    while name in taken or (name != node.var and name in free_names(node.body)):
        name += "_"
    z = Var(name)
    place: Expr = z if scale == num(1) else App("mul", (scale, z))
    place = place if mean == num(0) else App("add", (mean, place))
    body = node.body if place == Var(node.var) else substitute(node.body, {node.var: place})
    exact = _moments(body, name)
    if exact is not None:
        return exact
    bell = App("pow", (App("sech", (App("div", (z, num(2))),)), num(2)))
    infinity = Const("oo")
    density = App("div", (bell, num(4)))
    return Integral(App("mul", (body, density)), name, App("neg", (infinity,)), infinity)


def _minus(a: Expr, b: Expr) -> Expr:
    return App("add", (a, App("neg", (b,))))


def _moments(body: Expr, name: str) -> Expr | None:
    """The mean of a polynomial, by moments; None for other functions."""
    from gateproof.theory.exact.kernels import plus, polynomial_in, times
    from gateproof.theory.special.zeta import bernoulli

    powers = polynomial_in(body, name)
    if powers is None or max(powers, default=0) > MAX_DEGREE:
        return None
    terms = []
    for k, c in powers.items():
        if k % 2 == 0:
            number = Num(Fraction(1) if k == 0 else (2**k - 2) * abs(bernoulli(k)))
            terms.append(times(number, App("pow", (Const("pi"), num(k))), c) if k else c)
    return plus(*terms) if terms else num(0)
