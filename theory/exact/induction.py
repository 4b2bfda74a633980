"""One step of an induction: from a relation at n to the same at n + 1."""

from __future__ import annotations

from dataclasses import replace

from gateproof.theory.exact import polys
from gateproof.theory.exact.cases import domain_facts, solve_for_name
from gateproof.theory.exact.closed_sums import folded
from gateproof.theory.exact.conditions import ALLOWED
from gateproof.theory.exact.defined import prove_defined
from gateproof.theory.exact.domain import Assumptions, Derivation, Domain
from gateproof.theory.exact.integer_powers import Powers, linear_in
from gateproof.theory.exact.monotone import in_workspace
from gateproof.theory.exact.normal import Workspace
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.exact.series_problem import (
    MAX_STEP,
    Failed,
    Problem,
    ends_of,
    series_in,
    value_range,
    with_n,
)
from gateproof.theory.exact.sign import product, squared
from gateproof.theory.exact.sign_rules import sum_of
from gateproof.theory.formula.library import substitute, substitute_node
from gateproof.theory.formula.nodes import App, Expr, Series, Stmt, Var, num
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.rewriting import replaced


def explained(powers: Powers) -> list[str]:
    """What the names of powers stand for."""
    return [f"write {label} for {to_text(base)}**{powers.name}" for base, label in powers.names.items()]


def step(problem: Problem, first: int, series: list[Series]) -> Derivation:
    """The relation at n + 1 from that at n, for every n >= first. Raises Failed."""
    name, taken = problem.name, problem.taken()
    put_now: dict[Expr, Expr] = {}
    put_next: dict[Expr, Expr] = {}
    labels: dict[str, Series] = {}
    after = {name: App("add", (Var(name), num(1)))}
    for s in series:
        label = "S"
        while label in taken:
            label += "_"
        taken.add(label)
        labels[label] = s
        put_now[s] = Var(label)
        moved = folded(substitute(s, after))
        put_next[moved] = _grown(s, Var(label), name)
    now = tuple(replaced(s, put_now) for s in problem.sides())
    later = tuple(replaced(folded(substitute(s, after)), put_next) for s in problem.sides())
    later = tuple(_inner_named(s, name, first, labels, put_now, taken) for s in later)
    if series_in(*now, *later):
        raise Failed
    powers = Powers(name, first, problem.rest, taken)
    now, later = (tuple(powers.expr(s) for s in sides) for sides in (now, later))
    given = with_n(problem, first)
    head = [f"step: for {name} >= {first} let it hold at {name}, and show it at {name} + 1"]
    head += [f"  write {label} for {to_text(s)}" for label, s in labels.items()] + explained(powers)
    trust: set[str] = set()
    ranges = {label: value_range(s, given) for label, s in labels.items()}
    for put, domains, facts in powers.cases():
        wide = Assumptions({**given.domains, **domains, **ranges}, (*given.facts, *facts))
        a, b, c, d = (substitute(s, put) for s in (*now, *later))
        shown = _one_step((a, b), problem.op, (c, d), wide, list(labels))
        head += ["  " + s for s in shown.steps]
        trust |= set(shown.trust)
    return Derivation(tuple(head), tuple(sorted(trust)))


def _inner_named(
    side: Expr,
    name: str,
    first: int,
    labels: dict[str, Series],
    put_now: dict[Expr, Expr],
    taken: set[str],
) -> Expr:
    """A side at n + 1 with what is left of sums that stood in others told by sums up to n.

    The sum of k k! gains (n + 1) (n + 1)!, and (n + 1)! is (n + 1) n!, whatever n! is.
    """
    put: dict[Expr, Expr] = {}
    for found in series_in(side):
        whole = next(
            (v for s, v in put_now.items() if isinstance(s, Series) and _alike(s, found, 0, name)), None
        )
        if whole is not None:
            put[found] = whole
            continue
        line = linear_in(found.hi, name)
        lo = constant_value(found.lo)
        if line is None or line[0] != 1 or not 0 <= line[1] <= MAX_STEP or lo is None:
            raise Failed
        if lo > first + 1:
            # Below its first term a sum that grows is not the last one with a term added.
            raise Failed
        known = next(
            (
                (s, v, d)
                for s, v in put_now.items()
                for d in range(1, line[1] + 1)
                if isinstance(s, Series) and _alike(s, found, d, name)
            ),
            None,
        )
        if known is None:
            label = "P"
            while label in taken:
                label += "_"
            taken.add(label)
            upto = replace(found, hi=Var(name))
            labels[label], put_now[upto] = upto, Var(label)
            known = (upto, Var(label), line[1])
        base, value, count = known
        gained = [folded(App("add", (base.hi, num(j)))) for j in range(1, count + 1)]
        terms = [folded(substitute(found.body, {found.index: k})) for k in gained]
        put[found] = App("add" if found.op == "sum" else "mul", (value, *terms)) if terms else value
    return replaced(side, put)


def _alike(series: Series, other: Series, ahead: int, name: str) -> bool:
    """Whether the other is the same sum with an upper end that is so much larger."""
    here, there = linear_in(series.hi, name), linear_in(other.hi, name)
    if series.op != other.op or series.lo != other.lo or here is None or there is None:
        return False
    if there != (here[0], here[1] + ahead):
        return False
    return substitute(other.body, {other.index: Var(series.index)}) == series.body


