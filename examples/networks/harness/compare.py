"""How far the outputs of two networks are apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Distance:
    """Over all outputs together.

    largest   the largest |b - a|
    rms       the root mean square of b - a
    relative  largest over the largest |a|
    ulps      largest over the spacing of numbers of a's dtype at the largest |a|
    same      the part of outputs that are equal bit for bit
    """

    largest: float
    rms: float
    relative: float
    ulps: float
    same: float


def distance(before: Sequence[torch.Tensor], after: Sequence[torch.Tensor]) -> Distance:
    """The distance of outputs; NaN and infinity agree with themselves alone. ValueError if shapes differ."""
    if [a.shape for a in before] != [b.shape for b in after]:
        raise ValueError("the two networks give outputs of different shapes")
    scale = max(float(a.abs().nan_to_num(0, 0, 0).max()) for a in before)
    largest, squares, count, equal = 0.0, 0.0, 0, 0
    for a, b in zip(before, after, strict=True):
        alike = (a == b) | (a.isnan() & b.isnan())
        gap = torch.where(alike, 0.0, (b.double() - a.double()).abs()).nan_to_num(nan=torch.inf)
        largest = max(largest, float(gap.max()))
        squares += float(gap.square().sum())
        count += gap.numel()
        equal += int(alike.sum())
    top = torch.tensor(scale, dtype=before[0].dtype)
    spacing = float((torch.nextafter(top, torch.tensor(torch.inf, dtype=top.dtype)) - top).abs())
    relative = largest / scale if scale else largest
    return Distance(largest, (squares / count) ** 0.5, relative, largest / spacing, equal / count)
