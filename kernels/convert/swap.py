"""Modules become converted ones in place: the class changes, the object stays.

So aliases, hooks, the training flag, parameters and their names, buffers, optimisers that hold a parameter,
and whatever else holds the module all stay as they are. ``returned`` gives the former class back.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import torch
from torch import nn

from gateproof.kernels.convert import script
from gateproof.kernels.convert.interception import intercepted
from gateproof.kernels.convert.methods import converted_methods
from gateproof.kernels.convert.plan import Plan

_RECORD, _FORMER = "_gateproof", "_gateproof_forward"
_made: dict[tuple[type, bool], type] = {}

#: Modules of PyTorch's that hold no nonlinearity of this conversion's.
_LINEAR = (
    nn.Linear, nn.Bilinear, nn.Embedding, nn.EmbeddingBag, nn.Identity, nn.Flatten, nn.Unflatten,
    nn.Sequential, nn.ModuleList, nn.ModuleDict, nn.ParameterList, nn.ParameterDict,
    nn.modules.conv._ConvNd, nn.modules.batchnorm._NormBase, nn.LayerNorm, nn.GroupNorm, nn.RMSNorm,
    nn.modules.dropout._DropoutNd, nn.Upsample, nn.Fold, nn.Unfold, nn.PixelShuffle, nn.PixelUnshuffle,
    nn.modules.pooling._MaxPoolNd, nn.modules.pooling._AvgPoolNd, nn.modules.pooling._AdaptiveAvgPoolNd,
    nn.modules.pooling._AdaptiveMaxPoolNd, nn.modules.padding._ConstantPadNd,
    nn.modules.padding._ReflectionPadNd, nn.modules.padding._ReplicationPadNd,
)  # fmt: skip
#: Their conversion stays an instance of the class: they have parameters and methods that others call.
_KEEP_KIND = (nn.RNNBase, nn.RNNCellBase, nn.MultiheadAttention)


def to_swap(module: nn.Module) -> bool:
    """Whether the module's own code may hold nonlinearities."""
    if isinstance(module, torch.jit.ScriptModule):
        return True
    cls = type(module)
    if "forward" in module.__dict__:
        # torch.compile's wrapper calls the module within, which is converted itself.
        return not (cls.__name__ == "OptimizedModule" and cls.__module__.startswith("torch."))
    if cls.forward is nn.Module.forward and cls.__call__ is nn.Module.__call__:
        return False
    # Fused and quantisation-aware subclasses lie elsewhere in torch and have activations of their own.
    at = next(c for c in cls.__mro__ if "forward" in vars(c))
    plain = issubclass(at, _LINEAR) and at.__module__.startswith("torch.nn.modules.")
    return not (plain and cls.__module__.startswith("torch."))


def is_activation(module: nn.Module) -> bool:
    """Whether it is one of PyTorch's own activation modules, whose class gives way to a gate's."""
    return type(module).__module__ == "torch.nn.modules.activation" and not isinstance(module, _KEEP_KIND)


def is_converted(module: nn.Module) -> bool:
    """Whether it has been swapped."""
    return _RECORD in module.__dict__


def plan_of(module: nn.Module) -> Plan:
    """The plan that a converted module belongs to."""
    plan: Plan = module.__dict__[_RECORD][0]
    return plan


def owner_of(module: nn.Module) -> str:
    """The name of a converted module in its network."""
    return str(module.__dict__[_RECORD][1])


def mode_of(module: nn.Module) -> str:
    """The mode of the conversion that a converted module belongs to."""
    plan, _, _ = module.__dict__[_RECORD]
    return str(plan.mode)


def swapped(module: nn.Module, plan: Plan, owner: str) -> None:
    """Make it a converted module; ``owner`` is its name in the network."""
    if isinstance(module, torch.jit.ScriptModule):
        script.swapped(module, plan, owner)
        return
    base = type(module)
    former = module.__dict__.get("forward")
    object.__setattr__(module, _RECORD, (plan, owner, base))
    if former is None:
        module.__class__ = _class(base, is_activation(module))
    else:
        # A forward assigned to the object hides its class's.
        module.__dict__[_FORMER] = former
        module.__dict__["forward"] = functools.partial(_assigned, module, former)


