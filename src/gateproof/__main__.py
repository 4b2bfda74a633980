"""The ``gateproof`` command, also as ``python -m gateproof``: a process that Ctrl-C ends in one line."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

#: Of signals closer together than this, in seconds, one counts: a bouncing key, or a signal that goes to a
#: process and again to its group.
TOGETHER = 0.5


class _Once:
    """Raises KeyboardInterrupt for the first of several signals."""

    def __init__(self) -> None:
        self.last = float("-inf")
        self.holds, self.held = False, False

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Keep a signal until the end of the block: an import of compiled code may lose it."""
        self.holds = True
        try:
            yield
        finally:
            self.holds = False
        if self.held:
            self.held = False
            self(signal.SIGINT, None)

    def __call__(self, _signal: int, _frame: FrameType | None) -> None:
        if self.holds:
            self.held = True
            return
        now = time.monotonic()
        again = now - self.last < TOGETHER
        self.last = now
        if not again:
            raise KeyboardInterrupt


def main() -> int:
    """Run the command. Ctrl-C while it is loaded ends like one later: a line, and exit code 1."""
    # Where it is ignored, as in the background of a shell, it stays so.
    listener = _Once()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, listener)
    try:
        with listener.holding():
            from gateproof.proofs_check.cli import main as run

        code = run()
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.write(2, b"gateproof: interrupted: nothing was written\n")
        os._exit(1)
    # All is written: a signal now would only bring a traceback.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if listener.last > 0:
        # Python ends itself by the signal, in place of the code, where it came inside of exec("..") during
        # an import, even if it was caught.
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()
        os._exit(code)
    return code


if __name__ == "__main__":
    sys.exit(main())
