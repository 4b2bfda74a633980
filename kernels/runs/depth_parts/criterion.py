"""When a network counts as trained, and from that the largest depth at which an activation trains.

A network of depth L is *trained* where, after the stated number of steps, its mean loss over the training
images is at most ``share`` of log 10 nats (what a network that knows nothing has) for some rate of the grid.
The *trainable depth* is the depth at which the loss crosses that line, where it first does along the grid:
between the last trained depth and the next one log L is interpolated linearly in the loss, which counts as
log 10 above it (and where it is not a number). Beyond the first depth that is not trained nothing counts.
All of the grid trained: it is at least the last depth ("above"); none: at most the first ("below").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, isnan, log

CHANCE = log(10)


@dataclass(frozen=True)
class TrainableDepth:
    """In layers; ``censored`` is "", "above" (at least) or "below" (at most)."""

    value: float
    censored: str = ""


def trainable_depth(losses: Mapping[int, float], share: float) -> TrainableDepth:
    """From depth -> the least loss over the rates. Raises ValueError for no depth."""
    if not losses:
        raise ValueError("no depth was trained")
    line = share * CHANCE
    before: tuple[int, float] | None = None
    for depth in sorted(losses):
        loss = _at_most_chance(losses[depth])
        if loss > line:
            if before is None:
                return TrainableDepth(float(depth), "below")
            at, least = before
            part = (line - least) / (loss - least)
            return TrainableDepth(exp(log(at) + part * (log(depth) - log(at))))
        before = depth, loss
    return TrainableDepth(float(max(losses)), "above")


def _at_most_chance(loss: float) -> float:
    return CHANCE if isnan(loss) or loss > CHANCE else loss
