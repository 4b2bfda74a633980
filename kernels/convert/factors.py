"""Which tensors of a running forward are gates of one tensor: the factors that a product may have."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves
from torch.utils.weak import WeakIdKeyDictionary

from gateproof.kernels.convert import products
from gateproof.kernels.convert.plan import Plan, Site
from gateproof.kernels.convert.running import place_of_call
from gateproof.kernels.convert.spelled import SPELLINGS
from gateproof.kernels.convert.steps import Frame, module_of

#: Calls that hand numbers on: views, casts, copies, and dropout, which scales them.
_CARRY = frozenset({
    "view", "view_as", "reshape", "reshape_as", "unsqueeze", "squeeze", "expand", "expand_as", "transpose",
    "permute", "contiguous", "flatten", "unflatten", "movedim", "swapaxes", "t", "chunk", "split", "unbind",
    "__getitem__", "to", "float", "double", "half", "bfloat16", "type", "type_as", "clone", "detach",
    "repeat_interleave", "dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout",
})  # fmt: skip
#: Of these the results are parts, other numbers than those of another part.
_PARTS = frozenset({"chunk", "split", "unbind", "__getitem__"})
_POINTWISE = frozenset(s.kind for s in SPELLINGS.values()) | {"prelu"}


@dataclass(eq=False)
class Factor:
    """A gate of the tensor ``root``, by the node of its calls where they are known and its sites."""

    root: Any
    node: Any = None
    sites: tuple[Site, ...] = ()


@dataclass
class Factors:
    """Factors by tensor, for tensors that are no expressions."""

    carried: Any = field(default_factory=WeakIdKeyDictionary)

    def of(self, node: Any, tensor: torch.Tensor) -> Factor | None:
        """The gate that a tensor is, or None; ``node`` is its expression, if it has one."""
        if node is None or node.made is None:
            found: Factor | None = self.carried.get(tensor)
            return found
        if not node.calls or node.root is None or not (node.sites or node.candidate):
            return None
        return Factor(node.root.tensor, node)

    def hand_on(self, function: Any, factor: Factor | None, result: Any) -> None:
        """The result of a call that hands its first argument's numbers on."""
        if factor is not None and getattr(function, "__name__", "") in _CARRY:
            for leaf in tree_leaves(result):
                if isinstance(leaf, torch.Tensor):
                    part = function.__name__ in _PARTS
                    self.carried[leaf] = replace(factor, root=weakref.ref(leaf)) if part else factor

    def made(self, site: Site | None, args: tuple[Any, ...], result: Any) -> None:
        """The result of a handler's call that is no expression."""
        if site is not None and site.kind in _POINTWISE and isinstance(result, torch.Tensor) and args:
            root = weakref.ref(args[0]) if isinstance(args[0], torch.Tensor) else None
            self.carried[result] = Factor(root, None, (site,))

    def multiplied(self, plan: Plan, frame: Frame, nodes: tuple[Any, Any], args: tuple[Any, ...]) -> Any:
        """Note a product of two tensors, of which one is a gate of another tensor than the other depends on.

        Gives the factors' nodes with the product's site, for what is known when the forward has ended.
        """
        if frame.library or any(not t.is_floating_point() or not t.dim() for t in args):
            return None
        factors = [self.of(n, t) for n, t in zip(nodes, args, strict=True)]
        roots = [_root(f, n, t) for f, n, t in zip(factors, nodes, args, strict=True)]
        if roots[0] is roots[1] or any(_constant(r, frame) for r in roots):
            return None
        found = [f for f in factors if f is not None]
        if not found:
            return None
        place = place_of_call(3)
        sites = [s for f in found for s in f.sites]
        owner = module_of(frame.owner)
        products.found(plan, owner, place, f"{Path(place[0]).name}:{place[1]}", sites)
        return plan.products[owner][place], [f.node for f in found if f.node is not None]


def _root(factor: Factor | None, node: Any, tensor: torch.Tensor) -> Any:
    if factor is not None:
        return None if factor.root is None else _alive(factor.root)
    return tensor if node is None or node.root is None else _alive(node.root.tensor)


def _alive(reference: Any) -> Any:
    """The tensor, or its reference where it is gone: two that are gone are not the same for that."""
    found = reference()
    return reference if found is None else found


def _constant(tensor: Any, frame: Frame) -> bool:
    """Whether it is a parameter or a buffer, or a view of one: a product with it is a line's slope."""
    if not isinstance(tensor, torch.Tensor):
        return False
    whole = tensor._base if tensor._is_view() else tensor
    if isinstance(whole, nn.Parameter):
        return True
    module = frame.module
    return isinstance(module, nn.Module) and any(whole is b for b in module._buffers.values())


def resolve(noted: list[Any]) -> None:
    """Sites of the products' factors, now that groups have theirs."""
    for site, nodes in noted:
        rows = [s for n in nodes for s in _rows(n)]
        site.parts = tuple({id(s): s for s in (*site.parts, *rows)}.values())


def _rows(node: Any) -> list[Site]:
    members = node.members()
    groups = [m.row for m in members if m.row is not None]
    if groups:
        return groups[:1]
    # Calls are told by the function that they make together, where that has a name.
    return list(node.sites)[-1:]
