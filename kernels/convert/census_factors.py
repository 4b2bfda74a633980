"""What a census knows of tensors: of which other tensor each is a function, and whether a gate opened it.

From operators alone, with nothing of the conversion's: so products of a gate with another tensor are counted
by a second method as well, and elementary functions are told from those of plain constants (positions).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves
from torch.utils.weak import WeakIdKeyDictionary

from gateproof.kernels.convert.census_ops import base, hands_on, tensors_in

#: Tensors of given numbers.
_FACTORIES = frozenset({"zeros", "ones", "full", "empty", "arange", "linspace", "scalar", "lift"})
#: Gates that open rows or sequences, no single numbers: their products are attention's and cells' own.
_WHOLE = frozenset(
    {"softmax", "attention", "rnn", "lstm", "gru", "transformer", "glu", "recurrent", "several"}
)
#: Of these the results are parts, other numbers than those of another part.
_PARTS = frozenset({"slice", "select", "split", "chunk", "unbind", "narrow", "index"})
_CARRIES = frozenset({"expand", "view", "repeat", "flatten", "unflatten", "movedim"})


class Tensors:
    """The tensors of one run; ``of`` gives what one is a function of, and whether it is gated."""

    def __init__(self, model: nn.Module) -> None:
        self.constants = {id(t) for t in (*model.parameters(), *model.buffers())}
        self.learned_from = {id(p) for p in model.parameters()}
        self.roots: Any = WeakIdKeyDictionary()
        self.learned: Any = WeakIdKeyDictionary()
        self.count = 0

    def given(self, batch: Any) -> None:
        """What the network is called with: functions of it are its own."""
        for t in tree_leaves(batch):
            if isinstance(t, torch.Tensor) and t.is_floating_point():
                self.learned[t] = True

    def moves(self, values: Any) -> bool:
        """Whether some tensor among the values depends on parameters or on the network's inputs."""
        return any(id(t) in self.learned_from or self.learned.get(t, False) for t in tensors_in(values))

    def product(self, op: Any, values: Any) -> int:
        """Whether the operator multiplies a nonlinearity (1) or a gate (2) of one tensor with another."""
        if base(op) not in ("mul", "addcmul"):
            return 0
        known = [self._of(t) for t in list(tensors_in(values))[-2:]]
        apart = [k for k in known if k is not None]
        if len(apart) < 2 or apart[0][0] == apart[1][0]:
            return 0
        return min((by for _, by in apart if by), default=0)

    def ran(self, op: Any, kind: str, values: Any, out: Any) -> None:
        """Note what an operator's results are."""
        tensors = list(tensors_in(values))
        if self.moves(tensors):
            for t in tensors_in(out):
                self.learned[t] = True
        words = set(base(op).strip("_").split("_"))
        if (not tensors and words & _FACTORIES) or {"zeros", "ones", "full"} & words:
            for t in tensors_in(out):
                self.roots[t] = (frozenset(), 0)
            return
        handed = hands_on(op) or bool(words & (_CARRIES | _PARTS))
        opened = kind in ("nonlinear", "gate") and not words & _WHOLE
        if not (handed or opened or torch.Tag.pointwise in op.tags):
            for t in tensors_in(out):
                self.roots.pop(t, None)
            return
        given = tensors[1:2] if base(op) == "copy" else tensors
        known = [k for k in map(self._of, given) if k is not None]
        if words & _PARTS:
            for t in tensors_in(out):
                self.count += 1
                self.roots[t] = (frozenset({self.count}), known[0][1] if known else 0)
            return
        roots = frozenset[int]().union(*(r for r, _ in known))
        if len(roots) > 1 and not handed:
            for t in tensors_in(out):
                self.roots.pop(t, None)
            return
        by = [b for _, b in known if b] + ([2 if kind == "gate" else 1] if opened else [])
        for t in tensors_in(out):
            self.roots[t] = (roots, min(by, default=0) if len(roots) == 1 else 0)

    def _of(self, tensor: torch.Tensor) -> tuple[frozenset[int], int] | None:
        """None for what is a constant."""
        if id(tensor) in self.constants or not tensor.dim() or not tensor.is_floating_point():
            return None
        if tensor not in self.roots:
            self.count += 1
            self.roots[tensor] = (frozenset({self.count}), 0)
        known: tuple[frozenset[int], int] = self.roots[tensor]
        return known if known[0] else None
