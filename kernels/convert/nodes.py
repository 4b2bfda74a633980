"""Tensors of a running forward as expressions in one tensor, their root."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

from gateproof.kernels.convert.expressions import AFFINE, UNSEEN, expression
from gateproof.kernels.convert.pieces import EVEN, LEFT, RIGHT
from gateproof.theory.formula.nodes import Expr, Rel, Var, Where, num

#: Where functions are compared.
POINTS = np.linspace(-9.0, 9.0, 145)
#: Those that bend by themselves.
_BENT = ("max", "min")
_OF_ONE = ("pow", "square", "div", "rdiv", "reciprocal", "sqrt", "log")


@dataclass(eq=False)
class Root:
    """The tensor that expressions are in, and its version when they began."""

    tensor: Any
    version: int | None
    shape: tuple[int, ...]
    dtype: torch.dtype

    @property
    def intact(self) -> bool:
        """Whether nothing has been written into it; nothing can be into one that is gone."""
        tensor = self.tensor()
        return tensor is None or self.version is None or tensor._version == self.version


@dataclass(eq=False)
class Node:
    """A tensor that is an expression in a root (None: a constant, ``value``).

    ``made`` is how it came about: function, arguments (nodes and plain values), keywords; ``at`` the call:
    frame, number and name; ``plain`` its arguments that are no tensors. ``calls`` are numbers of the
    nonlinear calls in it, ``mixed`` says whether it is more than lines around one of them, ``curved`` whether
    it is a polynomial of the root that is no line, ``unseen`` whether some of them have no handler.
    ``readers`` are the nodes made of it, and None for whatever else has read it. ``row``: the site of the
    group that it is. ``whole``: it has the shape of its root, which has not been written into.
    """

    expr: Expr | Rel
    root: Root | None
    made: tuple[Any, tuple[Any, ...], dict[str, Any]] | None = None
    at: tuple[Any, int | None, str] = (None, None, "")
    plain: tuple[Any, ...] = ()
    calls: frozenset[int] = frozenset()
    mixed: bool = False
    curved: bool = False
    unseen: bool = False
    sites: tuple[Any, ...] = ()
    whole: bool = True
    value: float = 0.0
    dtype: torch.dtype | None = None
    place: Any = None
    row: Any = None
    readers: list[Any] = field(default_factory=list)

    @property
    def parts(self) -> list[Node]:
        """The nodes that it was made of, constants left out."""
        given = () if self.made is None else self.made[1]
        return [g for g in given if isinstance(g, Node) and g.root is not None]

    @property
    def candidate(self) -> bool:
        """Whether it may be an activation of several calls."""
        return self.mixed and bool(self.calls) and isinstance(self.expr, Expr)

    def members(self) -> list[Node]:
        """All nodes in it but the root, itself first."""
        found: dict[int, Node] = {}
        queue = [self]
        while queue:
            node = queue.pop(0)
            if node.made is not None and id(node) not in found:
                found[id(node)] = node
                queue += node.parts
        return list(found.values())

    def run(self, x: torch.Tensor) -> torch.Tensor:
        """The same calls at another root."""
        memo: dict[int, Any] = {}

        def value(node: Node) -> Any:
            if id(node) not in memo:
                if node.made is None:
                    memo[id(node)] = x if node.root is not None else torch.full_like(x, node.value)
                else:
                    function, args, kwargs = node.made
                    given = [value(a) if isinstance(a, Node) else a for a in args]
                    # An in-place call would overwrite what others read.
                    given = [g.clone() if isinstance(g, torch.Tensor) else g for g in given]
                    memo[id(node)] = function(*given, **kwargs)
            return memo[id(node)]

        found: torch.Tensor = value(self)
        return found


def nonlinearity(node: Node, count: int) -> Node:
    """The node with what is known of its parts, told by its call; ``count`` numbers nonlinear calls."""
    name, own = node.at[2].removesuffix("_"), node.parts
    of_kind = name.startswith("*")
    relation = any(isinstance(g.expr, Rel) for g in own)
    node.curved = any(g.curved for g in own) or name in ("pow", "square") or (name == "mul" and len(own) > 1)
    # A root of a square, as abs is; that of one number may be a norm's.
    root = _is_root(name, node) and any(g.curved for g in own)
    node.unseen = name in UNSEEN or relation or root
    node.calls = frozenset[int]().union(*(g.calls for g in own))
    node.mixed = any(g.mixed for g in own) or node.unseen
    # A function of a function, a product of two, a power of one.
    node.mixed |= of_kind and bool(node.calls)
    node.mixed |= name not in AFFINE and not of_kind and len(own) > 1
    by_number = name == "div" and len(own) == 1 and node.made is not None and node.made[1][0] is own[0]
    node.mixed |= name in _OF_ONE and bool(node.calls) and not by_number
    if node.unseen or of_kind or name in _BENT:
        node.calls |= {count}
    node.unseen |= any(g.unseen for g in own)
    return node


def _is_root(name: str, node: Node) -> bool:
    exponent = node.made[1][1] if name == "pow" and node.made is not None and len(node.made[1]) > 1 else None
    return name == "sqrt" or exponent == 0.5


def cut(node: Node) -> Node | None:
    """The last activation that all of the node is a function of, if it is one of another activation."""
    for m in node.members()[1:]:
        if m.at[2].startswith("*") and m.whole and not reaches(node, m):
            return m
    return None


def reaches(node: Node, without: Node) -> bool:
    """Whether the root is read by other ways than through a node."""
    if node is without:
        return False
    return node.made is None or any(reaches(p, without) for p in node.parts)


def rerooted(node: Node, m: Node) -> Node | None:
    """The node as an expression in the result of a part of it; None if that is no expression."""
    assert m.root is not None
    memo: dict[int, Node | None] = {}

    def again(n: Node) -> Node | None:
        if n is m:
            return root
        if n.made is None:
            return n
        if id(n) not in memo:
            function, args, kwargs = n.made
            given = tuple(again(a) if isinstance(a, Node) else a for a in args)
            memo[id(n)] = None
            exprs = tuple(g.expr if isinstance(g, Node) else g for g in given)
            expr: Any = None
            if n.at[2] != "cast":
                expr = expression(n.at[2], function, exprs, kwargs)
            elif isinstance(exprs[0], Rel):
                expr = Where(exprs[0], num(1), num(0))
            if expr is not None and None not in given:
                own = replace(n, expr=expr, root=root.root, made=(function, given, kwargs), sites=())
                own.sites = tuple({id(s): s for g in given if isinstance(g, Node) for s in g.sites}.values())
                own.sites += tuple(s for s in n.sites if all(s not in g.sites for g in n.parts))
                own.whole = n.whole and not n.at[2].endswith("_")
                memo[id(n)] = nonlinearity(own, min(n.calls, default=0))
        return memo[id(n)]

    root = Node(Var("x"), Root(m.root.tensor, None, m.root.shape, m.dtype or m.root.dtype))
    return again(node)


def values(node: Node, x: Any = POINTS) -> np.ndarray[Any, Any]:
    """The calls at some points, in float64."""
    with torch.no_grad():
        found = node.run(torch.tensor(x, dtype=torch.float64))
    return np.asarray(found.to(torch.float64).numpy())


def side(node: Node, at: float, left: float, right: float) -> int | None:
    """To which line the calls' gradient belongs at a kink; None where it is neither's, nor their mean."""
    x = torch.tensor([at], dtype=torch.float64, requires_grad=True)
    with torch.enable_grad():
        (g,) = torch.autograd.grad(node.run(x).sum(), x)
    for slope, where in ((left, LEFT), (right, RIGHT), ((left + right) / 2, EVEN)):
        if abs(float(g) - slope) <= 1e-9 * (1 + abs(slope)):
            return where
    return None
