"""Modules become converted ones in place: the class changes, the object stays.

So aliases, hooks, the training flag, parameters and their names, buffers, optimisers that hold a parameter,
and whatever else holds the module all stay as they are. ``returned`` gives the former class back.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from gateproof.kernels.convert.plan import Plan, intercepted

_RECORD = "_gateproof"
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
    if isinstance(module, torch.jit.ScriptModule) or is_converted(module):
        return False
    own = type(module).forward is not nn.Module.forward and "forward" not in module.__dict__
    return own and not (isinstance(module, _LINEAR) and type(module).__module__.startswith("torch."))


def is_activation(module: nn.Module) -> bool:
    """Whether it is one of PyTorch's own activation modules, whose class gives way to a gate's."""
    return type(module).__module__ == "torch.nn.modules.activation" and not isinstance(module, _KEEP_KIND)


def is_converted(module: nn.Module) -> bool:
    """Whether it has been swapped."""
    return _RECORD in module.__dict__


def swapped(module: nn.Module, plan: Plan, owner: str) -> None:
    """Make it a converted module; ``owner`` is its name in the network."""
    base = type(module)
    cls = _class(base, is_activation(module))
    object.__setattr__(module, _RECORD, (plan, owner, base))
    module.__class__ = cls


def returned(module: nn.Module) -> None:
    """Undo ``swapped``."""
    _, _, base = module.__dict__[_RECORD]
    module.__class__ = base
    object.__delattr__(module, _RECORD)


class Gated(nn.Module):
    """What PyTorch's activation modules become."""


def _class(base: type, activation: bool) -> type:
    found = _made.get((base, activation))
    if found is not None:
        return found
    forward: Callable[..., Any] = base.forward  # type: ignore[attr-defined]

    library = base.__module__.startswith("torch.")

    @functools.wraps(forward)
    def converted(self: Any, *args: Any, **kwargs: Any) -> Any:
        plan, owner, _ = self._gateproof
        return intercepted(plan, owner, forward, (self, *args), kwargs, library=library)

    def reduced(self: Any, _: int) -> Any:
        return _again, (base, activation), self.__dict__

    # Its name stays: code and saved configurations ask for it.
    body: dict[str, Any] = {
        "forward": converted,
        "__reduce_ex__": reduced,
        "__module__": base.__module__,
        "__qualname__": base.__qualname__,
        "__doc__": base.__doc__,
    }
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


def _again(base: type, activation: bool) -> Any:
    cls: Any = _class(base, activation)
    return cls.__new__(cls)
