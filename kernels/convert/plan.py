"""What is to become of a network's nonlinearities, and the interception of the calls that are one.

While a converted module runs, every call of a PyTorch function goes through ``Interception``; those that some
handler knows become gates. A handler is a function (plan, function, args, kwargs) -> result, registered with
``handles`` under the callables that it replaces.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from gateproof.kernels.convert.forms import Treatment

Handler = Callable[["Plan", Any, tuple[Any, ...], dict[str, Any]], Any]

#: By callable of PyTorch's.
HANDLERS: dict[Any, Handler] = {}
#: Where code of PyTorch's and of this conversion lies: a place in a network is outside of both.
_INSIDE = tuple(f"{Path(f).parent}{os.sep}" for f in (torch.__file__, __file__))
_running = threading.local()


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
    ``line`` is where in the source, or ''. ``calls`` counts since the last ``Plan.restart``.
    """

    owner: str
    kind: str
    spelled: str
    line: str
    treatment: Treatment
    names: tuple[str, ...] = ()
    calls: int = 0


@dataclass
class Plan:
    """The sites found so far and how they are to be treated."""

    mode: str = "exact"
    branches: int = 2
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sites: dict[tuple[Any, ...], Site] = field(default_factory=dict)

    def site(self, kind: str, spelled: str, made: Callable[[], Treatment]) -> Site | None:
        """The site of the call that is being handled; found where it is new. None in a compiler."""
        if torch.compiler.is_compiling():
            return None
        owner = getattr(_running, "owner", "")
        where = None if getattr(_running, "library", False) else _place()
        key = (owner, kind, spelled, where)
        site = self.sites.get(key)
        if site is None:
            names = self.names.get(owner, (owner,))
            line = f"{Path(where[0]).name}:{where[1]}" if where else ""
            site = self.sites[key] = Site(owner, kind, spelled, line, made(), names)
        site.calls += 1
        return site

    def restart(self) -> None:
        """Count calls from 0."""
        for site in self.sites.values():
            site.calls = 0


def _place() -> tuple[str, int, int]:
    """File, line and instruction of the innermost frame outside of PyTorch and this folder."""
    frame: Any = sys._getframe(2)
    first = frame
    while frame is not None and frame.f_code.co_filename.startswith(_INSIDE):
        frame = frame.f_back
    frame = first if frame is None else frame
    return frame.f_code.co_filename, frame.f_lineno, frame.f_lasti


class Interception(TorchFunctionMode):
    """Sends the calls that are nonlinearities to their handlers."""

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self.plan = plan

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        handler = HANDLERS.get(function)
        if handler is None:
            return function(*args, **(kwargs or {}))
        return handler(self.plan, function, tuple(args), dict(kwargs or {}))


def intercepted(
    plan: Plan,
    owner: str,
    call: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    *,
    library: bool = False,
) -> Any:
    """``call(*args, **kwargs)`` as code of the module ``owner``, with its nonlinearities converted.

    ``library``: the module's code is PyTorch's, so that the module is the place of what it calls.
    """
    before, mine = getattr(_running, "owner", None), getattr(_running, "plan", None)
    code = getattr(_running, "library", False)
    _running.owner, _running.library = owner, library
    try:
        if mine is plan:
            return call(*args, **kwargs)
        _running.plan = plan
        try:
            with Interception(plan):
                return call(*args, **kwargs)
        finally:
            _running.plan = mine
    finally:
        _running.owner, _running.library = before, code


@contextmanager
def aside() -> Iterator[None]:
    """Within it calls are not intercepted by handlers of this thread that are already at work."""
    with torch._C.DisableTorchFunction():
        yield


def known(functions: Iterable[Any]) -> list[Any]:
    """Those of the callables that have a handler."""
    return [f for f in functions if f in HANDLERS]