def _grown(series: Series, value: Expr, name: str) -> Expr:
    """S(n+1) from S(n): new terms at the upper end, less those dropped at the lower one."""
    (a, _), (c, _) = ends_of(series, name)
    gained = [App("add", (series.hi, num(j))) for j in range(1, c + 1)]
    lost = [App("add", (series.lo, num(j))) for j in range(a)]
    if series.op == "prod" and lost:
        raise Failed
    terms = [folded(substitute(series.body, {series.index: k})) for k in gained]
    terms += [App("neg", (folded(substitute(series.body, {series.index: k})),)) for k in lost]
    return App("add" if series.op == "sum" else "mul", (value, *terms))


def _one_step(
    now: tuple[Expr, Expr], op: str, later: tuple[Expr, Expr], given: Assumptions, labels: list[str]
) -> Derivation:
    """The relation at n + 1 from that at n: by solving, by adding both, or from it as a fact."""
    # The hypothesis and the conclusion have a value for every value of the sums.
    for side in (*now, *later):
        if prove_defined(side, given) is None:
            raise Failed
    if op == "==" and labels:
        solved = _solved(now, given, labels)
        if solved is not None:
            label, value = solved
            a, b = (substitute(s, {label: value}) for s in later)
            inner = Assumptions({k: v for k, v in given.domains.items() if k != label}, given.facts)
            shown = prove_relation(a, op, b, inner)
            if shown is not None:
                return Derivation((f"so {label} = {to_text(value)}", *shown.steps), shown.trust)
        shown = _difference(now, op, later, given)
        if shown is None:
            raise Failed
        return shown
    if op in ("==", "!="):
        raise Failed
    shown = _difference(now, op, later, given)
    if shown is None:
        shown = _through_slack(now, op, later, given, labels)
    if shown is None:
        raise Failed
    return shown


def _difference(
    now: tuple[Expr, Expr], op: str, later: tuple[Expr, Expr], given: Assumptions
) -> Derivation | None:
    """left - right is no further from the relation at n + 1 than at n."""
    weak = {"<": "<=", ">": ">="}.get(op, op)
    before, after = (App("add", (p[0], App("neg", (p[1],)))) for p in (now, later))
    shown = prove_relation(after, weak, before, given)
    if shown is None:
        return None
    line = f"left - right at n + 1 {weak} left - right at n"
    return Derivation((line, *shown.steps), shown.trust)


def _through_slack(
    now: tuple[Expr, Expr], op: str, later: tuple[Expr, Expr], given: Assumptions, labels: list[str]
) -> Derivation | None:
    """The hypothesis as left - right = T with T of known sign, solved for one name."""
    slack = "T"
    while slack in given.domains:
        slack += "_"
    closed = op.endswith("=")
    range_ = Domain(lo=num(0), lo_closed=closed) if op[0] == ">" else Domain(hi=num(0), hi_closed=closed)
    shifted = (App("add", (now[0], App("neg", (Var(slack),)))), now[1])
    powers = [k for k in given.domains if k not in labels]
    wider = Assumptions({**given.domains, slack: range_}, given.facts)
    for label in (*labels, *reversed(powers)):
        solved = _solved(shifted, wider, [label])
        if solved is None:
            continue
        name, value = solved
        a, b = (substitute(s, {name: value}) for s in later)
        facts = facts_at(given.facts, {name: value})
        inner = Assumptions(
            {k: v for k, v in wider.domains.items() if k != name},
            (*facts, *domain_facts(value, given.domains[name])),
        )
        shown = prove_relation(a, op, b, inner) or _by_parts(a, op, b, inner, slack)
        if shown is not None:
            line = f"with {slack} = left - right at n, {slack} {op} 0: {name} = {to_text(value)}"
            return Derivation((line, *shown.steps), shown.trust)
    return None


def _by_parts(a: Expr, op: str, b: Expr, given: Assumptions, slack: str) -> Derivation | None:
    """left - right as a polynomial in the slack whose terms all have the sign wanted."""
    allowed = ALLOWED[op]

    def check(ws: Workspace) -> bool:
        gap = ws.sub(ws.form(a), ws.form(b))
        at = next((x.index for x in ws.atoms if x.kind == "name" and x.name == slack), None)
        bottom = ws.signs.of(gap.den)
        if at is None or bottom not in ({1}, {-1}):
            return False
        signs: frozenset[int] = frozenset({0})
        own = ws.signs.of_atom(at)
        for k, part in polys.coefficients_in(gap.num, at).items():
            power = own if k % 2 else squared(own) if k else frozenset({1})
            signs = sum_of(signs, product(product(ws.signs.of(part), bottom), power))
        return signs <= allowed

    if prove_defined(a, given) is None or prove_defined(b, given) is None:
        return None
    if in_workspace(given, check) is not True:
        return None
    return Derivation((f"every part of left - right at n + 1 as a polynomial in {slack} has its sign",))


def _solved(now: tuple[Expr, Expr], given: Assumptions, labels: list[str]) -> tuple[str, Expr] | None:
    """The hypothesis solved for one of the sums."""

    def solve(ws: Workspace) -> tuple[str, Expr] | None:
        gap = ws.sub(ws.form(now[0]), ws.form(now[1]))
        if gap.is_zero:
            return None
        return solve_for_name(ws, gap.num)

    for label in labels:
        # The name asked for comes first among the generators.
        domains = {label: given.domains[label], **{k: v for k, v in given.domains.items() if k != label}}
        found = in_workspace(Assumptions(domains, given.facts), solve)
        if found is not None and found[0] == label:
            return found
    return None


def facts_at(facts: tuple[Stmt, ...], point: dict[str, Expr]) -> tuple[Stmt, ...]:
    """The facts with values put in."""
    done = [substitute_node(f, point) for f in facts]
    return tuple(f for f in done if isinstance(f, Stmt))
