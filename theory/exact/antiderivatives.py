"""Candidates for antiderivatives; each is checked by differentiation before it is used."""

from __future__ import annotations

from gateproof.theory.exact import calculus
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.monotone import in_workspace
from gateproof.theory.exact.normal import Workspace
from gateproof.theory.exact.writeback import write
from gateproof.theory.formula.nodes import App, Expr, Num, Var, num
from gateproof.theory.formula.scopes import free_names


def _f(head: str, *args: Expr) -> Expr:
    return App(head, args)


def _shapes(x: Expr, inner: Expr) -> list[Expr]:
    """Functions of an inner expression whose derivatives are common integrands."""
    square = _f("pow", inner, num(2))
    bell = _f("exp", _f("neg", square))
    return [
        *(_f("pow", x, num(k)) for k in range(1, 7)),
        _f("exp", inner),
        _f("softplus", inner),
        _f("log", _f("cosh", inner)),
        _f("tanh", inner),
        _f("pow", _f("tanh", inner), num(2)),
        _f("sigmoid", inner),
        _f("sech", inner),
        _f("atan", _f("sinh", inner)),
        _f("erf", inner),
        _f("sin", inner),
        _f("cos", inner),
        _f("atan", inner),
        _f("asinh", inner),
        _f("log", _f("add", num(1), square)),
        bell,
        _f("add", _f("mul", inner, _f("erf", inner)), _f("div", bell, _f("sqrt", _pi()))),
        _f("mul", _f("add", inner, num(-1)), _f("exp", inner)),
        _f("log", inner),
        _f("sqrt", inner),
        _f("add", _f("mul", inner, _f("log", inner)), _f("neg", inner)),
    ]


def _pi() -> Expr:
    from gateproof.theory.formula.nodes import Const

    return Const("pi")


def antiderivative(body: Expr, var: str) -> Expr | None:
    """A candidate whose derivative is a constant times the body, term by term; or None."""
    terms = body.args if isinstance(body, App) and body.head == "add" else (body,)
    parts = [_of_term(t, var) for t in terms]
    found = [p for p in parts if p is not None]
    if len(found) != len(parts):
        return None
    return found[0] if len(found) == 1 else App("add", tuple(found))


def _of_term(term: Expr, var: str) -> Expr | None:
    x = Var(var)
    if var not in free_names(term):
        return App("mul", (term, x))
    names = {n: Domain() for n in free_names(term)}
    for inner in _inner_expressions(term, x):
        for shape in _shapes(x, inner):
            factor = _ratio(shape, term, var, Assumptions(names))
            if factor is not None:
                return App("div", (shape, factor))
    return None


def _inner_expressions(term: Expr, x: Expr) -> list[Expr]:
    found: dict[Expr, None] = {x: None}
    for node in term.walk():
        if isinstance(node, App) and len(node.args) == 1 and isinstance(node.args[0], Expr):
            inner = node.args[0]
            if any(n == x for n in inner.walk()):
                found[inner] = None
    for c in ("1/2", "2"):
        found[App("mul", (Num(num(c).value), x))] = None
    root = App("sqrt", (num(2),))
    found[App("div", (x, root))] = None
    return list(found)[:8]


def _ratio(shape: Expr, term: Expr, var: str, assumptions: Assumptions) -> Expr | None:
    """c where shape' = c * term with c free of the variable."""

    def compare(ws: Workspace) -> Expr | None:
        slope = calculus.of_frac(ws, ws.form(shape), var)
        target = ws.form(term)
        if slope.is_zero or target.is_zero:
            return None
        factor = ws.div(slope, target)
        written = write(ws, factor)
        return None if var in free_names(written) else written

    return in_workspace(assumptions, compare)
