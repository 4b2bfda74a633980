"""Whether a certificate holds: ``verify(document)``, which never raises."""

from __future__ import annotations

from collections import Counter
from typing import Any

from gateproof.proofs_check.checker import floating
from gateproof.proofs_check.checker.algebra import Rejected
from gateproof.proofs_check.checker.boxes import Certificate, Verdict, fields, need
from gateproof.proofs_check.checker.kinds import Finite, Integral, Range, Root
from gateproof.proofs_check.checker.parameters import Gates, Supremum

KINDS: dict[str, type[Certificate]] = {"range": Range, "integral": Integral, "root": Root, "finite": Finite}


def verify(document: Any) -> Verdict:
    """Check a certificate, as ``json.load`` gives it."""
    try:
        return _judge(document, Counter())
    except Rejected as reason:
        return Verdict(False, str(reason))
    except RecursionError:
        return Verdict(False, "it is nested too deeply")
    except Exception as fault:  # a fault of this program must never pass for a proof
        return Verdict(False, f"the checker failed on it: {type(fault).__name__}")


def _judge(document: Any, spent: Counter[str]) -> Verdict:
    need(isinstance(document, dict), "it is not an object")
    kind, version, before = document.get("kind"), document.get("version"), spent["boxes"]
    need(type(version) is int and version == 1, "only version 1 is known to this checker")
    fit = isinstance(kind, str) and kind in {*KINDS, "parameter-lower-bound", "floating", "composite"}
    need(fit, f"kind {kind!r:.60} is not known to this checker")
    if kind == "floating":
        return floating.check(document, spent)
    if kind != "composite":
        lower_bound = Supremum if document.get("family") is None else Gates
        certificate = KINDS.get(str(kind), lower_bound)(document, spent)
        reason = f"{certificate.check()} with {certificate.field.bits} bits"
        return Verdict(True, f"{spent['boxes'] - before} {reason}", str(kind), spent["boxes"])
    _, _, parts, text = fields(document, "kind version parts conclusion", "the certificate")
    need(isinstance(parts, list) and parts and isinstance(text, str), "there are no parts, or no text")
    for number, part in enumerate(parts, 1):
        try:
            _judge(part, spent)
        except Rejected as objection:
            raise Rejected(f"part {number}: {objection}") from None
    reason = f"each of the {len(parts)} parts holds; not checked is the step from them to {text!r:.300}"
    return Verdict(True, reason, "composite", spent["boxes"], conclusion_checked=False)
