"""Parameters removed by a change of names: x = y/tau for a factor, x = y + h for a shift."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import combinations

from gateproof.theory.exact import balls
from gateproof.theory.exact.budget import bounded
from gateproof.theory.exact.domain import Assumptions, Derivation, Domain
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Num, Var, num
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

#: Where identities are tried first.
_PROBES = tuple(Fraction(v) for v in ("3/7", "5/3", "2/9", "7/5", "11/4"))
_POWERS = (1, 0, -1, 2, -2, 3)
#: Names that are scaled together.
MAX_TOGETHER = 3
Removed = tuple[Expr, Expr, Assumptions, Derivation]


@bounded
def remove_parameter(lhs: Expr, op: str, rhs: Expr, assumptions: Assumptions) -> Removed | None:
    """An equivalent relation with one name less, or None.

    For a parameter tau in (0, oo) and names x, ... whose domains are kept by positive factors:
    where tau**k f(x/tau, ..., tau) = f(x, ..., 1) for both sides f, the relation for all tau is
    that for tau = 1. For a name h and an x over R: where f(x + h, h) = f(x, 0) for both sides, it
    is that for h = 0. The identities are proved, so both sides are defined as well.
    """
    bound = {name for fact in assumptions.facts for name in free_names(fact)}
    used = free_names(lhs) | free_names(rhs)
    free = {n: d for n, d in assumptions.domains.items() if n not in bound and n in used}
    for h in reversed(list(free)):
        for x, other in free.items():
            if x != h and _is_line(other) and not free[h].integer:
                found = _shifted(lhs, op, rhs, assumptions, h, x)
                if found is not None:
                    return found
    for tau, domain in reversed(list(free.items())):
        if not _is_positive_line(domain):
            continue
        for names in _together([n for n, d in free.items() if n != tau and _is_scale_free(d)]):
            found = _scaled(lhs, op, rhs, assumptions, tau, names)
            if found is not None:
                return found
    return None


def _together(names: list[str]) -> Iterator[tuple[str, ...]]:
    for size in range(1, min(len(names), MAX_TOGETHER) + 1):
        yield from combinations(names, size)


def _is_line(domain: Domain) -> bool:
    return domain.lo is None and domain.hi is None and not domain.integer and not domain.without


def _is_positive_line(domain: Domain) -> bool:
    lo_zero = isinstance(domain.lo, Num) and domain.lo.value == 0 and not domain.lo_closed
    return lo_zero and domain.hi is None and not domain.integer and not domain.without


def _is_scale_free(domain: Domain) -> bool:
    points = [p for p in (domain.lo, domain.hi, *domain.without) if p is not None]
    return not domain.integer and all(isinstance(p, Num) and p.value == 0 for p in points)


def _without(assumptions: Assumptions, name: str) -> Assumptions:
    domains = {k: d for k, d in assumptions.domains.items() if k != name}
    return Assumptions(domains, assumptions.facts)


def _moved(
    sides: tuple[Expr, Expr],
    targets: tuple[Expr, ...],
    put: Mapping[str, Expr],
    factor: Expr | None,
    assumptions: Assumptions,
) -> Derivation | None:
    """Both sides with names replaced (and a factor) proved equal to the targets."""
    steps: list[str] = []
    trust: set[str] = set()
    wholes = [substitute(s, put) for s in sides]
    wholes = [w if factor is None else App("mul", (factor, w)) for w in wholes]
    names = sorted({n for w in wholes for n in free_names(w)})
    for k in (0, 1):
        # Unequal at a point where all names are positive: not worth an argument.
        at = {n: _PROBES[(i + 2 * k) % len(_PROBES)] for i, n in enumerate(names)}
        if any(balls.differ(w, t, at) for w, t in zip(wholes, targets, strict=True)):
            return None
    for whole, target in zip(wholes, targets, strict=True):
        shown = prove_relation(whole, "==", target, assumptions)
        if shown is None:
            return None
        steps.append(f"{to_text(whole)} = {to_text(target)}")
        trust |= set(shown.trust)
    return Derivation(tuple(steps), tuple(sorted(trust)))


def _shifted(lhs: Expr, op: str, rhs: Expr, assumptions: Assumptions, h: str, x: str) -> Removed | None:
    targets = tuple(substitute(s, {h: num(0)}) for s in (lhs, rhs))
    for sign in (1, -1):
        step: Expr = Var(h) if sign > 0 else App("neg", (Var(h),))
        put = {x: App("add", (Var(x), step))}
        shown = _moved((lhs, rhs), targets, put, None, assumptions)
        if shown is None:
            continue
        first = f"put {to_text(put[x])} for {x}, which ranges over R as well"
        last = f"so for all {h} it is: {to_text(targets[0])} {op} {to_text(targets[1])}"
        derivation = Derivation((first, *shown.steps, last), shown.trust)
        return targets[0], targets[1], _without(assumptions, h), derivation
    return None


def _scaled(
    lhs: Expr, op: str, rhs: Expr, assumptions: Assumptions, tau: str, names: tuple[str, ...]
) -> Removed | None:
    targets = tuple(substitute(s, {tau: num(1)}) for s in (lhs, rhs))
    put = {x: App("div", (Var(x), Var(tau))) for x in names}
    for k in _POWERS:
        factor = App("pow", (Var(tau), num(k)))
        shown = _moved((lhs, rhs), targets, put, factor if k else None, assumptions)
        if shown is None:
            continue
        first = f"for {tau} > 0 put " + ", ".join(f"{x}/{tau} for {x}" for x in names)
        first += f" and multiply both sides by {to_text(factor)} > 0" if k else ""
        last = f"so for all {tau} it is: {to_text(targets[0])} {op} {to_text(targets[1])}"
        derivation = Derivation((first, *shown.steps, last), shown.trust)
        return targets[0], targets[1], _without(assumptions, tau), derivation
    return None
