"""python-flint's precision, and its longest power series, are numbers for the whole process: restored."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import flint


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Work with ``bits`` bits (at least 16) inside the block."""
    before, cap = flint.ctx.prec, flint.ctx.cap
    flint.ctx.prec = max(16, int(bits))
    try:
        yield
    finally:
        flint.ctx.prec, flint.ctx.cap = before, cap
