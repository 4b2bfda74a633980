"""What every node of a syntax tree is: immutable, hashable, with its size known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any

_FIELDS: dict[str, tuple[str, ...]] = {}


def _names(kind: type[Any]) -> tuple[str, ...]:
    """The fields of a node type; asking dataclasses for each node took a third of a parse."""
    found = _FIELDS.get(kind.__name__)
    if found is None:
        found = _FIELDS[kind.__name__] = tuple(f.name for f in fields(kind))
    return found


@dataclass(frozen=True, eq=False)
class Node:
    """Base of all nodes; equality is structural, the hash is kept."""

    def __post_init__(self) -> None:
        size = 1 + sum(child.size for child in self.children())
        object.__setattr__(self, "size", size)
        key = (type(self).__name__, *(getattr(self, name) for name in _names(type(self))))
        object.__setattr__(self, "_hash", hash(key))

    size = 1
    _hash = 0

    def children(self) -> Iterator[Node]:
        """Direct sub-nodes, left to right."""
        for name in _names(type(self)):
            yield from _nodes_in(getattr(self, name))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other) or self._hash != hash(other):
            return False
        return all(getattr(self, name) == getattr(other, name) for name in _names(type(self)))

    def walk(self) -> Iterator[Node]:
        """The node and all below it, parents first."""
        stack: list[Node] = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(node.children())


def _nodes_in(value: Any) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _nodes_in(item)


class Expr(Node):
    """An expression: a value on the extended reals (or a set of them)."""


class SetExpr(Node):
    """A set that a name may range over."""


class Stmt(Node):
    """A statement: true or false for given values."""


def rebuild(node: Any, change: Callable[[Node], Node]) -> Any:
    """The node with ``change`` applied to each direct child (tuples included)."""
    if isinstance(node, Node):
        old = [getattr(node, name) for name in _names(type(node))]
        values = [_rebuild_value(value, change) for value in old]
        if all(a is b for a, b in zip(values, old, strict=True)):
            return node
        return type(node)(*values)
    return node


def _rebuild_value(value: Any, change: Callable[[Node], Node]) -> Any:
    if isinstance(value, Node):
        return change(value)
    if isinstance(value, tuple) and any(isinstance(v, Node) for v in value):
        new = tuple(change(v) if isinstance(v, Node) else v for v in value)
        return value if all(a is b for a, b in zip(new, value, strict=True)) else new
    return value
