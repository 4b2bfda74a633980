"""What a jump of the target costs: no continuous gate comes nearer to both of its sides than half of it."""

from __future__ import annotations

import numpy as np

from gateproof.numerics.fits.gates import Array, Gates
from gateproof.numerics.fits.normal import Normal

#: Distances from a jump, in widths, at which its sides are looked at; they agree to this share there.
SIDES, SAME = (1e-7, 1e-9), 1e-6
#: Smaller ones, of a function of size 1, are none: a slope of 1e4 makes 2e-5 of them.
LEAST = 1e-3


def jumps(found: Normal) -> tuple[Array, Array]:
    """Places of jumps and half their weighted sizes, in normal coordinates.

    The size is that of the values on both sides and at the place. Seen in floats, at the target's kinks
    only.
    """
    target = found.target
    kinks = np.array([float(k) for k in target.kinks if target.points is None])
    if not len(kinks):
        return kinks, kinks
    places = (kinks - found.centre) / found.width
    room = 1 + np.abs(kinks) / found.width
    with np.errstate(all="ignore"):
        values = [found.function(places + s * d * room) for d in SIDES for s in (-1, 0, 1)]
        wide, close = np.ptp(values[:3], axis=0), np.ptp(values[3:], axis=0)
        real = (close > LEAST) & (np.abs(wide - close) <= SAME * close)
    weight = np.ones_like(kinks) if target.weight is None else np.asarray(target.weight(kinks))
    # What the sides rise or fall by up to the jump is of first order.
    size = close - (wide - close) * SIDES[1] / (SIDES[0] - SIDES[1])
    return places[real], (weight * size / 2)[real]


def half_jump(found: Normal) -> float:
    """Half the largest jump in normal coordinates: what every soft gate's sup error is at least."""
    return float(jumps(found)[1].max(initial=0.0))


def at_jump(found: Normal, gates: Gates) -> list[Array]:
    """A start, not sharp, with the first threshold at the largest jump, the others beyond; without lines."""
    places, sizes = jumps(found)
    if not len(places) or gates.branches < 2:
        return []
    n = gates.branches - 1
    full = np.zeros(gates.size)
    full[n : 2 * n] = places[np.argmax(sizes)] + np.arange(n)
    return [full]
