"""python-flint's precision is one number for the whole process: set it and always restore it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import flint


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Work with ``bits`` bits (at least 16) inside the block."""
    before = flint.ctx.prec
    flint.ctx.prec = max(16, int(bits))
    try:
        yield
    finally:
        flint.ctx.prec = before
