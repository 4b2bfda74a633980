"""Claims read into what the prover takes, and values by mpmath, apart from all engines."""

from __future__ import annotations

from collections.abc import Callable

import mpmath as mp
import pytest

from gateproof.theory.exact.domain import Assumptions, Derivation, Domain
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula import expand, expand_node, parse_claim, parse_expr
from gateproof.theory.formula.nodes import (
    App,
    Claim,
    Const,
    Expr,
    IntervalSet,
    NamedSet,
    Num,
    Rel,
    SetExpr,
    SetMinus,
    Stmt,
    Var,
    Where,
    num,
)


class Undefined(ArithmeticError):
    """No real value."""


def domain_of(node: SetExpr) -> Domain:
    without: tuple[Expr, ...] = ()
    while isinstance(node, SetMinus):
        without += node.points
        node = node.base
    if isinstance(node, NamedSet):
        starts = {"N": num(0), "N1": num(1)}
        whole = node.name != "R"
        return Domain(starts.get(node.name), None, node.name in starts, integer=whole, without=without)
    assert isinstance(node, IntervalSet)
    ends = [None if _infinite(e) else e for e in (node.lo, node.hi)]
    return Domain(ends[0], ends[1], node.lo_closed, node.hi_closed, without=without)


def _infinite(node: Expr) -> bool:
    return any(isinstance(n, Const) and n.name == "oo" for n in node.walk())


def read(text: str) -> tuple[Rel, Assumptions]:
    """A claim of one relation as its two sides and assumptions."""
    claim = parse_claim(text)
    assert isinstance(claim, Claim)
    body = expand_node(claim.body)
    assert isinstance(body, Rel)
    domains = {b.name: domain_of(expand_node(b.within)) for b in claim.scope.binds}
    facts = tuple(f for f in map(expand_node, claim.scope.conditions) if isinstance(f, Stmt))
    return body, Assumptions(domains, facts)


def proof(text: str) -> Derivation | None:
    body, assumptions = read(text)
    return prove_relation(body.terms[0], body.ops[0], body.terms[1], assumptions)


def value(node: Expr, at: dict[str, mp.mpf]) -> mp.mpf:
    """The value by mpmath; raises Undefined."""
    if isinstance(node, Num):
        return mp.mpf(node.value.numerator) / node.value.denominator
    if isinstance(node, Const):
        return {"pi": mp.pi, "e": mp.e}[node.name] + 0
    if isinstance(node, Var):
        return at[node.name]
    if isinstance(node, Where):
        return value(node.then if _true(node.cond, at) else node.other, at)
    assert isinstance(node, App)
    return _apply(node, [value(a, at) for a in node.args])


def _true(cond: Stmt, at: dict[str, mp.mpf]) -> bool:
    assert isinstance(cond, Rel)
    sides = [value(t, at) for t in cond.terms]
    table = {
        "<": mp.mpf.__lt__,
        "<=": mp.mpf.__le__,
        ">": mp.mpf.__gt__,
        ">=": mp.mpf.__ge__,
        "==": mp.mpf.__eq__,
        "!=": mp.mpf.__ne__,
    }
    return all(table[op](a, b) for op, a, b in zip(cond.ops, sides, sides[1:], strict=False))


def _apply(node: App, a: list[mp.mpf]) -> mp.mpf:
    u = a[0]
    simple = {
        "add": lambda: sum(a[1:], u),
        "mul": lambda: mp.fprod(a),
        "neg": lambda: -u,
        "max": lambda: max(a),
        "min": lambda: min(a),
        "abs": lambda: abs(u),
        "sign": lambda: mp.sign(u),
        "sigmoid": lambda: 1 / (1 + mp.exp(-u)),
        "softplus": lambda: mp.log(1 + mp.exp(u)),
    }
    if node.head in simple:
        return simple[node.head]()
    wrong = {
        "log": u <= 0,
        "sqrt": u < 0,
        "asin": abs(u) > 1,
        "acos": abs(u) > 1,
        "atanh": abs(u) >= 1,
        "acosh": u < 1,
    }
    if wrong.get(node.head, False):
        raise Undefined
    if node.head == "div":
        if a[1] == 0:
            raise Undefined
        return u / a[1]
    if node.head == "pow":
        exponent = node.args[1]
        if isinstance(exponent, Num) and exponent.value.denominator == 1:
            if u == 0 and exponent.value < 0:
                raise Undefined
            return u ** int(exponent.value)
        if u < 0 or (u == 0 and a[1] <= 0):
            raise Undefined
        return u ** a[1]
    return getattr(mp, node.head)(u)


@pytest.fixture
def prove() -> Callable[[str], Derivation | None]:
    return proof


@pytest.fixture
def expression() -> Callable[[str], Expr]:
    return lambda text: expand(parse_expr(text))


@pytest.fixture
def claim() -> Callable[[str], tuple[Rel, Assumptions]]:
    return read


@pytest.fixture
def mp_value() -> Callable[[Expr, dict[str, mp.mpf]], mp.mpf]:
    return value


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(60):
        yield
