"""What an error is judged against: the sum of the sizes of the terms that a result is the sum of.

A derivative has zeros of its own, where its terms cancel: no relative error is kept there by any finite
arithmetic. The sum of absolute terms is the yardstick of floating-point analysis (Higham, Accuracy and
Stability of Numerical Algorithms, 3.1). Terms are read off the exact formula or derivative as mathematics writes
it, never off the program that is judged: a program that cancels where the formula does not gets no more room.
Sums are opened, products of sums multiply their sizes, and every function's value is one term.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gateproof.numerics.backends.lower import lowered
from gateproof.numerics.backends.tape import write
from gateproof.numerics.backends.with_numpy import NumpyOps
from gateproof.theory.formula.nodes import App, Expr

Array = NDArray[np.float64]


def size(expr: Expr, names: Sequence[str], values: Sequence[Array]) -> Array:
    """The sum of the absolute terms of an expression in normal form, in float64."""
    known: dict[Expr, Any] = {}
    with np.errstate(all="ignore"):
        return np.asarray(_size(expr, tuple(names), tuple(values), known), dtype=np.float64)


def _size(expr: Expr, names: tuple[str, ...], values: tuple[Array, ...], known: dict[Expr, Any]) -> Any:
    found = known.get(expr)
    if found is not None:
        return found
    if isinstance(expr, App) and expr.head in ("add", "sub", "mul", "neg"):
        parts = [_size(a, names, values, known) for a in expr.args]
        found = parts[0]
        for part in parts[1:]:
            # A factor that is 0 shuts its term off whatever the others are.
            found = (
                np.where((found == 0) | (part == 0), 0.0, found * part)
                if expr.head == "mul"
                else found + part
            )
    else:
        found = np.abs(write(lowered(expr), names).run(NumpyOps(), values))
    known[expr] = found
    return found
