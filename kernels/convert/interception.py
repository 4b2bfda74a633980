"""The interception of the calls that are nonlinearities.

While a converted module runs, every call of a PyTorch function goes through ``Interception``; those that some
handler knows become gates.
"""

# PyTorch's own names with an underscore have no types.
# pyright: reportPrivateImportUsage=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from torch.nn import Parameter
from torch.overrides import TorchFunctionMode

from gateproof.kernels.convert.expressions import counted
from gateproof.kernels.convert.forms import Treatment
from gateproof.kernels.convert.plan import HANDLERS, Plan
from gateproof.kernels.convert.running import STATE
from gateproof.kernels.convert.steps import Frame, made_up, matches, put_off, taken


def _where(function: Any, args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """x.where(c, y) is where(c, x, y)."""
    return (torch.where, (args[1], args[0], args[2])) if len(args) == 3 else (function, args)


def _stored(function: Any, args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """x[mask] = number is x.masked_fill_(mask, number)."""
    x, mask, value = args if len(args) == 3 else (None, None, None)
    if not (isinstance(mask, torch.Tensor) and mask.dtype == torch.bool and isinstance(x, torch.Tensor)):
        return function, args
    plain = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not plain or not x.is_floating_point() or mask.shape != x.shape:
        return function, args
    return torch.Tensor.masked_fill_, args


#: Calls that are others with their arguments in another order.
REWRITTEN: dict[Any, Callable[[Any, tuple[Any, ...]], tuple[Any, tuple[Any, ...]]]] = {
    torch.Tensor.where: _where,
    torch.Tensor.__setitem__: _stored,
}


class Interception(TorchFunctionMode):
    """Sends the calls that are nonlinearities to their handlers."""

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self.plan = plan

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        plan = self.plan
        kwargs = {} if kwargs is None else kwargs
        if plan.watch is not None or plan.steps:
            if function in REWRITTEN:
                function, args = REWRITTEN[function](function, args)
            return _followed(plan, STATE.frame, function, tuple(args), dict(kwargs))
        if function not in HANDLERS:
            return function(*args, **kwargs)
        return handled(plan, function, args, kwargs)


def _followed(plan: Plan, frame: Frame, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The call of a forward that is looked at, or that groups were found in."""
    looked = (
        plan.watch is not None and not torch.compiler.is_compiling() and frame.owner not in plan.watch.seen
    )
    steps = None if looked else plan.steps.get(frame.owner)
    if not looked and steps is None:
        if plan.watch is None or torch.compiler.is_compiling():
            return handled(plan, function, args, kwargs)
        return plan.watch.again(plan, function, args, kwargs)
    name, number = counted(function), frame.count
    if name is not None:
        frame.count = number + 1
    if looked and plan.watch is not None:
        return plan.watch.called(plan, frame, (number, name), function, args, kwargs)
    step = None if name is None or steps is None else steps.get(number)
    if step is None or name is None or frame.off:
        return _made(plan, frame, function, args, kwargs)
    if not matches(frame, step, name, function, args, kwargs):
        plan.strayed(frame.owner)
        return _made(plan, frame, function, args, kwargs)
    found: Any = None
    if plan.seeing:
        plan.saw(frame, step)
    elif step.group >= 0:
        found = taken(frame, step, name, args)
        plan.replaced(frame.owner, step)
    elif step.lazy:
        found = put_off(frame, step, function, args, kwargs)
    if found is None:
        found = _made(plan, frame, function, args, kwargs)
    frame.kept[number] = found
    return found


def _looked(plan: Plan, frame: Frame) -> bool:
    """Whether the forward is one that runs for the first time, in Python."""
    if plan.watch is None or torch.compiler.is_compiling() or torch.jit.is_tracing():  # type: ignore[attr-defined]
        return False
    # Activation checkpointing runs a forward twice, and both runs have to save the same tensors.
    if torch._C._autograd._top_saved_tensors_default_hooks(True) is not None:
        return False
    return frame.owner not in plan.watch.seen


def _made(plan: Plan, frame: Frame, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The call itself, of what was put off too."""
    if frame.lazy:
        STATE.late = True
        args = made_up(frame, args, lambda f, a, k: handled(plan, f, a, k))
        STATE.late = False
    return handled(plan, function, args, kwargs)


def handled(plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The call, converted where a handler knows it."""
    handler = HANDLERS.get(function)
    if handler is None:
        return function(*args, **kwargs)
    if not torch.compiler.is_compiling() and (cls := _of_own_rules(args)) is not None:
        name = getattr(function, "__name__", str(function)).strip("_")
        words = f"tensors of {cls.__name__} have operators of their own, which gates are not among"
        if name not in ("mul", "multiply"):
            plan.site(name, f"torch.{name} of {cls.__name__}", lambda: Treatment("kept", words, None))
        return function(*args, **kwargs)
    if plan.wrong is not None:
        return plan.wrong(plan, handler, function, args, kwargs)
    return handler(plan, function, args, kwargs)


_NO_RULES = torch.Tensor.__torch_dispatch__
_own_rules: dict[type, bool] = {torch.Tensor: False, Parameter: False}


def _of_own_rules(args: tuple[Any, ...]) -> type | None:
    """The class of a tensor that runs operators by itself, as masked and distributed tensors do, or None."""
    for a in args:
        cls = type(a)
        own = _own_rules.get(cls)
        if own is None:
            # Fake tensors of an export, and those of functorch, take any operator that has a rule for shapes.
            own = issubclass(cls, torch.Tensor) and cls.__torch_dispatch__ is not _NO_RULES
            own = _own_rules[cls] = own and not cls.__module__.startswith("torch._subclasses")
        if own:
            return cls
    return None


def ended(plan: Plan, frame: Frame, result: Any) -> Any:
    """The forward has run to its end."""
    if _looked(plan, frame):
        plan.watch.ended(plan, frame, result)
    return result


def intercepted(
    plan: Plan,
    owner: str,
    call: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    *,
    library: bool = False,
    module: Any = None,
    method: str = "",
) -> Any:
    """``call(*args, **kwargs)`` as code of the module ``owner``, with its nonlinearities converted.

    ``module`` is that module where it is not the first argument. ``library``: the module's code is PyTorch's,
    so that the module is the place of what it calls. ``method``: its name where it is no forward.
    """
    if plan.through and owner in plan.through and not torch.compiler.is_compiling():
        call = partial(_through, plan.through[owner](plan, owner), call)
    before, mine = getattr(STATE, "owner", None), getattr(STATE, "plan", None)
    code, frame = getattr(STATE, "library", False), getattr(STATE, "frame", None)
    STATE.owner, STATE.library = owner, library
    at = f"{owner}.{method}()" if method else owner
    STATE.frame = here = Frame(at, args[0] if module is None else module, library=library)
    try:
        if mine is plan:
            return ended(plan, here, call(*args, **kwargs))
        STATE.plan = plan
        try:
            with Interception(plan):
                return ended(plan, here, call(*args, **kwargs))
        finally:
            STATE.plan = mine
    finally:
        STATE.owner, STATE.library, STATE.frame = before, code, frame


def _through(mode: Any, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    with mode:
        return call(*args, **kwargs)
