"""Methods of a module besides ``forward``: those whose code names a nonlinearity are converted as well.

``model.encode(x)`` called from outside is the network's code, as its forward is. Called from the module's own
forward it is a part of that run. Which methods name one is read off their compiled code, so a method that
only calls modules, which are converted themselves, stays as it is.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

from torch import nn

from gateproof.kernels.convert.interception import intercepted
from gateproof.kernels.convert.plan import HANDLERS, Plan
from gateproof.kernels.convert.running import working_on

#: Calls that are in many formulas, and say nothing of one by themselves.
_COMMON = frozenset({
    "mul", "mul_", "multiply", "multiply_", "max", "min", "abs", "abs_", "absolute", "clamp", "clamp_",
    "clamp_min", "clamp_max", "clip", "clip_", "threshold", "maximum", "minimum", "fmax", "fmin",
})  # fmt: skip


@functools.lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    found = {getattr(f, "__name__", "") for f in HANDLERS}
    return frozenset(found - _COMMON)


def converted_methods(base: type) -> dict[str, Callable[..., Any]]:
    """By name, what stands for the methods of a class of modules that name a nonlinearity."""
    return {name: _around(base, name) for name in _methods(base)}


def _methods(base: type) -> Iterator[str]:
    for name in dir(base):
        if name.startswith("_") or name == "forward" or hasattr(nn.Module, name):
            continue
        cls = next((c for c in base.__mro__ if name in vars(c)), None)
        if cls is None or cls.__module__.startswith("torch."):
            continue
        own = vars(cls)[name]
        code = getattr(inspect.unwrap(own), "__code__", None) if isinstance(own, FunctionType) else None
        if code is not None and _named(code):
            yield name


def _named(code: CodeType) -> bool:
    if _names().intersection(code.co_names):
        return True
    return any(isinstance(c, CodeType) and _named(c) for c in code.co_consts)


def _around(base: type, name: str) -> Callable[..., Any]:
    @functools.wraps(getattr(base, name))
    def converted(self: Any, *args: Any, **kwargs: Any) -> Any:
        plan: Plan
        plan, owner, _ = self._gateproof
        own = getattr(base, name)
        if working_on(plan, self):
            return own(self, *args, **kwargs)
        return intercepted(plan, owner, own, (self, *args), kwargs, method=name)

    return converted
