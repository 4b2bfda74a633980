"""Many points in pieces of a few fixed sizes: memory is bounded, and each size compiles once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.intp]
#: Hears how many more points are finished.
Done = Callable[[int], None]


def pieces(count: int, sizes: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """(start, stop, size): [0, count) in pieces that are filled up to one of the ascending sizes.

    A rest takes the smallest size that holds it if it fills more than half of that, and is cut else.
    """
    start = 0
    while start < count:
        rest = count - start
        fitting = [s for s in sizes if s <= rest]
        above = next((s for s in sizes if s >= rest), None)
        size = above if above is not None and (not fitting or rest > 0.5 * above) else fitting[-1]
        stop = min(count, start + size)
        yield start, stop, size
        start = stop


def filled(a: Array | Index, size: int) -> Any:
    """The array up to a size, its last entry repeated."""
    if len(a) == size:
        return a
    return np.concatenate([a, np.full(size - len(a), a[-1], a.dtype)])


def elementwise(
    function: Callable[..., Any], arrays: Sequence[Array], sizes: Sequence[int], done: Done
) -> tuple[Array, ...]:
    """A traced function of flat arrays, applied piece by piece."""
    count = len(arrays[0])
    out: list[Array] | None = None
    for start, stop, size in pieces(count, sizes):
        found = function(*(filled(a[start:stop], size) for a in arrays))
        parts = found if isinstance(found, tuple) else (found,)
        if out is None:
            out = [np.empty(count) for _ in parts]
        for target, part in zip(out, parts, strict=True):
            target[start:stop] = np.asarray(part)[: stop - start]
        done(stop - start)
    return tuple(out or [np.empty(0)])
