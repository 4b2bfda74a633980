"""Candidates for antiderivatives; each is checked by differentiation before it is used."""

from __future__ import annotations

from fractions import Fraction

from gateproof.theory.exact import calculus
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.likely import Likely
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


def _by_parts(_x: Expr, v: Expr) -> list[Expr]:
    """Primitives of inverse functions, of logarithms with powers, and of roots (A&S 4.1, 4.4, 4.6, 3.3)."""
    one, half, square = num(1), num(Fraction(1, 2)), _f("pow", v, num(2))
    up, down = _f("add", one, square), _f("add", one, _f("neg", square))
    log, root = _f("log", v), _f("sqrt", down)

    def minus(a: Expr, b: Expr) -> Expr:
        return _f("add", a, _f("neg", b))

    powers = [
        _f("mul", _f("pow", v, num(k)), minus(_f("mul", num(k), log), one)) for k in (2, 3, 4)
    ]  # v**(k - 1) log(v), k**2 times
    return [
        minus(_f("mul", v, _f("atan", v)), _f("mul", half, _f("log", up))),
        minus(_f("mul", up, _f("atan", v)), v),
        _f("add", _f("mul", v, _f("asin", v)), root),
        minus(_f("mul", v, _f("acos", v)), root),
        minus(_f("mul", v, _f("asinh", v)), _f("sqrt", up)),
        _f("add", _f("mul", v, _f("atanh", v)), _f("mul", half, _f("log", down))),
        *powers,
        _f("mul", v, minus(_f("add", _f("pow", log, num(2)), num(2)), _f("mul", num(2), log))),
        _f("log", _f("cos", v)),
        _f("asin", v),
        _f("add", _f("mul", v, root), _f("asin", v)),
        _f("neg", _f("softplus", _f("neg", v))),
        minus(_f("log", v), _f("log", _f("add", one, v))),
        minus(_f("log", minus(v, one)), _f("log", _f("add", one, v))),
        minus(_f("tanh", v), _f("div", _f("pow", _f("tanh", v), num(3)), num(3))),
        _f("mul", minus(_f("mul", num(3), v), num(5)), _f("mul", v, _f("sqrt", v))),
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
    places, likely = _inner_expressions(term, x), Likely(term, var)
    # The common ones first: work is bounded.
    for shapes in (_shapes, _by_parts):
        for inner in places:
            for shape in shapes(x, inner):
                if not likely.primitive(shape):
                    continue
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
    found[App("add", (x, num(1)))] = None
    for name in sorted(free_names(term) - free_names(x)):
        found[App("div", (x, Var(name)))] = None
    return list(found)[:10]


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
