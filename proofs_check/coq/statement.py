"""Statements of the language as questions about bounds, and as relations in Coq's reals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from gateproof.numerics.exact_point import exact_value
from gateproof.proofs_check.coq.tail import Limits
from gateproof.proofs_check.coq.text import number, term, variable
from gateproof.proofs_check.coq.theorem import Ends, Question
from gateproof.proofs_check.refused import RefusedError
from gateproof.theory.formula import expand, parse_claim
from gateproof.theory.formula.apart import apart
from gateproof.theory.formula.nodes import App, Claim, Const, Expr, IntervalSet, NamedSet, Rel, Scope, Var

_READ = "a Coq file is written for: for x in R (or an interval): a <= b (or <, >=, >, and chains of them)"


class NotARelationError(RefusedError):
    """A statement of another form."""

    def __init__(self) -> None:
        super().__init__(_READ)


@dataclass(frozen=True)
class Part:
    """One relation: what is to be bounded, and how the relation follows in Coq."""

    question: Question
    names: tuple[str, ...]
    domain: str
    relation: str
    closing: str


def parts_of(text: str) -> Sequence[Part]:
    """The relations of a statement in one real variable. Raises RefusedError, NotARelationError."""
    claim = apart(parse_claim(text))
    assert isinstance(claim, Claim)
    if claim.format:
        raise NotARelationError
    statement = claim.body
    name, ends, domain = _domain(claim.scope)
    if not isinstance(statement, Rel) or any(op not in ("<", "<=", ">", ">=") for op in statement.ops):
        raise NotARelationError
    found = []
    terms = [expand(part) for part in statement.terms]
    for left, op, right in zip(terms, statement.ops, terms[1:], strict=False):
        small, large = (left, right) if op in ("<", "<=") else (right, left)
        found.append(_part(name, ends, domain, small, large, op in ("<", ">")))
    return found


def _part(name: str, ends: Ends, domain: str, small: Expr, large: Expr, strict: bool) -> Part:
    own = variable(name)
    names = {name: own}
    relation = f"{term(small, names)} {'<' if strict else '<='} {term(large, names)}"
    low, high = _constant(small), _constant(large)
    closing = "lra."
    if high is not None and isinstance(small, App) and small.head == "abs":
        expr, limits = small.args[0], Limits(-high, high, strict, strict)
        closing = f"apply {'Rabs_def1' if strict else 'Rabs_le'}; lra."
    elif high is not None:
        expr, limits = small, Limits(None, high, False, strict)
    elif low is not None:
        expr, limits = large, Limits(low, None, strict, False)
    else:
        expr, limits = App("add", (large, App("neg", (small,)))), Limits(Fraction(0), None, strict, False)
    if not any(isinstance(node, Var) for node in expr.walk()):
        raise NotARelationError
    return Part(Question(expr, {name: ends}, limits), (own,), domain, relation, closing)


def _constant(node: Expr) -> Fraction | None:
    return None if any(isinstance(part, Var) for part in node.walk()) else exact_value(node, {})


def _domain(scope: Scope) -> tuple[str, Ends, str]:
    if len(scope.binds) != 1 or scope.conditions:
        raise NotARelationError
    (bind,) = scope.binds
    within = bind.within
    if isinstance(within, NamedSet) and within.name == "R":
        return bind.name, (None, None), ""
    if not isinstance(within, IntervalSet):
        raise NotARelationError
    own = variable(bind.name)
    lo, hi = _end(within.lo), _end(within.hi)
    parts = []
    if lo is not None:
        parts.append(f"{number(lo)} {'<=' if within.lo_closed else '<'} {own}")
    if hi is not None:
        parts.append(f"{own} {'<=' if within.hi_closed else '<'} {number(hi)}")
    joined = " /\\ ".join(parts)
    return bind.name, (lo, hi), f"{joined} -> " if parts else ""


def _end(node: Expr) -> Fraction | None:
    inner = node.args[0] if isinstance(node, App) and node.head == "neg" else node
    if isinstance(inner, Const) and inner.name == "oo":
        return None
    value = _constant(node)
    if value is None:
        raise RefusedError("an end of the domain is not a rational number: no Coq file")
    return value
