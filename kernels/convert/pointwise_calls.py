"""The handlers of pointwise calls: activations, clamps, comparisons of two tensors, gated linear units."""

# PyTorch's own names with an underscore have no types.
# pyright: reportPrivateImportUsage=false, reportAttributeAccessIssue=false

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch.nn import functional

from gateproof.kernels.convert.chosen import chosen
from gateproof.kernels.convert.forms import INTEGERS, Treatment, exact, exact_form, run
from gateproof.kernels.convert.plan import Plan, handles
from gateproof.kernels.convert.several import gate_of_several
from gateproof.kernels.convert.spelled import ALONE, SPELLINGS
from gateproof.kernels.convert.unreached import kept as quantised


def stored(result: torch.Tensor, x: torch.Tensor, *, in_place: bool, out: Any = None) -> torch.Tensor:
    """The result where the call wants it: in x itself, in ``out``, or anew."""
    if in_place:
        return x.copy_(result)
    return result if out is None else out.copy_(result)


_COMPLEX = "complex, kept: gates take real numbers"


def of_others(
    plan: Plan, function: Any, args: Any, kwargs: Any, kind: str, spelled: str, x: torch.Tensor
) -> Any:
    """The call itself, with a row, for tensors whose numbers are integers or complex.

    Quantised ones have their row before.
    """
    if x.is_complex():
        plan.site(kind, f"{spelled} of complex numbers", lambda: Treatment("kept", _COMPLEX, None))
    elif x.dtype != torch.bool and not x.is_quantized:
        words = f"{INTEGERS}: gates take real numbers"
        plan.site(kind, f"{spelled} of integers", lambda: Treatment("kept", words, None))
    return function(*args, **kwargs)


def pointwise(
    plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], kind: str, numbers: Any,
    spelled: str, x: Any, *, in_place: bool, out: Any = None,
) -> Any:  # fmt: skip
    """One call of a known kind."""
    if not isinstance(x, torch.Tensor):
        # What is like a tensor has its own rule for the call.
        return function(*args, **kwargs)
    if x.is_nested:
        words = "gates take tensors whose rows are of one length; pad them"
        plan.site(kind, f"{spelled} of nested tensors", lambda: Treatment("kept", words, None))
        return function(*args, **kwargs)
    if x.is_quantized:
        plan.site(kind, spelled, quantised)
    if x.layout is not torch.strided:
        words = f"gates take dense tensors, not {x.layout}"
        plan.site(kind, f"{spelled} of {x.layout}", lambda: Treatment("kept", words, None))
        return function(*args, **kwargs)
    if not x.is_floating_point():
        return of_others(plan, function, args, kwargs, kind, spelled, x)
    form, gate = chosen(plan, kind, numbers, spelled, x)
    if form is None:
        return function(*args, **kwargs)
    # What is overwritten must not be what the gate keeps for its gradient.
    keeps = in_place and torch.is_grad_enabled() and x.requires_grad
    given = x.clone() if keeps else x
    return stored(run(form, given) if gate is None else gate.value(given), x, in_place=in_place, out=out)


_NOT_IN_PLACE = {"inplace": False}


@handles(*SPELLINGS)
def _activation(plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    spelling = SPELLINGS[function]
    if len(args) == 1 and function in ALONE and (not kwargs or kwargs == _NOT_IN_PLACE):
        return pointwise(
            plan, function, args, kwargs, spelling.kind, ALONE[function], spelling.name, args[0],
            in_place=spelling.in_place,
        )  # fmt: skip
    out = kwargs.get("out")
    given = spelling.bound(args, {k: v for k, v in kwargs.items() if k != "out"})
    numbers = None if given is None else spelling.numbers(given)
    if given is None or numbers is None:
        if spelling.kind == "clamp" and given is not None:
            return _clamped(plan, function, args, kwargs, given, in_place=spelling.in_place)
        return function(*args, **kwargs)
    in_place = spelling.in_place or bool(given.get("inplace", False))
    return pointwise(
        plan, function, args, kwargs, spelling.kind, numbers, spelling.name, given["input"],
        in_place=in_place, out=out,
    )  # fmt: skip


_OF_TWO = {"maximum": "larger", "minimum": "smaller", "fmax": "larger number", "fmin": "smaller number"}
_TWO = "hard gate of two tensors: each element takes the branch that their difference opens"


def _of_two(plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], name: str) -> Any:
    """The larger or the smaller of two tensors; anything else is called as it is."""
    given = [*args, *(kwargs[k] for k in ("input", "other") if k in kwargs)]
    if len(given) != 2 or any(k not in ("input", "other", "out") for k in kwargs):
        return function(*args, **kwargs)
    a, b = given
    if not all(isinstance(t, torch.Tensor) for t in given):
        return function(*args, **kwargs)
    # A compiler does not trace result_type.
    common = a.dtype if a.dtype == b.dtype else torch.result_type(a, b)
    if not common.is_floating_point:
        return of_others(plan, function, args, kwargs, name, f"torch.{name}", a)
    plan.site(name, f"torch.{name}", lambda: Treatment("exact", _TWO, ("of two tensors",)))
    found = gate_of_several(_OF_TWO[name], a.to(common), b.to(common))
    return stored(found, a, in_place=False, out=kwargs.get("out"))


