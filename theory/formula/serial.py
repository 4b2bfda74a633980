"""Core expressions as JSON trees, the form that certificates carry.

A tree is ``["num", "p/q"]``, ``["const", "pi"]``, ``["var", "x"]``,
``["app", head, arg, ...]`` with a head of CORE_HEADS, or
``["where", cond, then, other]`` with a condition ``["rel", [op, ...], term, ...]``,
``["and", ...]``, ``["or", ...]`` or ``["not", c]``.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from gateproof.theory.formula.errors import FormulaError
from gateproof.theory.formula.nodes import CORE_HEADS, And, App, Const, Node, Not, Num, Or, Rel, Var, Where

Tree = list[Any]


def to_json(node: Node) -> Tree:
    """The tree of a core expression; FormulaError for a node that is not core."""
    if isinstance(node, Num):
        return ["num", f"{node.value.numerator}/{node.value.denominator}"]
    if isinstance(node, Const):
        return ["const", node.name]
    if isinstance(node, Var):
        return ["var", node.name]
    if isinstance(node, App) and node.head in CORE_HEADS:
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


def tree_hash(tree: Tree) -> str:
    """sha256 of the tree's compact JSON."""
    return hashlib.sha256(json.dumps(tree, separators=(",", ":")).encode()).hexdigest()
