"""TorchScript, and what else calls no function: a mode of the dispatcher puts gates for nonlinearities.

The code of a ScriptModule runs in C++, where no function of Python's is called; but each of its operators
passes the dispatcher. What is replaced there is the value alone: above the dispatcher autograd keeps the
original operator's own rule, so a gradient is the original's, taken at the gates' values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from gateproof.kernels.convert.interception import handled, intercepted
from gateproof.kernels.convert.plan import HANDLERS, Plan
from gateproof.kernels.convert.running import current_owner

_RECORD = "_gateproof"
_aten = torch.ops.aten
#: Operators whose functions have other arguments: the function, and its arguments from the operator's.
_FUNCTIONS: dict[Any, tuple[Any, Callable[..., tuple[Any, ...]]]] = {
    _aten._softmax.default: (torch.softmax, lambda x, dim, _: (x, dim)),
    _aten._safe_softmax.default: (torch.softmax, lambda x, dim, *_: (x, dim)),
    _aten._log_softmax.default: (torch.log_softmax, lambda x, dim, _: (x, dim)),
    _aten._prelu_kernel.default: (torch.prelu, lambda x, weight: (x, weight)),
}


_WORDS = "put in below autograd: gradients are by the original's rule"


def reached(operator: Any) -> bool:
    """Whether a handler knows the operator, or the function that it stands for."""
    return (_FUNCTIONS[operator][0] if operator in _FUNCTIONS else operator) in HANDLERS


class Dispatched(TorchDispatchMode):
    """Sends operators that are nonlinearities, or ``only`` those named, to the handlers of functions."""

    def __init__(self, plan: Plan, owner: str, only: frozenset[str] | None = None) -> None:
        super().__init__()
        self.plan, self.owner, self.only = plan, owner, only

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        kwargs = kwargs or {}
        function, given = func, args
        if func in _FUNCTIONS:
            function, arguments = _FUNCTIONS[func]
            given = arguments(*args)
        handler = HANDLERS.get(function)
        self.plan.latest = None
        # A function mode would take what is called here for the network's; and below autograd the gates must
        # make no graph of their own.
        with torch._C.DisableTorchFunction(), torch.no_grad():
            skipped = self.only is not None and func.name() not in self.only
            if handler is None or skipped or current_owner() != self.owner:
                return func(*args, **kwargs)
            result = handled(self.plan, function, tuple(given), dict(kwargs))
        self._say()
        return result

    def _say(self) -> None:
        site = self.plan.latest
        if site is not None and site.treatment.form is not None and _WORDS not in site.treatment.words:
            site.treatment = replace(site.treatment, words=f"{site.treatment.words}; {_WORDS}")


def put_through(plan: Plan, operators: Mapping[str, Collection[Any]]) -> bool:
    """Has the dispatcher put gates where handlers know operators that no call of a function leads to.

    ``operators`` by module, as a census left them. Says whether there are any.
    """
    found = {
        owner: frozenset(f.name() for f in operators[owner] if reached(f))
        for owner in operators
        if owner not in plan.through
    }
    found = {owner: only for owner, only in found.items() if only}
    plan.through.update({owner: partial(Dispatched, only=only) for owner, only in found.items()})
    return bool(found)


class Method:
    """A method of a ScriptModule with gates in it; all else that is asked of it is the method's own."""

    def __init__(self, module: Any, method: Any) -> None:
        self.module, self.method = module, method

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: D102 - it is the method
        plan, owner, _ = self.module.__dict__[_RECORD]
        return intercepted(plan, owner, self._run, args, kwargs, library=True, module=self.module)

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        _, owner, _ = self.module.__dict__[_RECORD]
        if torch.compiler.is_compiling():
            raise NotImplementedError(
                f"convert: {owner or 'the network'} is TorchScript, whose gates are put in as it runs: "
                "a compiler cannot trace them; convert the module that was scripted"
            )
        return self.method(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "method":
            raise AttributeError(name)
        return getattr(self.method, name)


def swapped(module: Any, plan: Plan, owner: str) -> None:
    """Put gates in the methods of a ScriptModule; the module, its code and what it saves stay."""
    names = [n for n in module._c._method_names() if not n.startswith("__")]
    found = module.__dict__
    former = {n: found[n] for n in (*names, "__deepcopy__") if n in found}
    for name in names:
        found[name] = Method(module, getattr(module, name))
    found["__deepcopy__"] = _Copied(module)
    plan.through[owner] = Dispatched
    found[_RECORD] = (plan, owner, (tuple(names), former))


def returned(module: Any) -> None:
    """Undo ``swapped``."""
    _, _, (names, former) = module.__dict__.pop(_RECORD)
    for name in (*names, "__deepcopy__"):
        module.__dict__.pop(name)
    module.__dict__.update(former)


class _Copied:
    def __init__(self, module: Any) -> None:
        self.module = module

    def __call__(self, memo: dict[int, Any]) -> Any:
        plan, owner, _ = self.module.__dict__[_RECORD]
        returned(self.module)
        try:
            module = self.module.__deepcopy__(memo)
        finally:
            swapped(self.module, plan, owner)
        swapped(module, deepcopy(plan, memo), owner)
        return module
