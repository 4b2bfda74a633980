"""What a network is called with, in the forms that people have it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

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


@contextmanager
def undisturbed(model: nn.Module) -> Iterator[None]:
    """What runs within it leaves buffers, the training flags and the random numbers as they were.

    Running statistics of a norm in training are buffers. Other state, a cache in an attribute say, is the
    network's own.
    """
    buffers = [b for b in model.buffers() if not is_lazy(b)]
    kept = [b.detach().clone() for b in buffers]
    flags = [(m, m.training) for m in model.modules()]
    devices = {p.device for p in model.parameters() if p.device.type == "cuda"}
    with torch.random.fork_rng(devices=list(devices)):
        try:
            yield
        finally:
            for module, training in flags:
                if module.training is not training:
                    module.training = training
            with torch.no_grad():
                for buffer, value in zip(buffers, kept, strict=True):
                    # torch.equal would call NaN another value; an untouched buffer keeps its version.
                    if buffer.shape != value.shape or not _same(buffer, value):
                        buffer.copy_(value)


def _same(a: torch.Tensor, b: torch.Tensor) -> bool:
    if a.is_sparse or a.is_quantized or a.is_meta:
        return True
    return torch.equal(a.contiguous().flatten().view(torch.uint8), b.contiguous().flatten().view(torch.uint8))
