"""What a network is called with, in the forms that people have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

Batch = tuple[tuple[Any, ...], dict[str, Any]]


def read_inputs(inputs: Any) -> list[Batch]:
    """A list of (args, kwargs) from a tensor, a tuple, a mapping, or a list of these.

    Raises TypeError for anything else.
    """
    if inputs is None:
        return []
    if isinstance(inputs, list):
        return [batch for one in inputs for batch in read_inputs(one)]
    if isinstance(inputs, Mapping):
        return [((), dict(inputs))]
    if isinstance(inputs, tuple):
        return [(inputs, {})]
    if isinstance(inputs, torch.Tensor):
        return [((inputs,), {})]
    raise TypeError(
        "convert: inputs are a tensor, a tuple of arguments, a mapping of keywords or a list of these, "
        f"found {type(inputs).__name__}"
    )


def called(model: nn.Module, batch: Batch) -> Any:
    """The network's output."""
    args, kwargs = batch
    return model(*args, **kwargs)
