"""Limits by exact comparison of growth, by derivatives at a point, and by parts.

At oo the name x is also written as 1/h, 1/h**2, y**2 or exp(y) with h -> 0+, y -> oo: roots whose
leading terms cancel become smooth at h = 0, and roots and logarithms of x become plain names.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gateproof.theory.exact import infinity
from gateproof.theory.exact.budget import bounded
from gateproof.theory.exact.composition import Composition, Tends
from gateproof.theory.exact.domain import Assumptions, Derivation
from gateproof.theory.exact.limit_search import questions, search, tidy
from gateproof.theory.exact.oscillation import no_limit
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Node, Var, num, rebuild
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

_ROOTS = ("sqrt", "log", "pow", "asinh", "acosh", "atan", "softplus")


@dataclass(frozen=True)
class NoLimit:
    """Proved: there is no limit, for the reason given."""

    reason: str


@dataclass(frozen=True)
class Question:
    """The limit depends on the sign of an expression in other names."""

    expr: Expr


Answer = tuple[Expr, Derivation] | NoLimit


def limit(expr: Expr, var: str, point: Expr, side: str, assumptions: Assumptions) -> Answer | None:
    """The limit with its derivation; ``oo`` and ``-oo`` count as values.

    The expression must be defined near the point (on the side asked for).
    """
    found = limit_or_question(expr, var, point, side, assumptions)
    return None if isinstance(found, Question) else found


@bounded
def limit_or_question(
    expr: Expr, var: str, point: Expr, side: str, assumptions: Assumptions
) -> Answer | Question | None:
    """The same, or the question whose answers have to be told apart first."""
    rest = Assumptions(
        {k: v for k, v in assumptions.domains.items() if k != var},
        tuple(f for f in assumptions.facts if var not in free_names(f)),
    )
    asked: list[Expr] = []
    token = questions.set(asked)
    try:
        found = _limit(expr, var, point, side, rest)
    except RecursionError:
        return None
    finally:
        questions.reset(token)
    if found is None and asked:
        return Question(asked[0])
    return found


def _limit(expr: Expr, var: str, point: Expr, side: str, rest: Assumptions) -> Answer | None:
    infinite = infinity.side(point)
    if infinite:
        moved = expr if infinite > 0 else substitute(expr, {var: App("neg", (Var(var),))})
        found = _at_infinity(moved, var, rest)
        return found if found is None or isinstance(found, NoLimit) else _result(expr, var, point, found)
    fresh = var
    known = {*rest.domains, *(n for f in rest.facts for n in free_names(f))}
    while fresh in free_names(expr) | free_names(point) | known:
        fresh += "_"
    sides = {"+": (1,), "-": (-1,)}.get(side, (1, -1))
    results: list[Tends] = []
    for direction in sides:
        step: Expr = Var(fresh) if direction > 0 else App("neg", (Var(fresh),))
        one_sided = _near(expr, var, point, step, fresh, rest)
        if one_sided is None or isinstance(one_sided, NoLimit):
            return one_sided
        results.append(one_sided)
    if len(results) == 1:
        return _result(expr, var, point, results[0])
    right, left = (_value(r) for r in results)
    if _same(right, left, "==", rest):
        return _result(expr, var, point, results[0])
    if _same(right, left, "!=", rest):
        return NoLimit(f"from the right {to_text(right)}, from the left {to_text(left)}")
    return None


def _value(found: Tends) -> Expr:
    assert found.value is not None
    return found.value


def _result(expr: Expr, var: str, point: Expr, found: Tends) -> tuple[Expr, Derivation]:
    value = _value(found)
    line = f"{to_text(expr)} -> {to_text(value)} as {var} -> {to_text(point)}"
    trust = ("flint", "arb") if found.balls else ("flint",)
    return value, Derivation((*found.steps, line), trust)


def _same(a: Expr, b: Expr, op: str, rest: Assumptions) -> bool:
    if infinity.side(a) or infinity.side(b):
        return (infinity.side(a) == infinity.side(b)) == (op == "==")
    return prove_relation(a, op, b, rest, defined=True) is not None


def _near(
    expr: Expr, var: str, point: Expr, step: Expr, fresh: str, rest: Assumptions
) -> Tends | NoLimit | None:
    """One-sided limit at a finite point: by derivatives at it, with step 1/y, y -> oo, or by parts."""
    moved = substitute(expr, {var: App("add", (point, step)) if point != num(0) else step})

    def far(node: Expr) -> Expr:
        return substitute(node, {fresh: App("div", (num(1), Var(fresh)))})

    def find(node: Expr) -> Tends | None:
        return search(node, fresh, rest, at_zero=True) or search(far(node), fresh, rest, at_zero=False)

    found = _tidied(Composition(fresh, rest, find).of(moved), rest)
    if found is None and any(isinstance(n, App) and n.head in ("sin", "cos") for n in expr.walk()):
        other = _at_infinity(_simple_inverse(far(moved)), fresh, rest)
        return other if isinstance(other, NoLimit) else None
    return found


def _simple_inverse(node: Node) -> Expr:
    """1/(1/y) written as y, and 1/(-u) as -(1/u)."""
    done = rebuild(node, lambda c: _simple_inverse(c) if isinstance(c, Expr) else c)
    assert isinstance(done, Expr)
    if not isinstance(done, App) or done.head != "div":
        return done
    top, bottom = done.args
    if isinstance(bottom, App) and bottom.head == "neg":
        return App("neg", (_simple_inverse(App("div", (top, bottom.args[0]))),))
    if isinstance(bottom, App) and bottom.head == "div" and bottom.args[0] == num(1):
        return bottom.args[1] if top == num(1) else App("mul", (top, bottom.args[1]))
    return done


def _at_infinity(expr: Expr, name: str, rest: Assumptions) -> Tends | NoLimit | None:
    x = Var(name)
    inverse = App("div", (num(1), x))
    square = App("pow", (x, num(2)))

    def find(node: Expr) -> Tends | None:
        found = search(node, name, rest, at_zero=False)
        if found is None and any(isinstance(n, App) and n.head in _ROOTS for n in node.walk()):
            ways = ((inverse, True), (App("div", (num(1), square)), True), (square, False))
            for way, at_zero in (*ways, (App("exp", (x,)), False)):
                found = search(substitute(node, {name: way}), name, rest, at_zero=at_zero)
                if found is not None:
                    line = f"write {to_text(way)} for {name}"
                    return replace(found, steps=(line, *found.steps))
        return found

    way = Composition(name, rest, find)
    found = _tidied(way.of(expr), rest)
    if found is None:
        reason = no_limit(expr, way)
        return None if reason is None else NoLimit(reason)
    return found


def _tidied(found: Tends | None, rest: Assumptions) -> Tends | None:
    if found is None or found.value is None:
        return None
    return found if found.side else replace(found, value=tidy(found.value, rest))
