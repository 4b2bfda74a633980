"""A table of constants for hardware checked again: the certificate of its worst case."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from gateproof.proofs_check.fit_numbers import Check, leaves, read, size_bound

_ABOUT = "that it is about this gate was not compared"


def is_table(document: Any) -> bool:
    """Whether a JSON document is a table that ``--export FILE.hardware.json`` wrote."""
    return isinstance(document, dict) and document.get("kind") == "hardware"


def checks(table: Mapping[str, Any]) -> list[Check]:
    """What can be checked in a table: the worst case, where it has a certificate."""
    case = table.get("worst_case")
    if not isinstance(case, dict) or case.get("certificate") is None:
        why = "the table holds no certificate; fit with --tolerance, or verify the JSON document of the fit"
        return [Check("worst case", None, why)]
    others = "the constants, the error and the bias are as the table has them"
    return [worst_case(case), Check("others", None, others)]


def worst_case(case: Mapping[str, Any]) -> Check:
    """The certificate of a worst case under tolerances, and whether it gives the bound that is printed."""
    from gateproof.proofs_check.checker import verify

    certificate = case["certificate"]
    verdict = verify(certificate)
    if not verdict.accepted:
        return Check("worst case", False, f"the certificate is rejected: {verdict.reason}")
    value = case.get("value")
    said = re.sub(r"\s+", " ", verdict.reason)
    if not isinstance(value, dict) or value.get("hi") is None:
        return Check("worst case", True, f"{said}; {_ABOUT}")
    bound, hi = _bound(certificate), read("worst case", value["hi"])
    if bound is None:
        return Check("worst case", None, f"{said}; it gives no bound of a size; {_ABOUT}")
    if bound > hi:
        return Check("worst case", False, "the certificate holds, but its bound is above the printed one")
    return Check("worst case", True, f"at most {value['hi']}; {said}; {_ABOUT}")


def _bound(certificate: Mapping[str, Any]) -> Fraction | None:
    """What an accepted certificate bounds the size of its formula by; None where it does not."""
    bounds = [size_bound(part) if part["kind"] == "range" else None for part in leaves(certificate)]
    return None if None in bounds else max((b for b in bounds if b is not None), default=None)
