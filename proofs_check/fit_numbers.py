"""Numbers of a fit's document and of its certificates, and what was looked at in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
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


def leaves(certificate: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The parts of an accepted certificate, and theirs; the certificate itself where it has none."""
    if certificate["kind"] == "composite":
        for part in certificate["parts"]:
            yield from leaves(part)
    else:
        yield certificate


def size_bound(part: Mapping[str, Any]) -> Fraction | None:
    """What an accepted range bounds the size of its formula by; None where it does not."""
    lower, upper = (
        None if part["conclusion"][s] is None else Fraction(part["conclusion"][s]) for s in ("lower", "upper")
    )
    if upper is not None and part["core"][:2] == ["app", "abs"]:
        return upper
    return None if lower is None or upper is None else max(upper, -lower)
