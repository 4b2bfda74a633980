"""Bounds of a sum up to n for every n, where no closed form and no exact induction decides them.

A failure is looked for at the first values of n, one term after the other. Against a number, a sum of
positive terms is compared with its sum up to oo, which it stays below and comes near. Against a function
of n, it is compared with integrals: for f falling on [M, oo) the terms from M to n add up to at least the
integral of f from M to n + 1, and those from M + 1 to n to at most that from M to n; or by induction, with
f(n + 1) on one side of what the bound gains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from flint import arb

from gateproof.numerics.errors import NumericsError
from gateproof.numerics.points import at_point
from gateproof.numerics.precision import precision
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.outcome import (
    CERTIFIED,
    IllPosedError,
    NotYetError,
    Outcome,
    UndecidedError,
    conjunction,
)
from gateproof.proofs_check.engine.point_certificates import sign_certificate
from gateproof.proofs_check.engine.series_tails import falls_from, rises_from
from gateproof.proofs_check.engine.space import Space, contains
from gateproof.theory.exact.alternation import split_signs
from gateproof.theory.exact.definite import NoIntegral
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.integer_powers import linear_in
from gateproof.theory.exact.means import holds_mean, reduced
from gateproof.theory.exact.series_problem import body_defined, first_of
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Const, Expr, Extremum, Integral, Limit, Rel, Series, Var, num
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

#: Values of n that are tried, and terms that are set apart before an integral begins.
TRIED = 1_500
APART = (0, 1, 4)
_BITS = 128
_FLIP = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_FAILS = {"<": (0, 1), "<=": (1,), ">": (0, -1), ">=": (-1,), "==": (1, -1), "!=": ()}
Decide = Callable[[Space, Rel], Outcome]


@dataclass(frozen=True)
class _Partial:
    """``sum(f, k in first..n + shift) op bound`` for every n of a domain that starts at ``start``."""

    series: Series
    op: str
    bound: Expr
    name: str
    domain: Domain
    start: int
    first: int
    shift: int

    def at(self, n: int) -> Rel:
        """The relation at one n."""
        point: dict[str, Expr] = {self.name: num(n)}
        return Rel((self.op,), (substitute(self.series, point), substitute(self.bound, point)))

    def term(self, k: Expr) -> Expr:
        """The term at an index."""
        return substitute(self.series.body, {self.series.index: k})

    def on(self, start: int) -> Space:
        """The whole numbers from ``start`` on."""
        return Space({self.name: Domain(num(start), None, True, False, integer=True)})


def decide_partial_sums(space: Space, relation: Rel, context: Context, decide: Decide) -> Outcome | None:
    """A relation between a sum up to n and a bound, for every n of the scope; None where not decided."""
    problem = _problem(space, relation)
    if problem is None:
        return None
    failure = _first_failure(problem)
    if failure is not None:
        return failure
    if problem.op in ("==", "!="):
        return None
    for method in (_against_number, _by_integral, _by_steps):
        try:
            found = method(problem, context, decide)
        except (NumericsError, NotYetError, UndecidedError, IllPosedError):
            continue
        if found is not None:
            return found
    return None


def _problem(space: Space, relation: Rel) -> _Partial | None:
    (op,), (a, b) = relation.ops, relation.terms
    if isinstance(b, Series) and not isinstance(a, Series):
        op, a, b = _FLIP[op], b, a
    if len(space.domains) != 1 or space.facts or space.vectors or not isinstance(a, Series) or a.op != "sum":
        return None
    ((name, domain),) = space.domains.items()
    line, lo, start = linear_in(a.hi, name), constant_value(a.lo), first_of(domain)
    if line is None or line[0] != 1 or lo is None or lo.denominator != 1 or start is None:
        return None
    if not domain.integer or domain.hi is not None or domain.without or free_names(a.body) - {a.index}:
        return None
    if any(isinstance(n, Series | Extremum | Limit) for n in (*a.body.walk(), *b.walk())) or holds_mean(
        relation
    ):
        return None
    if not body_defined(replace(a, hi=Const("oo")), int(lo), Assumptions()):
        return None
    return _Partial(a, op, b, name, domain, start, int(lo), int(line[1]))


def _first_failure(problem: _Partial) -> Outcome | None:
    """The first n among some at which the relation certainly fails."""
    with precision(_BITS):
        total = arb(0)
    added = problem.first
    for n in range(problem.start, problem.start + TRIED):
        try:
            while added <= n + problem.shift:
                term = at_point(problem.series.body, {problem.series.index: Fraction(added)}, _BITS)
                with precision(_BITS):
                    total += term
                added += 1
            bound = at_point(problem.bound, {problem.name: Fraction(n)}, _BITS)
        except NumericsError:
            return None
        with precision(_BITS):
            gap = total - bound
        sign = 1 if gap > 0 else -1 if gap < 0 else 0
        if sign and sign in _FAILS[problem.op] and contains(problem.domain, Fraction(n)) is True:
            step = f"at {problem.name} = {n} the sum lies on the other side of {to_text(problem.bound)}"
            known = _sign_at(problem, n, sign)
            trust = ("arb", "mpfr") if known is not None else ("arb",)
            witness = {problem.name: str(n)}
            return Outcome(
                False, CERTIFIED, "sum added up", trust, (step,), witness=witness, certificate=known
            )
    return None


def _sign_at(problem: _Partial, n: int, sign: int) -> Mapping[str, Any] | None:
    """An accepted certificate of the sign of sum minus bound at one n, all terms written out; or None."""
    terms = tuple(problem.term(num(k)) for k in range(problem.first, n + problem.shift + 1))
    relation = problem.at(n)
    gap = App("add", (num(0), *terms, App("neg", (relation.terms[1],))))
    return sign_certificate(gap, {}, sign, f"{to_text(relation.terms[0])} - ({to_text(relation.terms[1])})")


def _against_number(problem: _Partial, context: Context, decide: Decide) -> Outcome | None:
    """Terms of one sign: the sum goes one way, to the sum up to oo, which it does not reach."""
    if free_names(problem.bound):
        return None
    sign = _sign_of_terms(problem, context)
    if not sign:
        return None
    if (problem.op in ("<", "<=")) != (sign > 0):
        # The first sum is the nearest to the bound.
        found = decide(Space(), problem.at(problem.start))
        step = f"the terms have one sign, so the sum at {problem.name} = {problem.start} is the nearest"
        return replace(found, steps=(*found.steps, step)) if found.truth is True else None
    whole = replace(problem.series, hi=Const("oo"))
    op = "<=" if sign > 0 else ">="
    found = decide(Space(), Rel((op,), (whole, problem.bound)))
    if found.truth is None:
        return None
    step = f"the terms have one sign, so the sum tends to {to_text(whole)} and does not reach it"
    witness = None if found.truth else {"reached by": f"every large {problem.name}"}
    return replace(found, steps=(*found.steps, step), witness=witness)


def _sign_of_terms(problem: _Partial, context: Context) -> int:
    """1 or -1 where every term has that sign."""
    parts = split_signs(problem.series.body, problem.series.index)
    if parts is None or parts[1]:
        return 0
    found = falls_from(parts[0], problem.series.index, problem.first, context)
    found = found or rises_from(parts[0], problem.series.index, problem.first, context)
    if found is None:
        return 0
    start, sign = found
    for k in range(problem.first, start):
        value = at_point(problem.series.body, {problem.series.index: Fraction(k)}, _BITS)
        if not value * sign > 0:
            return 0
    return sign


def _cuts(problem: _Partial, least: int) -> Iterator[int]:
    for apart in APART:
        yield max(least, problem.first) + apart


def _by_integral(problem: _Partial, context: Context, decide: Decide) -> Outcome | None:
    parts = split_signs(problem.series.body, problem.series.index)
    if parts is None or parts[1]:
        return None
    plain, index = parts[0], problem.series.index
    falling = falls_from(plain, index, problem.first, context)
    rising = None if falling is not None else rises_from(plain, index, problem.first, context)
    monotone = falling or rising
    if monotone is None:
        return None
    below = problem.op in (">", ">=")
    # For falling f of negative sign f itself rises.
    goes_down = (falling is not None) == (monotone[1] > 0)
    last = App("add", (Var(problem.name), num(problem.shift)))
    for cut in _cuts(problem, monotone[0]):
        head = cut - 1 if goes_down == below else cut
        upper = App("add", (last, num(1))) if goes_down == below else last
        least = max(problem.start, cut - problem.shift)
        given = problem.on(least).assumptions()
        found = reduced(Integral(plain, index, num(cut), upper), given)
        if isinstance(found, NoIntegral) or holds_mean(found[0]):
            return None
        terms = tuple(problem.term(num(k)) for k in range(problem.first, head + 1))
        between = App("add", (num(0), *terms, found[0]))
        outcome = decide(problem.on(least), Rel((problem.op,), (between, problem.bound)))
        if outcome.truth is not True:
            continue
        way = "falls" if goes_down else "rises"
        side = "at least" if below else "at most"
        step = f"{to_text(plain)} {way} from {cut} on, so the sum is {side} {to_text(between)}"
        return _with_first(problem, least, outcome, step, decide)
    return None


def _by_steps(problem: _Partial, _: Context, decide: Decide) -> Outcome | None:
    n = Var(problem.name)
    following = substitute(problem.bound, {problem.name: App("add", (n, num(1)))})
    gain = App("add", (following, App("neg", (problem.bound,))))
    term = problem.term(App("add", (n, num(problem.shift + 1))))
    loose = problem.op if problem.op.endswith("=") else problem.op + "="
    least = max(problem.start, problem.first - problem.shift)
    for start in (least, least + 1, least + 4):
        outcome = decide(problem.on(start), Rel((loose,), (term, gain)))
        if outcome.truth is True:
            step = f"induction from {problem.name} = {start} on: {to_text(term)} {loose} {to_text(gain)}"
            return _with_first(problem, start + 1, outcome, step, decide)
    return None


def _with_first(problem: _Partial, least: int, rest: Outcome, step: str, decide: Decide) -> Outcome | None:
    """The argument for n >= ``least`` together with the values of n before, each by itself."""
    parts = [decide(Space(), problem.at(n)) for n in range(problem.start, least)]
    if any(p.truth is not True for p in parts):
        return None
    found = conjunction([rest, *parts])
    trust = tuple(dict.fromkeys((*found.trust, "arb", "flint")))
    return replace(
        found, rigor=CERTIFIED, method="sum against an integral", trust=trust, steps=(*found.steps, step)
    )
