"""What ends a run with a line or more instead of a traceback."""

from __future__ import annotations

from collections.abc import Iterable


class RunRefusedError(ValueError):
    """Input that no run starts with; each line says what is wrong and what to do."""

    def __init__(self, lines: str | Iterable[str]) -> None:
        self.lines = (lines,) if isinstance(lines, str) else tuple(lines)
        super().__init__("\n".join(self.lines))


class RunStoppedError(RuntimeError):
    """A run that could not go on: what is finished stays, and the same command may go on if ``again``."""

    def __init__(self, line: str, *, again: bool = True) -> None:
        self.again = again
        super().__init__(line)
