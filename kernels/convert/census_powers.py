"""Powers that a census sees, and which of them are parts of norms.

A square whose mean, sum or root is taken measures a size: a norm, a distance, a variance, the magnitude of a
complex number. What is read in any other way, or is the network's result, may be an activation, and has a
row. Told from operators alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Any

import torch
from torch.utils.weak import WeakIdKeyDictionary

from gateproof.kernels.convert.census_ops import base, hands_on, tensors_in

#: Exponents of roots, quotients, and of what is no power.
_PLAIN = (0.5, -0.5, -1, 0, 1)
#: Operators that take the size of what they read.
_SIZE = frozenset({"mean", "sum", "sqrt", "rsqrt", "vector", "pool1d", "pool2d", "pool3d"})
#: Operators that hand a square on: to a sum of squares, or scaled.
_ADDS = frozenset({"add", "sub", "rsub", "neg", "cat", "stack", "mul", "div"})
_VIEWS = frozenset(
    {"expand", "view", "flatten", "unflatten", "movedim", "split", "chunk", "unbind", "narrow"}
)


def is_power(op: Any, values: tuple[Any, ...]) -> bool:
    """Whether the operator is a power of a tensor by a number: a square, a cube, a product with itself."""
    name = base(op)
    if name == "pow":
        exponent = values[1] if len(values) > 1 else None
        return isinstance(exponent, (int, float)) and exponent not in _PLAIN
    if name == "mul":
        return len(values) > 1 and isinstance(values[0], torch.Tensor) and values[0] is values[1]
    return name == "square"


def is_exponential(op: Any, values: tuple[Any, ...]) -> bool:
    """Whether it is a power whose exponent is a tensor."""
    return base(op) == "pow" and len(values) > 1 and isinstance(values[1], torch.Tensor)


class Powers:
    """The powers of one run, each known by a mark of the caller's."""

    def __init__(self) -> None:
        self.made: Counter[Any] = Counter()
        self._waiting: Any = WeakIdKeyDictionary()
        self._sizes = set[Any]()
        self._read = set[Any]()

    def found(self) -> dict[Any, int]:
        """How often each ran that is no part of a norm."""
        return {m: n for m, n in self.made.items() if m in self._read or m not in self._sizes}

    def ran(self, op: Any, values: Any, out: Any, mark: Hashable | None) -> None:
        """Note an operator; ``mark`` where it is a power."""
        tensors = list(tensors_in(values))
        waiting = [self._waiting.get(t, frozenset()) for t in tensors]
        marks = frozenset[Any]().union(*waiting)
        words = set(base(op).strip("_").split("_"))
        if marks:
            root = base(op) == "pow" and values[1] in (0.5, -0.5)
            others = [t for t, w in zip(tensors, waiting, strict=True) if not w and t.dim()]
            if words & _SIZE or root:
                self._sizes |= marks
                marks = frozenset()
            elif not (hands_on(op) or words & _VIEWS or (words & _ADDS and not others)):
                self._read |= marks
                marks = frozenset()
        if mark is not None:
            self.made[mark] += 1
            marks = frozenset({mark})
        for t in tensors_in(out):
            if marks:
                self._waiting[t] = marks
            else:
                self._waiting.pop(t, None)
