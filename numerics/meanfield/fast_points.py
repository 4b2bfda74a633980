"""The arguments of means as flat arrays, and which are refused."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gateproof.numerics.meanfield.engines import MOMENTS, PAIRED

Array = NDArray[np.float64]
#: The arguments of a mean by its name.
NAMES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(MOMENTS, ("q",)),
    **{name: ("q", "eps" if name.endswith("gap") else "c") for name in PAIRED},
}
_SAID = {"q": "q > 0 and finite", "c": "c in [-1, 1]", "eps": "eps in [0, 2]"}
_ENDS = {"q": (0.0, np.inf), "c": (-1.0, 1.0), "eps": (0.0, 2.0)}


def flat_points(name: str, points: tuple[ArrayLike, ...]) -> tuple[tuple[int, ...], list[Array]]:
    """The shape that the arguments of a mean broadcast to, and flat float64 arrays of it.

    Raises ValueError outside of q > 0, c in [-1, 1], eps in [0, 2], and for an unknown name; TypeError for
    a wrong number of arguments.
    """
    names = NAMES.get(name)
    if names is None:
        raise ValueError(f"no mean is called {name!r:.60}; there are {', '.join(NAMES)}")
    if len(points) != len(names):
        raise TypeError(f"{name} takes {' and '.join(names)}")
    arrays = [np.asarray(p, np.float64) for p in points]
    if len(arrays) == 2 and arrays[0].shape != arrays[1].shape:
        arrays = list(np.broadcast_arrays(*arrays))
    shape = arrays[0].shape
    flat = [np.ascontiguousarray(a) for a in arrays]
    if len(shape) != 1:
        flat = [a.reshape(-1) for a in flat]
    if flat[0].size:
        for n, a in zip(names, flat, strict=True):
            # argmin and argmax find a NaN first, and take a fifth of the time of min and max.
            least, most, (low, high) = a[a.argmin()], a[a.argmax()], _ENDS[n]
            if not (low <= least and most <= high and (n != "q" or (least > 0 and most < np.inf))):
                inside = (a > 0) & (a < np.inf) if n == "q" else (a >= low) & (a <= high)
                raise ValueError(f"{n} = {a[np.argmin(inside)]:g}: {_SAID[n]} is expected")
    return shape, flat
