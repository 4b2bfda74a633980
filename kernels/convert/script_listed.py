"""Nonlinearities in the code of TorchScript that has not run yet: rows from its graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from gateproof.kernels.convert.census_ops import kind_of
from gateproof.kernels.convert.forms import Treatment
from gateproof.kernels.convert.plan import UNRUN, Plan, Site
from gateproof.kernels.convert.script import reached
from gateproof.kernels.convert.spelled import SPELLINGS

_LATER = "in TorchScript that has not run; a gate is put in when it runs"
_NEVER = "in TorchScript that has not run; no gate is put in for this operator there"
#: Whole layers, which the dispatcher runs under other names.
_LAYERS = frozenset({"lstm", "gru", "rnn"})


def list_unrun(plan: Plan, model: nn.Module) -> None:
    """A row for each kind of nonlinearity that a script's code has and no run has met.

    Calls of one kind in one script have one row: its operators have no places.
    """
    for owner, module in _scripts(model):
        known = {s.kind for s in plan.sites.values() if s.owner == owner}
        for operator in _operators(module):
            name = operator._schema.name.split("::")[-1]
            kind = SPELLINGS[operator].kind if operator in SPELLINGS else name.strip("_")
            fused = _LAYERS.intersection(name.split("_"))
            ran = name in known or (bool(fused) and _met(known, cell=name.endswith("cell")))
            if kind not in known and not ran:
                words = _LATER if reached(operator) and not fused else _NEVER
                treatment = Treatment("kept", words, None)
                names = plan.names.get(owner, (owner,))
                site = Site(owner, kind, f"torch.ops.aten.{name}", "", treatment, names)
                plan.sites.setdefault((owner, kind, UNRUN, None), site)


def _met(known: set[str], *, cell: bool) -> bool:
    """Whether the dispatcher ran a recurrent layer, or the parts that it makes of a cell."""
    layers = any(_LAYERS.intersection(k.split("_")) for k in known)
    return layers or (cell and {"sigmoid", "tanh"} <= known)


def _scripts(model: nn.Module) -> Iterator[tuple[str, Any]]:
    """The scripts that no other script contains: all code within one is run as its own."""
    inside = set[int]()
    for name, module in model.named_modules():
        if isinstance(module, torch.jit.ScriptModule) and id(module) not in inside:
            inside.update(id(m) for m in module.modules())
            yield name, module


def _operators(module: Any) -> Iterator[Any]:
    for name in module._c._method_names():
        graph = module._c._get_method(name).graph.copy()
        torch._C._jit_pass_inline(graph)
        yield from _nonlinear(graph)


def _nonlinear(block: Any) -> Iterator[Any]:
    for node in block.nodes():
        for inner in node.blocks():
            yield from _nonlinear(inner)
        space, _, name = node.kind().partition("::")
        packet = getattr(torch.ops.aten, name, None) if space == "aten" else None
        overloads = [getattr(packet, o) for o in packet.overloads()] if packet is not None else []
        # An overload for numbers has no tensor to be a gate of.
        if overloads and _of_tensors(node) and any(kind_of(o) == "nonlinear" for o in overloads[:1]):
            yield next((o for o in overloads if reached(o)), overloads[0])


def _of_tensors(node: Any) -> bool:
    return any(str(i.type()) in ("Tensor", "Tensor?", "Optional[Tensor]") for i in node.inputs())
