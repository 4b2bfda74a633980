"""Activations that are written out over several calls, found as one function of one tensor.

While a module's forward runs for the first time, each pointwise call of tensors and plain numbers gives its
result an expression in the tensor that the calls began from, the root. The largest expression with a
nonlinearity in it is a *group*. Its last call can then be replaced by a gate at the root: both are known by
their numbers in the order of the forward's pointwise calls, which a compiler sees as well.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils.weak import WeakIdKeyDictionary

from gateproof.kernels.convert.expressions import AFFINE, UNSEEN, X, cast, expression, number
from gateproof.kernels.convert.kinds import Kind
from gateproof.kernels.convert.named import name_of
from gateproof.kernels.convert.pieces import EVEN, LEFT, RIGHT
from gateproof.kernels.convert.plan import Plan, _place, handled
from gateproof.kernels.convert.steps import Frame
from gateproof.theory.formula import to_text
from gateproof.theory.formula.nodes import Expr, Rel, Where, num

#: An expression with more nodes is no activation.
LARGEST = 400
_POINTS = np.linspace(-9.0, 9.0, 145)


@dataclass(eq=False)
class Root:
    """The tensor that expressions are in, and its version when they began."""

    tensor: Any
    version: int | None
    shape: tuple[int, ...]


@dataclass(eq=False)
class Node:
    """A tensor that is an expression in a root (None: a constant).

    ``calls`` are numbers of the nonlinear calls in it, ``mixed`` says whether it is more than lines around
    one of them, ``unseen`` whether some of them have no handler. ``uses`` are (frame, call, argument, name)
    where the root itself is read; ``at`` is the call (frame, number, name) that made it.
    """

    expr: Expr | Rel
    root: Root | None
    made: tuple[Any, tuple[Any, ...], dict[str, Any]] | None = None
    calls: frozenset[int] = frozenset()
    mixed: bool = False
    unseen: bool = False
    uses: tuple[tuple[Any, int | None, int, str | None], ...] = ()
    sites: tuple[Any, ...] = ()
    at: tuple[Any, int | None, str | None] = (None, None, None)
    parts: tuple[Node, ...] = ()
    whole: bool = True
    consumed: bool = False
    place: Any = None
    value: float = 0.0

    @property
    def candidate(self) -> bool:
        """Whether it may be an activation of several calls."""
        return self.mixed and bool(self.calls) and isinstance(self.expr, Expr)

    def run(self, x: torch.Tensor) -> torch.Tensor:
        """The same calls at another root."""
        memo: dict[int, Any] = {}

        def value(node: Node) -> Any:
            if id(node) not in memo:
                if node.made is None:
                    memo[id(node)] = x if node.root is not None else torch.full_like(x, node.value)
                else:
                    function, args, kwargs = node.made
                    # An in-place call would overwrite what others read.
                    given = [value(a) if isinstance(a, Node) else a for a in args]
                    if given and isinstance(given[0], torch.Tensor):
                        given[0] = given[0].clone()
                    memo[id(node)] = function(*given, **kwargs)
            return memo[id(node)]

        return value(self)


@dataclass
class Group:
    """An activation of several calls in the code of ``owner``.

    ``stash``: (call, argument, name) where the root is read in the same forward, None where it is not;
    ``last``: number and name of the call that a gate takes the place of.
    """

    owner: str
    kind: Kind
    node: Node
    stash: tuple[int, int, str] | None
    last: tuple[int, str]
    place: Any
    sites: tuple[Any, ...] = ()
    named: bool = False


@dataclass
class Watch:
    """The expressions of tensors while forwards run for the first time, and the groups found."""

    nodes: Any = field(default_factory=WeakIdKeyDictionary)
    seen: set[str] = field(default_factory=set)
    count: int = 0

    def __deepcopy__(self, memo: Any) -> Watch:
        return Watch(seen=set(self.seen))

    def __reduce__(self) -> Any:
        return _watch, (self.seen,)

    def called(
        self, plan: Plan, frame: Frame, at: tuple[int, str | None], function: Any, args: Any, kwargs: Any
    ) -> Any:
        """One call of a forward that runs for the first time."""
        number, name = at
        node = self.before(frame, None if name is None else number, name, function, args, kwargs)
        plan.latest = None
        result = handled(plan, function, args, kwargs)
        place = _place(3) if node is not None and node.candidate else None
        self.after(frame, node, result, args, plan.latest if name is not None else None, place)
        return result

    def ended(self, plan: Plan, frame: Frame) -> None:
        """A forward has run for the first time."""
        from gateproof.kernels.convert.prepare import place_groups

        # The calls are made again at other points: neither gates nor who counts operators is to see that.
        with torch._C.DisableTorchFunction(), _disable_current_modes():
            place_groups(plan, self.close(frame))

    def before(
        self, frame: Any, n: int | None, name: str | None, function: Any, args: Any, kwargs: Any
    ) -> Any:
        """What the call is going to compute; looked at before it runs, since it may overwrite."""
        if name is None:
            return self._constant(function, args, kwargs)
        if "out" in kwargs:
            return None
        given = [self._read(a) for a in args]
        if any(g is None for g in given) or any(isinstance(v, torch.Tensor) for v in kwargs.values()):
            return None
        nodes = [g for g in given if isinstance(g, Node)]
        roots = {id(g.root): g.root for g in nodes if g.root is not None}
        if len(roots) > 1 or not nodes:
            return None
        exprs = tuple(g.expr if isinstance(g, Node) else g for g in given)
        expr = expression(name, function, exprs, kwargs)
        if expr is None or expr.size > LARGEST:
            return None
        root = next(iter(roots.values()), None)
        return self._made(expr, root, nodes, (function, tuple(given), dict(kwargs)), (frame, n, name), args)

    def _made(self, expr: Any, root: Root | None, nodes: list[Node], made: Any, at: Any, args: Any) -> Node:
        frame, n, name = at
        plain = (name or "").removesuffix("_")
        own = [g for g in nodes if g.root is not None]
        unseen = plain in UNSEEN or any(isinstance(g.expr, Rel) for g in own)
        nonlinear = unseen or plain.startswith("*") or (plain in ("max", "min"))
        calls = frozenset().union(*(g.calls for g in own)) if own else frozenset()
        mixed = any(g.mixed for g in own)
        if root is not None:
            # A function of a function, or a product of two.
            mixed = mixed or unseen or (plain.startswith("*") and bool(calls))
            mixed = mixed or (plain not in AFFINE and not plain.startswith("*") and len(own) > 1)
            mixed = mixed or (plain in ("pow", "square", "div", "rdiv", "reciprocal") and bool(calls)
                              and not (plain == "div" and len(own) == 1 and own[0] is nodes[0]))  # fmt: skip
        if nonlinear and root is not None:
            self.count += 1
            calls = calls | {self.count}
        uses = tuple(u for g in nodes for u in g.uses)
        uses += tuple(
            (frame, n, i, name)
            for i, g in enumerate(made[1])
            if isinstance(g, Node) and g.made is None and g.root is not None
        )
        sites = tuple({id(s): s for g in nodes for s in g.sites}.values())
        whole = all(g.whole for g in nodes) and (root is None or _intact(root))
        node = Node(expr, root, made, calls, mixed, unseen or any(g.unseen for g in own), uses, sites, at,
                    tuple(own), whole)  # fmt: skip
        if node.candidate:
            for g in own:
                g.consumed = True
        return node

    def _read(self, a: Any) -> Any:
        """An argument as a node where it is a tensor; None for what has no place in an expression."""
        if not isinstance(a, torch.Tensor):
            return a if isinstance(a, (int, float, str)) and not isinstance(a, bool) else None
        found = self.nodes.get(a)
        if found is not None:
            return found
        if not a.is_floating_point() or a.dim() == 0:
            return None
        try:
            version: int | None = a._version
        except RuntimeError:
            version = None
        found = Node(X, Root(weakref.ref(a), version, tuple(a.shape)))
        self.nodes[a] = found
        return found

    def _constant(self, function: Any, args: Any, kwargs: Any) -> Node | None:
        """Tensors of one plain number, and truth values as 0 and 1."""
        value: Any = None
        if function in (torch.tensor, torch.scalar_tensor, torch.as_tensor) and len(args) == 1:
            value = args[0]
        elif function is torch.zeros_like:
            value = 0
        elif function is torch.ones_like:
            value = 1
        elif function is torch.full_like and len(args) == 2:
            value = args[1]
        elif args and isinstance(args[0], torch.Tensor) and cast(function):
            node = self.nodes.get(args[0])
            if node is not None and isinstance(node.expr, Rel):
                made = (function, (node, *args[1:]), kwargs)
                return Node(Where(node.expr, num(1), num(0)), node.root, made, node.calls | {0}, True, True,
                            node.uses, node.sites, (None, None, None), (node,), node.whole)  # fmt: skip
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            expr = number(value)
            return None if expr is None else Node(expr, None, value=float(value))
        return None

    def after(self, frame: Any, node: Node | None, result: Any, args: Any, site: Any, place: Any) -> None:
        """The call has run; its result is the node, or something else."""
        if not isinstance(result, torch.Tensor):
            return
        if node is None:
            # Overwritten with something else.
            self.nodes.pop(result, None)
            return
        if site is not None:
            node.sites = (*node.sites, site)
        node.whole = node.whole and (node.root is None or tuple(result.shape) == node.root.shape)
        own = bool(args) and result is args[0]
        if own and not (node.at[2] or "").endswith("_"):
            node.whole = False
        node.place = place
        self.nodes[result] = node
        if node.candidate and node.at[1] is not None and frame is not None and not frame.library:
            frame.found.append(node)

    def close(self, frame: Any) -> list[Group]:
        """The groups of a forward that has ended."""
        self.seen.add(frame.owner)
        chosen: dict[int, tuple[Node, str]] = {}
        for node in frame.found:
            if not node.consumed:
                best, name = _best(node, frame)
                chosen[id(best)] = (best, name)
        groups = [_group(node, name, frame) for node, name in chosen.values()]
        frame.found = []
        return groups


def _watch(seen: set[str]) -> Watch:
    return Watch(seen=seen)


def _intact(root: Root) -> bool:
    tensor = root.tensor()
    try:
        return tensor is not None and (root.version is None or tensor._version == root.version)
    except RuntimeError:
        return True


def _best(node: Node, frame: Any) -> tuple[Node, str]:
    """The largest part that has a name; else all of it, less a sum with the root around it."""
    queue, here = [node], [node]
    while queue:
        for part in queue.pop(0).parts:
            if part.candidate and part.at[0] is frame and part.at[1] is not None and part not in here:
                here.append(part)
                queue.append(part)
    for part in here:
        name = name_of(values(part))
        if name:
            return part, name
    while (node.at[2] or "").startswith("add") and any(p.made is None for p in node.parts):
        inner = [p for p in node.parts if p.candidate and p.at[0] is frame and p.at[1] is not None]
        if not inner:
            break
        node = inner[0]
    return node, ""


def values(node: Node, x: Any = _POINTS) -> np.ndarray[Any, Any]:
    """The calls at some points, in float64."""
    with torch.no_grad():
        found = node.run(torch.tensor(x, dtype=torch.float64))
    return np.asarray(found.to(torch.float64).numpy())


def points() -> np.ndarray[Any, Any]:
    """Where ``values`` are taken."""
    return _POINTS


def _group(node: Node, name: str, frame: Any) -> Group:
    assert isinstance(node.expr, Expr)
    kind = Kind(name or "group", to_text(node.expr))
    use = next((u for u in node.uses if u[0] is frame and u[1] is not None), None)
    stash = None if use is None or not node.whole else (use[1], use[2], use[3])
    _, n, last = node.at
    assert n is not None and last is not None
    return Group(frame.owner, kind, node, stash, (n, last), node.place, node.sites, bool(name))


def side(node: Node, at: float, left: float, right: float) -> int | None:
    """To which line the calls' gradient belongs at a kink; None where it is neither's, nor their mean."""
    x = torch.tensor([at], dtype=torch.float64, requires_grad=True)
    with torch.enable_grad():
        (g,) = torch.autograd.grad(node.run(x).sum(), x)
    for slope, where in ((left, LEFT), (right, RIGHT), ((left + right) / 2, EVEN)):
        if abs(float(g) - slope) <= 1e-9 * (1 + abs(slope)):
            return where
    return None
