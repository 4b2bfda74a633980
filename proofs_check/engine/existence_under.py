"""``exists`` under other names: for every y there is an x, which may depend on y.

Shown by a witness written as an expression in the other names, by the intermediate value
theorem between the ends of the inner set, or by a limit there; refuted at one y.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, islice, product

from gateproof.numerics.errors import MaybeUndefined, Undefined
from gateproof.numerics.points import truth_at
from gateproof.proofs_check.engine.calculus import eliminate
from gateproof.proofs_check.engine.conditions import absorbed
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.definedness import defined_everywhere
from gateproof.proofs_check.engine.logic import links_of, negate
from gateproof.proofs_check.engine.numbers import rational_text
from gateproof.proofs_check.engine.outcome import (
    PROVED,
    IllPosedError,
    NotYetError,
    Outcome,
    UndecidedError,
    conjunction,
    merged_trust,
    undecided,
)
from gateproof.proofs_check.engine.sample import points
from gateproof.proofs_check.engine.solving import solved_for
from gateproof.proofs_check.engine.space import Space, build, infinite_sign
from gateproof.theory.exact.cases import domain_facts
from gateproof.theory.exact.infinity import INFINITY, MINUS_INFINITY
from gateproof.theory.exact.limits import limit
from gateproof.theory.formula.library import substitute, substitute_node
from gateproof.theory.formula.nodes import (
    And,
    App,
    Claim,
    Exists,
    Expr,
    Extremum,
    In,
    NamedSet,
    Num,
    Rel,
    Scope,
    Stmt,
    Var,
    num,
)
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

#: Witnesses that are tried, points that each is tried at first, points at which a refutation is looked for.
MAX_WITNESSES, FIRST_POINTS, REFUTATIONS = 400, 40, 8
#: Witnesses that come through the points and are then given to the prover.
MAX_PROOFS = 6
_STRICT = {"<": (-1,), ">": (1,), "<=": (-1,), ">=": (1,), "!=": (-1, 1)}


def decide_exists_under(outer: Space, stmt: Exists, context: Context) -> Outcome:
    """Decide that for all of a space there are values of the inner names that make a statement true."""
    question = _question(outer, stmt, context)
    if not free_names(question.body) & set(outer.domains) and not question.inner.facts:
        from gateproof.proofs_check.engine.existence import decide_exists

        return decide_exists(Space(), stmt, context)
    found = _refuted(question, context) or _shown(question, context)
    if found is not None:
        return found
    names = ", ".join(question.inner.domains)
    return undecided(
        f"no expression for {names} was found, no limit or change of sign, and no counterexample"
    )


def shown_to_exist(inner: Space, stmt: Exists, context: Context) -> Outcome | None:
    """The same without other names: a closed expression, a limit, or a change of sign; else None."""
    return _shown(_Question(Space(), inner, stmt.body, stmt), context)


def _shown(question: _Question, context: Context) -> Outcome | None:
    for method in (_by_witness, _by_limit, _between_ends):
        found = method(question, context)
        if found is not None:
            return found
    return None


def decide_exists_nowhere(outer: Space, stmt: Exists, context: Context) -> Outcome:
    """Decide that for all of a space there are no such values: the negation for all names together."""
    from gateproof.proofs_check.engine.statements import forall

    question = _question(outer, stmt, context)
    return forall(question.together, negate(question.body), context)


@dataclass(frozen=True)
class _Question:
    outer: Space
    inner: Space
    body: Stmt
    stmt: Exists

    @property
    def together(self) -> Space:
        """All names at once."""
        domains = {**self.outer.domains, **self.inner.domains}
        return absorbed(Space(domains, (*self.outer.facts, *self.inner.facts)))


def _question(outer: Space, stmt: Exists, context: Context) -> _Question:
    inner = build(stmt.scope)
    if inner.vectors or outer.vectors:
        raise NotYetError("exists with vectors")
    if any(isinstance(n, Extremum) for n in stmt.body.walk()):
        raise NotYetError("an extremum inside exists")
    inner = absorbed(inner)
    question = _Question(outer, inner, stmt.body, stmt)
    question = replace(question, body=eliminate(stmt.body, question.together))
    defined_everywhere(question.together, question.body, context)
    return question


def _refuted(question: _Question, context: Context) -> Outcome | None:
    """A point of the outer names at which there certainly are none."""
    from gateproof.proofs_check.engine.statements import decide_claim

    wide = points(question.outer, (question.body,), context.settings.seed, REFUTATIONS * 10)
    chosen = [p for k, p in enumerate(wide) if k < 4 or k % 13 == 0][:REFUTATIONS]
    for point in chosen:
        values: dict[str, Expr] = {n: Num(v) for n, v in point.items()}
        case = substitute_node(question.stmt, values)
        assert isinstance(case, Exists)
        found = decide_claim(Claim(Scope((), ()), case), context.deeper())
        if found.truth is False:
            at = {n: rational_text(v) for n, v in point.items()}
            where = ", ".join(f"{n} = {v}" for n, v in at.items())
            step = f"at {where} there is no such {', '.join(question.inner.domains)}"
            return replace(found, steps=(step, *found.steps), witness=at)
        if found.truth is None and not found.ill_posed:
            return None
    return None


def _by_witness(question: _Question, context: Context) -> Outcome | None:
    """Values of the inner names as expressions in the outer ones."""
    from gateproof.proofs_check.engine.statements import forall

    tests = list(points(question.outer, (question.body,), context.settings.seed, FIRST_POINTS))
    proofs = 0
    for witness in islice(_witnesses(question), MAX_WITNESSES):
        goal = _goal(question, witness)
        if goal is None or not all(_true_at(goal, p) for p in tests):
            continue
        proofs += 1
        if proofs > MAX_PROOFS:
            return None
        try:
            found = forall(question.outer, goal, context.deeper())
            whole = _whole(question, witness, context)
        except (IllPosedError, NotYetError, UndecidedError):
            continue
        if found.truth is True and whole is not None:
            text = ", ".join(f"{n} = {to_text(w)}" for n, w in witness.items())
            together = conjunction([found, *whole])
            method = "a witness as an expression"
            return replace(together, method=method, steps=(f"take {text}", *together.steps))
    return None


def _witnesses(question: _Question) -> Iterator[dict[str, Expr]]:
    names = list(question.inner.domains)
    columns = [list(dict.fromkeys(_candidates(question, n))) for n in names]
    if len(names) == 1:
        yield from ({names[0]: c} for c in columns[0])
        return
    most = max(3, int(MAX_WITNESSES ** (1 / len(names))))
    for values in product(*(c[:most] for c in columns)):
        yield dict(zip(names, values, strict=True))


def _candidates(question: _Question, name: str) -> Iterator[Expr]:
    """Solutions of the body's equations, its other sides, the outer names, simple changes of them, ends."""
    outer = set(question.outer.domains)
    whole = (question.body, *question.inner.facts)
    relations = [r for s in whole for n in s.walk() if isinstance(n, Rel) for r in links_of(n)]
    sides: list[Expr] = []
    for relation in relations:
        a, b = relation.terms
        found = solved_for(name, a, b)
        sides += [f for f in found if free_names(f) <= outer]
    sides += [t for r in relations for t in r.terms if free_names(t) <= outer and not infinite_sign(t)]
    sides += [Var(n) for n in question.outer.domains]
    yield from sides
    domain = question.inner.domains[name]
    yield from (e for e in (domain.lo, domain.hi) if e is not None)
    yield from (num(k) for k in (0, 1, -1, 2))
    yield from (App("div", (App("add", pair), num(2))) for pair in combinations(dict.fromkeys(sides[:6]), 2))
    names: list[Expr] = [Var(n) for n in question.outer.domains]
    if len(names) == 2:
        yield App("add", tuple(names))
        yield App("max", tuple(names))
        yield App("min", tuple(names))
    for side in dict.fromkeys(sides):
        yield from (
            App("add", (side, num(1))),
            App("add", (side, num(-1))),
            App("neg", (side,)),
            App("sign", (side,)),
            App("div", (side, num(2))),
            App("mul", (num(2), side)),
            App("abs", (side,)),
            App("add", (App("abs", (side,)), num(1))),
            App("div", (num(1), side)),
            App("div", (num(1), App("mul", (num(2), side)))),
            App("div", (num(-1), side)),
            App("pow", (side, num(2))),
            App("sqrt", (side,)),
            App("exp", (side,)),
            App("log", (side,)),
        )


