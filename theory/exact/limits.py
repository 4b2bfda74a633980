"""Limits by exact comparison of growth, and by derivatives at a point."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from gateproof.theory.exact import local
from gateproof.theory.exact.atoms import Frac, NeedSign, NewStep
from gateproof.theory.exact.budget import Unsupported, bounded
from gateproof.theory.exact.defined import has_value
from gateproof.theory.exact.domain import Assumptions, Derivation, Domain
from gateproof.theory.exact.growth import Growth
from gateproof.theory.exact.normal import Workspace
from gateproof.theory.exact.polys import Poly, UndefinedValue
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.exact.writeback import write, write_poly
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Const, Expr, Rel, Var, num
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

_ROUNDS = 24
_INFINITY = Const("oo")
_RELATION = {1: ">", 0: "==", -1: "<"}


@dataclass(frozen=True)
class NoLimit:
    """Proved: there is no limit, for the reason given."""

    reason: str


@dataclass(frozen=True)
class _Found:
    value: Expr
    steps: tuple[str, ...]
    balls: bool


@bounded
def limit(
    expr: Expr, var: str, point: Expr, side: str, assumptions: Assumptions
) -> tuple[Expr, Derivation] | NoLimit | None:
    """The limit with its derivation; ``oo`` and ``-oo`` count as values.

    The expression must be defined near the point (on the side asked for).
    """
    rest = Assumptions(
        {k: v for k, v in assumptions.domains.items() if k != var},
        tuple(f for f in assumptions.facts if var not in free_names(f)),
    )
    try:
        return _limit(expr, var, point, side, rest)
    except RecursionError:
        return None


def _limit(
    expr: Expr, var: str, point: Expr, side: str, rest: Assumptions
) -> tuple[Expr, Derivation] | NoLimit | None:
    infinite = _infinite(point)
    if infinite:
        moved = expr if infinite > 0 else substitute(expr, {var: App("neg", (Var(var),))})
        found = _search(moved, var, rest, at_zero=False)
        return None if found is None else _result(expr, var, point, found)
    fresh = var
    while fresh in free_names(expr) | free_names(point):
        fresh += "_"
    sides = {"+": (1,), "-": (-1,)}.get(side, (1, -1))
    results = []
    for direction in sides:
        step: Expr = Var(fresh) if direction > 0 else App("neg", (Var(fresh),))
        found = _near(expr, var, point, step, fresh, rest)
        if found is None:
            return None
        results.append(found)
    if len(results) == 1:
        return _result(expr, var, point, results[0])
    right, left = results
    if _same(right.value, left.value, "==", rest):
        return _result(expr, var, point, right)
    if _same(right.value, left.value, "!=", rest):
        return NoLimit(f"from the right {to_text(right.value)}, from the left {to_text(left.value)}")
    return None


def _result(expr: Expr, var: str, point: Expr, found: _Found) -> tuple[Expr, Derivation]:
    value = found.value
    line = f"{to_text(expr)} -> {to_text(value)} as {var} -> {to_text(point)}"
    trust = ("flint", "arb") if found.balls else ("flint",)
    return value, Derivation((*found.steps, line), trust)


def _infinite(node: Expr) -> int:
    if node == _INFINITY:
        return 1
    return -1 if isinstance(node, App) and node.head == "neg" and node.args[0] == _INFINITY else 0


def _same(a: Expr, b: Expr, op: str, rest: Assumptions) -> bool:
    if _infinite(a) or _infinite(b):
        return (_infinite(a) == _infinite(b)) == (op == "==")
    return prove_relation(a, op, b, rest, defined=True) is not None


def _near(expr: Expr, var: str, point: Expr, step: Expr, fresh: str, rest: Assumptions) -> _Found | None:
    """One-sided limit at a finite point: by derivatives at it, else with step 1/y, y -> oo."""
    moved = substitute(expr, {var: App("add", (point, step))})
    found = _search(moved, fresh, rest, at_zero=True)
    if found is not None:
        return found
    far = substitute(moved, {fresh: App("div", (num(1), Var(fresh)))})
    return _search(far, fresh, rest, at_zero=False)


def _search(expr: Expr, name: str, rest: Assumptions, *, at_zero: bool) -> _Found | None:
    """The limit for name -> 0+ or name -> oo; signs asked for are those taken in the end."""
    facts: list[Rel] = []
    steps: dict[str, Fraction] = {}
    for _ in range(_ROUNDS):
        domains = {**rest.domains, name: Domain(lo=num(0))}
        ws: Workspace | None = None
        try:
            ws = Workspace(Assumptions(domains, (*rest.facts, *facts)), steps)

            def decide(inner: Workspace, value: Frac, allowed: frozenset[int]) -> bool:
                if inner.signs.of_frac(value) <= allowed:
                    return True
                top = _sign(inner, value.num, name, rest, at_zero=at_zero)
                bottom = _sign(inner, value.den, name, rest, at_zero=at_zero)
                return top is not None and bottom is not None and top * bottom in allowed

            if not has_value(ws, expr, [], decide):
                return None
            return _evaluate(ws, ws.form(expr), name, rest, at_zero=at_zero)
        except NewStep as finer:
            steps[finer.basis] = finer.step
        except NeedSign as need:
            if ws is None:
                return None
            try:
                sign = _sign(ws, need.poly, name, rest, at_zero=at_zero)
            except (NeedSign, NewStep, Unsupported, UndefinedValue):
                return None
            if sign is None:
                return None
            facts.append(Rel((_RELATION[sign],), (write_poly(ws, need.poly), num(0))))
        except (Unsupported, UndefinedValue):
            return None
    return None


def _sign(ws: Workspace, p: Poly, name: str, rest: Assumptions, *, at_zero: bool) -> int | None:
    """The sign of a polynomial in the end."""
    if p.is_zero():
        return 0
    if at_zero:
        found = local.first_derivative(ws, p, name, rest)
        return None if found is None else found[1]
    lead = Growth(ws, name).of_poly(p)
    if lead is None:
        return 0
    signs = ws.signs.of_frac(lead.c)
    return next(iter(signs)) if len(signs) == 1 else None


def _evaluate(ws: Workspace, value: Frac, name: str, rest: Assumptions, *, at_zero: bool) -> _Found | None:
    if value.is_zero:
        return _Found(num(0), (), ws.signs.used_balls)
    if at_zero:
        return _by_derivatives(ws, value, name, rest)
    growth = Growth(ws, name)
    balls = ws.signs.used_balls
    try:
        lead = growth.of_frac(value)
    except Unsupported:
        total = growth.bounded_limit(value)
        if total is None:
            return None
        return _Found(write(ws, total), ("no term grows: the limits of the terms are added",), balls)
    if lead is None:
        return _Found(num(0), (), balls)
    text = to_text(write(ws, lead.c))
    if not lead.u.is_zero:
        text += f"*exp({to_text(write(ws, lead.u))})"
    if lead.power:
        text += f"*{name}**({lead.power})"
    if lead.logs:
        text += f"*log({name})**({lead.logs})"
    steps = (f"the leading term is {text} as {name} -> oo",)
    order = growth.compare(lead, growth.constant(ws.number(1)))
    if order < 0:
        return _Found(num(0), steps, balls)
    if order == 0:
        return _Found(write(ws, lead.c), steps, balls)
    signs = ws.signs.of_frac(lead.c)
    if signs not in ({1}, {-1}):
        return None
    return _Found(_INFINITY if signs == {1} else App("neg", (_INFINITY,)), steps, balls)


def _by_derivatives(ws: Workspace, value: Frac, name: str, rest: Assumptions) -> _Found | None:
    """Numerator and denominator by their first terms: a h**k / (b h**m) for h -> 0+."""
    balls = ws.signs.used_balls
    top = local.first_derivative(ws, value.num, name, rest)
    bottom = local.first_derivative(ws, value.den, name, rest)
    if bottom is None:
        return None
    if top is None:
        # The numerator's value is not known to differ from 0; by continuity it is the limit.
        if bottom[0] or not local.smooth_at_zero(ws, Frac(value.num, value.den), name, rest):
            return None
        return _Found(local.at_zero(ws, value, name), ("by continuity",), balls)
    steps = (f"numerator of order {top[0]}, denominator of order {bottom[0]}",)
    if top[0] == 0 and bottom[0] == 0:
        steps = ("by continuity",)
    if top[0] > bottom[0]:
        return _Found(num(0), steps, balls)
    if top[0] == bottom[0]:
        return _Found(_tidy(local.quotient(top[2], bottom[2]), rest), steps, balls)
    sign = top[1] * bottom[1]
    return _Found(_INFINITY if sign > 0 else App("neg", (_INFINITY,)), steps, balls)


def _tidy(node: Expr, rest: Assumptions) -> Expr:
    from gateproof.theory.exact.monotone import in_workspace

    found = in_workspace(rest, lambda ws: write(ws, ws.form(node)))
    return node if found is None else found
