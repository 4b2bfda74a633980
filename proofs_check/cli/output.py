"""Writing to the user: safe on any terminal, quiet when the reader has gone."""

from __future__ import annotations

import errno
import os
import sys
from typing import TextIO

from gateproof.proofs_check import clean

PROGRAM = "gateproof"


class UnwritableError(Exception):
    """Standard output takes nothing more, for another reason than that its reader has gone."""


def put(text: str) -> None:
    """Print text that is safe already; a reader that closed the pipe has had enough."""
    _write(sys.stdout, text)


def note(text: str) -> None:
    """Say something on stderr that is no error."""
    _write(sys.stderr, f"{clean.line(text, 600)}\n")


def is_watched() -> bool:
    """Whether stderr is a terminal, so that a line on it can be written over."""
    return sys.stderr is not None and sys.stderr.isatty()


def watched(text: str) -> None:
    """A line on stderr that is written over, where that is a terminal; none for an empty text."""
    if is_watched():
        _write(sys.stderr, f"\r\x1b[K{clean.line(text, 110)}")


def complain(lines: tuple[str, ...]) -> None:
    """Print an error, a line each."""
    for line in lines:
        _write(sys.stderr, f"{PROGRAM}: {clean.line(line, 600)}\n")


def flush() -> None:
    """Write out what is waiting, so that Python finds nothing to complain of at its end."""
    for stream in (sys.stderr, sys.stdout):
        if stream is not None:
            _write(stream, "")


def plain_errors() -> None:
    """Have characters that a terminal's encoding lacks printed as escapes."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _write(stream: TextIO | None, text: str) -> None:
    """Write and flush; UnwritableError for stdout, while a stderr that fails has nobody to be told."""
    try:
        if stream is None:
            raise OSError(errno.EBADF, "it is closed")
        if text:
            stream.write(text)
        stream.flush()
    except OSError as error:
        if stream is not None:
            # What is still buffered goes nowhere, also at exit.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
        if stream is sys.stdout and not isinstance(error, BrokenPipeError):
            raise UnwritableError(f"standard output cannot be written: {error.strerror}") from None
