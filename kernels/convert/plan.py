"""What is to become of a network's nonlinearities: the sites found so far, and the handlers of calls.

A handler is a function (plan, function, args, kwargs) -> result, registered with ``handles`` under the
callables that it replaces.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from gateproof.kernels.convert.forms import Treatment
from gateproof.kernels.convert.running import STATE, place_of_call
from gateproof.kernels.convert.steps import Frame, Step

Handler = Callable[["Plan", Any, tuple[Any, ...], dict[str, Any]], Any]
#: A pointwise function: the name of its kind and its numbers.
Given = tuple[str, tuple[Any, ...]]

#: By callable of PyTorch's.
HANDLERS: dict[Any, Handler] = {}
#: Stands for the spelling in the key of what has not run.
UNRUN = "not run"
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
    place those of a gate with another tensor; ``formulas``: by module and line what written-out activations
    are made of.
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
    formulas: set[tuple[str, str]] = field(default_factory=set)
    seeing: bool = False
    ready: bool = False

    def site(
        self, kind: str, spelled: str, made: Callable[[], Treatment], given: Given | None = None
    ) -> Site | None:
        """The site of the call that is being handled; found where it is new. None in a compiler."""
        if torch.compiler.is_compiling():
            return None
        owner = getattr(STATE, "owner", "")
        where = None if getattr(STATE, "library", False) else place_of_call()
        key = (owner, kind, spelled, where)
        site = self.sites.get(key)
        if site is None and getattr(STATE, "late", False):
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