def _goal(question: _Question, witness: dict[str, Expr]) -> Stmt | None:
    """That the witness lies in its sets and makes the body true."""
    parts: list[Stmt] = []
    for name, value in witness.items():
        parts += domain_facts(value, question.inner.domains[name])
    for statement in (*question.inner.facts, question.body):
        done = substitute_node(statement, witness)
        if not isinstance(done, Stmt):
            return None
        parts.append(done)
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def _true_at(goal: Stmt, point: object) -> bool:
    try:
        # Undecided counts as true here: it may be an equality.
        return truth_at(goal, point, 256) is not False  # type: ignore[arg-type]
    except (Undefined, MaybeUndefined):
        return False


def _whole(question: _Question, witness: dict[str, Expr], context: Context) -> list[Outcome] | None:
    """That witnesses for integers are whole numbers; None where that was not shown."""
    from gateproof.proofs_check.engine.membership import decide_member

    found: list[Outcome] = []
    for name, value in witness.items():
        if question.inner.domains[name].integer:
            found.append(decide_member(question.outer, In(value, NamedSet("Z")), context))
            if found[-1].truth is not True:
                return None
    return found


def _ends(question: _Question, name: str) -> Iterator[tuple[Expr, str, bool]]:
    """The ends of an inner set: the point, the side that it is approached from, whether it belongs to it."""
    domain = question.inner.domains[name]
    yield (MINUS_INFINITY, "", False) if domain.lo is None else (domain.lo, "+", domain.lo_closed)
    yield (INFINITY, "", False) if domain.hi is None else (domain.hi, "-", domain.hi_closed)


