"""A second count of a network's nonlinearities, by what PyTorch's dispatcher runs.

The conversion finds calls of functions; the census sees operators, below every spelling, TorchScript and
fused kernels included, and knows nothing of the conversion's handlers. A network's census before and after
the conversion says what was missed. It counts one eager forward run of the given inputs: what a compiler
fuses, and code that these inputs do not reach, it does not see.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.weak import WeakIdKeyDictionary

from gateproof.kernels.convert.census_factors import Tensors
from gateproof.kernels.convert.census_ops import (
    EQUALITY,
    ORDERING,
    POWERS,
    base,
    floating,
    fused,
    hands_on,
    kind_of,
    opens,
)
from gateproof.kernels.convert.census_powers import Powers, is_exponential, is_power

_INSIDE = tuple(f"{Path(f).parent}{os.sep}" for f in (str(torch.__file__), __file__))
_FUNCTIONAL = str(Path(torch.nn.functional.__file__))
#: A function of torch.nn.functional with such a word uses the operator within a norm, a pooling or a loss.
WITHIN = ("norm", "pool", "loss", "similarity", "distance", "entropy", "interpolate", "dropout")


#: Conditions from the least to what decides: where numbers are equal is a guard or a mask, no gate.
_WEIGHT = ("", "equality", "comparison")


@dataclass(frozen=True, order=True)
class Place:
    """Where an operator was called: the module whose code runs ('' the network itself) and file and line."""

    owner: str
    line: str

    def __str__(self) -> str:
        owner = self.owner or "the network itself"
        return f"{owner} ({self.line})" if self.line else owner


class Counting(TorchDispatchMode):
    """Counts operators while it is active; ``names`` are the network's modules by identity."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.names = {id(module): name for name, module in model.named_modules()}
        self.counts: dict[str, Counter[tuple[Place, str]]] = {}
        self.operators: dict[str, Any] = {}
        self.tensors = Tensors(model)
        #: Places of products whose factor is no gate of this package.
        self.ungated: set[Place] = set()
        self.powers = Powers()
        self._conditions = WeakIdKeyDictionary()

    def of(self, kind: str) -> Counter[tuple[Place, str]]:
        """How often each operator of a kind ran, by place."""
        return self.counts.get(kind, Counter())

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        kwargs = kwargs or {}
        values = (*args, *kwargs.values())
        conditional = self._conditional(values)
        kind = read = kind_of(func)
        moved = kind == "elementary" and self.tensors.moves(values)
        product = 0 if kind else self.tensors.product(func, values)
        name = func._schema.name.removeprefix("aten::")
        # A function mode that is active would take the operator for a call of the network's.
        with torch._C.DisableTorchFunction():
            result = func(*args, **kwargs)
        out = result if isinstance(result, (list, tuple)) else (result,)
        if word := "" if kind else fused(values):
            kind, name = "nonlinear", f"{name}[{word}]"
        elif conditional and opens(func) and floating(out):
            kind, name = ("guards" if conditional == "equality" else "nonlinear"), f"{name}[{conditional}]"
        if kind == "nonlinear" and not floating((*values, *out)):
            kind = "integers"
        power = is_power(func, values) and self.tensors.moves(values)
        self.tensors.ran(func, read, values, out)
        self.powers.ran(func, values, out, self._power(name) if power else None)
        if product and not kind:
            kind, name = "products", "mul"
        if kind:
            place, within = self._place(sys._getframe(1))
            if kind == "products":
                if within:
                    return result
                if product == 1:
                    self.ungated.add(place)
            if moved and not within and (base(func) not in POWERS or is_exponential(func, values)):
                self.counts.setdefault("activations", Counter())[place, name] += 1
            if within and kind in ("nonlinear", "elementary"):
                kind = f"within {within}"
            self.counts.setdefault(kind, Counter())[place, name] += 1
            self.operators[name] = func
        made = conditional if hands_on(func) else ""
        if floating(values) and base(func) in ORDERING | EQUALITY:
            made = "comparison" if base(func) in ORDERING else "equality"
        for t in out if made else ():
            if isinstance(t, torch.Tensor):
                self._conditions[t] = made
        return result

    def _power(self, name: str) -> tuple[Place, str] | None:
        place, within = self._place(sys._getframe(2))
        return None if within else (place, name)

    def _conditional(self, values: Any) -> str:
        """'comparison' or 'equality' where a condition of such is among the values, or ''."""
        found = ""
        for v in values:
            if isinstance(v, torch.Tensor):
                found = max(found, self._conditions.get(v) or "", key=_WEIGHT.index)
            elif isinstance(v, (list, tuple)):
                found = max(found, self._conditional(v), key=_WEIGHT.index)
        return found

    def _place(self, frame: FrameType | None) -> tuple[Place, str]:
        """The place, and the function of torch.nn.functional that hides the operator in a norm or so."""
        line, within = "", ""
        while frame is not None:
            code = frame.f_code
            file = code.co_filename
            # What a class of tensors does at each call is not where the call stands.
            inside = file.startswith(_INSIDE) or code.co_name == "__torch_function__"
            if not inside and not line:
                line = f"{Path(file).name}:{frame.f_lineno}"
            if not line and file == _FUNCTIONAL and any(w in code.co_name for w in WITHIN):
                within = f"torch.nn.functional.{code.co_name}"
            if code.co_argcount:
                first = frame.f_locals.get(code.co_varnames[0])
                owner = self.names.get(id(first))
                if owner is not None and _method(first, code.co_name):
                    return Place(owner, line), within
            frame = frame.f_back
        return Place("", line), within


def _method(module: Any, name: str) -> bool:
    """Whether a function of this name, given the module, is code of its own.

    A hook is given a module, too, but is no method of it; what calls the forward may have called a hook.
    """
    if name in ("_call_impl", "_wrapped_call_impl"):
        # The code of TorchScript has no frame of its own.
        return isinstance(module, torch.jit.ScriptModule)
    if name != "forward" and type(module).__module__.startswith("torch."):
        # What another module calls of one of PyTorch's, as FloatFunctional.add_relu, stands in that one.
        return False
    return hasattr(type(module), name)


@contextmanager
def counted(model: nn.Module) -> Iterator[Counting]:
    """Counts the operators of what runs within it."""
    counting = Counting(model)
    with counting:
        yield counting
