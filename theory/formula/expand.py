"""From the language to core nodes: definitions and gates written out."""

from __future__ import annotations

from collections.abc import Mapping

from gateproof.theory import special
from gateproof.theory.formula.errors import FormulaError
from gateproof.theory.formula.library import Definition, definitions, is_core, substitute
from gateproof.theory.formula.matrices import write_out as without_matrices
from gateproof.theory.formula.nodes import (
    App,
    At,
    Average,
    Const,
    Diff,
    Expr,
    Matrix,
    Node,
    Taylor,
    Tg,
    rebuild,
)
from gateproof.theory.formula.undropped import undropped

#: Nodes of one expanded formula, written out in full.
MAX_SIZE = 50_000


def expand(node: Expr, extra: Mapping[str, Definition] | None = None) -> Expr:
    """The expression with all definitions, ``tg`` and ``at`` written out; an ``at`` of a derivative stays.

    ``extra`` holds a claims file's own definitions. Raises FormulaError where the
    result would have more than MAX_SIZE nodes.
    """
    found = expand_node(node, extra)
    assert isinstance(found, Expr)
    return found


def expand_node(node: Node, extra: Mapping[str, Definition] | None = None) -> Node:
    """The same for statements, scopes and sets."""
    table = {**definitions(), **(extra or {})}
    written = without_matrices(node)
    if isinstance(written, Matrix):
        raise FormulaError("the formula is a matrix, and a number is needed")
    return _expand(written, table, {})


def _expand(node: Node, table: Mapping[str, Definition], known: dict[Node, Node]) -> Node:
    found = known.get(node)
    if found is None:
        found = known[node] = _expanded(node, table, known)
    return found


def _expand_as(node: Expr, table: Mapping[str, Definition], known: dict[Node, Node]) -> Expr:
    found = _expand(node, table, known)
    assert isinstance(found, Expr)
    return found


def _expanded(node: Node, table: Mapping[str, Definition], known: dict[Node, Node]) -> Node:
    done = rebuild(node, lambda child: _expand(child, table, known))
    if isinstance(done, App) and done.head not in table and special.has_numbers(done):
        done = special.resolved(done)
    if isinstance(done, App) and done.head in table and not is_core(done):
        done = undropped(_expand_as(table[done.head].apply(done.args), table, known), done.args)
    elif isinstance(done, Tg):
        from gateproof.theory.threshold_gate import write_out

        parts = (done.x, *done.tau, *done.theta, *done.slope, *done.intercept)
        done = undropped(_expand_as(write_out(done), table, known), (p for p in parts if p != Const("oo")))
    elif isinstance(done, Average):
        from gateproof.theory.formula.averages import write_out as written

        done = written(done)
    elif isinstance(done, At) and not any(isinstance(n, Diff | Taylor) for n in done.body.walk()):
        # A derivative is taken before its variable gets a value.
        done = undropped(substitute(done.body, {done.var: done.value}), (done.value,))
    if done.size > MAX_SIZE:
        raise FormulaError(f"the formula written out has more than {MAX_SIZE} parts")
    assert isinstance(done, Node)
    return done
