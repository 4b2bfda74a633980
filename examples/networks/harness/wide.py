"""A network in float64 throughout, also where its own code asks for float32 (norms and rotations do)."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode


class Wide(TorchFunctionMode):
    """While it is entered, float64 and whole numbers that are to become float32 become float64."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = kwargs or {}
        asked = func is torch.Tensor.float or (
            func is torch.Tensor.to and torch.float32 in (*args[1:], given.get("dtype"))
        )
        if asked and (args[0].dtype == torch.float64 or not args[0].is_floating_point()):
            return args[0].double()
        return func(*args, **given)
