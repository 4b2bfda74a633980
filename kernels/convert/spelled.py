"""How PyTorch's code spells each pointwise nonlinearity: functions, methods, in-place forms, operators.

A line of ``SPELLINGS`` names a kind, its arguments with their defaults, and all callables that mean it.
"""

# PyTorch's own names with an underscore have no types.
# pyright: reportPrivateImportUsage=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import torch
from torch.nn import functional

_NN = torch._C._nn
_T = torch.Tensor
_REQUIRED = object()


@dataclass(frozen=True)
class Spelling:
    """A callable of PyTorch's and the kind that it computes.

    ``arguments`` are (name, default); the first is the tensor. ``numbers`` makes the kind's numbers of the
    others by name, or gives None for a call that is something else.
    """

    kind: str
    name: str
    arguments: tuple[tuple[str, Any], ...]
    numbers: Callable[[Mapping[str, Any]], tuple[Any, ...] | None]
    in_place: bool

    def bound(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any] | None:
        """The arguments by name; None where the call does not fit."""
        names = [name for name, _ in self.arguments]
        if len(args) > len(names) or any(k not in names for k in kwargs):
            return None
        given = {**dict(self.arguments), **dict(zip(names, args, strict=False)), **kwargs}
        return None if any(v is _REQUIRED for v in given.values()) else given


def _aten(name: str) -> list[Any]:
    """An operator and its overloads, as code that calls ``torch.ops.aten`` has them."""
    packet = getattr(torch.ops.aten, name, None)
    return [] if packet is None else [packet, *(getattr(packet, o) for o in packet.overloads())]


def _has(*where: tuple[Any, str]) -> list[Any]:
    return [found for space, name in where if (found := getattr(space, name, None)) is not None]


def _everywhere(name: str) -> list[Any]:
    """What has this name in torch, torch.Tensor, torch.nn.functional, torch._C._nn, torch.special, aten."""
    spaces = (torch, _T, functional, _NN, torch.special)
    return [*_has(*((space, name) for space in spaces)), *_aten(name)]


def _plain(*names: str) -> Callable[[Mapping[str, Any]], tuple[Any, ...] | None]:
    """The named arguments, which must be numbers or words."""

    def numbers(given: Mapping[str, Any]) -> tuple[Any, ...] | None:
        values = [given[n] for n in names]
        if any(isinstance(v, torch.Tensor) for v in values):
            return None
        return tuple(v if isinstance(v, str) else float(v) for v in values)

    return numbers


def _bounds(given: Mapping[str, Any]) -> tuple[Any, ...] | None:
    lo, hi = given["min"], given["max"]
    if isinstance(lo, torch.Tensor) or isinstance(hi, torch.Tensor):
        return None
    return (-inf if lo is None else float(lo), inf if hi is None else float(hi))


def _elu(given: Mapping[str, Any]) -> tuple[Any, ...] | None:
    if given.get("scale", 1) != 1 or given.get("input_scale", 1) != 1:
        return None
    return (float(given["alpha"]),)


_X = ("input", _REQUIRED)
_PLACE = ("inplace", False)
_NONE = _plain()

#: Kind, arguments, its numbers, names of the callables.
_TABLE: tuple[tuple[str, tuple[tuple[str, Any], ...], Any, tuple[str, ...]], ...] = (
    ("relu", (_X, _PLACE), _NONE, ("relu",)),
    ("relu6", (_X, _PLACE), _NONE, ("relu6",)),
    ("hardtanh", (_X, ("min_val", -1.0), ("max_val", 1.0), _PLACE), _plain("min_val", "max_val"),
     ("hardtanh",)),
    ("clamp", (_X, ("min", None), ("max", None)), _bounds, ("clamp", "clip")),
    ("clamp", (_X, ("min", _REQUIRED)), lambda g: _bounds({**g, "max": None}), ("clamp_min",)),
    ("clamp", (_X, ("max", _REQUIRED)), lambda g: _bounds({**g, "min": None}), ("clamp_max",)),
    ("leaky_relu", (_X, ("negative_slope", 0.01), _PLACE), _plain("negative_slope"), ("leaky_relu",)),
    ("threshold", (_X, ("threshold", _REQUIRED), ("value", _REQUIRED), _PLACE),
     _plain("threshold", "value"), ("threshold",)),
    ("softshrink", (_X, ("lambd", 0.5)), _plain("lambd"), ("softshrink",)),
    ("hardshrink", (_X, ("lambd", 0.5)), _plain("lambd"), ("hardshrink",)),
    ("hardsigmoid", (_X, _PLACE), _NONE, ("hardsigmoid",)),
    ("hardswish", (_X, _PLACE), _NONE, ("hardswish",)),
    ("abs", (_X,), _NONE, ("abs", "absolute")),
    ("sigmoid", (_X,), _NONE, ("sigmoid", "expit", "special_expit")),
    ("tanh", (_X,), _NONE, ("tanh",)),
    ("silu", (_X, _PLACE), _NONE, ("silu",)),
    ("tanhshrink", (_X,), _NONE, ("tanhshrink",)),
    ("gelu", (_X, ("approximate", "none")), _plain("approximate"), ("gelu",)),
    ("erf", (_X,), _NONE, ("erf", "special_erf")),
    ("erfc", (_X,), _NONE, ("erfc", "special_erfc")),
    ("ndtr", (_X,), _NONE, ("ndtr", "special_ndtr")),
    ("mish", (_X, _PLACE), _NONE, ("mish",)),
    ("softplus", (_X, ("beta", 1.0), ("threshold", 20.0)), _plain("beta", "threshold"), ("softplus",)),
    ("log_sigmoid", (_X,), _NONE, ("logsigmoid", "log_sigmoid")),
    ("elu", (_X, ("alpha", 1.0), _PLACE), _elu, ("elu",)),
    ("celu", (_X, ("alpha", 1.0), _PLACE), _plain("alpha"), ("celu",)),
    ("selu", (_X, _PLACE), _NONE, ("selu",)),
    ("softsign", (_X,), _NONE, ("softsign",)),
)  # fmt: skip


def _described(function: Any, name: str) -> str:
    qualified = getattr(function, "__qualname__", "")
    if str(getattr(function, "__module__", "")).startswith("torch._ops"):
        return f"torch.ops.{function}"
    if qualified.startswith(("TensorBase.", "Tensor.")):
        return f"torch.Tensor.{name}"
    if getattr(function, "__module__", None) == "torch.nn.functional":
        return f"torch.nn.functional.{name}"
    return f"torch.{name}"


def _made() -> Iterator[tuple[Any, Spelling]]:
    for kind, arguments, numbers, names in _TABLE:
        for name in names:
            for spelled, place in ((name, False), (f"{name}_", True)):
                for function in _everywhere(spelled):
                    yield function, Spelling(kind, _described(function, spelled), arguments, numbers, place)


#: By callable.
SPELLINGS: dict[Any, Spelling] = dict(_made())
#: The numbers of those that may be called with a tensor alone.
ALONE: dict[Any, tuple[Any, ...]] = {
    function: numbers
    for function, s in SPELLINGS.items()
    if all(default is not _REQUIRED for _, default in s.arguments[1:])
    if (numbers := s.numbers(dict(s.arguments))) is not None
}
