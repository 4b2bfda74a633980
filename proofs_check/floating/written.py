"""A floating-point claim with its definitions written out, and as the tree that certificates carry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gateproof.proofs_check.engine.logic import membership
from gateproof.theory.formula import Claim, Definition, FormulaError, expand_node
from gateproof.theory.formula.apart import apart, binds, definitions_apart
from gateproof.theory.formula.expand import MAX_SIZE
from gateproof.theory.formula.library import definitions, is_core, substitute
from gateproof.theory.formula.nodes import (
    And,
    App,
    Expr,
    Fl,
    Implies,
    In,
    NamedSet,
    Node,
    Not,
    Or,
    Rel,
    Ulp,
    Where,
    rebuild,
)
from gateproof.theory.formula.serial import to_json


def written(claim: Claim, extra: Mapping[str, Definition]) -> Claim:
    """The claim in core nodes, ``Fl`` and ``Ulp``; what is computed stays as it is written.

    Raises FormulaError where it grows too long.
    """
    told = apart(claim)
    own = definitions_apart(told, extra)
    computed = _computed_parts(told, {**definitions(), **own})
    done = _plain(expand_node(computed, own))
    done = apart(done) if any(binds(d.body) for d in own.values()) else done
    assert isinstance(done, Claim)
    return _premises_in_front(done)


def _premises_in_front(claim: Claim) -> Claim:
    """``for x in S: a => b`` as ``for x in S, a: b``."""
    while isinstance(claim.body, Implies):
        scope = replace(claim.scope, conditions=(*claim.scope.conditions, claim.body.left))
        claim = replace(claim, scope=scope, body=claim.body.right)
    return claim


def _computed_parts(node: Node, table: Mapping[str, Definition]) -> Node:
    """The node with the definitions in each ``fl`` put in, and nothing in them tidied."""
    if isinstance(node, Fl):
        body = _put_in(node.body, table)
        assert isinstance(body, Expr)
        return Fl(body)
    done: Node = rebuild(node, lambda child: _computed_parts(child, table))
    return done


def _put_in(node: Node, table: Mapping[str, Definition]) -> Node:
    done: Node = rebuild(node, lambda child: _put_in(child, table))
    if isinstance(done, App) and done.head in table and not is_core(done):
        known = table[done.head]
        missing = len(known.params) - len(done.args)
        arguments = (*done.args, *known.defaults[len(known.defaults) - missing :]) if missing else done.args
        done = _put_in(substitute(known.body, dict(zip(known.params, arguments, strict=True))), table)
    if done.size > MAX_SIZE:
        raise FormulaError(f"the formula written out has more than {MAX_SIZE} parts")
    return done


def _plain(node: Node) -> Node:
    """The node with ``in`` as relations, and ``fma`` outside of ``fl`` as the sum that it is."""
    if isinstance(node, Fl):
        return node
    if isinstance(node, In) and node.within != NamedSet("Z"):
        return _plain(membership(node))
    done: Node = rebuild(node, _plain)
    if isinstance(done, App) and done.head == "fma":
        a, b, c = done.args
        return App("add", (App("mul", (a, b)), c))
    return done


def tree(node: Node) -> list[Any]:
    """The JSON of a written expression or statement. Raises FormulaError for a node that has none."""
    if isinstance(node, Fl):
        return ["fl", tree(node.body)]
    if isinstance(node, Ulp) and node.of is not None:
        return ["ulp", tree(node.of)]
    if isinstance(node, App):
        return ["app", node.head, *map(tree, node.args)]
    if isinstance(node, Where):
        return ["where", tree(node.cond), tree(node.then), tree(node.other)]
    if isinstance(node, Rel):
        return ["rel", list(node.ops), *map(tree, node.terms)]
    if isinstance(node, And | Or):
        return ["and" if isinstance(node, And) else "or", *map(tree, node.parts)]
    if isinstance(node, Not):
        return ["not", tree(node.part)]
    if isinstance(node, Implies):
        return ["implies", tree(node.left), tree(node.right)]
    if isinstance(node, In):
        return ["whole", tree(node.item)]
    return to_json(node)
