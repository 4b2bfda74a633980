"""Arguments by cases: where a sign is needed and not known, each possible sign is taken in turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from gateproof.theory.exact import calculus, polys
from gateproof.theory.exact.atoms import Frac, NeedSign, NewStep
from gateproof.theory.exact.bounds import names_in
from gateproof.theory.exact.budget import Unsupported
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.normal import Workspace
from gateproof.theory.exact.polys import ZERO, Poly, UndefinedValue
from gateproof.theory.exact.two_points import by_mean_value
from gateproof.theory.exact.writeback import scaled, write, write_poly
from gateproof.theory.formula.library import substitute, substitute_node
from gateproof.theory.formula.nodes import App, Expr, Num, Rel, Stmt, num
from gateproof.theory.formula.printer import to_text

MAX_CASES = 200
MAX_RESTARTS = 12
MAX_DEPTH = 10

_RELATION = {1: ">", 0: "==", -1: "<"}


@dataclass
class Outcome:
    """Steps of a finished argument, and whether balls decided a constant's sign in it."""

    steps: list[str] = field(default_factory=list)
    balls: bool = False

    def trust(self) -> tuple[str, ...]:
        """What the argument rests on."""
        return ("flint", "arb") if self.balls else ("flint",)


#: Shows a goal for expressions in a workspace: its steps, or None where it fails.
Goal = Callable[[Workspace, tuple[Expr, ...]], "list[str] | None"]


def by_cases(goal: Goal, exprs: tuple[Expr, ...], assumptions: Assumptions) -> Outcome | None:
    """The goal shown in every case, or None."""
    left = [MAX_CASES]
    try:
        return _run(goal, exprs, assumptions, left, 0)
    except RecursionError:
        return None


def _run(
    goal: Goal, exprs: tuple[Expr, ...], assumptions: Assumptions, left: list[int], depth: int
) -> Outcome | None:
    left[0] -= 1
    if left[0] < 0 or depth > MAX_DEPTH:
        return None
    steps: dict[str, Fraction] = {}
    for _ in range(MAX_RESTARTS):
        ws: Workspace | None = None
        try:
            ws = Workspace(assumptions, steps)
            if ws.signs.contradictory():
                return Outcome(["this cannot occur"], ws.signs.used_balls)
            shown = goal(ws, exprs)
            return None if shown is None else Outcome(shown, ws.signs.used_balls)
        except NewStep as finer:
            steps[finer.basis] = finer.step
        except NeedSign as need:
            if ws is None:
                return None
            return _split(goal, exprs, ws, need.poly, left, depth)
        except (Unsupported, UndefinedValue):
            return None
    return None


def _split(
    goal: Goal,
    exprs: tuple[Expr, ...],
    ws: Workspace,
    question: Poly,
    left: list[int],
    depth: int,
) -> Outcome | None:
    possible = ws.signs.of(question)
    if len(possible) < 2:
        return None
    total = Outcome(balls=ws.signs.used_balls)
    text = to_text(write_poly(ws, question))
    for sign in sorted(possible, reverse=True):
        new_exprs, new_assumptions, how = assume(ws, exprs, question, sign)
        shown = _run(goal, new_exprs, new_assumptions, left, depth + 1)
        if shown is None:
            return None
        total.steps.append(f"case {text} {_RELATION[sign]} 0{how}:")
        total.steps.extend("  " + line for line in shown.steps)
        total.balls = total.balls or shown.balls
    return total


def assume(
    ws: Workspace, exprs: tuple[Expr, ...], question: Poly, sign: int
) -> tuple[tuple[Expr, ...], Assumptions, str]:
    """The expressions and assumptions with the sign of the question added."""
    if sign == 0:
        solved = solve_for_name(ws, question)
        if solved is not None:
            name, value = solved
            new = _put(ws.assumptions, name, value)
            changed = tuple(substitute(e, {name: value}) for e in exprs)
            return changed, new, f", so {name} = {to_text(value)}"
    fact = Rel((_RELATION[sign],), (write_poly(ws, question), num(0)))
    old = ws.assumptions
    return exprs, Assumptions(old.domains, (*old.facts, fact)), ""


