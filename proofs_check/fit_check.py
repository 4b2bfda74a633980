"""A fit's document checked again: its certificates, what they are about, and what is printed beside them.

The independent checker accepts a certificate about a formula. That this formula is the gate's less the target
is seen here: the error is built again from the document's numbers and its target, and compared.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateproof.proofs_check import fit_printed, given_gate, hardware_check
from gateproof.proofs_check.fit_numbers import Check, read
from gateproof.proofs_check.refused import RefusedError
from gateproof.theory.formula import FormulaError, parse_expr
from gateproof.theory.formula.nodes import Expr
from gateproof.theory.gate import Gate

if TYPE_CHECKING:
    from gateproof.numerics.fits.target import Target

#: Why a fit has no certificate of its error, by its evidence.
NONE = {
    "sampled": "it holds no certificate: the error was sampled in floats, so nothing is certified",
    "enclosed": "it holds no certificate: a root mean square is enclosed in balls and has none",
    "certified": "it holds no certificate, though it says that its error is certified",
}


class _SwappedError(Exception):
    """Target and target_formula are not one function."""


@dataclass(frozen=True)
class Document:
    """A fit's document, its gate and its target with the weight; the latter None where it is no formula."""

    path: str
    values: Mapping[str, Any]
    gate: Gate
    target: Target | None
    hi: Fraction | None


def is_fit(document: Any) -> bool:
    """Whether a JSON document is that of a fit, and no certificate."""
    return isinstance(document, dict) and "kind" not in document and {*given_gate.LISTS} <= {*document}


def checks(path: str) -> list[Check]:
    """All that can be checked in the document of a fit. Raises RefusedError for one that cannot be read."""
    gate, domain = given_gate.gate_of(path)
    values = json.loads(Path(path).read_bytes())
    try:
        target = _target(path, values, domain)
    except _SwappedError:
        why = "target and target_formula are not one function as they are written"
        return [Check("target", False, why)]
    document = Document(path, values, gate, target, _printed(path, values))
    found = [_error(document)]
    if values.get("lower_certificate") is not None:
        found.append(_lower(document))
    if isinstance(values.get("tolerance"), dict) and values["tolerance"].get("certificate") is not None:
        found.append(_worst(values["tolerance"]))
    return [*found, *fit_printed.all_of(path, values, gate, target, document.hi)]


def summed(found: list[Check]) -> dict[str, Any]:
    """The checks as one result: rejected where one is, accepted where the error's is."""
    bad = next((c for c in found if c.accepted is False), None)
    accepted = False if bad else found[0].accepted
    reason = f"{bad.what}: {bad.reason}" if bad else "; ".join(f"{c.what}: {c.reason}" for c in found)
    listed = [{"what": c.what, "accepted": c.accepted, "reason": c.reason} for c in found]
    return {"accepted": accepted, "reason": reason, "checks": listed}


def _printed(path: str, values: Mapping[str, Any]) -> Fraction | None:
    """The upper end of the error that the document gives; None where it is infinite or not there."""
    error = values.get("error")
    if not isinstance(error, dict) or error.get("hi") in (None, "oo"):
        return None
    return read(path, error["hi"])


def _target(path: str, values: Mapping[str, Any], domain: str) -> Target | None:
    """The target as it is written, or its formula where that is the name of a file; with its weight."""
    from gateproof.numerics.fits.measure_weight import weighted
    from gateproof.numerics.fits.request import NORMS
    from gateproof.numerics.fits.target import RefusedTarget
    from gateproof.numerics.fits.target_domain import read_domain
    from gateproof.numerics.fits.target_text import of_text

    name, formula, norm = (values.get(key) for key in ("target", "target_formula", "norm"))
    if not isinstance(name, str) or not isinstance(formula, str | None):
        raise RefusedError(f"{path}: target is a text, and target_formula is one or null")
    if norm not in (None, *NORMS):
        raise RefusedError(f"{path}: norm {norm!r:.40}: give one of {', '.join(NORMS)}")
    if values.get("evidence") == "sampled":
        return None
    try:
        written = _core(name)
        text = name if written is not None else formula
        if not isinstance(text, str):
            return None
        target = of_text(text, read_domain(domain))
        # At an end that is left out the formula may have its limit.
        ways = (written, target.expr)
        if written is not None and isinstance(formula, str) and _core(formula) not in ways:
            raise _SwappedError
        weight = values.get("weight")
        if norm == "rms":
            return target
        return weighted(target, norm or "sup", None if norm == "relative" else weight)
    except (RefusedTarget, FormulaError) as error:
        raise RefusedError(f"{path}: {error}") from None


