"""Taylor polynomials with exact coefficients: by series arithmetic, else by repeated differentiation."""

from __future__ import annotations

from fractions import Fraction
from math import factorial

from gateproof.theory.exact import calculus, local, power_series
from gateproof.theory.exact.atoms import Frac, NeedSign, NewStep
from gateproof.theory.exact.budget import Unsupported, bounded
from gateproof.theory.exact.defined import has_value
from gateproof.theory.exact.domain import Assumptions, Derivation, Domain
from gateproof.theory.exact.local_series import LocalSeries
from gateproof.theory.exact.monotone import in_workspace
from gateproof.theory.exact.normal import Workspace
from gateproof.theory.exact.polys import ONE, UndefinedValue
from gateproof.theory.exact.writeback import scaled, total, write, write_poly
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Num, Rel, Var, num
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

MAX_SYMBOLIC_ORDER = 12
_ROUNDS = 12
_RELATION = {1: ">", -1: "<"}


@bounded
def taylor(
    expr: Expr, var: str, point: Expr, order: int, assumptions: Assumptions
) -> tuple[Expr, Derivation] | None:
    """The Taylor polynomial of degree at most ``order``, or None.

    None at a kink: every argument of abs, max and the like must have a sign at the point.
    """
    rest = Assumptions(
        {k: v for k, v in assumptions.domains.items() if k != var},
        tuple(f for f in assumptions.facts if var not in free_names(f)),
    )
    fresh = var
    known = {*rest.domains, *(n for f in rest.facts for n in free_names(f))}
    while fresh in free_names(point) | (free_names(expr) - {var}) | known:
        fresh += "_"
    moved = substitute(expr, {var: App("add", (point, Var(fresh)))})
    try:
        shifted = substitute(expr, {var: moved_name(point, fresh)})
        coefficients = power_series.rational_series(shifted, fresh, order)
        if coefficients is None:
            coefficients = in_workspace(rest, lambda ws: _by_series(ws, shifted, fresh, order))
        if coefficients is None:
            coefficients = _by_derivatives(moved, fresh, order, rest)
    except RecursionError:
        return None
    if coefficients is None:
        return None
    polynomial = _polynomial(coefficients, var, point)
    line = f"taylor of {to_text(expr)} at {var} = {to_text(point)}: {to_text(polynomial)}"
    return polynomial, Derivation(("exact coefficients", line), ("flint",))


def _by_series(ws: Workspace, expr: Expr, name: str, order: int) -> list[Expr]:
    return [write(ws, c) for c in LocalSeries(ws, name, order).of(expr)]


def moved_name(point: Expr, fresh: str) -> Expr:
    """point + name, or the name alone at 0."""
    return Var(fresh) if point == num(0) else App("add", (point, Var(fresh)))


def _polynomial(coefficients: list[Expr], var: str, point: Expr) -> Expr:
    shift: Expr = Var(var) if point == num(0) else App("add", (Var(var), App("neg", (point,))))
    terms: list[Expr] = []
    for k, c in enumerate(coefficients):
        if c == num(0):
            continue
        if k == 0:
            terms.append(c)
            continue
        power = shift if k == 1 else App("pow", (shift, num(k)))
        product = scaled(power, c.value) if isinstance(c, Num) else App("mul", (c, power))
        terms.append(product)
    return total(terms)


def _by_derivatives(expr: Expr, name: str, order: int, rest: Assumptions) -> list[Expr] | None:
    if order > MAX_SYMBOLIC_ORDER:
        return None
    facts: list[Rel] = []
    steps: dict[str, Fraction] = {}
    domains = {**rest.domains, name: Domain()}
    for _ in range(_ROUNDS):
        ws: Workspace | None = None
        try:
            ws = Workspace(Assumptions(domains, (*rest.facts, *facts)), steps)

            def decide(inner: Workspace, value: Frac, allowed: frozenset[int]) -> bool:
                signs = local.signs_at_zero(inner, value, name, rest)
                return signs is not None and signs <= allowed - {0}

            if not has_value(ws, expr, [], decide):
                return None
            return _derivatives(ws, ws.form(expr), name, order, rest)
        except NewStep as finer:
            steps[finer.basis] = finer.step
        except NeedSign as need:
            # Facts hold near the point: they come from values that are not 0 there.
            if ws is None:
                return None
            value = Frac(need.poly, ONE)
            if not local.smooth_at_zero(ws, value, name, rest):
                return None
            signs = local.signs_at_zero(ws, value, name, rest)
            if signs is None or len(signs) != 1 or 0 in signs:
                return None
            facts.append(Rel((_RELATION[next(iter(signs))],), (write_poly(ws, need.poly), num(0))))
        except (Unsupported, UndefinedValue):
            return None
    return None


def _derivatives(ws: Workspace, value: Frac, name: str, order: int, rest: Assumptions) -> list[Expr] | None:
    found: list[Expr] = []
    for k in range(order + 1):
        bottom = local.signs_at_zero(ws, Frac(value.den, ONE), name, rest)
        if bottom is None or 0 in bottom or not local.smooth_at_zero(ws, value, name, rest):
            return None
        node = local.at_zero(ws, value, name)
        scaled = App("div", (node, num(factorial(k))))
        tidy = in_workspace(rest, lambda other, n=scaled: write(other, other.form(n)))  # type: ignore[misc]
        if tidy is None:
            return None
        found.append(tidy)
        if k < order:
            value = calculus.of_frac(ws, value, name)
    return found
