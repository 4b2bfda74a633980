"""The handlers of the softmax family: each row is a gate at z_i - LSE of the other logits."""

# PyTorch's own names with an underscore have no types.
# pyright: reportPrivateImportUsage=false, reportAttributeAccessIssue=false

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch.nn import functional

from gateproof.kernels.convert.forms import Treatment
from gateproof.kernels.convert.plan import Plan, handles
from gateproof.kernels.convert.softmax_form import gate_softmax

_WORDS = "exact gate of each entry, opened by its logit minus the log-sum-exp of the others"
_LOG = "logarithm of the exact gate of each entry: (z - m) - log1p(sum of the other weights)"
_FORM = ("softmax",)
_REQUIRED = object()
_aten = torch.ops.aten


def converted() -> Treatment:
    """What becomes of a softmax."""
    return Treatment("exact", _WORDS, _FORM, "softmax(z, i) == sigmoid(z[i] - lse(z, without=i))")


def converted_log() -> Treatment:
    """What becomes of its logarithm."""
    return Treatment("exact", _LOG, ("log_softmax",), "log(sigmoid(z[i] - lse(z, without=i)))")


def kept(words: str) -> Treatment:
    """What stays as it is, and why."""
    return Treatment("kept", words, None)


def as_it_is(plan: Plan, kind: str, spelled: str, function: Any, args: Any, kwargs: Any) -> Any:
    """A call that no gate is made for: mostly one that PyTorch refuses, with its own error."""
    found = function(*args, **kwargs)
    plan.site(kind, spelled, lambda: kept("PyTorch's own: arguments that these gates do not take"))
    return found


def bound(names: tuple[str, ...], defaults: tuple[Any, ...], args: Any, kwargs: Any) -> dict[str, Any] | None:
    """The arguments by name; None where the call does not fit."""
    if len(args) > len(names) or any(k not in names for k in kwargs):
        return None
    given = {**dict(zip(names, defaults, strict=True)), **dict(zip(names, args, strict=False)), **kwargs}
    return None if any(v is _REQUIRED for v in given.values()) else given


def _implicit(name: str, dims: int) -> int:
    """The dimension that PyTorch takes where none is named: 0 for 0, 1 and 3 dimensions, else 1."""
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. "
        "Change the call to include dim=X as an argument.",
        stacklevel=2,
    )
    return 0 if dims in (0, 1, 3) else 1


def _fits(x: Any, dim: Any, dtype: Any) -> bool:
    """Whether it is a softmax of numbers: all else goes to PyTorch, for its own error."""
    if not isinstance(x, torch.Tensor) or x.is_nested or x.layout != torch.strided:
        return False
    if not (isinstance(dim, int) and -max(x.dim(), 1) <= dim < max(x.dim(), 1)):
        return False
    return (x.dtype if dtype is None else dtype).is_floating_point


def _run(
    plan: Plan, function: Any, args: Any, kwargs: Any, spelled: str, given: dict[str, Any] | None,
    *, log: bool = False, negated: bool = False, safe: bool = False,
) -> Any:  # fmt: skip
    kind = "log_softmax" if log else "softmax"
    if given is None:
        return as_it_is(plan, kind, spelled, function, args, kwargs)
    x, dim, dtype = given["input"], given["dim"], given.get("dtype")
    if dim is None and isinstance(x, torch.Tensor):
        dim = _implicit(kind, x.dim())
    if not _fits(x, dim, dtype):
        if isinstance(x, torch.Tensor) and (x.is_nested or x.layout != torch.strided):
            why = "nested or sparse: its rows have different lengths, which gates of rows do not take"
            plan.site(kind, spelled, lambda: kept(why))
            return function(*args, **kwargs)
        return as_it_is(plan, kind, spelled, function, args, kwargs)
    plan.site(kind, spelled, converted_log if log else converted)
    x = -x if negated else x
    x = x if dtype is None else x.to(dtype)
    if x.is_cuda and torch.is_autocast_enabled("cuda"):
        x = x.to(torch.promote_types(x.dtype, torch.float32))
    along: Any = dim
    found = gate_softmax(x, along, log=log, safe=safe)
    out = given.get("out")
    return found if out is None else out.copy_(found)


_FUNCTION = ("input", "dim", "_stacklevel", "dtype"), (_REQUIRED, None, 3, None)
_METHOD = ("input", "dim", "dtype"), (_REQUIRED, _REQUIRED, None)


