"""What an error is judged against: the sum of the sizes of the terms that a result is the sum of.

A derivative has zeros of its own, where its terms cancel: no relative error is kept there by any finite
arithmetic. The sum of absolute terms is the yardstick of floating-point analysis (Higham, Accuracy and
Stability of Numerical Algorithms, 3.1). Terms are read off the exact formula or derivative as
mathematics writes it, never off the program that is judged: a program that cancels where the formula does not
gets no more room. Sums are opened, products of sums multiply their sizes, and a function's value is one term.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gateproof.numerics.backends.lower import lowered
from gateproof.numerics.backends.tape import write
from gateproof.numerics.backends.with_numpy import NumpyOps
from gateproof.theory.formula.nodes import App, Expr, Where, num

Array = NDArray[np.float64]


def size(expr: Expr, names: Sequence[str], values: Sequence[Array]) -> tuple[Array, Array]:
    """The sum of the absolute terms of an expression in normal form, and how much a lost factor matters.

    A factor below the normal range errs by half of the smallest number; the second result bounds the product
    of the other factors, by which that error is multiplied.
    """
    known: dict[Expr, tuple[Any, Any]] = {}
    with np.errstate(all="ignore"):
        found = _size(expr, tuple(names), tuple(values), known)
    return np.asarray(found[0], dtype=np.float64), np.asarray(found[1], dtype=np.float64)


def _size(
    expr: Expr, names: tuple[str, ...], values: tuple[Array, ...], known: dict[Expr, tuple[Any, Any]]
) -> tuple[Any, Any]:
    found = known.get(expr)
    if found is not None:
        return found
    if isinstance(expr, App) and expr.head in ("add", "sub", "mul", "neg"):
        parts = [_size(a, names, values, known) for a in expr.args]
        found = parts[0]
        for part in parts[1:]:
            found = _times(found, part) if expr.head == "mul" else (found[0] + part[0], found[1] + part[1])
    elif isinstance(expr, Where):
        condition = _value(Where(expr.cond, num(1), num(0)), names, values) == 1
        then, other = (_size(part, names, values, known) for part in (expr.then, expr.other))
        found = np.where(condition, then[0], other[0]), np.where(condition, then[1], other[1])
    else:
        found = np.abs(_value(expr, names, values)), 1.0
    known[expr] = found
    return found


def _times(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
    # A factor that is 0 shuts its term off whatever the others are.
    off = (a[0] == 0) | (b[0] == 0)
    return np.where(off, 0.0, a[0] * b[0]), np.maximum(a[1] * np.maximum(b[0], 1), b[1] * np.maximum(a[0], 1))


def _value(expr: Expr, names: tuple[str, ...], values: tuple[Array, ...]) -> Any:
    return write(lowered(expr), names).run(NumpyOps(), values)
