"""Relations with sums up to oo, and with limits of sums up to n, that have no closed form of partial sums.

A limit to oo over a name at which a sum ends runs along the whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from gateproof.numerics import interval as iv
from gateproof.numerics.decimals import agreed_digits, decimal_enclosure
from gateproof.numerics.errors import MaybeUndefined, NotReal, Undefined
from gateproof.numerics.integral import Value
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.integral_certificates import signs_of
from gateproof.proofs_check.engine.outcome import (
    CERTIFIED,
    IllPosedError,
    NotYetError,
    Outcome,
    UndecidedError,
    composite,
    undecided,
)
from gateproof.proofs_check.engine.quadrature import HOLDS, value_interval
from gateproof.proofs_check.engine.series_tails import summed
from gateproof.proofs_check.engine.space import Space, infinite_sign
from gateproof.proofs_check.engine.sum_certificates import sum_certificate
from gateproof.proofs_check.engine.sums import value_of
from gateproof.theory.exact.closed_sums import closed_form
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.infinity import INFINITY, MINUS_INFINITY
from gateproof.theory.exact.integer_powers import linear_in
from gateproof.theory.exact.limits import NoLimit, limit
from gateproof.theory.exact.means import holds_mean
from gateproof.theory.exact.series_problem import body_defined
from gateproof.theory.exact.zeta_sums import known_sum
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Extremum, Limit, Node, Rel, Series, num, rebuild
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.rewriting import joined, replaced, replaced_node
from gateproof.theory.formula.scopes import free_names

#: Widths to which sums are enclosed in turn, and the longest sum whose terms are written out.
WIDTHS = (Fraction(1, 10**4), Fraction(1, 10**9))
MAX_OUTER = 60
Decide = Callable[[Space, Rel], Outcome]


def decide_infinite_sums(space: Space, relation: Rel, context: Context, decide: Decide) -> Outcome | None:
    """A binary relation with a sum up to oo, or a limit of sums; None where there is none of them."""
    steps: list[str] = []
    done = _without_limits(space, _written_outer(relation), steps)
    if not any(_is_infinite(n) for n in done.walk()) or space.vectors:
        return None if done == relation else _after(steps, decide(space, done))
    values: dict[Series, Value] = {}
    put: dict[Expr, Expr] = {}
    for node in done.walk():
        if isinstance(node, Series) and _is_infinite(node) and node not in put and node not in values:
            exact = _exact(node, space, steps)
            if exact is not None:
                put[node] = exact
            elif free_names(node) & set(space.domains):
                raise NotYetError("a sum up to oo without a closed form that depends on other names")
            else:
                values[node] = summed(node, WIDTHS[0], context)
    for node, value in values.items():
        if value.status == "infinite":
            put[node] = INFINITY if value.sign > 0 else MINUS_INFINITY
            steps.append(
                f"{to_text(node)} = {'-' if value.sign < 0 else ''}oo: its terms do not fall fast enough"
            )
    finite = {n: v for n, v in values.items() if v.status == "ok"}
    if put:
        infinite = [n for n, p in put.items() if infinite_sign(p)]
        if any(n in t.walk() and n != t for n in infinite for t in done.terms):
            raise NotYetError("arithmetic with an infinite sum")
        done = _with(done, put)
    if not finite:
        return _after(steps, decide(space, done))
    if space.domains and free_names(done):
        raise NotYetError("a sum up to oo without a closed form beside other names")
    return _after(steps, _closed(done, finite, context))


def _after(steps: list[str], found: Outcome) -> Outcome:
    trust = tuple(dict.fromkeys(("flint", *found.trust)))
    return replace(found, steps=(*steps, *found.steps), trust=trust)


def _is_infinite(node: Node) -> bool:
    return isinstance(node, Series) and node.op == "sum" and infinite_sign(node.hi) > 0


def _with(relation: Rel, put: dict[Expr, Expr]) -> Rel:
    found = replaced_node(relation, put)
    assert isinstance(found, Rel)
    return found


def _exact(node: Series, space: Space, steps: list[str]) -> Expr | None:
    """The sum by a closed form of its partial sums, or as a value of the zeta function that is known."""
    try:
        value, step = value_of(node, space)
    except (NotYetError, UndecidedError):
        known = known_sum(node)
        if known is None or not body_defined(node, int(constant_value(node.lo) or 0), Assumptions()):
            return None
        value, step = known
    steps.append(step)
    return value


def _closed(relation: Rel, values: dict[Series, Value], context: Context) -> Outcome:
    """The sign of the difference of the sides from enclosures."""
    (op,), (a, b) = relation.ops, relation.terms
    if any(isinstance(n, Extremum | Limit) for n in relation.walk()) or holds_mean(relation):
        raise NotYetError("a sum up to oo beside an integral, an extremum or a limit")
    gap = App("add", (a, App("neg", (b,))))
    digits = 0
    for width in WIDTHS:
        if width != WIDTHS[0]:
            values = {n: summed(n, width, context) for n in values}
        known: dict[Node, Value] = dict(values.items())
        try:
            low, high = value_interval(gap, known, 160)
            size = value_interval(a, known, 160)
        except Undefined as error:
            raise IllPosedError(f"a side has no value: {error}") from None
        except NotReal:
            raise NotYetError("arithmetic with infinite values") from None
        except MaybeUndefined:
            continue
        if not all(e.is_finite() and iv.moderate(e) for e in (low, high, *size)):
            continue
        lo, hi = iv.to_fraction(low), iv.to_fraction(high)
        sign = 1 if lo > 0 else -1 if hi < 0 else None
        shown = []
        for node, value in values.items():
            assert value.enclosure is not None
            ends = decimal_enclosure(*value.enclosure, 12)
            shown.append(f"{to_text(node)} lies in [{ends['lo']}, {ends['hi']}], its tail between bounds")
        if sign is not None:
            known_by = _certificate(gap, values, min(abs(lo), abs(hi)), context)
            trust = ("arb", "mpfr") if known_by is not None else ("arb",)
            method = "sum with a bounded tail"
            return Outcome(sign in HOLDS[op], CERTIFIED, method, trust, tuple(shown), certificate=known_by)
        middle = iv.to_fraction(size[0])
        digits = agreed_digits(middle, middle + hi - lo)
    return undecided(
        f"agree to {digits} digits" if digits > 0 else "the enclosures of the sums do not settle it"
    )


def _certificate(
    gap: Expr, values: Mapping[Series, Value], distance: Fraction, context: Context
) -> Mapping[str, Any] | None:
    """Accepted certificates of all sums, fine enough that the gap is not 0; else None."""
    for share in (2, 20, 400):
        width = distance / (share * len(values))
        found = {node: sum_certificate(node, width, context) for node in values}
        ends: dict[Node, tuple[Fraction, Fraction]] = {n: f[1] for n, f in found.items() if f is not None}
        if len(ends) < len(found):
            return None
        if signs_of(gap, ends) in ({1}, {-1}):
            return composite([part for f in found.values() if f is not None for part in f[0]])
    return None


# --- sums in a limit, and sums of sums ----------------------------------------


def _written_outer(relation: Rel) -> Rel:
    """Short sums of sums, or of integrals, over numbers written out term by term."""

    def visit(node: Node) -> Node:
        terms = _terms(node) if isinstance(node, Series) else None
        if terms is not None and isinstance(node, Series):
            exprs = tuple(e for e in map(visit, terms) if isinstance(e, Expr))
            return joined(node.op, exprs)
        done = rebuild(node, visit)
        assert isinstance(done, Node)
        return done

    found = visit(relation)
    assert isinstance(found, Rel)
    return found


def _terms(node: Series) -> list[Expr] | None:
    """The terms of a short sum over numbers that holds a sum or an integral."""
    if not holds_mean(node.body) and not any(isinstance(n, Series) for n in node.body.walk()):
        return None
    lo, hi = constant_value(node.lo), constant_value(node.hi)
    if lo is None or hi is None or lo.denominator != 1 or hi.denominator != 1 or hi - lo >= MAX_OUTER:
        return None
    return [substitute(node.body, {node.index: num(k)}) for k in range(int(lo), int(hi) + 1)]


def _without_limits(space: Space, relation: Rel, steps: list[str]) -> Rel:
    """Limits to oo over a name at which sums end: a sum up to oo, or the limit of closed forms."""
    put: dict[Expr, Expr] = {}
    for node in relation.walk():
        if not isinstance(node, Limit) or infinite_sign(node.point) <= 0:
            continue
        inner = [s for s in node.body.walk() if isinstance(s, Series) and node.var in free_names(s.hi)]
        if not inner or free_names(node) - set(space.domains):
            continue
        put[node] = _limit_of_sums(node, inner, space, steps)
    return _with(relation, put) if put else relation


def _limit_of_sums(node: Limit, inner: list[Series], space: Space, steps: list[str]) -> Expr:
    whole = {**space.domains, node.var: Domain(num(1), None, True, False, integer=True)}
    given = Assumptions(whole, space.facts)
    for series in inner:
        line = linear_in(series.hi, node.var)
        lo = constant_value(series.lo)
        if (
            line is None
            or line[0] < 1
            or lo is None
            or lo.denominator != 1
            or node.var in free_names(series.body)
        ):
            raise NotYetError("the limit of a sum whose ends are not linear in the name")
    if node.body == inner[0] and inner[0].op == "sum":
        # Along the whole numbers n, the ends a n + b with a > 1 skip some of the partial sums.
        line = linear_in(inner[0].hi, node.var)
        assert line is not None
        if line[0] == 1:
            steps.append(f"{to_text(node)} is the sum up to oo")
            return replace(inner[0], hi=node.point)
    forms: dict[Expr, Expr] = {}
    for series in inner:
        form = closed_form(series, given)
        lo = constant_value(series.lo)
        if form is None or lo is None or not body_defined(series, int(lo), given):
            raise UndecidedError(f"no closed form of {to_text(series)} was found")
        forms[series] = form
        steps.append(f"{to_text(series)} = {to_text(form)}")
    swapped = replaced(node.body, forms)
    found = limit(swapped, node.var, node.point, "", space.assumptions())
    if found is None or isinstance(found, NoLimit):
        # There may be a limit along the whole numbers where there is none along the reals.
        raise UndecidedError(f"the limit of {to_text(swapped)} along the whole numbers was not found")
    steps += found[1].steps
    return found[0]
