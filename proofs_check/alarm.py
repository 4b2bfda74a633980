"""A handler that is called after some seconds, and the one before put back."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def alarm(seconds: float, ring: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Have the block interrupted by ``ring`` after some seconds; for the main thread."""
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
