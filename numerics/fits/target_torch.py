"""Tensors and modules, without importing PyTorch: what comes from it has imported it already."""

from __future__ import annotations

import sys
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np

from gateproof.numerics.fits.gates import Array


def _torch() -> Any:
    return sys.modules.get("torch")


def torch_module(given: Any) -> Any | None:
    """The object if it is an nn.Module."""
    torch = _torch()
    kind = getattr(getattr(torch, "nn", None), "Module", None)
    return given if kind is not None and isinstance(given, kind) else None


def as_array(value: Any) -> np.ndarray[Any, Any] | None:
    """An array of what is an array, a tensor, or a sequence of numbers; None for a plain object."""
    torch = _torch()
    if torch is not None and isinstance(value, torch.Tensor):
        value = value.detach()
        value = value if value.is_complex() else value.to("cpu", torch.float64)
        return np.asarray(value.cpu().numpy())
    if isinstance(value, np.ndarray | np.generic | list | tuple) or hasattr(value, "__array__"):
        return np.asarray(value)
    return None


def on_tensors(given: Callable[[Any], Any]) -> Callable[[Array], Any]:
    """A function of tensors, called on a float64 one without gradients."""

    def run(x: Array) -> Any:
        torch = _torch()
        with torch.no_grad():
            return given(torch.tensor(x, dtype=torch.float64))

    return run


def of_module(module: Any) -> tuple[Callable[[Array], Any], tuple[str, ...]]:
    """A module in eval mode, its parameters in float64, and what is to be said of them.

    It works on a copy, so the module keeps its mode and its types. A module that cannot be copied is put
    into eval mode for each call, and back.
    """
    torch = _torch()
    kinds = {str(p.dtype).removeprefix("torch.") for p in module.parameters() if p.is_floating_point()}
    narrow = sorted(kinds - {"float64"})
    try:
        copy = deepcopy(module).double().eval()
    except Exception:
        return _in_place(module), (f"{type(module).__name__} cannot be copied: it is called as it is",)
    place = next((t.device for t in (*copy.parameters(), *copy.buffers())), torch.device("cpu"))

    def run(x: Array) -> Any:
        with torch.no_grad():
            return copy(torch.tensor(x, dtype=torch.float64, device=place))

    notes: tuple[str, ...] = ()
    if narrow:
        notes = (f"{type(module).__name__} has {narrow[0]} parameters; it is evaluated with them in float64",)
    return run, notes


def _in_place(module: Any) -> Callable[[Array], Any]:
    torch = _torch()
    first = next(
        (p for p in module.parameters() if p.is_floating_point()), torch.zeros((), dtype=torch.float64)
    )

    def run(x: Array) -> Any:
        modes = [(m, m.training) for m in module.modules()]
        module.eval()
        try:
            with torch.no_grad():
                return module(torch.tensor(x, dtype=first.dtype, device=first.device))
        finally:
            for part, training in modes:
                part.training = training

    return run
