"""What is to become of a network's nonlinearities, and the interception of the calls that are one.

While a converted module runs, every call of a PyTorch function goes through ``Interception``; those that some
handler knows become gates. A handler is a function (plan, function, args, kwargs) -> result, registered with
``handles`` under the callables that it replaces.
"""

# PyTorch's own names with an underscore have no types.
# pyright: reportPrivateImportUsage=false, reportAttributeAccessIssue=false

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch.nn import Parameter
from torch.overrides import TorchFunctionMode

from gateproof.kernels.convert.expressions import counted
from gateproof.kernels.convert.forms import Treatment
from gateproof.kernels.convert.steps import Frame, Step, made_up, matches, put_off, taken

Handler = Callable[["Plan", Any, tuple[Any, ...], dict[str, Any]], Any]
#: A pointwise function: the name of its kind and its numbers.
Given = tuple[str, tuple[Any, ...]]

#: By callable of PyTorch's.
HANDLERS: dict[Any, Handler] = {}
#: Where code of PyTorch's and of this conversion lies: a place in a network is outside of both.
_INSIDE = tuple(f"{Path(f).parent}{os.sep}" for f in (torch.__file__, __file__))
#: Stands for the spelling in the key of what has not run.
UNRUN = "not run"
_running = threading.local()
_STRAYED = "a run made other calls or had other numbers than when it was looked at, and was left as it was"


def handles(*functions: Any) -> Callable[[Handler], Handler]:
    """Register a handler for callables."""

    def register(handler: Handler) -> Handler:
        for function in functions:
            HANDLERS[function] = handler
        return handler

    return register


@dataclass
class Site:
    """One nonlinearity of a network: a call in a module's code.

    ``owner`` is the module's name in the network ('' for the network itself); ``names`` are all names of it;
    ``line`` is where in the source, or ''. ``calls`` counts since the last ``Plan.restart``. ``given`` is the
    kind with its numbers, for what may be fitted; ``histogram`` holds inputs seen; ``gate`` names the module
    of ``owner`` that has the gate's parameters. ``group`` says of which activation the call is a part;
    ``inside``: the whole of that is replaced. ``whole`` is the function of a group, ``parts`` the sites in
    it, ``unseen`` whether it has calls besides them.
    """

    owner: str
    kind: str
    spelled: str
    line: str
    treatment: Treatment
    names: tuple[str, ...] = ()
    calls: int = 0
    given: Given | None = None
    histogram: Any = None
    gate: str = ""
    group: str = ""
    inside: bool = False
    whole: Any = None
    parts: tuple[Any, ...] = ()
    unseen: bool = False


