"""What a network of this folder is: one file defines `NETWORK`, and `run.py` finds it by the file's name."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

FOLDER = Path(__file__).resolve().parent.parent


class Missing(Exception):
    """Something the network needs is not installed; the message says what to install."""


@dataclass(frozen=True)
class Call:
    """One call `model(*args, **kwargs)`; `about` holds what a metric must know of it."""

    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    about: Any = None

    def to(self, dtype: torch.dtype) -> Call:
        """The call with its floating tensors in dtype."""
        return Call(
            tuple(_cast(a, dtype) for a in self.args),
            {k: _cast(v, dtype) for k, v in self.kwargs.items()},
            self.about,
        )


def _cast(value: Any, dtype: torch.dtype) -> Any:
    return value.to(dtype) if isinstance(value, torch.Tensor) and value.is_floating_point() else value


def _whole(result: Any, _call: Call) -> torch.Tensor:
    return result


def _stateless(_model: torch.nn.Module) -> None:
    pass


@dataclass(frozen=True)
class Network:
    """A pretrained network, real inputs for it, and what its outputs decide.

    build   the model with its weights, float32, in eval mode
    calls   the inputs, in the order in which they are given to the model
    metric  of the original's outputs, the converted's and the calls: numbers and words by name
    output  of a result and its call: the tensor that is compared
    reset   is called before the first call of a pass (a model with a state)
    dtypes  in which the model runs
    part    how many of the calls are used for time, planted faults and reordered sums; None for all
    reference  of the calls: the same outputs from another program
    """

    about: str
    build: Callable[[], torch.nn.Module]
    calls: Callable[[], list[Call]]
    metric: Callable[[Sequence[torch.Tensor], Sequence[torch.Tensor], Sequence[Call]], dict[str, Any]]
    output: Callable[[Any, Call], torch.Tensor] = _whole
    reset: Callable[[torch.nn.Module], None] = _stateless
    dtypes: tuple[torch.dtype, ...] = (torch.float32, torch.float64, torch.bfloat16)
    part: int | None = None
    reference: Callable[[Sequence[Call]], list[torch.Tensor]] | None = None


def outputs(network: Network, model: torch.nn.Module, calls: Sequence[Call]) -> list[torch.Tensor]:
    """What the model gives for each call, without gradients."""
    network.reset(model)
    with torch.no_grad():
        return [network.output(model(*call.args, **call.kwargs), call) for call in calls]


def gradients(network: Network, model: torch.nn.Module, call: Call) -> list[torch.Tensor]:
    """Gradients of one call's outputs, weighted from -1 to 1, in all parameters that they depend on."""
    network.reset(model)
    out = network.output(model(*call.args, **call.kwargs), call)
    loss = (out * torch.linspace(-1, 1, out.numel(), dtype=out.dtype).view_as(out)).sum()
    found = torch.autograd.grad(loss, [p for p in model.parameters() if p.requires_grad], allow_unused=True)
    return [g for g in found if g is not None]


def names() -> list[str]:
    """The networks: the files beside run.py."""
    return sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "run")


def load(name: str) -> Network:
    """The network of a file of this folder; ValueError for an unknown name."""
    if name not in names():
        raise ValueError(f"unknown network {name!r}; known are {', '.join(names())}")
    network: Network = importlib.import_module(name).NETWORK
    return network


def package(module: str, install: str) -> Path:
    """The folder of an installed package, found without importing it; Missing says what to install."""
    spec = importlib.util.find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        raise Missing(f"{module} is not installed: pip install --no-deps {install}")
    return Path(next(iter(spec.submodule_search_locations)))


def library(module: str) -> Any:
    """An imported library; Missing says what to install."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise
        raise Missing(f"{error.name} is not installed: pip install {error.name}") from None
