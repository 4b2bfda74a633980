"""Core expressions as JSON trees, the form that certificates carry.

A tree is ``["num", "p/q"]``, ``["const", "pi"]``, ``["var", "x"]``,
``["app", head, arg, ...]`` with a head of CORE_HEADS or a special function's, ``besselj[1/2]``, or
``["where", cond, then, other]`` with a condition ``["rel", [op, ...], term, ...]``,
``["and", ...]``, ``["or", ...]`` or ``["not", c]``.
"""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from typing import Any

from gateproof.theory import special
from gateproof.theory.formula.errors import FormulaError
from gateproof.theory.formula.nodes import (
    CORE_HEADS,
    And,
    App,
    Const,
    Expr,
    Node,
    Not,
    Num,
    Or,
    Rel,
    Stmt,
    Var,
    Where,
)

Tree = list[Any]


def to_json(node: Node) -> Tree:
    """The tree of a core expression; FormulaError for a node that is not core."""
    if isinstance(node, Num):
        return ["num", f"{node.value.numerator}/{node.value.denominator}"]
    if isinstance(node, Const):
        return ["const", node.name]
    if isinstance(node, Var):
        return ["var", node.name]
    if isinstance(node, App) and (node.head in CORE_HEADS or special.is_head(node.head)):
        return ["app", node.head, *map(to_json, node.args)]
    if isinstance(node, Where):
        return ["where", to_json(node.cond), to_json(node.then), to_json(node.other)]
    if isinstance(node, Rel):
        return ["rel", list(node.ops), *map(to_json, node.terms)]
    if isinstance(node, And | Or):
        return ["and" if isinstance(node, And) else "or", *map(to_json, node.parts)]
    if isinstance(node, Not):
        return ["not", to_json(node.part)]
    raise FormulaError(f"{type(node).__name__} has no form in a certificate")


def from_json(tree: Any) -> Expr:
    """The core expression of a tree; FormulaError for anything else."""
    found = _node(tree)
    if not isinstance(found, Expr):
        raise FormulaError("a condition stands where a number is needed")
    return found


def _node(tree: Any) -> Node:
    match tree:
        case ["num", str(text)]:
            try:
                return Num(Fraction(text))
            except (ValueError, ZeroDivisionError):
                raise FormulaError(f"no number of a core expression: {text!r:.60}") from None
        case ["const", str(name)]:
            return Const(name)
        case ["var", str(name)]:
            return Var(name)
        case ["app", str(head), *args] if head in CORE_HEADS or (special.is_head(head) and len(args) == 1):
            return App(head, tuple(map(from_json, args)))
        case ["where", cond, then, other]:
            return Where(_condition(cond), from_json(then), from_json(other))
    return _condition(tree)


def _condition(tree: Any) -> Stmt:
    match tree:
        case ["rel", list(ops), *terms]:
            return Rel(tuple(ops), tuple(map(from_json, terms)))
        case ["and", *parts]:
            return And(tuple(map(_condition, parts)))
        case ["or", *parts]:
            return Or(tuple(map(_condition, parts)))
        case ["not", part]:
            return Not(_condition(part))
    raise FormulaError(f"no form of a core expression: {tree!r:.60}")


def tree_hash(tree: Tree) -> str:
    """sha256 of the tree's compact JSON."""
    return hashlib.sha256(json.dumps(tree, separators=(",", ":")).encode()).hexdigest()
