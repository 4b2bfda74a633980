"""``not P(f, x in S)`` for all values of other names.

It fails where P holds at one value of them. It holds if the inputs at which P breaks can be the same for all:
for `even`, one x0 with f(-x0) != f(x0) for every value of the other names.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.definedness import decide_defined
from gateproof.proofs_check.engine.numbers import rational_text
from gateproof.proofs_check.engine.outcome import NotYetError, Outcome, undecided
from gateproof.proofs_check.engine.predicates import together_with
from gateproof.proofs_check.engine.sample import points
from gateproof.proofs_check.engine.space import Space, build, contains
from gateproof.theory.exact.domain import Domain
from gateproof.theory.formula.library import substitute, substitute_node
from gateproof.theory.formula.nodes import App, Expr, Num, Pred, Rel, Stmt
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

_PLACES = tuple(Fraction(v) for v in ("1", "-1", "1/2", "-1/2", "2", "-2", "3", "-3", "1/8", "10"))
_VALUES = tuple(Fraction(v) for v in (0, 1, -1, 2))
_SAMPLES, _TRIED = 6, 24


def decide_not_predicate(space: Space, part: Pred, context: Context) -> Outcome:
    """``not part`` for every point of the space."""
    from gateproof.proofs_check.engine.statements import forall

    own = build(part.scope)
    if len(own.domains) != 1 or own.facts or own.vectors or space.vectors or part.name == "defined":
        raise NotYetError("'not' before a predicate in several names, or before `defined`")
    for point in _parameters(space, part, context):
        put: dict[str, Expr] = {k: Num(v) for k, v in point.items()}
        at = substitute_node(part, put)
        assert isinstance(at, Stmt)
        found = forall(Space(), at, context.deeper())
        if found.ill_posed:
            return found
        if found.truth is True:
            step = f"{to_text(at)} holds"
            witness = {k: rational_text(v) for k, v in point.items()}
            return Outcome(
                False, found.rigor, found.method, found.trust, (*found.steps, step), witness=witness
            )
    ((variable, domain),) = own.domains.items()
    if not _is_core(part.body):
        raise NotYetError("'not' before a predicate of a derivative that depends on other names")
    defined = decide_defined(together_with(own, space), part.body, context)
    if defined.truth is not True:
        return defined
    for broken in _broken(part, variable, domain):
        found = forall(space, broken, context.deeper())
        if found.truth is True:
            return found
    return undecided(f"no inputs at which {part.name} breaks for all values of the other names were found")


def _is_core(body: Expr) -> bool:
    from gateproof.theory.formula.nodes import Const, Var, Where

    return all(isinstance(n, App | Num | Var | Const | Where | Rel) for n in body.walk())


def _parameters(space: Space, part: Pred, context: Context) -> Iterator[dict[str, Fraction]]:
    """Points of the space: small whole numbers, then samples."""
    names = sorted(free_names(part) & set(space.domains))
    others = sorted(set(space.domains) - set(names))
    if not space.facts and not others:
        for values in product(_VALUES, repeat=min(len(names), 2)):
            point = dict(zip(names, values, strict=False))
            if len(point) == len(names) and all(
                contains(space.domains[n], v) is True for n, v in point.items()
            ):
                yield point
    for sample in points(space, (part,), context.settings.seed, _SAMPLES):
        yield dict(sample)


def _broken(part: Pred, variable: str, domain: Domain) -> Iterator[Rel]:
    """Relations that contradict the predicate, at inputs of its set."""
    places = [Num(v) for v in _PLACES if contains(domain, v) is True]

    def f(x: Expr) -> Expr:
        return substitute(part.body, {variable: x})

    if part.name in ("even", "odd"):
        for place in places:
            if contains(domain, -place.value) is True:
                mirrored = f(Num(-place.value))
                yield Rel(("!=",), (mirrored, f(place) if part.name == "even" else App("neg", (f(place),))))
        return
    count = 0
    for a, b in product(places, repeat=2):
        if not a.value < b.value:
            continue
        count += 1
        if count > _TRIED:
            return
        if part.name in ("increasing", "decreasing"):
            yield Rel((">" if part.name == "increasing" else "<",), (f(a), f(b)))
        elif part.name == "convex":
            middle = f(Num((a.value + b.value) / 2))
            chord = App("div", (App("add", (f(a), f(b))), Num(Fraction(2))))
            yield Rel((">",), (middle, chord))
