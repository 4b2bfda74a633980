"""Numbers as a caller gives them, read exactly."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import Any

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?|[+-]?\d+/0*[1-9]\d*", re.ASCII)


def written(value: Any, longest: int) -> Fraction | None:
    """The exact number that is written: a decimal, p/q, or a float, also one of NumPy's, as it is printed.

    None for anything else, and for more than ``longest`` characters.
    """
    text = ""
    if isinstance(value, str):
        text = value.strip()
    elif isinstance(value, bool):
        pass
    elif isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    elif isinstance(value, Real | Decimal):
        text = str(value)
    return Fraction(text) if len(text) <= longest and _NUMBER.fullmatch(text) else None
