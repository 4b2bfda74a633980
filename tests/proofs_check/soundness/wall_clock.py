"""A limit on the time of one decision, so that a search without end fails instead of hanging."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TooSlow(BaseException):
    """Not an Exception: no handler inside the engine may take it for a failed method."""


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise TooSlow


@contextmanager
def within(seconds: int) -> Iterator[None]:
    before = signal.signal(signal.SIGALRM, _stop)
    signal.alarm(seconds)
    try:
        yield
    except TooSlow:
        raise TimeoutError(f"no verdict in {seconds} s") from None
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
