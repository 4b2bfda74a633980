"""No gate of three branches with two sharpnesses is within 0.0004 of GELU: some minutes of search."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path


def make(path: Path, say: Callable[[str], None]) -> str | None:
    """Write the certificate, going on from finished cells; None, or why there is none."""
    from gateproof.numerics import lower_bound_pair_certificate

    return lower_bound_pair_certificate.make("gelu(x)", "x", Fraction(1, 2500), path, say)
