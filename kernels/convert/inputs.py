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

    Raises TypeError for anything else, and ValueError for an empty list.
    """
    if inputs is None:
        return []
    if isinstance(inputs, list):
        if not inputs:
            raise ValueError("convert: inputs is an empty list; give at least one input, or leave it out")
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
    """What runs within it leaves buffers, tensors in attributes, training flags and random numbers alone.

    Running statistics of a norm in training are buffers. A cache that has grown stays, and so does a state
    that is in no module.
    """
    held = [(m, _held(m)) for m in model.modules()]
    tensors = {id(t): t for _, found in held for _, _, t in found}
    kept = [(t, t.detach().clone()) for t in tensors.values() if not (is_lazy(t) or t.is_meta)]
    flags = [(m, m.training) for m, _ in held]
    devices = {p.device for p in model.parameters() if p.device.type == "cuda"}
    with torch.random.fork_rng(devices=list(devices)):
        try:
            yield
        finally:
            for module, training in flags:
                if module.training is not training:
                    module.training = training
            for _, found in held:
                for where, name, t in found:
                    now = where.get(name)
                    if now is not t and isinstance(now, torch.Tensor) and now.shape == t.shape:
                        where[name] = t
            with torch.no_grad():
                for t, value in kept:
                    # Bits, since NaN equals nothing; what was not touched keeps its version.
                    if t.shape == value.shape and not _same(t, value):
                        t.copy_(value)


def _held(module: nn.Module) -> list[tuple[dict[str, Any], str, torch.Tensor]]:
    """The tensors of a module that are no parameters, and where they are."""
    if isinstance(module, torch.jit.ScriptModule):
        # Its buffers are read through C++; they are overwritten, never replaced.
        return [({name: t}, name, t) for name, t in module.named_buffers(recurse=False)]
    places = (module._buffers, module.__dict__)
    return [(d, name, t) for d in places for name, t in d.items() if isinstance(t, torch.Tensor)]


def _same(a: torch.Tensor, b: torch.Tensor) -> bool:
    if a.layout != torch.strided or a.is_quantized:
        return True
    return torch.equal(a.contiguous().flatten().view(torch.uint8), b.contiguous().flatten().view(torch.uint8))
