"""Statements on vectors: any length by symbols, fixed lengths place by place."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from gateproof.proofs_check.engine.conditions import absorbed
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.definedness import defined_everywhere
from gateproof.proofs_check.engine.outcome import (
    PROVED,
    IllPosedError,
    NotYetError,
    Outcome,
    UndecidedError,
    conjunction,
    ill_posed,
    undecided,
)
from gateproof.proofs_check.engine.sample import points
from gateproof.proofs_check.engine.space import Space, contains, infinite_sign, is_empty
from gateproof.theory.exact.vectors import expand_vectors, prove_vector_relation
from gateproof.theory.formula.expand import expand_node
from gateproof.theory.formula.nodes import And, Claim, Expr, Num, Rel, Stmt, Var
from gateproof.theory.formula.printer import to_text

#: Lengths at which a statement on vectors of any length is tried first.
_LENGTHS = (1, 2, 3, 5)
_MAX_CASES = 200


def decide_vectors(claim: Claim, space: Space, context: Context) -> Outcome:
    """Decide a relation (or several) that holds for all vectors of the scope."""
    parts = claim.body.parts if isinstance(claim.body, And) else (claim.body,)
    outcomes = []
    for part in parts:
        if not isinstance(part, Rel):
            raise NotYetError("vectors in statements other than relations")
        for op, a, b in zip(part.ops, part.terms, part.terms[1:], strict=False):
            outcomes.append(_relation(claim, space, Rel((op,), (a, b)), context))
    return conjunction(outcomes)


def _relation(claim: Claim, space: Space, relation: Rel, context: Context) -> Outcome:
    symbolic = [n for n, length in space.vectors.items() if not isinstance(length, Num)]
    checked = 0
    outcomes = []
    for lengths, values in _cases(space, symbolic):
        outcome = _fixed(claim, space, relation, lengths, values, context, full=not symbolic)
        if outcome is None:
            continue
        if outcome.truth is False or outcome.ill_posed:
            at = {**{k: str(v) for k, v in values.items()}, **(outcome.witness or {})}
            return replace(outcome, witness=at)
        if not symbolic and outcome.truth is None:
            return outcome
        checked += outcome.truth is True
        outcomes.append(outcome)
    if not symbolic:
        if not outcomes:
            raise IllPosedError("no place of the vectors is in the scope: the statement is vacuous")
        return conjunction(outcomes)
    proof = prove_vector_relation(*_sides(relation), claim.scope)
    if proof is None:
        return undecided("no proof for vectors of any length was found")
    steps = (*proof.steps, f"held against {checked} cases of fixed length")
    return Outcome(True, PROVED, "symbolic proof", tuple(dict.fromkeys((*proof.trust, "arb"))), steps)


def _sides(relation: Rel) -> tuple[Expr, str, Expr]:
    (op,), (a, b) = relation.ops, relation.terms
    return a, op, b


def _cases(space: Space, symbolic: list[str]) -> Iterator[tuple[dict[str, int], dict[str, int]]]:
    """Lengths of the vectors and values of the integer names, small ones first."""
    sizes: set[str] = set()
    for name in symbolic:
        length = space.vectors[name]
        if not isinstance(length, Var):
            raise NotYetError("a vector length that is not a name or a number")
        sizes.add(length.name)
    names = sorted(sizes)
    given = 0
    for chosen in itertools.product(_LENGTHS, repeat=len(names)):
        values: dict[str, int] = dict(zip(names, chosen, strict=True))
        if not all(contains(space.domains[n], Fraction(v)) for n, v in values.items()):
            continue
        lengths = {}
        for name, length in space.vectors.items():
            lengths[name] = values[length.name] if isinstance(length, Var) else _whole(length)
        for places in _places(space, values):
            yield lengths, {**values, **places}
            given += 1
            if given >= _MAX_CASES:
                return


def _whole(length: Expr) -> int:
    if not isinstance(length, Num) or length.value.denominator != 1 or length.value < 1:
        raise IllPosedError(f"a vector has no {to_text(length)} places")
    return int(length.value)


def _places(space: Space, values: dict[str, int]) -> Iterator[dict[str, int]]:
    ranges = []
    for name, (lo, hi) in space.index_ranges.items():
        first, last = (_value(e, values) for e in (lo, hi))
        ranges.append([(name, k) for k in range(first, last + 1)])
    for chosen in itertools.product(*ranges):
        yield dict(chosen)


def _value(node: Expr, values: dict[str, int]) -> int:
    if isinstance(node, Num) and node.value.denominator == 1:
        return int(node.value)
    if isinstance(node, Var) and node.name in values:
        return values[node.name]
    raise NotYetError(f"a range with the end {to_text(node)}")


def _fixed(
    claim: Claim,
    space: Space,
    relation: Rel,
    lengths: dict[str, int],
    values: dict[str, int],
    context: Context,
    *,
    full: bool,
) -> Outcome | None:
    """One case of fixed length: decided (full), or searched for a failure only."""
    from gateproof.proofs_check.engine.relation import decide_relation
    from gateproof.proofs_check.engine.witness import search

    try:
        node, places = expand_vectors(relation, lengths, values)
        conditions = [expand_node(expand_vectors(c, lengths, values)[0]) for c in claim.scope.conditions]
    except ValueError as error:
        raise IllPosedError(str(error)) from None
    done = expand_node(node)
    assert isinstance(done, Stmt)
    if not isinstance(done, Rel) or any(infinite_sign(n) for n in done.walk() if isinstance(n, Expr)):
        return None
    others = {k: d for k, d in space.domains.items() if k not in space.vectors and k not in values}
    entries = {f"{z}_{k}": space.domains[z] for z, n in lengths.items() for k in range(1, n + 1)}
    assert entries.keys() == places.keys()
    facts = tuple(c for c in conditions if isinstance(c, Stmt))
    scalars = absorbed(Space({**others, **entries}, facts))
    if any(is_empty(domain) for domain in scalars.domains.values()):
        return None
    if scalars.facts and next(points(scalars, (done,), context.settings.seed, 1), None) is None:
        if full:
            raise UndecidedError("no point was found that meets the conditions")
        return None
    for fact in scalars.facts:
        defined_everywhere(replace(scalars, facts=()), fact, context)
    if full:
        return decide_relation(scalars, done, context.deeper())
    failure = search(scalars, done, context.settings.seed, 40)
    if failure is None:
        return Outcome(True)
    return ill_posed(failure.reason, failure.witness) if failure.ill_posed else failure