def returned(module: nn.Module) -> None:
    """Undo ``swapped``."""
    if isinstance(module, torch.jit.ScriptModule):
        script.returned(module)
        return
    _, _, base = module.__dict__.pop(_RECORD)
    if _FORMER in module.__dict__:
        module.__dict__["forward"] = module.__dict__.pop(_FORMER)
    else:
        module.__class__ = base


def _assigned(module: Any, former: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    plan, owner, _ = module._gateproof
    return intercepted(plan, owner, former, args, kwargs, module=module)


class Gated(nn.Module):
    """What PyTorch's activation modules become."""


#: What stands for a forward of PyTorch's whose result depends on a fast path that gates do not take.
FORWARDS: dict[Any, Callable[..., Any]] = {}


def _class(base: type, activation: bool) -> type:
    found = _made.get((base, activation))
    if found is not None:
        return found
    library = base.__module__.startswith("torch.")

    def under(method: str) -> Callable[..., Any]:
        @functools.wraps(getattr(base, method))
        def converted(self: Any, *args: Any, **kwargs: Any) -> Any:
            plan, owner, _ = self._gateproof
            # Looked up at each call: fx recompiles, and people patch, a class's forward.
            own = getattr(base, method)
            call: Any = FORWARDS.get(own, own)
            return intercepted(plan, owner, call, (self, *args), kwargs, library=library)

        return converted

    # Its name stays: code and saved configurations ask for it.
    body: dict[str, Any] = {
        "forward": under("forward"),
        "__reduce_ex__": _reduced,
        "__module__": base.__module__,
        "__qualname__": base.__qualname__,
        "__doc__": base.__doc__,
    }
    if base.__call__ is not nn.Module.__call__ and not library:
        body["__call__"] = under("__call__")
    if hasattr(base, "__deepcopy__"):
        body["__deepcopy__"] = _copied
    if not (library or activation):
        body |= converted_methods(base)
    if issubclass(base, torch.fx.GraphModule):
        body["recompile"] = _recompiled
    if activation:
        others = {k: v for c in reversed(base.__mro__[:-2]) if c is not nn.Module for k, v in vars(c).items()}
        others = {k: v for k, v in others.items() if not k.startswith("__") and k != "forward"}
        made = type(
            f"Gated{base.__name__}", (Gated,), {**others, **body, "__qualname__": f"Gated{base.__name__}"}
        )
    else:
        made = type(base.__name__, (base,), body)
    _made[base, activation] = made
    return made


def _recompiled(self: Any) -> Any:
    """fx writes the forward of its graph into the object's class: that is the former one."""
    plan, owner, _ = self._gateproof
    returned(self)
    try:
        return self.recompile()
    finally:
        swapped(self, plan, owner)


def _copied(self: Any, memo: dict[int, Any]) -> Any:
    """A copy by the class's own rule, converted as this one is."""
    plan, owner, _ = self._gateproof
    returned(self)
    try:
        module = self.__deepcopy__(memo)
    finally:
        swapped(self, plan, owner)
    swapped(module, deepcopy(plan, memo), owner)
    return module


def _reduced(self: Any, protocol: int) -> Any:
    plan, owner, base = self._gateproof
    if base.__reduce_ex__ is object.__reduce_ex__ and base.__reduce__ is object.__reduce__:
        own = base.__getstate__ is not object.__getstate__
        state = self.__getstate__() if own else self.__dict__
        return _again, (base, issubclass(type(self), Gated), plan, owner), state
    returned(self)
    try:
        made, args, *rest = self.__reduce_ex__(protocol)
    finally:
        swapped(self, plan, owner)
    return _rebuilt, (made, args, plan, owner), *rest


def _again(base: type, activation: bool, plan: Plan, owner: str) -> Any:
    cls: Any = _class(base, activation)
    module = cls.__new__(cls)
    object.__setattr__(module, _RECORD, (plan, owner, base))
    return module


def _rebuilt(made: Callable[..., Any], args: tuple[Any, ...], plan: Plan, owner: str) -> Any:
    module = made(*args)
    swapped(module, plan, owner)
    return module
