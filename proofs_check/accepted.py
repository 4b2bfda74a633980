"""What ``certify`` hands out has been re-checked: once, here."""

from __future__ import annotations

from typing import Any


def accepted(found: dict[str, Any], *, decides: bool = False) -> dict[str, Any]:
    """The answer without a certificate that the independent checker rejects, and why.

    ``decides``: the answer rests on its certificate, and none is left without it.
    """
    from gateproof.proofs_check.checker import verify

    if found.get("certificate") is None:
        return found
    verdict = verify(found["certificate"])
    if verdict.accepted:
        return found
    reasons = [found["reason"]] if found.get("reason") else []
    nothing = {"kind": None, "value": None, "digits": 0} if decides else {}
    reason = "; ".join([*reasons, f"the certificate is rejected: {verdict.reason}"])
    return {**found, **nothing, "certificate": None, "reason": reason}
