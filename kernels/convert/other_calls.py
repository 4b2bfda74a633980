"""The handlers of steps, of logarithms of sums, of losses, and of PyTorch's calls for lists of tensors."""

# PyTorch's own names with an underscore have no types.
# pyright: reportPrivateImportUsage=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.nn import functional

from gateproof.kernels.convert.forms import Treatment
from gateproof.kernels.convert.interception import handled
from gateproof.kernels.convert.plan import HANDLERS, Plan, handles
from gateproof.kernels.convert.pointwise_calls import of_others, stored
from gateproof.kernels.convert.several import gate_of_several
from gateproof.kernels.convert.spelled import SPELLINGS

_STEP = "exact hard gate at 0 of the lines 0 and 1; its value at 0 is the call's second tensor"


@handles(torch.heaviside, torch.Tensor.heaviside, torch.Tensor.heaviside_)
def _heaviside(plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    given = {**dict(zip(("input", "values"), args, strict=False)), **kwargs}
    x, values = given.get("input"), given.get("values")
    if not (isinstance(x, torch.Tensor) and isinstance(values, torch.Tensor) and x.dtype == values.dtype):
        return function(*args, **kwargs)
    if not x.is_floating_point():
        return of_others(plan, function, args, kwargs, "heaviside", "torch.heaviside", x)
    plan.site("heaviside", "torch.heaviside", lambda: Treatment("exact", _STEP, ("of two tensors",)))
    if torch.is_grad_enabled() and (x.requires_grad or values.requires_grad):
        found: torch.Tensor = _Step.apply(x, values)
    else:
        found = gate_of_several("step", x, values)
    return stored(found, x, in_place=function is torch.Tensor.heaviside_, out=kwargs.get("out"))


class _Step(torch.autograd.Function):
    """PyTorch has no derivative of a step, and says so where one is asked for."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, values: torch.Tensor) -> torch.Tensor:  # noqa: ARG004
        return gate_of_several("step", x, values)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        raise NotImplementedError("derivative for heaviside is not implemented, as in PyTorch")


_SUMS = {
    "logsumexp": (torch.logsumexp, torch.Tensor.logsumexp, torch.special.logsumexp),
    "logcumsumexp": (torch.logcumsumexp, torch.Tensor.logcumsumexp),
    "logaddexp": (torch.logaddexp, torch.Tensor.logaddexp),
    "logaddexp2": (torch.logaddexp2, torch.Tensor.logaddexp2),
}
_NO_GATE = (
    "no gate: it grows like the largest entry, but bends for ever (of two entries it is their maximum plus "
    "softplus); its gradient is the softmax gate"
)
_LOSS = "a loss, no part of what the network computes: PyTorch's own, with a log-sigmoid inside"
_LOSSES = (
    functional.binary_cross_entropy_with_logits, torch.binary_cross_entropy_with_logits,
    functional.soft_margin_loss, functional.multilabel_soft_margin_loss,
)  # fmt: skip


def _stays(kind: str, spelled: str, words: str) -> Any:
    def handler(plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        plan.site(kind, spelled, lambda: Treatment("kept", words, None))
        return function(*args, **kwargs)

    return handler


for _name, _functions in _SUMS.items():
    handles(*_functions)(_stays(_name, f"torch.{_name}", _NO_GATE))
for _loss in _LOSSES:
    _spelled = f"torch.nn.functional.{_loss.__name__}"
    handles(_loss)(_stays("log_sigmoid", _spelled, _LOSS))


def _lists() -> Iterator[tuple[Any, Any]]:
    """PyTorch's calls for lists, with what they do to each tensor."""
    for name in dir(torch):
        if not name.startswith("_foreach_"):
            continue
        each = getattr(torch.Tensor, name.removeprefix("_foreach_"), None)
        if each in HANDLERS and (each in SPELLINGS or "max" in name or "min" in name):
            yield getattr(torch, name), each


_EACH = dict(_lists())


@handles(*_EACH)
def _of_lists(plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    each, tensors = _EACH[function], args[0] if args else None
    if not isinstance(tensors, (list, tuple)) or kwargs or len(args) > 2:
        return function(*args, **kwargs)
    found = []
    for i, x in enumerate(tensors):
        others = [a[i] if isinstance(a, (list, tuple)) else a for a in args[1:]]
        one = _BOUND.get(each.__name__) if others and not isinstance(others[0], torch.Tensor) else None
        found.append(handled(plan, one or each, (x, *others), {}))
    return None if each.__name__.endswith("_") else tuple(found)


#: The larger and the smaller of a tensor and a number are clamps.
_BOUND = {
    "maximum": torch.Tensor.clamp_min, "minimum": torch.Tensor.clamp_max,
}  # fmt: skip
