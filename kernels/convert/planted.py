"""Gates made wrong on purpose: what a comparison of two networks must notice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from gateproof.kernels.convert.plan import Plan, Site

#: By how much a gate is wrong, until it is seen.
SIZES = (1e-3, 1e-2, 1e-1, 1.0)
#: Forms of one number x: the others are gates of rows or of sequences.
_POINTWISE = ("pieces", "two_branches", "gate", "formula")


@dataclass(frozen=True)
class Wrong:
    """One wrong gate.

    ``way``: 'shift' moves thresholds and lines by ``size``, 'sharpness' multiplies the argument of the gates,
    'lines' all branches by 1 + size.
    """

    site: Site
    way: str
    size: float

    def __call__(self, plan: Plan, handler: Any, function: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """The handler's result, made wrong where it is the site's."""
        before = plan.touched
        touched: list[Site] = []
        plan.touched = touched
        result = handler(plan, function, args, kwargs)
        plan.touched = before
        if before is not None:
            before.extend(touched)
        if not any(s is self.site for s in touched):
            return result
        given = [v for v in (*args, *kwargs.values()) if isinstance(v, torch.Tensor)]
        written = any(v is result for v in given)
        if self.way == "lines" or written or not args or not _real(args[0]):
            return self.scaled(result, written=written)
        calls = self.site.calls
        x = args[0] - self.size if self.way == "shift" else args[0] * (1 + self.size)
        result = handler(plan, function, (x, *args[1:]), kwargs)
        self.site.calls = calls
        return result

    def scaled(self, result: Any, *, written: bool = False) -> Any:
        """The numbers of a result times 1 + size, in the same memory where they were ``written`` to x."""
        if isinstance(result, (tuple, list)):
            return type(result)(self.scaled(r) for r in result) if type(result) in (tuple, list) else result
        if not _real(result):
            return result
        return result.mul_(1 + self.size) if written else result * (1 + self.size)


def _real(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def ways(site: Site) -> tuple[str, ...]:
    """How the gate of a site can be made wrong, the finest way first."""
    form = site.treatment.form
    if form is None or form[0] == "product of a script":
        return ()
    if form[0] == "product":
        return ("lines",)
    return ("shift" if form[0] in _POINTWISE else "sharpness", "lines")


@contextmanager
def planted(plan: Plan, wrong: Wrong) -> Iterator[None]:
    """Within it one gate is wrong."""
    plan.wrong = wrong
    try:
        yield
    finally:
        plan.wrong = plan.touched = None
