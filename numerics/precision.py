"""python-flint's precision is one number for the whole process: restored."""

from __future__ import annotations

import flint
from flint.flint_base.flint_context import PrecisionManager


def precision(bits: int) -> PrecisionManager:
    """Work with ``bits`` bits (at least 16) inside the block.

    flint's own manager is compiled, so that no interrupt falls into its entry or exit.
    """
    return flint.ctx.workprec(max(16, int(bits)))
