"""Closed forms of sums whose terms are a polynomial in the index times a power, or a difference.

For p(k) r**k with r != 1: Q(k+1) r - Q(k) = p(k) is solved for the polynomial Q from the highest
power down, so the sum from a to b is Q(b+1) r**(b+1) - Q(a) r**a. For r = 1, Q is found with
Q(k+1) - Q(k) = p(k). Both hold for every b >= a - 1, the empty sum included.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

from gateproof.theory.exact import polys
from gateproof.theory.exact.atoms import Frac
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.integer_powers import linear_in
from gateproof.theory.exact.monotone import in_workspace
from gateproof.theory.exact.normal import Workspace
from gateproof.theory.exact.polys import ONE, ZERO
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.exact.writeback import write
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Index, Node, Num, Series, Var, num, rebuild
from gateproof.theory.formula.scopes import free_names

MAX_DEGREE = 30
MAX_TERMS = 12


def closed_form(series: Series, assumptions: Assumptions) -> Expr | None:
    """The sum as an expression in its ends, right wherever hi >= lo - 1; or None."""
    if series.op != "sum" or any(isinstance(n, Series) for n in series.body.walk()):
        return None
    return _polynomial_times_power(series, assumptions) or telescoped(series, assumptions)


def _polynomial_times_power(series: Series, assumptions: Assumptions) -> Expr | None:
    found = _primitive_of(series, assumptions)
    if found is None:
        return None
    upper = _primitive_at(series, found, App("add", (series.hi, num(1))))
    return App("add", (upper, App("neg", (_primitive_at(series, found, series.lo),))))


def infinite_sum(series: Series, assumptions: Assumptions) -> Expr | None:
    """The sum up to oo of p(k) r**k with |r| < 1: -Q(lo) r**lo, since Q(k) r**k tends to 0; or None."""
    found = _primitive_of(series, assumptions)
    if found is None or found[1] is None:
        return None
    base = found[1]
    if any(
        prove_relation(*sides, assumptions) is None for sides in ((base, "<", num(1)), (base, ">", num(-1)))
    ):
        return None
    return App("neg", (_primitive_at(series, found, series.lo),))


def _primitive_of(series: Series, assumptions: Assumptions) -> tuple[Expr, Expr | None] | None:
    """Q and r for the terms p(k) r**k; r None where there is no power."""
    base, rest = _split_power(series.body, series.index)
    if base is not None and prove_relation(base, "!=", num(1), assumptions) is None:
        return None
    from_zero = isinstance(series.lo, Num) and series.lo.value >= 0
    if base is not None and not from_zero and prove_relation(base, "!=", num(0), assumptions) is None:
        return None
    given = Assumptions({**assumptions.domains, series.index: Domain()}, assumptions.facts)
    primitive = in_workspace(given, lambda ws: _primitive(ws, rest, base, series.index))
    return None if primitive is None else (primitive, base)


def _primitive_at(series: Series, found: tuple[Expr, Expr | None], end: Expr) -> Expr:
    primitive, base = found
    value = substitute(primitive, {series.index: end})
    if base is None or end == num(0):
        return value
    return App("mul", (value, base if end == num(1) else App("pow", (base, end))))


def _split_power(body: Expr, index: str) -> tuple[Expr | None, Expr]:
    """The body as rest * base**index; base None where no power holds the index."""
    factors: list[Expr] = []
    bases: list[Expr] = []

    def visit(node: Expr, sign: int) -> None:
        if isinstance(node, App) and node.head == "mul":
            for a in node.args:
                visit(a, sign)
        elif isinstance(node, App) and node.head == "neg":
            factors.append(num(-1))
            visit(node.args[0], sign)
        elif isinstance(node, App) and node.head == "div":
            visit(node.args[0], sign)
            visit(node.args[1], -sign)
        elif isinstance(node, App) and node.head == "pow" and index in free_names(node.args[1]):
            line = linear_in(node.args[1], index)
            if line is None or index in free_names(node.args[0]):
                factors.append(node if sign > 0 else App("div", (num(1), node)))
                return
            base = node.args[0]
            if line[0] * sign != 1:
                base = App("pow", (base, num(line[0] * sign)))
            bases.append(base)
            if line[1]:
                factors.append(App("pow", (node.args[0], num(line[1] * sign))))
        else:
            factors.append(node if sign > 0 else App("div", (num(1), node)))

    visit(body, 1)
    rest = App("mul", (num(1), *factors))
    if not bases:
        return None, rest
    return (bases[0] if len(bases) == 1 else App("mul", tuple(bases))), rest


def _primitive(ws: Workspace, rest: Expr, base: Expr | None, index: str) -> Expr | None:
    """Q with Q(k+1) r - Q(k) = p(k)."""
    value = ws.form(rest)
    r = ws.number(1) if base is None else ws.form(base)
    at = next((a.index for a in ws.atoms if a.kind == "name" and a.name == index), None)
    parts = {0: Frac(value.num, ONE)}
    if at is not None:
        if any(_uses(ws, i, at) for i in value.used() if i != at) or polys.degree(value.den, at):
            return None
        parts = {k: Frac(c, ONE) for k, c in polys.coefficients_in(value.num, at).items()}
    degree = max(parts, default=0)
    if degree > MAX_DEGREE:
        return None
    zero, den = Frac(ZERO, ONE), Frac(value.den, ONE)
    q: dict[int, Frac] = {}
    flat = base is None
    for j in range(degree, -1, -1):
        target = ws.div(parts.get(j, zero), den)
        top = degree + 1 if flat else degree
        for i in range(j + 2 if flat else j + 1, top + 1):
            if i in q:
                target = ws.sub(target, ws.mul(ws.mul(r, ws.number(comb(i, j))), q[i]))
        # The equation for k**j gives the coefficient of k**(j+1) where r = 1, else that of k**j.
        if flat:
            q[j + 1] = ws.div(target, ws.number(j + 1))
        else:
            q[j] = ws.div(target, ws.sub(r, ws.number(1)))
    terms = []
    for i, c in sorted(q.items()):
        if not c.is_zero:
            power = App("pow", (Var(index), num(i))) if i > 1 else Var(index) if i else num(1)
            terms.append(App("mul", (write(ws, c), power)))
    return App("add", (num(0), *terms))


def _uses(ws: Workspace, i: int, at: int) -> bool:
    atom = ws.atoms[i]
    return i == at or (atom.arg is not None and any(_uses(ws, j, at) for j in atom.arg.used()))


def telescoped(series: Series, assumptions: Assumptions) -> Expr | None:
    """The sum of A(k) - A(k+1), or of A(k) - A(k-1), term by term."""
    terms = _signed(series.body)
    if not 2 <= len(terms) <= MAX_TERMS:
        return None
    given = Assumptions({**assumptions.domains, series.index: Domain(integer=True)}, assumptions.facts)
    k = Var(series.index)
    found: list[Expr] = []
    while terms:
        sign, first = terms.pop(0)
        for j, (other_sign, other) in enumerate(terms):
            if other_sign == sign:
                continue
            shift = next((s for s in (1, -1) if _same(_moved(first, k, s), other, given)), 0)
            if shift:
                del terms[j]
                found += _ends(first, series, sign, shift)
                break
        else:
            return None
    return App("add", tuple(found))


def _ends(term: Expr, series: Series, sign: int, shift: int) -> list[Expr]:
    """sign times (A(lo) - A(hi+1)), or (A(hi) - A(lo-1))."""
    plus: Expr = series.lo if shift > 0 else series.hi
    minus = App("add", (series.hi, num(1))) if shift > 0 else App("add", (series.lo, num(-1)))
    values = [folded(substitute(term, {series.index: end})) for end in (plus, minus)]
    values[1 if sign > 0 else 0] = App("neg", (values[1 if sign > 0 else 0],))
    return values


def _signed(node: Expr, sign: int = 1) -> list[tuple[int, Expr]]:
    if isinstance(node, App) and node.head == "add":
        return [t for a in node.args for t in _signed(a, sign)]
    if isinstance(node, App) and node.head == "neg":
        return _signed(node.args[0], -sign)
    return [(sign, node)]


def _moved(node: Expr, k: Var, shift: int) -> Expr:
    return folded(substitute(node, {k.name: App("add", (k, num(shift)))}))


def _same(a: Expr, b: Expr, given: Assumptions) -> bool:
    a, b = folded(a), folded(b)
    if a == b:
        return True
    # Two places of a vector are the same only where their indices are.
    if any(isinstance(n, Index) for n in (*a.walk(), *b.walk())):
        return False
    return prove_relation(a, "==", b, given, defined=True) is not None


def folded(node: Node) -> Expr:
    """Indices such as k + 1 - 1 in one form."""
    done = rebuild(node, folded)
    assert isinstance(done, Expr)
    if isinstance(done, Index):
        return Index(done.vector, _linear_text(done.index))
    return done


def _linear_text(index: Expr) -> Expr:
    names = free_names(index)
    if len(names) > 1:
        return index
    name = next(iter(names), "")
    line = linear_in(index, name)
    if line is None:
        return index
    a, b = line
    if a == 0 or not name:
        return num(b)
    head: Expr = Var(name) if a == 1 else App("mul", (num(a), Var(name)))
    return head if b == 0 else App("add", (head, num(b)))


def exact_value(series: Series, limit: int) -> Fraction | None:
    """The sum or product of rational terms over a range of numbers, or None."""
    from gateproof.theory.formula.powers import constant_value

    lo, hi = constant_value(series.lo), constant_value(series.hi)
    if lo is None or hi is None or lo.denominator != 1 or hi.denominator != 1 or hi - lo >= limit:
        return None
    values: list[Fraction] = []
    for k in range(int(lo), int(hi) + 1):
        value = constant_value(substitute(series.body, {series.index: Num(Fraction(k))}))
        if value is None:
            return None
        values.append(value)
    if not values:
        return Fraction(0 if series.op == "sum" else 1)
    # By halves, so that the numbers multiplied are of like size.
    while len(values) > 1:
        pairs = [values[i : i + 2] for i in range(0, len(values), 2)]
        values = [p[0] if len(p) == 1 else p[0] + p[1] if series.op == "sum" else p[0] * p[1] for p in pairs]
        if max(v.numerator.bit_length() + v.denominator.bit_length() for v in values) > 100_000:
            return None
    return values[0]
