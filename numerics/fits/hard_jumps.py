"""Pieces that hold at a jump whose value is not the limit from the left.

The branch at a threshold is the one on its left, so the piece that holds at the jump begins before it,
however near. It has to be in the tunnel from there on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gateproof.numerics.fits.hard_links import between
from gateproof.numerics.fits.hard_walk import Walk, thresholds
from gateproof.numerics.fits.hard_walls import Link, Some, Straight, Walls

#: Distances from the jump that are tried, in widths of the target; rounding.
NEAR, ROUNDING = (1e-5, 1e-6, 1e-8, 1e-10, 1e-12, 1e-14), 1e-12


@dataclass(frozen=True)
class Placed:
    """Lines and thresholds; ``attained`` is False where one nearer to its jump would be better."""

    lines: tuple[Straight, ...]
    theta: tuple[float, ...]
    attained: bool = True


def placed(walls: Walls, found: Walk, e: float, width: float) -> Placed:
    """The pieces of a walk in a tunnel of half width e; ``width`` is the target's."""
    lines, theta = [link.line for link in found.links], thresholds(walls, found, e)
    attained = True
    for k, link in enumerate(found.links[:-1]):
        if not link.before or link.exit is None:
            continue
        jump, then = link.exit.x, found.links[k + 1]
        bound = k + 2 == len(found.links) and walls.right is not None
        least = theta[k - 1] if k else -np.inf
        places = [p for p in (jump - share * width for share in NEAR) if least < p < jump]
        for place in places:
            line = _from(walls, then, place, jump, e, turn=not bound)
            if line is not None:
                theta[k], lines[k + 1] = place, line
                break
        else:
            attained = False
            theta[k] = places[-1] if places else (least + jump) / 2
    return Placed(tuple(lines), tuple(theta), attained)


def _from(walls: Walls, link: Link, place: float, jump: float, e: float, *, turn: bool) -> Straight | None:
    """The line of a link, or one with other coefficients, if it is in the tunnel from ``place`` on."""
    assert walls.function is not None
    e = e * (1 + ROUNDING)
    x = np.linspace(place, jump, 18)[1:-1]
    some = Some(x, walls.function(x), walls.half_width(x))
    if (np.abs(link.line.at(x) - some.y) <= e * some.v).all():
        return link.line
    if not turn or walls.kind != "general" or np.isfinite(walls.highest):
        return None
    first = int(np.searchsorted(walls.x, jump))
    part = slice(first, link.index)
    some = some.then(Some(walls.x[part], walls.y[part], walls.v[part]))
    if link.exit is not None and not link.before:
        some = some.then(Some(*(np.array([v]) for v in (link.exit.x, link.exit.y, link.exit.v))))
    return between(some, some, e, -walls.steepest, walls.steepest)
