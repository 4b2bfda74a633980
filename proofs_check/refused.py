"""What ends a command with one clear line instead of a traceback, and the exit codes."""

from __future__ import annotations

from collections.abc import Iterable

OK = 0
FAILED = 1
USAGE = 2
INTERNAL = 3
INCONCLUSIVE = 4
NOTHING = 5


class RefusedError(ValueError):
    """Input that is not accepted; each line says what is wrong and what to do."""

    code = USAGE

    def __init__(self, lines: str | Iterable[str]) -> None:
        self.lines = (lines,) if isinstance(lines, str) else tuple(lines)
        super().__init__("\n".join(self.lines))


class NothingSelectedError(RefusedError):
    """No claim matches what was asked for."""

    code = NOTHING


class WorkerFailedError(RuntimeError):
    """A worker process could not start: a fault of the installation, not of a claim."""
