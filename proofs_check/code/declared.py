"""The decorator ``gateproof.claims``: what a function is held against, kept beside it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

#: The attribute of a decorated function.
KEPT = "__gateproof_claims__"
FORMATS = ("float16", "bfloat16", "float32", "float64")
LIBRARIES = ("numpy", "torch", "jax", "python")
MAX_POINTS = 1_000_000
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Declared:
    """One statement about a function, and how it is held against it.

    ``ulps``: most units in the last place that two sides of ``==`` may differ by, in ``dtype``; ``floor``: an
    absolute difference that is allowed as well. ``points``: how many inputs are drawn beside those that are
    always tried. ``file`` and ``line`` are of the decorator.
    """

    statement: str
    ulps: float
    dtype: str
    library: str | None
    points: int
    floor: float
    file: str
    line: int


def claims(
    *statements: str,
    ulps: float = 4.0,
    dtype: str | Sequence[str] = "float32",
    library: str | None = None,
    points: int = 2000,
    floor: float = 0.0,
) -> Callable[[Function], Function]:
    """Claims on the function below, which is returned as it is.

    A statement is one of the claim language that calls the function by its name:
    ``@claims("for x in R: stable(x) == softplus(x)")``. The code is called on floating-point inputs of each
    ``dtype``; ``==`` is within ``ulps`` units in the last place, other relations are exact. ``library`` says
    what arrays the function takes; without it that is found out. ``diff(f(x), x)`` is its automatic gradient.

    Nothing is read or called before ``gateproof check module:NAME`` or ``pytest --gateproof`` asks for it.
    Raises TypeError and ValueError, in one line, for options that make no sense.
    """
    given: tuple[Any, ...] = statements
    if not given or not all(isinstance(s, str) for s in given):
        raise TypeError('claims() takes statements as text: @claims("for x in R: f(x) == x")')
    dtypes = (dtype,) if isinstance(dtype, str) else tuple(dtype)
    wrong = [d for d in dtypes if d not in FORMATS]
    if wrong or not dtypes:
        raise ValueError(f"dtype {wrong[0] if wrong else dtypes!r}: give {', '.join(FORMATS)}")
    if library is not None and library not in LIBRARIES:
        raise ValueError(f"library {library!r:.40}: give {', '.join(LIBRARIES)}")
    for name, number in (("ulps", ulps), ("floor", floor)):
        if not _is_number(number) or not 0 <= number < float("inf"):
            raise ValueError(f"{name} = {number!r}: a number from 0 on")
    if not _is_number(points) or points != int(points) or not 1 <= points <= MAX_POINTS:
        raise ValueError(f"points = {points!r}: a whole number from 1 to {MAX_POINTS}")
    frame = sys._getframe(1)
    file, line = frame.f_code.co_filename, frame.f_lineno
    made = tuple(
        Declared(statement, float(ulps), d, library, points, float(floor), file, line)
        for statement in statements
        for d in dtypes
    )

    def keep(function: Function) -> Function:
        try:
            setattr(function, KEPT, (*made, *getattr(function, KEPT, ())))
        except AttributeError:
            kind = type(function).__name__
            raise TypeError(
                f"claims() on a {kind}, which can keep nothing; wrap it into a function"
            ) from None
        return function

    return keep


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
