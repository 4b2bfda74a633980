"""Compiled solvers that print where nobody asked: HiGHS reports tightened integer solutions though silent."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def quiet() -> Iterator[None]:
    """What the program writes to its standard output, compiled code included, goes nowhere.

    Not for threads: the descriptor is the process's. Where there is none to redirect, nothing happens.
    """
    with suppress(ValueError, OSError, AttributeError):
        sys.stdout.flush()
    try:
        kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    except OSError:
        yield
        return
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        # What is still in C's buffer would come out after the descriptor is back.
        with suppress(OSError, AttributeError, TypeError):
            ctypes.CDLL(None).fflush(None)
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)