def _core(text: Any) -> Expr | None:
    """A name or a formula in x in core functions; None for anything else."""
    from gateproof.numerics.backends import prepare

    if not isinstance(text, str):
        return None
    try:
        return prepare.core(parse_expr(given_gate.target_formula(text)))
    except (RefusedError, FormulaError, RecursionError):
        return None


def _error(document: Document) -> Check:
    """The certificate of the error: accepted, about this gate and target, as strong as what is printed."""
    from gateproof.proofs_check.checker import verify
    from gateproof.proofs_check.fit_match import matched

    values = document.values
    certificate, evidence = values.get("certificate"), values.get("evidence")
    if certificate is None and evidence == "proved":
        return _proved(document)
    if certificate is None:
        return Check("error", None, _none(document))
    verdict = verify(certificate)
    if not verdict.accepted:
        return Check("error", False, f"the certificate is rejected: {verdict.reason}")
    if document.target is None or document.target.expr is None:
        said = f"{verdict.reason}; the document's target is no formula, so what it is about was not compared"
        return Check("error", None, said)
    if document.hi is None:
        return Check("error", False, "the certificate bounds an error that the document does not print")
    link = matched(certificate, document.gate, document.target, document.hi)
    if link.holds is False:
        return Check("error", False, f"the certificate holds, but {link.reason}")
    return Check(
        "error", link.holds, f"at most {values['error']['hi']}, {link.reason}{_below(document, link.reached)}"
    )


def _none(document: Document) -> str:
    """Why there is no certificate of the error."""
    error, evidence = document.values.get("error"), document.values.get("evidence")
    if error is None:
        how = f"gateproof certify --from {document.path} gives its error"
        return f"it prints no error and holds no certificate, so there is nothing to check; {how}"
    if isinstance(error, dict) and error.get("hi") == "oo":
        return "it holds no certificate: the error is infinite"
    return NONE.get(str(evidence), "it holds no certificate of the error that it prints")


def _below(document: Document, reached: Fraction | None) -> str:
    """Whether the lower end that is printed follows as well."""
    from gateproof.numerics.fits.result_json import down

    lo = document.values["error"].get("lo")
    if reached is None:
        return f"; the lower end {lo} rests on ball arithmetic alone"
    if read(document.path, lo) <= reached:
        return f"; at least {lo}, at a witness"
    return f"; at least {down(reached, 10)}, at a witness, a rounding below the printed {lo}"


def _proved(document: Document) -> Check:
    """An error of 0 is proved again, by algebra."""
    from gateproof.proofs_check.engine import decide
    from gateproof.proofs_check.records import Reading, Settings

    target = document.target
    if target is None or target.expr is None or document.hi != 0:
        return Check(
            "error", False, "it says that an error of 0 is proved, of another error or of no formula"
        )
    from gateproof.theory.formula.printer import to_text

    formal = f"for x in {target.domain}: {document.gate.text} == {to_text(target.expr)}"
    found = decide(Reading("fit", formal), Settings())
    if found.verdict == "proved":
        return Check(
            "error", True, f"0, proved again ({found.method}); of a proof by algebra there is no certificate"
        )
    if found.verdict == "refuted":
        return Check("error", False, "the target is not this gate: that is refuted")
    return Check(
        "error", None, f"that the target is this gate was not proved again: {found.reason or found.verdict}"
    )


def _lower(document: Document) -> Check:
    """The certificate of the lower bound."""
    from gateproof.proofs_check.checker import verify
    from gateproof.proofs_check.fit_match import bound_matched

    values = document.values
    verdict = verify(values["lower_certificate"])
    if not verdict.accepted:
        return Check("lower bound", False, f"the certificate is rejected: {verdict.reason}")
    given = values.get("lower_bound")
    bound = None if given is None else read(document.path, given)
    if bound is None or document.target is None:
        return Check(
            "lower bound", None, f"{verdict.reason}; the document gives no bound for it, or no formula"
        )
    link = bound_matched(values, document.gate, document.target, bound)
    if link.holds is False:
        return Check("lower bound", False, f"the certificate holds, but {link.reason}")
    within = values.get("optimal_within")
    if bound <= 0:
        return Check("lower bound", None, "it says nothing: it is not above 0")
    apart = None if within is None else read(document.path, within)
    if apart is not None and document.hi is not None and apart < (document.hi - bound) / bound:
        return Check(
            "lower bound", False, f"the error is farther above it than optimal_within, {within}, says"
        )
    return Check("lower bound", link.holds, f"{values['lower_bound']}, {link.reason}")


def _worst(tolerance: Mapping[str, Any]) -> Check:
    """The certificate of the worst case under tolerances."""
    return hardware_check.worst_case(tolerance)
