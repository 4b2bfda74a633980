"""Sums and products with a symbolic, infinite or long range, and powers of a whole n."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from gateproof.numerics.errors import MaybeUndefined, Undefined
from gateproof.numerics.points import truth_at
from gateproof.proofs_check.engine.conditions import absorbed
from gateproof.proofs_check.engine.numbers import rational_text
from gateproof.proofs_check.engine.outcome import (
    PROVED,
    IllPosedError,
    NotYetError,
    Outcome,
    UndecidedError,
    undecided,
)
from gateproof.proofs_check.engine.space import Space, contains, infinite_sign
from gateproof.theory.exact.closed_sums import closed_form, exact_value, infinite_sum
from gateproof.theory.exact.domain import Domain
from gateproof.theory.exact.limits import NoLimit, limit
from gateproof.theory.exact.series_problem import body_defined, series_in
from gateproof.theory.exact.summation import prove_for_all_n
from gateproof.theory.formula.library import substitute_node
from gateproof.theory.formula.nodes import App, Const, Expr, Num, Rel, Series, Stmt, Var, num
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.rewriting import joined
from gateproof.theory.formula.scopes import free_names

#: Values of n at which a statement is tried before a proof for every n is looked for.
FIRST_VALUES = 6
#: Terms written out, and terms of rational numbers added exactly.
MAX_WRITTEN = 500
MAX_EXACT = 200_000
Decide = Callable[[Space, Rel], Outcome]


def decide_sums(space: Space, relation: Rel, decide: Decide) -> Outcome | None:
    """A relation with a sum up to a symbolic n, or powers of a whole n; None where there is none."""
    names = {n for s in series_in(relation) for e in (s.lo, s.hi) for n in free_names(e)}
    if not names:
        return _whole_powers(space, relation)
    if len(names) > 1:
        raise NotYetError("sums whose ends depend on several names")
    (name,) = names
    if name not in space.domains or not space.domains[name].integer or space.vectors:
        raise NotYetError(f"a sum up to {name}, which is no whole number of the scope")
    checked = 0
    failure: Outcome | None = None
    for value in _values(space.domains[name]):
        at = _at(space, relation, name, value)
        if at is None:
            continue
        found = decide(*at)
        witness = {name: rational_text(value), **(found.witness or {})}
        if found.ill_posed:
            return replace(found, witness=witness)
        if found.truth is False and failure is None:
            failure = replace(found, witness=witness)
        checked += found.truth is True
    if failure is not None:
        return failure
    (op,), (a, b) = relation.ops, relation.terms
    proof = prove_for_all_n(a, op, b, name, space.assumptions())
    if proof is None:
        return undecided(
            f"no closed form and no induction over {name} was found; {checked} values of it hold"
        )
    steps = (*proof.steps, f"held against {checked} values of {name}, each decided by itself")
    return Outcome(True, PROVED, "induction", tuple(dict.fromkeys((*proof.trust, "arb"))), steps)


def _whole_powers(space: Space, relation: Rel) -> Outcome | None:
    """Powers with a whole name in the exponent, where every value of it is served by one argument."""
    if space.vectors or len(relation.ops) != 1:
        return None
    names = {
        n
        for node in relation.walk()
        if isinstance(node, App) and node.head == "pow"
        for n in free_names(node.args[1])
        if n in space.domains and space.domains[n].integer
    }
    if len(names) != 1 or any(not _is_plain(t) for t in relation.terms):
        return None
    (name,) = names
    (op,), (a, b) = relation.ops, relation.terms
    for value in _values(space.domains[name])[:3]:
        at = _at(space, relation, name, value)
        failure = _failure(*at) if at is not None else None
        if failure is not None:
            witness = {name: rational_text(value), **(failure.witness or {})}
            return None if failure.ill_posed else replace(failure, witness=witness)
    proof = prove_for_all_n(a, op, b, name, space.assumptions())
    if proof is None:
        return None
    return Outcome(True, PROVED, "induction", proof.trust, proof.steps)


def _failure(space: Space, relation: Rel) -> Outcome | None:
    from gateproof.proofs_check.engine.witness import search

    return search(space, relation, 0, 20)


def _is_plain(node: Expr) -> bool:
    return all(isinstance(n, App | Num | Var | Const) for n in node.walk())


def _values(domain: Domain) -> list[Fraction]:
    """The first whole numbers of a domain, or those around 0 where it has no lower end."""
    from gateproof.numerics.points import enclosure

    if domain.lo is None:
        start = -3
    else:
        lo = enclosure(domain.lo)[0]
        start = -((-lo.numerator) // lo.denominator)
    found = [Fraction(k) for k in range(start, start + FIRST_VALUES + 3)]
    return [v for v in found if contains(domain, v)][:FIRST_VALUES]


def _at(space: Space, relation: Rel, name: str, value: Fraction) -> tuple[Space, Rel] | None:
    """The space and relation for one n; None where a condition fails there or cannot be told."""
    point: dict[str, Expr] = {name: Num(value)}
    facts: list[Stmt] = []
    for fact in space.facts:
        put = substitute_node(fact, point)
        assert isinstance(put, Stmt)
        if free_names(put):
            facts.append(put)
            continue
        try:
            if truth_at(put, {}, 256) is not True:
                return None
        except (Undefined, MaybeUndefined):
            return None
    done = substitute_node(relation, point)
    assert isinstance(done, Rel)
    return absorbed(replace(space.without(name), facts=tuple(facts))), done


# --- sums that have a value of their own --------------------------------------


def value_of(node: Series, space: Space) -> tuple[Expr, str]:
    """A sum or product over a range of numbers, or up to oo, as an expression; and a step.

    Raises IllPosedError for ends that are no whole numbers, and for a sum without a limit.
    """
    if infinite_sign(node.hi) > 0 and constant_value(node.lo) is not None:
        return _infinite(node, space)
    lo, hi = constant_value(node.lo), constant_value(node.hi)
    if lo is None or hi is None:
        raise NotYetError(f"{node.op} with a symbolic range")
    if lo.denominator != 1 or hi.denominator != 1:
        raise IllPosedError(f"the ends of {to_text(node)} are not whole numbers")
    if hi - lo <= MAX_WRITTEN:
        terms = tuple(_put(node.body, node.index, k) for k in range(int(lo), int(hi) + 1))
        return joined(node.op, terms), ""
    given = space.assumptions()
    closed = closed_form(node, given)
    if closed is not None and body_defined(node, int(lo), given):
        return closed, f"{to_text(node)} = {to_text(closed)}"
    exact = exact_value(node, MAX_EXACT)
    if exact is None:
        raise NotYetError(f"{node.op} with a long range and terms that are not rational")
    return Num(exact), f"{to_text(node)} added exactly"


def _put(body: Expr, index: str, value: int) -> Expr:
    done = substitute_node(body, {index: num(value)})
    assert isinstance(done, Expr)
    return done


def _infinite(node: Series, space: Space) -> tuple[Expr, str]:
    """A geometric sum by its formula, others by the limit of a closed form of the partial sums."""
    if node.op != "sum":
        raise NotYetError("a product up to oo")
    given = space.assumptions()
    if not body_defined(node, _whole(node.lo), given):
        raise UndecidedError(f"it was not shown that every term of {to_text(node)} has a value")
    geometric = infinite_sum(node, given)
    if geometric is not None:
        return geometric, f"{to_text(node)} = {to_text(geometric)}, a power series inside its disc"
    upper = "m"
    while upper in {*given.domains, node.index, *free_names(node.body)}:
        upper += "_"
    partial = Series(node.op, node.body, node.index, node.lo, Var(upper))
    closed = closed_form(partial, given)
    if closed is None:
        raise NotYetError("a sum up to oo without a closed form of its partial sums")
    found = limit(closed, upper, node.hi, "", given)
    if found is None or isinstance(found, NoLimit):
        # A limit along the reals is one along the whole numbers, but not the other way round.
        raise UndecidedError(f"the limit of {to_text(closed)} was not found")
    return found[0], f"{to_text(partial)} = {to_text(closed)} -> {to_text(found[0])}"


def _whole(node: Expr) -> int:
    value = constant_value(node)
    if value is None or value.denominator != 1:
        raise IllPosedError(f"{to_text(node)} is not a whole number")
    return int(value)
