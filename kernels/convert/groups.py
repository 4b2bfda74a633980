"""Activations that are written out over several calls, found as one function of one tensor.

While a module's forward runs for the first time, each pointwise call of tensors and plain numbers gives its
result an expression in the tensor that the calls began from, the root. The largest expression with a
nonlinearity in it is a *group*: the largest that has a name, if there is one, and a sum with the root around
it (a residual) is left out.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_leaves
from torch.utils.weak import WeakIdKeyDictionary

from gateproof.kernels.convert.expressions import X, expression
from gateproof.kernels.convert.factors import Factors, resolve
from gateproof.kernels.convert.interception import handled
from gateproof.kernels.convert.kinds import Kind
from gateproof.kernels.convert.named import name_of
from gateproof.kernels.convert.nodes import Node, Root, cut, nonlinearity, reaches, rerooted, values
from gateproof.kernels.convert.plan import Plan
from gateproof.kernels.convert.running import place_of_call
from gateproof.kernels.convert.steps import Frame, plain_of
from gateproof.theory.formula import to_text
from gateproof.theory.formula.nodes import Expr, Rel, Where, num

#: An expression with more nodes is no activation.
LARGEST = 400
#: What a call that is no expression may raise when it is read or made again; it ran, and that is what counts.
_UNREADABLE = (RuntimeError, TypeError, ValueError, ArithmeticError, NotImplementedError, LookupError)
#: What looks at a tensor without its numbers.
_GLANCES = ("__get__", "size", "dim", "numel", "is_floating_point", "stride")


@dataclass
class Group:
    """An activation of several calls in the code of ``owner``.

    ``ready``: all its calls are the forward's own, and its root is at hand and unchanged at the last one.
    """

    owner: str
    kind: Kind
    node: Node
    ready: bool
    named: bool = False


@dataclass
class Watch:
    """The expressions of tensors while forwards run for the first time."""

    nodes: Any = field(default_factory=WeakIdKeyDictionary)
    seen: set[str] = field(default_factory=set)
    count: int = 0
    factors: Factors = field(default_factory=Factors)

    def __deepcopy__(self, memo: Any) -> Watch:
        return Watch(seen=set(self.seen))

    def __reduce__(self) -> Any:
        return _watch, (self.seen,)

    def called(
        self, plan: Plan, frame: Frame, at: tuple[int, str | None], function: Any, args: Any, kwargs: Any
    ) -> Any:
        """One call of a forward that runs for the first time."""
        number, name = at
        # Before it runs, since it may overwrite what it reads.
        node = None
        if name is not None:
            with suppress(*_UNREADABLE):
                node = self._node((frame, number, name), function, args, kwargs)
        if getattr(function, "__name__", "") not in _GLANCES:
            for leaf in tree_leaves((args, kwargs)):
                if isinstance(leaf, torch.Tensor) and (read := self.nodes.get(leaf)) is not None:
                    read.readers.append(node)
        first = args[0] if args and isinstance(args[0], torch.Tensor) else None
        factor = None if first is None else self.factors.of(self.nodes.get(first), first)
        if name in ("mul", "mul_") and len(args) == 2 and all(isinstance(a, torch.Tensor) for a in args):
            pair = self.nodes.get(args[0]), self.nodes.get(args[1])
            if noted := self.factors.multiplied(plan, frame, pair, args):
                frame.products.append(noted)
        plan.latest = None
        result = handled(plan, function, args, kwargs)
        if isinstance(result, torch.Tensor):
            if node is None:
                self.nodes.pop(result, None)
                self.factors.made(plan.latest, args, result)
            else:
                self._made(frame, node, result, args, plan.latest)
        self.factors.hand_on(function, factor, result)
        return result

    def again(self, plan: Plan, function: Any, args: Any, kwargs: Any) -> Any:
        """One call of a forward that was looked at before: its result may be a factor for another one."""
        plan.latest = None
        result = handled(plan, function, args, kwargs)
        self.factors.made(plan.latest, args, result)
        return result

    def ended(self, plan: Plan, frame: Frame, result: Any) -> None:
        """A forward has run for the first time."""
        from gateproof.kernels.convert.prepare import place_groups

        self.seen.add(frame.owner)
        for leaf in tree_leaves(result):
            if isinstance(leaf, torch.Tensor) and (read := self.nodes.get(leaf)) is not None:
                read.readers.append(None)
        # The calls are made again at other points: neither gates nor who counts operators is to see that.
        with suppress(*_UNREADABLE), torch._C.DisableTorchFunction(), _disable_current_modes():
            place_groups(plan, list(_groups(frame)))
        resolve(frame.products)
        frame.found, frame.products = [], []

    def _node(self, at: tuple[Frame, int, str], function: Any, args: Any, kwargs: Any) -> Node | None:
        """What the call is going to compute; None for what is no expression in one root."""
        name = at[2]
        if name in ("zeros", "ones"):
            return Node(num(0 if name == "zeros" else 1), None, value=0.0 if name == "zeros" else 1.0)
        if any(isinstance(v, torch.Tensor) for v in kwargs.values()):
            return None
        if name == "cast":
            return self._cast(at, function, args, kwargs)
        given = tuple(self._read(a) for a in args)
        if any(g is None for g in given):
            return None
        nodes = [g for g in given if isinstance(g, Node)]
        roots = {id(g.root): g.root for g in nodes if g.root is not None}
        if len(roots) != 1:
            return None
        exprs = tuple(g.expr if isinstance(g, Node) else g for g in given)
        expr = expression(name, function, exprs, kwargs)
        if expr is None or expr.size > LARGEST:
            return None
        root = next(iter(roots.values()))
        self.count += 1
        node = Node(expr, root, (function, given, dict(kwargs)), at, plain_of(function, args, kwargs))
        node.sites = tuple({id(s): s for g in nodes for s in g.sites}.values())
        node.whole = root.intact and all(g.whole for g in nodes)
        return nonlinearity(node, self.count)

    def _cast(self, at: tuple[Frame, int, str], function: Any, args: Any, kwargs: Any) -> Node | None:
        """A truth value as 0 or 1; the cast of a number begins anew."""
        node = self.nodes.get(args[0]) if args and isinstance(args[0], torch.Tensor) else None
        if node is None or not isinstance(node.expr, Rel):
            return None
        others = tuple(a.dtype if isinstance(a, torch.Tensor) else a for a in args[1:])
        made = (torch.Tensor.to if others != args[1:] else function, (node, *others), dict(kwargs))
        found = Node(Where(node.expr, num(1), num(0)), node.root, made, at, plain_of(function, args, kwargs))
        found.sites, found.whole = node.sites, node.whole
        self.count += 1
        return nonlinearity(found, self.count)

    def _read(self, a: Any) -> Any:
        """An argument as a node where it is a tensor; None for what has no place in an expression."""
        if not isinstance(a, torch.Tensor):
            return a if isinstance(a, (int, float, str)) and not isinstance(a, bool) else None
        found = self.nodes.get(a)
        if found is None and a.is_floating_point() and a.dim():
            version = None if a.is_inference() else a._version
            found = self.nodes[a] = Node(X, Root(weakref.ref(a), version, tuple(a.shape), a.dtype))
        return found

    def _made(self, frame: Frame, node: Node, result: torch.Tensor, args: Any, site: Any) -> None:
        if site is not None:
            node.sites = (*node.sites, site)
        if node.root is not None:
            node.whole = node.whole and tuple(result.shape) == node.root.shape
        if bool(args) and result is args[0] and not node.at[2].endswith("_"):
            # relu(x, inplace=True) does not say so by its name.
            node.whole = False
        node.dtype = result.dtype
        self.nodes[result] = node
        if frame.library or not (node.candidate or node.curved):
            return
        node.place = place_of_call(4)
        if node.candidate:
            frame.found.append(node)


def _watch(seen: set[str]) -> Watch:
    return Watch(seen=seen)


def _groups(frame: Frame) -> Iterator[Group]:
    """The groups of a forward that has ended."""
    chosen: dict[int, tuple[Node, str]] = {}
    for node in frame.found:
        if not any(r is not None and r.candidate and r.at[0] is frame for r in node.readers):
            for best, name in _best(node, frame):
                if best.candidate:
                    chosen[best.at[1] or 0] = (best, name)
    for node, name in chosen.values():
        assert isinstance(node.expr, Expr)
        ready = node.whole and all(m.at[0] is frame for m in node.members())
        yield Group(frame.owner, Kind(name or "group", to_text(node.expr)), node, ready, bool(name))


def _best(node: Node, frame: Frame) -> list[tuple[Node, str]]:
    """The largest part that has a name, and such parts beside it; else all of it, less what is outside of it.

    Outside are a sum with the root around it, and another activation whose result is all that it reads.
    """
    for part in node.members():
        if part.candidate and part.at[0] is frame:
            name = name_of(values(part))
            if name:
                return [(part, name), *_beside(node, part, frame)]
    before = cut(node)
    inner = None if before is None else rerooted(node, before)
    if inner is not None:
        return _best(inner, frame)
    while node.at[2].startswith("add") and any(p.made is None for p in node.parts):
        inner = next((p for p in node.parts if p.candidate and p.at[0] is frame), None)
        if inner is None:
            break
        node = inner
    return [(node, "")]


def _beside(node: Node, part: Node, frame: Frame) -> Iterator[tuple[Node, str]]:
    """The activations in a node besides ``part``: those of its result, or other terms of a sum."""
    if node is part or part not in node.members():
        return
    around = None if reaches(node, part) or not part.whole else rerooted(node, part)
    if around is not None:
        if around.candidate:
            yield from _best(around, frame)
        return
    for p in node.parts:
        if p.candidate and p.at[0] is frame and p not in part.members() and part not in p.members():
            yield from _best(p, frame)
        else:
            yield from _beside(p, part, frame)