@dataclass
class Plan:
    """The sites found so far and how they are to be treated.

    ``ks``: branches by module. ``gates``: given ones. ``steps``: by module and number of the call.
    ``choices``: for a compiler, form and gate of each call in order. ``watch`` looks at forwards that run for
    the first time, ``seeing`` collects inputs, ``ready``: sites found now are treated at once. ``through``:
    modes of the dispatcher for modules whose nonlinearities are no calls of functions. ``wrong``: makes one
    gate wrong on purpose, for which ``touched`` collects the sites of a call. ``products``: by module and
    place those of a gate with another tensor.
    """

    mode: str = "exact"
    branches: Any = 2
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sites: dict[tuple[Any, ...], Site] = field(default_factory=dict)
    ks: dict[str, int] = field(default_factory=dict)
    gates: dict[str, Any] = field(default_factory=dict)
    steps: dict[str, dict[int, Step]] = field(default_factory=dict)
    choices: dict[str, dict[Given, tuple[Any, ...]]] = field(default_factory=dict)
    order: dict[str, dict[Given, list[Any]]] = field(default_factory=dict)
    group_sites: dict[tuple[str, int], Site] = field(default_factory=dict)
    through: dict[str, Callable[[Plan, str], Any]] = field(default_factory=dict)
    watch: Any = None
    latest: Site | None = None
    wrong: Any = None
    touched: list[Site] | None = None
    products: dict[str, dict[tuple[str, int, int], Site]] = field(default_factory=dict)
    seeing: bool = False
    ready: bool = False

    def site(
        self, kind: str, spelled: str, made: Callable[[], Treatment], given: Given | None = None
    ) -> Site | None:
        """The site of the call that is being handled; found where it is new. None in a compiler."""
        if torch.compiler.is_compiling():
            return None
        owner = getattr(_running, "owner", "")
        where = None if getattr(_running, "library", False) else place_of_call()
        key = (owner, kind, spelled, where)
        site = self.sites.get(key)
        if site is None and getattr(_running, "late", False):
            # What was put off is made in another place than where it stands.
            site = next((s for k, s in self.sites.items() if k[:3] == key[:3]), None)
        if site is None:
            self.sites.pop((owner, kind, UNRUN, None), None)
            names = self.names.get(owner, (owner,))
            line = f"{Path(where[0]).name}:{where[1]}" if where else ""
            site = self.sites[key] = Site(owner, kind, spelled, line, made(), names, given=given)
        site.calls += 1
        self.latest = site
        if self.touched is not None:
            self.touched.append(site)
        return site

    def replaced(self, owner: str, step: Step) -> None:
        """A group was replaced by its gate."""
        site = None if torch.compiler.is_compiling() else self.group_sites.get((owner, step.group))
        if site is not None:
            site.calls += 1

    def saw(self, frame: Frame, step: Step) -> None:
        """The last call of a group while inputs are collected."""
        site = self.group_sites.get((frame.owner, step.group))
        if site is not None and site.histogram is not None:
            site.histogram.add(frame.kept[step.at])

    def strayed(self, owner: str) -> None:
        """A run made other calls than when its forward was looked at."""
        if torch.compiler.is_compiling():
            return
        for (name, _), site in self.group_sites.items():
            if name == owner and site.treatment.form is not None and _STRAYED not in site.treatment.words:
                site.treatment = replace(site.treatment, words=f"{site.treatment.words}; {_STRAYED}")

    def restart(self) -> None:
        """Count calls from 0."""
        for site in self.sites.values():
            site.calls = 0


def place_of_call(depth: int = 2) -> tuple[str, int, int]:
    """File, line and instruction of the innermost frame outside of PyTorch and this folder.

    What a class of tensors does at each call is not where the call stands.
    """
    frame: Any = sys._getframe(depth)
    first = frame
    while frame is not None and (
        frame.f_code.co_filename.startswith(_INSIDE) or frame.f_code.co_name == "__torch_function__"
    ):
        frame = frame.f_back
    frame = first if frame is None else frame
    return frame.f_code.co_filename, frame.f_lineno, frame.f_lasti


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
            return _followed(plan, _running.frame, function, tuple(args), dict(kwargs))
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
        _running.late = True
        args = made_up(frame, args, lambda f, a, k: handled(plan, f, a, k))
        _running.late = False
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


def running() -> Frame:
    """The forward that is at work."""
    frame: Frame = _running.frame
    return frame


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
    before, mine = getattr(_running, "owner", None), getattr(_running, "plan", None)
    code, frame = getattr(_running, "library", False), getattr(_running, "frame", None)
    _running.owner, _running.library = owner, library
    at = f"{owner}.{method}()" if method else owner
    _running.frame = here = Frame(at, args[0] if module is None else module, library=library)
    try:
        if mine is plan:
            return ended(plan, here, call(*args, **kwargs))
        _running.plan = plan
        try:
            with Interception(plan):
                return ended(plan, here, call(*args, **kwargs))
        finally:
            _running.plan = mine
    finally:
        _running.owner, _running.library, _running.frame = before, code, frame


def _through(mode: Any, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    with mode:
        return call(*args, **kwargs)


@contextmanager
def aside() -> Iterator[None]:
    """Within it calls are not intercepted by handlers of this thread that are already at work."""
    with torch._C.DisableTorchFunction():
        yield


def known(functions: Iterable[Any]) -> list[Any]:
    """Those of the callables that have a handler."""
    return [f for f in functions if f in HANDLERS]


def working_on(plan: Plan, module: Any) -> bool:
    """Whether code of this module is at work, for this plan."""
    frame = getattr(_running, "frame", None)
    return frame is not None and frame.module is module and getattr(_running, "plan", None) is plan


def current_owner() -> str:
    """The name of the module whose code is at work."""
    owner: str = getattr(_running, "owner", "")
    return owner
