"""Terms with powers of negative numbers at whole indices, as functions on the reals."""

from __future__ import annotations

from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.integer_powers import linear_in
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.nodes import App, Expr, Node, num, rebuild
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.scopes import free_names


class _NotRealError(Exception):
    """A power that has no value between the whole numbers."""


def split_signs(body: Expr, index: str) -> tuple[Expr, bool] | None:
    """(f, False) where the terms are f(k), (f, True) where they are (-1)**k f(k); else None.

    f is a function on the reals from 1 on, as far as powers go.
    """
    try:
        even, odd = _with_sign(body, index, 1), _with_sign(body, index, -1)
    except _NotRealError:
        return None
    if even == odd:
        return even, False
    given = Assumptions({index: Domain(num(1), None, True, False)})
    opposite = prove_relation(odd, "==", App("neg", (even,)), given)
    return (even, True) if opposite is not None else None


def _with_sign(body: Expr, index: str, sign: int) -> Expr:
    """The body at even (``sign`` 1) or odd (-1) indices."""
    given = Assumptions({index: Domain(num(1), None, True, False)})

    def visit(node: Node) -> Node:
        done = rebuild(node, visit)
        assert isinstance(done, Node)
        if not isinstance(done, App) or done.head != "pow" or index not in free_names(done.args[1]):
            return done
        base = constant_value(done.args[0])
        if base is None and prove_relation(done.args[0], ">", num(0), given) is None:
            raise _NotRealError
        if base is None or base > 0:
            return done
        line = linear_in(done.args[1], index)
        if line is None or base == 0:
            raise _NotRealError
        factor = (sign if line[0] % 2 else 1) * (-1 if line[1] % 2 else 1)
        if base == -1:
            return num(factor)
        return App("mul", (num(factor), App("pow", (num(-base), done.args[1]))))

    found = visit(body)
    assert isinstance(found, Expr)
    return found
