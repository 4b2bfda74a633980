"""A wall clock that stops a command as Ctrl-C does."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import FrameType

from gateproof.proofs_check.alarm import alarm
from gateproof.proofs_check.refused import FAILED, RefusedError


def whole_imports() -> AbstractContextManager[None]:
    """Keep Ctrl-C until the end of a block of imports, where the command's own listener can."""
    holding = getattr(signal.getsignal(signal.SIGINT), "holding", None)
    found: AbstractContextManager[None] = nullcontext() if holding is None else holding()
    return found


class OverError(RefusedError):
    """The time was over before there was anything to be printed."""

    code = FAILED


class Clock:
    """Whether the time is over."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds, self.over = seconds, False

    def stop(self, _signal: int, _frame: FrameType | None) -> None:
        """End what runs; the handler of the alarm."""
        self.over = True
        raise KeyboardInterrupt

    @contextmanager
    def saying(self, when: str) -> Iterator[None]:
        """Say that the time went by before there was anything to be printed."""
        try:
            yield
        except KeyboardInterrupt:
            if not self.over:
                raise
            raise OverError(f"stopped after {self.seconds:g} s, {when}: nothing was written") from None


@contextmanager
def clock(seconds: float | None) -> Iterator[Clock]:
    """Interrupt what runs after so many seconds."""
    made = Clock(seconds)
    with nullcontext() if seconds is None else alarm(seconds, made.stop):
        yield made
