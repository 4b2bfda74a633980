"""What a tier starts from: the gate of an activation, and the shape of a layer."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, prod

from torch import nn
from torch.nn import functional as f

from gateproof.kernels.convert.expressions import parsed
from gateproof.kernels.convert.fitted import fitted
from gateproof.kernels.convert.kinds import Kind
from gateproof.theory.cost_ladder import Layer

Numbers = tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...], tuple[float, ...]]
CONVOLVED = {nn.Conv1d: f.conv1d, nn.Conv2d: f.conv2d, nn.Conv3d: f.conv3d}


def start(activation: str, branches: int, tau: float | None) -> Numbers:
    """tau, theta, slope and intercept of an activation's gate. Raises ValueError where none can learn."""
    parsed(activation)
    t = fitted(Kind(activation, activation), branches, keep=False)
    if t.form is None:
        raise ValueError(f"{activation}: {t.words}")
    name, *given = t.form
    if name == "pieces":
        if tau is None or not 0 < tau < inf:
            raise ValueError(
                f"{activation} is a hard gate, which has no sharpness to learn: give a finite tau, as tau=50 "
                "(relu is then off by at most 0.2785/tau)"
            )
        theta, slope, intercept, _ = given
        return (tau,), theta, slope, intercept
    own, theta, slope, intercept = (tuple(v) if isinstance(v, Sequence) else (v,) for v in given[:4])
    return own, theta, slope, intercept


def shape_of(layer: nn.Module) -> Layer:
    """The layer as ``theory.cost_ladder`` counts it, applied once."""
    if isinstance(layer, nn.Linear):
        return Layer("linear", layer.out_features, layer.in_features, bias=layer.bias is not None)
    if type(layer) not in CONVOLVED:
        raise ValueError(f"a Linear, Conv1d, Conv2d or Conv3d is converted, found {type(layer).__name__}")
    assert isinstance(layer, nn.modules.conv._ConvNd)
    taps, bias = prod(layer.kernel_size), layer.bias is not None
    return Layer("conv", layer.out_channels, layer.in_channels, taps, layer.groups, bias)