@handles(functional.softmax)
def _softmax(plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    given = bound(*_FUNCTION, args, kwargs)
    return _run(plan, function, args, kwargs, "torch.nn.functional.softmax", given)


@handles(functional.log_softmax)
def _log_softmax(plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    given = bound(*_FUNCTION, args, kwargs)
    return _run(plan, function, args, kwargs, "torch.nn.functional.log_softmax", given, log=True)


@handles(functional.softmin)
def _softmin(plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    given = bound(*_FUNCTION, args, kwargs)
    return _run(plan, function, args, kwargs, "torch.nn.functional.softmin", given, negated=True)


def _of_tensors(args: Any, kwargs: Any) -> dict[str, Any] | None:
    """Of torch.softmax, Tensor.softmax, torch.special.softmax and aten's: one tensor, a dimension, a type."""
    named = {{"self": "input"}.get(k, k): v for k, v in kwargs.items()}
    out = named.pop("out", None)
    given = bound(*_METHOD, args, named)
    return None if given is None else {**given, "out": out}


_SOFTMAX = [torch.softmax, torch.Tensor.softmax, torch.special.softmax]
_SOFTMAX += [_aten.softmax, _aten.softmax.int]
_LOG_SOFTMAX = [
    torch.log_softmax,
    torch.Tensor.log_softmax,
    torch.special.log_softmax,
    _aten.log_softmax,
    _aten.log_softmax.int,
]


@handles(*_SOFTMAX)
def _torch_softmax(plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return _run(plan, function, args, kwargs, "torch.softmax", _of_tensors(args, kwargs))


@handles(*_LOG_SOFTMAX)
def _torch_log_softmax(plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return _run(plan, function, args, kwargs, "torch.log_softmax", _of_tensors(args, kwargs), log=True)


@handles(torch._safe_softmax, _aten._safe_softmax, _aten._safe_softmax.default)
def _safe_softmax(plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    given = _of_tensors(args, kwargs)
    return _run(plan, function, args, kwargs, "torch._safe_softmax", given, safe=True)


def _of_aten(args: Any, kwargs: Any) -> dict[str, Any] | None:
    named = {{"self": "input"}.get(k, k): v for k, v in kwargs.items()}
    given = bound(("input", "dim", "half_to_float"), (_REQUIRED,) * 3, args, named)
    if given is None:
        return None
    return {**given, "dtype": torch.float32 if given["half_to_float"] else None}


@handles(torch._softmax, _aten._softmax, _aten._softmax.default)
def _aten_softmax(plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return _run(plan, function, args, kwargs, "aten._softmax", _of_aten(args, kwargs))


@handles(torch._log_softmax, _aten._log_softmax, _aten._log_softmax.default)
def _aten_log_softmax(plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return _run(plan, function, args, kwargs, "aten._log_softmax", _of_aten(args, kwargs), log=True)


@handles(functional.gumbel_softmax)
def _gumbel_softmax(plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The same draws as PyTorch's from the same state of its generator."""
    names = ("logits", "tau", "hard", "eps", "dim")
    given = bound(names, (_REQUIRED, 1, False, 1e-10, -1), args, kwargs)
    spelled = "torch.nn.functional.gumbel_softmax"
    if given is None or not _fits(given["logits"], given["dim"], None):
        return as_it_is(plan, "softmax", spelled, function, args, kwargs)
    plan.site("softmax", spelled, converted)
    logits, dim = given["logits"], given["dim"]
    layout = torch.legacy_contiguous_format
    noise = -torch.empty_like(logits, memory_format=layout).exponential_().log()
    soft = gate_softmax((logits + noise) / given["tau"], dim)
    if not given["hard"]:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    hard = torch.zeros_like(logits, memory_format=layout).scatter_(dim, index, 1.0)
    return hard - soft.detach() + soft


_LOSS = "a loss, no part of what the network computes: PyTorch's own, with its log-softmax inside"


@handles(functional.cross_entropy, torch._C._nn.cross_entropy_loss)
def _cross_entropy(plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    plan.site("log_softmax", "torch.nn.functional.cross_entropy", lambda: kept(_LOSS))
    return function(*args, **kwargs)


_PIECES = "of sparse or masked tensors: its rows have different lengths, which gates of rows do not take"
_OTHERS = [torch.sparse.softmax, torch.sparse.log_softmax, torch._masked_softmax, _aten._masked_softmax]


@handles(*_OTHERS)
def _of_pieces(plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    plan.site("softmax", f"torch.{getattr(function, '__name__', 'softmax')}", lambda: kept(_PIECES))
    return function(*args, **kwargs)
