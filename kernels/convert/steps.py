"""Calls in a forward whose pointwise calls are counted: the last one of a group becomes the group's gate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from gateproof.kernels.convert.forms import Form, run


class Frame:
    """One run of a module's forward, and which pointwise calls it has made."""

    def __init__(self, owner: str, module: Any, *, library: bool) -> None:
        self.owner, self.module, self.library = owner, module, library
        self.count = 0
        self.off = False
        self.kept: dict[int, Any] = {}
        self.calls: dict[Any, int] = {}
        self.found: list[Any] = []


@dataclass(frozen=True)
class Step:
    """What is done at one pointwise call of a forward; ``name`` is what the call has to be.

    ``stash``: (group, argument) of roots that are read here. ``group``: the group whose last call this is, or
    -1; ``form``, or the module's ``gate``, is what takes its place.
    """

    name: str
    stash: tuple[tuple[int, int], ...] = ()
    group: int = -1
    form: Form | None = None
    gate: str = ""


def taken(frame: Frame, step: Step, name: str, args: tuple[Any, ...]) -> Any:
    """The group's gate at its root, or None where the call is to be made as it is.

    A forward that makes other calls than when it was looked at (``frame.off``) is left alone from there on.
    """
    if frame.off or name != step.name or any(i >= len(args) for _, i in step.stash):
        frame.off = True
        return None
    for group, i in step.stash:
        frame.kept[group] = args[i]
    if step.group < 0:
        return None
    x = frame.kept.get(step.group)
    if not isinstance(x, torch.Tensor) or (step.form is None and not step.gate):
        return None
    return _placed(frame, step, name, args, x)


def _placed(frame: Frame, step: Step, name: str, args: tuple[Any, ...], x: torch.Tensor) -> Any:
    kind: Any = None
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
