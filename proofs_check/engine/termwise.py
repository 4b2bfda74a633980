"""Sums over all places of a vector, held against each other term by term."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from gateproof.numerics.certificate import composite_document
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.outcome import Outcome, conjunction
from gateproof.proofs_check.engine.space import Space
from gateproof.theory.formula.nodes import (
    App,
    Expr,
    Index,
    Lse,
    Node,
    Rel,
    Series,
    Softmax,
    Var,
    num,
    rebuild,
)
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names


class _NotASum(ValueError):
    """A side that is no sum of functions of single places."""


def by_terms(space: Space, relation: Rel, context: Context) -> Outcome | None:
    """A relation between sums over 1..n of functions of z[k] alone, where it holds for every term; or None.

    A number c times n is the sum of c. abs(u) <= v stands for u <= v and -u <= v.
    """
    if len(space.vectors) != 1 or space.masked or space.facts or space.index_ranges:
        return None
    (op,), (a, b) = relation.ops, relation.terms
    if op in (">", ">="):
        a, b, op = b, a, op.replace(">", "<")
    if op in ("<", "<=") and isinstance(a, App) and a.head == "abs":
        (u,) = a.args
        found = [by_terms(space, Rel((op,), (side, b)), context) for side in (u, App("neg", (u,)))]
        return conjunction([f for f in found if f is not None]) if None not in found else None
    if op == "!=":
        return None
    ((vector, length),) = space.vectors.items()
    entry = f"{vector}_k"
    if not isinstance(length, Var) or entry in space.domains:
        return None
    try:
        sides = [_term(side, vector, length, entry) for side in (a, b)]
    except _NotASum:
        return None
    from gateproof.proofs_check.engine.relation import decide_relation

    term = Rel((op,), (sides[0], sides[1]))
    domains = {k: d for k, d in space.domains.items() if k not in (vector, length.name)}
    domains[entry] = space.domains[vector]
    shown = decide_relation(Space(domains), term, context.deeper())
    if shown.truth is not True:
        return None
    step = f"term by term: {to_text(term)} for every {entry}, summed over all places"
    document = shown.certificate
    if document is not None:
        parts = document["parts"] if document["kind"] == "composite" else [dict(document)]
        document = composite_document(parts, to_text(relation))
    method = f"term by term: {shown.method}"
    return replace(shown, method=method, steps=(*shown.steps, step), certificate=document)


def _term(node: Expr, vector: str, length: Var, entry: str) -> Expr:
    """The term whose sum over all places a side is. Raises _NotASum."""
    if isinstance(node, Series):
        if node.op != "sum" or node.lo != num(1) or node.hi != length:
            raise _NotASum
        return _at_place(node.body, node.index, vector, length, entry)
    if node == length:
        return num(1)
    if isinstance(node, App) and node.head in ("add", "neg"):
        return App(node.head, tuple(_term(x, vector, length, entry) for x in node.args))
    if isinstance(node, App) and node.head == "div" and not {vector, length.name} & free_names(node.args[1]):
        return App("div", (_term(node.args[0], vector, length, entry), node.args[1]))
    if isinstance(node, App) and node.head == "mul":
        sums = [x for x in node.args if {vector, length.name} & free_names(x)]
        if len(sums) == 1:
            others = tuple(x for x in node.args if x is not sums[0])
            return App("mul", (*others, _term(sums[0], vector, length, entry)))
    if constant_value(node) == Fraction(0):
        return num(0)
    raise _NotASum


def _at_place(body: Expr, index: str, vector: str, length: Var, entry: str) -> Expr:
    """The body with a name for the place that the index says; it may depend on nothing else of the vector."""

    def visit(node: Node) -> Node:
        if isinstance(node, Index) and node.vector == vector and node.index == Var(index):
            return Var(entry)
        if isinstance(node, Index | Softmax | Lse | Series) or node in (length, Var(index)):
            raise _NotASum
        done: Node = rebuild(node, visit)
        return done

    done = visit(body)
    assert isinstance(done, Expr)
    if {vector, index, length.name} & free_names(done):
        raise _NotASum
    return done