def solve_for_name(ws: Workspace, p: Poly) -> tuple[str, Expr] | None:
    """A name and its value where p = 0 is linear in the name, or in one exponential of it."""
    for i in polys.used(p):
        atom = ws.atoms[i]
        if polys.degree(p, i) != 1:
            continue
        parts = polys.coefficients_in(p, i)
        a, b = parts[1], parts.get(0, ZERO)
        if atom.kind == "name":
            others = [j for j in polys.used(p) if j != i]
            if any(_depends(ws, j, i) for j in others) or 0 in ws.signs.of(a):
                continue
            return atom.name, write(ws, ws.frac(-b, a))
        if atom.kind == "exp" and a.is_constant() and b.is_constant() and atom.arg is not None:
            value = -polys.constant_of(b) / polys.constant_of(a)
            inner = atom.arg.used()
            if value > 0 and atom.arg.is_poly and len(inner) == 1:
                j = inner[0]
                if atom.arg.num == polys.GENS[j] and ws.atoms[j].kind == "name":
                    node = scaled(App("log", (Num(value),)), 1 / atom.step)
                    return ws.atoms[j].name, node
    return None


def _depends(ws: Workspace, j: int, i: int) -> bool:
    if j == i:
        return True
    arg = ws.atoms[j].arg
    return arg is not None and any(_depends(ws, k, i) for k in arg.used())


def _put(assumptions: Assumptions, name: str, value: Expr) -> Assumptions:
    """Assumptions with a name replaced; its domain becomes facts on the value."""
    domains = {k: v for k, v in assumptions.domains.items() if k != name}
    facts = [substitute_node(f, {name: value}) for f in assumptions.facts]
    kept: list[Stmt] = [f for f in facts if isinstance(f, Stmt)]
    kept += domain_facts(value, assumptions.domains.get(name, Domain()))
    return Assumptions(domains, tuple(kept))


def domain_facts(value: Expr, domain: Domain) -> list[Stmt]:
    """What membership of a value in a domain says (of integers: only their bounds)."""
    facts: list[Stmt] = []
    if domain.lo is not None:
        facts.append(Rel((">=" if domain.lo_closed else ">",), (value, domain.lo)))
    if domain.hi is not None:
        facts.append(Rel(("<=" if domain.hi_closed else "<",), (value, domain.hi)))
    facts += [Rel(("!=",), (value, point)) for point in domain.without]
    return facts


def settle_signs(ws: Workspace, u: Frac, allowed: frozenset[int]) -> bool:
    """Whether all signs of a quotient are allowed; asks for a name's sign where that may help."""
    inside = names_in(ws.signs, u.used())
    unsigned = [
        polys.GENS[a.index]
        for a in ws.atoms
        if a.kind == "name" and a.name in inside and len(ws.signs.of(polys.GENS[a.index])) > 1
    ]
    # Each sign of a name is a simpler case: rules that differentiate wait for it.
    ws.signs.cheap = bool(unsigned)
    try:
        possible = ws.signs.of_frac(u)
    finally:
        ws.signs.cheap = False
    if possible <= allowed:
        return True
    if not possible & allowed:
        return False
    if len(inside) > 1 and possible & by_mean_value(ws, u) <= allowed:
        return True
    if unsigned:
        raise NeedSign(unsigned[0])
    if len(inside) == 1:
        question = turning_point(ws, u, next(iter(inside)))
        if question is not None:
            raise NeedSign(question)
    return False


def turning_point(ws: Workspace, u: Frac, name: str) -> Poly | None:
    """Of a factor without known sign: what decides the sign of its derivative."""
    for part in (u.den, u.num):
        for f, _ in polys.factors(part)[1]:
            if len(ws.signs.of(f)) > 1:
                slope = calculus.of_poly(ws, f, name)
                return None if len(ws.signs.of_frac(slope)) == 1 else ws.signs.question(slope)
    return None
