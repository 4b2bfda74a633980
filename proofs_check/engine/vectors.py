"""Statements on vectors: any length by symbols, fixed lengths place by place."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from gateproof.numerics.errors import MaybeUndefined, Undefined
from gateproof.numerics.points import truth_at
from gateproof.proofs_check.engine.conditions import absorbed
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.definedness import defined_everywhere
from gateproof.proofs_check.engine.outcome import (
    PROVED,
    IllPosedError,
    NotYetError,
    Outcome,
    UndecidedError,
    VacuousError,
    conjunction,
    ill_posed,
    undecided,
)
from gateproof.proofs_check.engine.sample import points
from gateproof.proofs_check.engine.space import Space, contains, infinite_sign, is_empty
from gateproof.proofs_check.engine.termwise import by_terms
from gateproof.theory.exact import infinity
from gateproof.theory.exact.domain import Assumptions
from gateproof.theory.exact.vector_expand import NoPlace, NoProbability, NotExpanded, expand_vectors
from gateproof.theory.exact.vector_reduction import NoValue
from gateproof.theory.exact.vectors import prove_vector_relation
from gateproof.theory.formula.expand import expand_node
from gateproof.theory.formula.nodes import And, Claim, Expr, Implies, Node, Num, Or, Rel, Scope, Stmt, Var
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

#: Lengths at which a statement on vectors of any length is tried first.
_LENGTHS = (1, 2, 3, 5)
#: Cases of fixed length, and vectors up to this length with some places at -oo.
_MAX_CASES = 200
_MAX_MASKED = 3
#: One place that is -oo.
Masked = frozenset[tuple[str, int]]


def decide_vectors(claim: Claim, space: Space, context: Context) -> Outcome:
    """Decide a relation (or several) that holds for all vectors of the scope."""
    _names_apart(claim, space)
    body = claim.body
    if isinstance(body, Implies):
        premise = body.left.parts if isinstance(body.left, And) else (body.left,)
        if not all(isinstance(p, Rel) for p in premise):
            raise NotYetError("vectors in a premise other than relations")
        scope = Scope(claim.scope.binds, (*claim.scope.conditions, *premise))
        return decide_vectors(Claim(scope, body.right), space.given(*premise), context)
    parts = body.parts if isinstance(body, And) else (body,)
    outcomes = []
    for part in parts:
        if not isinstance(part, Rel):
            raise NotYetError("vectors in statements other than relations")
        for op, a, b in zip(part.ops, part.terms, part.terms[1:], strict=False):
            outcomes.append(_relation(claim, space, Rel((op,), (a, b)), context))
    return conjunction(outcomes)


def _names_apart(claim: Claim, space: Space) -> None:
    """Raise NotYetError where a name of the statement is that of a place written out."""
    used = {n.name for n in claim.walk() if isinstance(n, Var)} | {b.name for b in claim.scope.binds}
    for name in sorted(used):
        vector = next((z for z in space.vectors if name.startswith(f"{z}_")), None)
        if vector is not None:
            raise NotYetError(f"the name {name} beside the vector {vector}")


def _relation(claim: Claim, space: Space, relation: Rel, context: Context) -> Outcome:
    symbolic = [n for n, length in space.vectors.items() if not isinstance(length, Num)]
    full = not symbolic and not space.masked
    checked = 0
    outcomes = []
    for lengths, values, masked in _cases(space, symbolic):
        outcome = _fixed(claim, space, relation, lengths, values, masked, context, full=full)
        if outcome is None:
            continue
        if outcome.truth is False or outcome.ill_posed:
            at = {**{k: str(v) for k, v in values.items()}, **(outcome.witness or {})}
            at |= {f"{z}_{k}": "-oo" for z, k in sorted(masked)}
            return replace(outcome, witness=at)
        if full and outcome.truth is None:
            return outcome
        checked += outcome.truth is True
        outcomes.append(outcome)
    if not outcomes and not symbolic:
        raise VacuousError("no place of the vectors is in the scope: the statement is vacuous")
    if full:
        return conjunction(outcomes)
    if not checked:
        return undecided("no vector was found that meets the conditions")
    termwise = by_terms(space, relation, context)
    if termwise is not None:
        return replace(termwise, steps=(*termwise.steps, f"held against {checked} cases of fixed length"))
    return _for_any_length(claim, space, relation, checked)


def _for_any_length(claim: Claim, space: Space, relation: Rel, checked: int) -> Outcome:
    scalars = {
        k: d for k, d in space.domains.items() if k not in space.vectors and k not in space.index_ranges
    }
    try:
        proof = prove_vector_relation(*_sides(relation), claim.scope, Assumptions(scalars))
    except NoValue as error:
        return ill_posed(str(error), dict.fromkeys(space.masked, "-oo at every place"))
    if proof is None:
        return undecided("no proof for vectors of any length was found")
    steps = (*proof.steps, f"held against {checked} cases of fixed length")
    return Outcome(True, PROVED, "symbolic proof", tuple(dict.fromkeys((*proof.trust, "arb"))), steps)


def _sides(relation: Rel) -> tuple[Expr, str, Expr]:
    (op,), (a, b) = relation.ops, relation.terms
    return a, op, b


def _cases(space: Space, symbolic: list[str]) -> Iterator[tuple[dict[str, int], dict[str, int], Masked]]:
    """Lengths of the vectors, values of the integer names and masked places, small ones first."""
    sizes: set[str] = set()
    for name in symbolic:
        length = space.vectors[name]
        if not isinstance(length, Var):
            raise NotYetError("a vector length that is not a name or a number")
        sizes.add(length.name)
    names = sorted(sizes)
    for n in names:
        if contains(space.domains[n], Fraction(0)):
            raise IllPosedError(f"a vector has no 0 places, and {n} may be 0")
    given = 0
    for chosen in itertools.product(_LENGTHS, repeat=len(names)):
        values: dict[str, int] = dict(zip(names, chosen, strict=True))
        if not all(contains(space.domains[n], Fraction(v)) for n, v in values.items()):
            continue
        lengths = {}
        for name, length in space.vectors.items():
            lengths[name] = values[length.name] if isinstance(length, Var) else _whole(length)
        for places in _places(space, values):
            for masked in _masks(space, lengths):
                yield lengths, {**values, **places}, masked
                given += 1
                if given >= _MAX_CASES:
                    return


def _masks(space: Space, lengths: dict[str, int]) -> Iterator[Masked]:
    """No place masked; then, of short vectors, every choice of masked places."""
    yield frozenset()
    places = [(z, k) for z in sorted(space.masked) for k in range(1, lengths[z] + 1)]
    if len(places) > _MAX_MASKED:
        return
    for count in range(1, len(places) + 1):
        for chosen in itertools.combinations(places, count):
            yield frozenset(chosen)


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
    masked: Masked,
    context: Context,
    *,
    full: bool,
) -> Outcome | None:
    """One case of fixed length: decided (full), or searched for a failure only."""
    conditions = _conditions(claim, lengths, values, masked)
    if conditions is None:
        return None
    try:
        node, places = expand_vectors(relation, lengths, values, masked)
    except NoPlace as error:
        return ill_posed(str(error)) if not conditions else None
    except NoProbability as error:
        return ill_posed(str(error)) if not conditions else None
    except NotExpanded as error:
        raise NotYetError(f"over a vector: {error}") from None
    done = _folded(expand_node(node))
    if isinstance(done, bool):
        if done or conditions:
            return Outcome(True) if done else None
        step = f"at this vector the relation {to_text(relation)} is between infinite values and fails"
        return Outcome(False, method="order of the extended reals", trust=("flint",), steps=(step,))
    if not isinstance(done, Rel) or any(infinite_sign(n) for n in done.walk() if isinstance(n, Expr)):
        return None
    others = {k: d for k, d in space.domains.items() if k not in space.vectors and k not in values}
    entries = {
        f"{z}_{k}": space.domains[z]
        for z, n in lengths.items()
        for k in range(1, n + 1)
        if (z, k) not in masked
    }
    assert entries.keys() == places.keys()
    scalars = absorbed(Space({**others, **entries}, conditions))
    if any(is_empty(domain) for domain in scalars.domains.values()):
        return None
    if scalars.facts and next(points(scalars, (done,), context.settings.seed, 1), None) is None:
        if full:
            raise UndecidedError("no point was found that meets the conditions")
        return None
    for fact in scalars.facts:
        defined_everywhere(replace(scalars, facts=()), fact, context)
    return _searched(scalars, done, context, full=full)


def _searched(scalars: Space, done: Rel, context: Context, *, full: bool) -> Outcome:
    from gateproof.proofs_check.engine.relation import decide_relation
    from gateproof.proofs_check.engine.witness import search

    if full:
        return decide_relation(scalars, done, context.deeper())
    failure = search(scalars, done, context.settings.seed, 40)
    if failure is None:
        return Outcome(True)
    return ill_posed(failure.reason, failure.witness) if failure.ill_posed else failure


def _conditions(
    claim: Claim, lengths: dict[str, int], values: dict[str, int], masked: Masked
) -> tuple[Stmt, ...] | None:
    """The conditions of the scope in one case that are still open; None where one of them fails."""
    kept: list[Stmt] = []
    for condition in claim.scope.conditions:
        try:
            node = expand_node(expand_vectors(condition, lengths, values, masked)[0])
        except NoPlace as error:
            raise IllPosedError(str(error)) from None
        except NoProbability as error:
            raise IllPosedError(str(error)) from None
        except NotExpanded as error:
            raise NotYetError(f"over a vector: {error}") from None
        found = _truth(node)
        if found is False:
            return None
        if isinstance(found, Stmt):
            kept.append(found)
    return tuple(kept)


def _truth(node: Node) -> Stmt | bool:
    """A condition with comparisons against infinity and of numbers carried out."""
    if isinstance(node, Or | And):
        deciding = isinstance(node, Or)
        parts = [_truth(p) for p in node.parts]
        if deciding in parts:
            return deciding
        kept = tuple(p for p in parts if isinstance(p, Stmt))
        if not kept:
            return not deciding
        return kept[0] if len(kept) == 1 else (Or(kept) if deciding else And(kept))
    done = _folded(node)
    if isinstance(done, bool) or not isinstance(done, Stmt):
        return done if isinstance(done, bool) else True
    if not free_names(done):
        try:
            truth = truth_at(done, {}, 256)
        except (Undefined, MaybeUndefined):
            return done
        return done if truth is None else truth
    return done


def _folded(node: Node) -> Node | bool:
    """Infinite values worked out; a comparison with one is its truth. Real numbers are finite."""
    if not isinstance(node, Rel):
        return node
    sides = [infinity.fold(t)[0] for t in node.terms]
    signs = [infinity.side(s) for s in sides]
    if any(infinity.has_infinity(s) for s, sign in zip(sides, signs, strict=True) if not sign):
        return node
    if not any(signs):
        return Rel(node.ops, tuple(sides))
    if len(node.ops) != 1:
        return node
    order = (signs[0] > signs[1]) - (signs[0] < signs[1])
    holds = {"==": order == 0, "!=": order != 0, "<": order < 0, "<=": order <= 0}
    return {**holds, ">": order > 0, ">=": order >= 0}[node.ops[0]]
