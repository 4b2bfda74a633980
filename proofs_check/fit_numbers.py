"""Numbers of a fit's document, and what was looked at in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gateproof.proofs_check.refused import RefusedError

_NUMBER = re.compile(r"-?\d{1,400}(\.\d{1,400})?(e-?\d{1,4})?", re.ASCII)


@dataclass(frozen=True)
class Check:
    """What was looked at, and whether it holds; None: there was nothing to be checked, or it was not seen."""

    what: str
    accepted: bool | None
    reason: str


def read(path: str, text: Any) -> Fraction:
    """A number as a fit's document has it. Raises RefusedError."""
    if isinstance(text, str) and _NUMBER.fullmatch(text):
        return Fraction(text)
    raise RefusedError(f"{path}: {text!r:.40}: a number of a fit is a decimal in a text")
