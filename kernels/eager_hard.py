"""Hard gates in float32: their lines are chosen by comparisons, which are exact."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import frexp
from typing import Any

import torch

from gateproof.kernels.eager import Always, Direct

_aten = torch.ops.aten
Line = tuple[float, float]


@lru_cache(maxsize=1024)
def _scalar(number: float) -> torch.Tensor:
    return torch.tensor(number, dtype=torch.float32)


def _line(x: torch.Tensor, line: Line, out: torch.Tensor) -> torch.Tensor:
    slope, intercept = line
    if slope == 0.0:
        return _scalar(intercept)
    if slope == 1.0:
        return x if intercept == 0.0 else torch.add(x, intercept, out=out)
    if intercept == 0.0:
        return torch.mul(x, slope, out=out)
    return torch.add(_scalar(intercept), x, alpha=slope, out=out)


def _once(line: Line) -> bool:
    """Whether slope*x + intercept is rounded once: the product is exact or stands alone."""
    slope, intercept = line
    return intercept == 0.0 or slope == 0.0 or abs(frexp(slope)[0]) == 0.5


class Hard:
    """A hard gate by its thresholds, slopes and intercepts, which float32 holds."""

    def __init__(self, branches: int, numbers: Sequence[float]) -> None:
        k = branches
        self.theta, self.slope = list(numbers[: k - 1]), list(numbers[k - 1 : 2 * k - 1])
        self.lines: list[Line] = list(zip(self.slope, numbers[2 * k - 1 :], strict=True))
        self.ordered = self.theta == sorted(self.theta)

    def _meets(self) -> bool:
        """Whether each line ends where the next one begins, exactly."""

        def at(line: Line, h: float) -> Fraction:
            return Fraction(line[0]) * Fraction(h) + Fraction(line[1])

        return all(at(a, h) == at(b, h) for (a, b), h in zip(pairwise(self.lines), self.theta, strict=True))

    def continuous(self) -> Always | None:
        """The value for any input where it is a greatest or least line, or one between two numbers.

        Not-a-numbers pass through PyTorch's maximum, minimum and clamp, and no line is 0 times an infinite x.
        Lines are rounded once: rounding then keeps their order, and the greatest rounded line is the rounded
        greatest one.
        """
        if not self.ordered or not self._meets() or not any(self.slope) or not all(map(_once, self.lines)):
            return None
        theta, slope, lines = self.theta, self.slope, self.lines
        if theta == [0.0] and lines[0][1] == 0.0 and slope[1] == 1.0 and slope[0] != 0.0:
            return lambda tensors, outs: _aten.leaky_relu.out(tensors[0], slope[0], out=outs[0])
        if len(slope) == 3 and slope[0] == slope[2] == 0.0 and slope[1] != 0.0:
            ends = sorted([lines[0][1], lines[2][1]])
            return lambda tensors, outs: torch.clamp(
                _line(tensors[0], lines[1], outs[0]), ends[0], ends[1], out=outs[0]
            )
        if slope == sorted(slope):
            return lambda tensors, outs: self._of_all(tensors[0], outs[0], torch.maximum)
        if slope == sorted(slope, reverse=True):
            return lambda tensors, outs: self._of_all(tensors[0], outs[0], torch.minimum)
        return None

    def _of_all(self, x: torch.Tensor, out: torch.Tensor, chosen: Any) -> None:
        moving = [line for line in self.lines if line[0] != 0.0]
        found = _line(x, moving[0], out)
        for line in moving[1:]:
            found = chosen(found, _line(x, line, torch.empty_like(out)), out=out)
        for line in self.lines:
            if line[0] == 0.0:
                clamp = torch.clamp_min if chosen is torch.maximum else torch.clamp_max
                found = clamp(found, line[1], out=out)
        if found is not out:
            out.copy_(found)

    def values(self) -> Direct | None:
        """The value for finite inputs."""
        return self._values if self.ordered else None

    def slopes(self) -> Direct | None:
        """The derivative times another tensor, for finite inputs."""
        return self._slopes if self.ordered else None

    def _values(
        self, tensors: Sequence[torch.Tensor], outs: Sequence[torch.Tensor], scratch: Sequence[torch.Tensor]
    ) -> None:
        (x,), (out,) = tensors, outs
        found = _line(x, self.lines[0], out)
        for h, line in zip(self.theta, self.lines[1:], strict=True):
            above = torch.gt(x, h, out=scratch[0])
            # lerp with a weight of 0 or 1 is one of both, to the last bit.
            found = torch.lerp(found, _line(x, line, scratch[1]), above, out=out)

    def _slopes(
        self, tensors: Sequence[torch.Tensor], outs: Sequence[torch.Tensor], scratch: Sequence[torch.Tensor]
    ) -> None:
        (dy, x), (out,) = tensors, outs
        if self.theta == [0.0] and self.slope[1] == 1.0:
            _aten.leaky_relu_backward.grad_input(dy, x, self.slope[0], False, grad_input=out)
            return
        found = _scalar(self.slope[0])
        for h, slope in zip(self.theta, self.slope[1:], strict=True):
            above = torch.gt(x, h, out=scratch[0])
            found = torch.lerp(found, _scalar(slope), above, out=out)
        torch.mul(found, dy, out=out)
