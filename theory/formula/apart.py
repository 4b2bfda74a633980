"""Names bound within a formula told apart from those around it.

``f(x) = limit(x*t, t, 2)`` at ``t`` is ``2*t``: the t of the limit is another one. Putting a value in
leaves names as they are written, so a name that is bound twice on one path gets a fresh one first
wherever another name stands under it. Barendregt, The Lambda Calculus (1984), 2.1.13.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from gateproof.theory.formula.library import Definition
from gateproof.theory.formula.nodes import (
    Bind,
    Claim,
    Diff,
    Exists,
    Expr,
    Extremum,
    Gauss2,
    Index,
    Lse,
    Node,
    Pred,
    Scope,
    Series,
    Softmax,
    Taylor,
    Var,
    num,
    rebuild,
)
from gateproof.theory.formula.scopes import bound_names, free_names


def binds(node: Node) -> bool:
    """Whether a name is bound anywhere in it."""
    return any(bound_names(part) for part in node.walk())


def apart(node: Node) -> Node:
    """An equal node in which no name is bound where it is known already and could be put in."""
    return _Renaming(_names([node])).node(node, {}, frozenset(free_names(node)))


def definitions_apart(claim: Node, extra: Mapping[str, Definition]) -> dict[str, Definition]:
    """Equal definitions that bind no name of the claim, of their parameters, or of one before."""
    known = _names([claim]).union(*(d.params for d in extra.values()))
    work = _Renaming(known | _names(d.body for d in extra.values()))
    found: dict[str, Definition] = {}
    for name, given in extra.items():
        body = work.node(given.body, {}, frozenset(known))
        assert isinstance(body, Expr)
        found[name] = given if body is given.body else replace(given, body=body)
        known |= _names([body])
    return found


def without_bound(node: Node, known: frozenset[str], taken: Iterable[str]) -> Node:
    """An equal node that binds none of ``known``; a fresh name is none of the node's nor of ``taken``."""
    return _Renaming(_names([node]) | known | set(taken)).node(node, {}, known)


def fresh_name(name: str, nodes: Iterable[Node]) -> str:
    """A name like the given one that stands nowhere in the nodes."""
    taken, k = _names(nodes), 1
    while f"{name}_{k}" in taken:
        k += 1
    return f"{name}_{k}"


class _Renaming:
    def __init__(self, taken: set[str]) -> None:
        self.taken = set(taken)

    def node(self, node: Node, names: Mapping[str, str], known: frozenset[str]) -> Node:
        """The node with ``names`` in place of free ones; ``known`` are all names bound around it."""
        if isinstance(node, Var):
            return Var(names[node.name]) if node.name in names else node
        if isinstance(node, Extremum | Pred | Exists | Claim):
            return self._scoped(node, names, known)
        bound = bound_names(node)
        if not bound:
            same: Node = _own_names(rebuild(node, lambda c: self.node(c, names, known)), names)
            return same
        return self._binding(node, bound, names, known)

    def _binding(self, node: Any, bound: set[str], names: Mapping[str, str], known: frozenset[str]) -> Node:
        """A node that binds names in its body, and in nothing else of it."""
        fresh = self._fresh(bound, known) if free_names(node.body) - bound else {}
        inside = {**{k: v for k, v in names.items() if k not in bound}, **fresh}
        body = self.node(node.body, inside, known | {fresh.get(b, b) for b in bound})
        # Without its body, which may be the same object as what stands outside of it.
        rest = rebuild(replace(node, body=num(0)), lambda c: self.node(c, names, known))
        done: Node = replace(_own_names(rest, fresh), body=body)
        return node if done == node else done

    def _scoped(
        self, node: Extremum | Pred | Exists | Claim, names: Mapping[str, str], known: frozenset[str]
    ) -> Node:
        """A node with a scope, in which a set may use the names before it."""
        bound = node.scope.names()
        fresh = self._fresh(bound, known) if free_names(node) else {}
        inside, binds = dict(names), []
        for bind in node.scope.binds:
            binds.append(Bind(fresh.get(bind.name, bind.name), self.node(bind.within, inside, known)))  # type: ignore[arg-type]
            inside.pop(bind.name, None)
            if bind.name in fresh:
                inside[bind.name] = fresh[bind.name]
        around = known | {fresh.get(b, b) for b in bound}
        scope = Scope(
            tuple(binds),
            tuple(self.node(c, inside, around) for c in node.scope.conditions),  # type: ignore[misc]
        )

        def change(child: Node) -> Node:
            return scope if child is node.scope else self.node(child, inside, around)

        done: Node = rebuild(node, change)
        return done

    def _fresh(self, bound: Iterable[str], known: frozenset[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for name in sorted(set(bound) & known):
            k = 1
            while f"{name}_{k}" in self.taken:
                k += 1
            found[name] = f"{name}_{k}"
            self.taken.add(found[name])
        return found


def _own_names(node: Any, names: Mapping[str, str]) -> Any:
    """The node with the names that it holds itself, and not in a child, replaced."""
    held = {
        Diff: ("var",),
        Taylor: ("var",),
        Index: ("vector",),
        Lse: ("vector",),
        Softmax: ("vector",),
        Series: ("index",),
        Gauss2: ("u", "v"),
    }.get(type(node), ("var",) if bound_names(node) else ())
    changed = {f: names[getattr(node, f)] for f in held if getattr(node, f) in names}
    return replace(node, **changed) if changed else node


def _names(nodes: Iterable[Node]) -> set[str]:
    """All names of the nodes, bound ones too."""
    found: set[str] = set()
    for node in nodes:
        for part in node.walk():
            found |= bound_names(part) | ({part.name} if isinstance(part, Var) else set())
            found |= {part.vector} if isinstance(part, Index | Lse | Softmax) else set()
            found |= {part.var} if isinstance(part, Diff | Taylor) else set()
    return found