@handles(torch.maximum, torch.Tensor.maximum, torch.max, torch.Tensor.max)
def _maximum(plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return _of_two(plan, function, args, kwargs, "maximum")


@handles(torch.minimum, torch.Tensor.minimum, torch.min, torch.Tensor.min)
def _minimum(plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return _of_two(plan, function, args, kwargs, "minimum")


@handles(torch.fmax, torch.Tensor.fmax)
def _fmax(plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return _of_two(plan, function, args, kwargs, "fmax")


@handles(torch.fmin, torch.Tensor.fmin)
def _fmin(plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return _of_two(plan, function, args, kwargs, "fmin")


def _clamped(
    plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any],
    given: dict[str, Any], *, in_place: bool,
) -> Any:  # fmt: skip
    """Clamped to tensors: x's gradient is 1 where it equals a bound, as in PyTorch."""
    x, lo, hi = given["input"], given.get("min"), given.get("max")
    if not x.is_floating_point():
        return of_others(plan, function, args, kwargs, "clamp", "torch.clamp", x)
    plan.site("clamp", "torch.clamp", lambda: Treatment("exact", _TWO, ("of two tensors",)))
    found = gate_of_several("bounded", x.clone() if in_place else x, lo, hi)
    return stored(found, x, in_place=in_place, out=kwargs.get("out"))


@handles(functional.prelu, torch.prelu, torch.Tensor.prelu)
def _prelu(plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    given = {**dict(zip(("input", "weight"), args, strict=False)), **kwargs}
    x, weight = given["input"], given["weight"]
    if not (isinstance(x, torch.Tensor) and isinstance(weight, torch.Tensor)):
        return function(*args, **kwargs)
    words = "exact hard gate at 0; the slope of its left branch is the module's weight"
    plan.site("prelu", "torch.nn.functional.prelu", lambda: Treatment("exact", words, ("prelu",)))
    if weight.numel() == 1:
        weight = weight.reshape(())
    elif x.dim() > 1:
        weight = weight.reshape([1, -1, *[1] * (x.dim() - 2)])
    return gate_of_several("prelu", x, weight)


@handles(functional.rrelu, torch.rrelu, functional.rrelu_, torch.rrelu_)
def _rrelu(plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    names = ("input", "lower", "upper", "training", "inplace")
    given: dict[str, Any] = {
        "lower": 1 / 8,
        "upper": 1 / 3,
        "training": False,
        "inplace": function in _RRELU_IN_PLACE,
    }
    given |= {**dict(zip(names, args, strict=False)), **kwargs}
    if given["training"]:
        words = "its slopes are drawn at random in training; in evaluation it is the gate of their mean"
        plan.site("rrelu", "torch.nn.functional.rrelu", lambda: Treatment("kept", words, None))
        return function(*args, **kwargs)
    numbers = ((given["lower"] + given["upper"]) / 2,)
    spelled, place = "torch.nn.functional.rrelu", bool(given["inplace"])
    return pointwise(
        plan, function, args, kwargs, "leaky_relu", numbers, spelled, given["input"], in_place=place
    )


_RRELU_IN_PLACE = (functional.rrelu_, torch.rrelu_)


def _glu_gate() -> Treatment:
    own = exact("sigmoid", ())
    return replace(own, words=f"gate product: the first half times the {own.words}")


@handles(functional.glu, torch._C._nn.glu)
def _glu(plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x = args[0] if args else kwargs["input"]
    dim = args[1] if len(args) > 1 else kwargs.get("dim", -1)
    if not isinstance(x, torch.Tensor) or x.dim() == 0 or x.shape[dim] % 2:
        return function(*args, **kwargs)
    plan.site("glu", "torch.nn.functional.glu", _glu_gate)
    a, b = x.chunk(2, dim)
    wide = x.dtype if x.dtype == torch.float64 else torch.float32
    form: Any = exact_form("sigmoid", ())
    return (a.to(wide) * run(form, b.to(wide))).to(x.dtype)
