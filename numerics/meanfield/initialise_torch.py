"""Filling the layers of a torch module; torch is imported when it is asked for."""

from __future__ import annotations

from math import prod, sqrt
from typing import Any


def fill(module: Any, sigma_w: float, sigma_b: float, generator: Any = None) -> list[str]:
    """Weights ~ N(0, sigma_w^2/fan_in) and biases ~ N(0, sigma_b^2), in place, without gradients.

    For Linear, Conv1d to Conv3d and their transposed forms, subclasses among them; the fan-in of a
    convolution is (channels in/groups) * (entries of the kernel), divided by the strides where it is
    transposed (on average over positions). ``generator`` is a torch.Generator. Gives the names of the
    layers filled, "" for the module itself.

    Raises TypeError for what is no module, and ValueError where it has no such layer, where a layer's shape
    is not known yet (lazy layers), and where a weight is computed from others (parametrizations).
    """
    import torch

    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"a torch module is expected, found {type(module).__name__}")
    layers: list[tuple[str, Any]] = [
        (name, layer) for name, layer in module.named_modules() if isinstance(layer, _kinds())
    ]
    if not layers:
        raise ValueError(f"{type(module).__name__} has no linear or convolution layer to be filled")
    for name, layer in layers:
        _must_be_plain(name, layer)
    with torch.no_grad():
        for _, layer in layers:
            count = fan_in(layer)
            if count:
                layer.weight.normal_(0.0, sigma_w / sqrt(count), generator=generator)
            if layer.bias is None:
                continue
            if sigma_b:
                layer.bias.normal_(0.0, sigma_b, generator=generator)
            else:
                layer.bias.zero_()
    return [name for name, _ in layers]


def fan_in(layer: Any) -> float:
    """The entries of the input that one of the output is a sum over."""
    import torch

    nn, shape = torch.nn, layer.weight.shape
    if isinstance(layer, nn.ConvTranspose1d | nn.ConvTranspose2d | nn.ConvTranspose3d):
        return float(shape[0] // layer.groups * prod(shape[2:]) / prod(layer.stride))
    return float(prod(shape[1:]))


def _kinds() -> tuple[Any, ...]:
    from torch import nn

    return (
        nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d,
        nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d,
    )  # fmt: skip


def _must_be_plain(name: str, layer: Any) -> None:
    from torch.nn.parameter import is_lazy
    from torch.nn.utils.parametrize import is_parametrized

    shown = f"the layer {name!r}" if name else "the layer"
    if is_lazy(layer.weight):
        raise ValueError(f"{shown} has no shape yet; run it once on an input first")
    if is_parametrized(layer) or "weight_g" in layer._parameters:
        raise ValueError(f"{shown} computes its weight from others; fill it before it is parametrized")