def _by_limit(question: _Question, context: Context) -> Outcome | None:
    """At an end of the set each relation holds in the limit, strictly: so it does near that end."""
    if len(question.inner.domains) != 1 or question.inner.facts:
        return None
    (name,) = question.inner.domains
    relations = _relations(question.body)
    if relations is None or any(r.ops[0] not in _STRICT for r in relations):
        return None
    domain = question.inner.domains[name]
    for point, side, _ in _ends(question, name):
        if domain.integer and not infinite_sign(point):
            continue
        outcomes = [_limit_has_sign(question, name, r, point, side, context) for r in relations]
        shown = [o for o in outcomes if o is not None]
        if len(shown) == len(relations):
            together = conjunction(shown)
            step = f"so it holds for {name} close enough to {to_text(point)}"
            return replace(together, method="limit", steps=(*together.steps, step))
    return None


def _relations(body: Stmt) -> list[Rel] | None:
    if isinstance(body, Rel):
        return links_of(body)
    if isinstance(body, And):
        parts = [_relations(p) for p in body.parts]
        return None if any(p is None for p in parts) else [r for p in parts for r in p or ()]
    return None


def _limit_has_sign(
    question: _Question, name: str, relation: Rel, point: Expr, side: str, context: Context
) -> Outcome | None:
    (op,), (a, b) = relation.ops, relation.terms
    if infinite_sign(a) or infinite_sign(b):
        return None
    gap = App("add", (a, App("neg", (b,))))
    for sign in _STRICT[op]:
        found = _limit_sign(question, name, gap, point, side, sign, strict=True, context=context)
        if found is not None:
            return found
    return None


def _limit_sign(
    question: _Question,
    name: str,
    gap: Expr,
    point: Expr,
    side: str,
    sign: int,
    *,
    strict: bool,
    context: Context,
) -> Outcome | None:
    """That the limit of the gap at an end has a sign, for all of the outer names."""
    from gateproof.proofs_check.engine.statements import forall

    found = limit(gap, name, point, side, question.together.assumptions())
    if not isinstance(found, tuple):
        return None
    value, derivation = found
    step = f"{to_text(gap)} -> {to_text(value)} for {name} -> {to_text(point)}"
    if infinite_sign(value):
        if infinite_sign(value) != sign:
            return None
        return Outcome(True, PROVED, "limit", derivation.trust, (*derivation.steps, step))
    op = {1: ">", -1: "<"}[sign] + ("" if strict else "=")
    try:
        shown = forall(question.outer, Rel((op,), (value, num(0))), context.deeper())
    except (IllPosedError, NotYetError, UndecidedError):
        return None
    if shown.truth is not True:
        return None
    trust = tuple(dict.fromkeys((*derivation.trust, *shown.trust)))
    return replace(shown, steps=(*derivation.steps, step, *shown.steps), trust=trust)


def _between_ends(question: _Question, context: Context) -> Outcome | None:
    """An equation: its difference is continuous and has opposite signs at the two ends."""
    from gateproof.proofs_check.engine.continuity import continuous

    body = question.body
    if not isinstance(body, Rel) or body.ops != ("==",) or len(question.inner.domains) != 1:
        return None
    (name,) = question.inner.domains
    domain = question.inner.domains[name]
    if domain.integer or domain.without or question.inner.facts:
        return None
    a, b = body.terms
    if infinite_sign(a) or infinite_sign(b):
        return None
    gap = App("add", (a, App("neg", (b,))))
    smooth = continuous(gap, name, question.together)
    if smooth.truth is not True:
        return None
    for low, high in ((-1, 1), (1, -1)):
        shown: list[Outcome] = []
        for (point, side, closed), sign in zip(_ends(question, name), (low, high), strict=True):
            found = (
                _end_sign(question, name, gap, point, sign, context)
                if closed
                else _limit_sign(question, name, gap, point, side, sign, strict=True, context=context)
            )
            if found is None:
                break
            shown.append(found)
        if len(shown) == 2:
            step = f"{to_text(gap)} is continuous in {name} and changes its sign between the ends"
            return Outcome(
                True,
                conjunction(shown).rigor,
                "intermediate value theorem",
                merged_trust(smooth, *shown),
                (*(s for o in shown for s in o.steps), step),
            )
    return None


def _end_sign(
    question: _Question, name: str, gap: Expr, point: Expr, sign: int, context: Context
) -> Outcome | None:
    """The sign at an end that belongs to the set; 0 there is a solution as well."""
    from gateproof.proofs_check.engine.statements import forall

    value = substitute(gap, {name: point})
    op = {1: ">=", -1: "<="}[sign]
    try:
        shown = forall(question.outer, Rel((op,), (value, num(0))), context.deeper())
    except (IllPosedError, NotYetError, UndecidedError):
        return None
    return shown if shown.truth is True else None
