"""Calls in a forward whose pointwise calls are counted: the last one of a group becomes the group's gate.

A call is that of a group if it has the number, the name, the plain numbers and the operands, each the very
tensor that is expected, that it had when the forward was looked at. Otherwise the run is left as it is from
there on. What only the group reads is not computed (``Lazy``) unless it turns out to be needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from gateproof.kernels.convert.forms import Form, run
from gateproof.kernels.convert.spelled import SPELLINGS

Call = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]


class Frame:
    """One run of a module's forward, and which pointwise calls it has made.

    ``owner`` is the module's name, or 'name.method()' where it is another method that runs.
    """

    def __init__(self, owner: str, module: Any, *, library: bool) -> None:
        self.owner, self.module, self.library = owner, module, library
        self.count = 0
        self.off = False
        self.kept: dict[int, Any] = {}
        self.lazy: list[Lazy] = []
        self.calls: dict[Any, int] = {}
        self.found: list[Any] = []
        self.products: list[Any] = []


def module_of(owner: str) -> str:
    """The name of the module whose code a frame runs."""
    return owner.rpartition(".")[0] if owner.endswith("()") else owner


@dataclass(eq=False)
class Lazy:
    """A call that was not made; ``stands`` is in the place of its result."""

    stands: torch.Tensor
    function: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


@dataclass(frozen=True)
class Step:
    """What is done at one pointwise call of a forward.

    ``name`` and ``plain``, its arguments that are no tensors, are what the call has to have; ``reads`` are
    (argument, source): the call whose result it is, or -1, -2, .. for a root. ``lazy``: only the group reads
    the result. Where ``group`` is not -1 this is its last call, which ``form``, or the module's ``gate``, at
    the root ``at`` takes the place of.
    """

    name: str
    plain: tuple[Any, ...] = ()
    reads: tuple[tuple[int, int], ...] = ()
    lazy: bool = False
    group: int = -1
    at: int = -1
    form: Form | None = None
    gate: str = ""


def plain_of(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
    """The arguments that are no tensors; with the defaults of a known kind, which a compiler leaves out."""
    spelling = SPELLINGS.get(function)
    given = None if spelling is None else spelling.bound(args, kwargs)
    if given is not None:
        return tuple([v for v in given.values() if not isinstance(v, torch.Tensor)])
    return (*[a for a in args if not isinstance(a, torch.Tensor)], *kwargs.items())


def matches(
    frame: Frame, step: Step, name: str, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> bool:
    """Whether the call is the one that is expected; if not, so is no later one of this run."""
    if frame.off:
        return False
    same = name == step.name and plain_of(function, args, kwargs) == step.plain
    for i, source in step.reads:
        if not same:
            break
        if source in frame.kept:
            same = i < len(args) and frame.kept[source] is args[i]
        elif source < 0 and i < len(args):
            frame.kept[source] = args[i]
        else:
            same = False
    frame.off = not same
    return same


def taken(frame: Frame, step: Step, name: str, args: tuple[Any, ...]) -> Any:
    """The group's gate at its root, None where there is no gate."""
    if step.form is None and not step.gate:
        return None
    x, kind = frame.kept[step.at], None
    for a in args:
        if isinstance(a, torch.Tensor) and a.is_floating_point():
            kind = a.dtype if kind is None else torch.promote_types(kind, a.dtype)
    x = x if kind is None or kind == x.dtype else x.to(kind)
    in_place = name.endswith("_")
    if in_place and x is args[0] and torch.is_grad_enabled() and x.requires_grad:
        # What is overwritten must not be what the gate keeps for its gradient.
        x = x.clone()
    y = getattr(frame.module, step.gate).value(x) if step.gate else run(step.form, x)  # type: ignore[arg-type]
    return args[0].copy_(y) if in_place else y


def put_off(frame: Frame, step: Step, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Something in place of a result that only the group reads; None where the call is to be made."""
    root = frame.kept.get(step.at)
    # Autocast changes types, and a compiler leaves out by itself what nobody reads.
    if root is None or torch.compiler.is_compiling() or _casts(root.device.type):
        return None
    stands = root.view_as(root)
    frame.lazy.append(Lazy(stands, function, args, kwargs))
    return stands


def _casts(device: str) -> bool:
    """Whether autocast is on; some devices, as meta, have none and raise when asked."""
    return torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device)


def made_up(frame: Frame, args: tuple[Any, ...], call: Call) -> tuple[Any, ...]:
    """The arguments of a call that is made after all, with what was put off computed by ``call``."""
    return tuple([_actual(frame, a, call) for a in args]) if frame.lazy else args


def _actual(frame: Frame, a: Any, call: Call) -> Any:
    if isinstance(a, torch.Tensor):
        for one in frame.lazy:
            if one.stands is a:
                return call(one.function, made_up(frame, one.args, call), one.kwargs)
    return a
