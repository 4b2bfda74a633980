"""A deterministic limit on the work of one question: operations on polynomials, not seconds."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, wraps
from typing import ParamSpec, TypeVar, cast

#: Units of one question; a unit takes some 30 microseconds.
UNITS = 30_000

P = ParamSpec("P")
T = TypeVar("T")
_left: ContextVar[int | None] = ContextVar("_left", default=None)
_depth: ContextVar[int] = ContextVar("_depth", default=0)


class Unsupported(Exception):
    """The expression is outside of what this prover decides."""


class Exhausted(Unsupported):
    """The budget is spent."""


def spend(units: int) -> None:
    """Take units from the question's budget; raises Exhausted when it is spent."""
    left = _left.get()
    if left is None:
        return
    _left.set(left - units)
    if left < units:
        raise Exhausted("the work budget is spent")


def depth() -> int:
    """How many arguments by derivatives the present one stands in."""
    return _depth.get()


@contextmanager
def deeper() -> Iterator[None]:
    """One level further down, for all that is asked inside."""
    token = _depth.set(_depth.get() + 1)
    try:
        yield
    finally:
        _depth.reset(token)


def bounded(function: Callable[P, T]) -> Callable[P, T]:
    """Give an outermost call its budget; a call inside of another shares that one's.

    None where the budget or the stack ends, or the method does: T must allow it. Answers to
    outermost calls are kept: the engine asks the same of a statement, its pieces and its controls.
    """

    @lru_cache(maxsize=4096)
    def kept(args: tuple[Hashable, ...], kwargs: tuple[tuple[str, Hashable], ...]) -> T:
        token = _left.set(UNITS)
        try:
            return function(*args, **dict(kwargs))  # type: ignore[arg-type]  # as they came in
        except (Unsupported, RecursionError):
            return cast(T, None)
        finally:
            _left.reset(token)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        if _left.get() is not None:
            return function(*args, **kwargs)
        return kept(args, tuple(sorted(kwargs.items())))

    return call
