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

from gateproof.proofs_check import fit_printed, given_gate
from gateproof.proofs_check.fit_check_digits import unit
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


#: A fit is accepted where each of these is, as far as it has them.
CLAIMS = ("error", "lower end", "lower bound", "worst case")
#: Digits of the error.
DIGITS = 10


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
    from gateproof.proofs_check.fit_check_worst import worst_case

    gate, domain = given_gate.gate_of(path)
    values = json.loads(Path(path).read_bytes())
    if values.get("domain") is None and ("domain" in values or values.get("error") is not None):
        raise RefusedError(f'{path}: names no domain; R is written "domain": "R"')
    try:
        target = _target(path, values, domain)
    except _SwappedError:
        why = "target and target_formula are not one function as they are written"
        return [Check("target", False, why)]
    document = Document(path, values, gate, target, _printed(path, values))
    found = [*_error(document), *_lower(document), *worst_case(path, values, gate, target)]
    return [*found, *fit_printed.all_of(path, values, gate, target, document.hi)]


def summed(found: list[Check]) -> dict[str, Any]:
    """The checks as one result: rejected where one is, accepted where all that is claimed is."""
    bad = next((c for c in found if c.accepted is False), None)
    claims = [found[0], *(c for c in found if c.what in CLAIMS)]
    accepted = False if bad else True if all(c.accepted for c in claims) else None
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
        within = read_domain(domain)
        if within is not None and within.notes:
            raise RefusedError(f"{path}: domain {domain:.60}: its ends are no rational numbers")
        target = of_text(text, within)
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


def _error(document: Document) -> list[Check]:
    """The certificate of the error: accepted, about this gate and target, as strong as what is printed."""
    from gateproof.proofs_check.checker import verify
    from gateproof.proofs_check.fit_match import matched

    values = document.values
    certificate, evidence = values.get("certificate"), values.get("evidence")
    if document.hi is not None:
        lo = read(document.path, values["error"].get("lo"))
        if lo > document.hi:
            return [Check("error", False, f"its lower end, {values['error']['lo']}, is above its upper end")]
    if certificate is None and evidence == "proved":
        return [_proved(document)]
    if certificate is None:
        return [Check("error", None, _none(document))]
    if values.get("norm") == "rms":
        why = "the certificate is none of a root mean square, and there are none"
        return [Check("error", False, why)]
    verdict = verify(certificate)
    if not verdict.accepted:
        return [Check("error", False, f"the certificate is rejected: {verdict.reason}")]
    if document.target is None or document.target.expr is None:
        said = f"{verdict.reason}; the document's target is no formula, so what it is about was not compared"
        return [Check("error", None, said)]
    if document.hi is None:
        return [Check("error", False, "the certificate bounds an error that the document does not print")]
    link = matched(certificate, document.gate, document.target, document.hi)
    if link.holds is False:
        return [Check("error", False, f"the certificate holds, but {link.reason}")]
    if link.holds is None and "agrees" not in link.reason:
        return [Check("error", None, f"the certificate holds; {link.reason}")]
    end = _lower_end(document, document.target)
    said = f"at most {values['error']['hi']}, {link.reason}"
    if end.accepted:
        return [Check("error", link.holds, f"{said}; {end.reason}")]
    return [Check("error", link.holds, said), end]


def _none(document: Document) -> str:
    """Why there is no certificate of the error."""
    error, evidence = document.values.get("error"), document.values.get("evidence")
    if error is None:
        how = f"gateproof certify --from {document.path} gives its error"
        return f"it prints no error and holds no certificate, so there is nothing to check; {how}"
    if isinstance(error, dict) and error.get("hi") == "oo":
        return "it holds no certificate: the error is infinite"
    return NONE.get(str(evidence), "it holds no certificate of the error that it prints")


def _lower_end(document: Document, target: Target) -> Check:
    """Whether the lower end that is printed is reached, at a witness or a place that is printed."""
    from gateproof.numerics.fits.result_json import down
    from gateproof.proofs_check.fit_match import parts_of
    from gateproof.proofs_check.fit_match_reached import far_out, reached
    from gateproof.theory.formula.nodes import Num

    path, values = document.path, document.values
    text = values["error"]["lo"]
    lo = read(path, text)
    if lo <= 0:
        return Check("lower end", True, f"at least {text}")
    listed = values.get("argmax")
    printed = [Num(read(path, x)) for x in listed] if isinstance(listed, list) else []
    witnesses = [at for part in parts_of(values["certificate"]) for at in part.places]
    ways = ((witnesses, "at a witness"), (printed, "at a place of argmax"), (far_out(target), "far out"))
    most = witnessed = None
    for places, where in ways:
        size = reached(document.gate, target, places)
        witnessed = size if where == "at a witness" else witnessed
        if size is not None and lo <= size:
            return Check("lower end", True, f"at least {text}, {where}")
        most = size if most is None or (size is not None and size > most) else most
    if most is not None and lo <= most + unit(text, DIGITS):
        shown = down(most, DIGITS)
        return Check(
            "lower end", True, f"at least {shown}, at a witness, a rounding below the printed {text}"
        )
    if witnessed is None:
        return Check("lower end", None, f"no witness in the domain shows an error of {text}")
    return Check("lower end", False, f"{text} is above the error at each witness, {down(witnessed, DIGITS)}")


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


def _lower(document: Document) -> list[Check]:
    """The lower bound: not above the error, as near to it as is said, and with a certificate."""
    values, name, hi = document.values, "lower bound", document.hi
    given, within = values.get("lower_bound"), values.get("optimal_within")
    bound = None if given is None else read(document.path, given)
    apart = None if within is None else read(document.path, within)
    if bound is not None and hi is not None and bound > hi:
        return [Check(name, False, f"{given} is above the error")]
    if apart is not None and hi != 0:
        if bound is None or bound <= 0:
            return [Check(name, False, f"optimal_within, {within}, has no lower bound above 0")]
        if hi is not None and apart < (hi - bound) / bound:
            return [Check(name, False, f"the error is farther above it than optimal_within, {within}, says")]
    if values.get("lower_certificate") is not None:
        return [_lower_certificate(document, bound)]
    if bound is None or bound <= 0:
        return []
    return [Check(name, None, f"it holds no certificate of {given}")]


def _lower_certificate(document: Document, bound: Fraction | None) -> Check:
    """The certificate of the lower bound."""
    from gateproof.proofs_check.checker import verify
    from gateproof.proofs_check.fit_match_bound import bound_matched

    values = document.values
    verdict = verify(values["lower_certificate"])
    if not verdict.accepted:
        return Check("lower bound", False, f"the certificate is rejected: {verdict.reason}")
    if bound is None or document.target is None:
        return Check(
            "lower bound", None, f"{verdict.reason}; the document gives no bound for it, or no formula"
        )
    link = bound_matched(values, document.gate, document.target, bound)
    if link.holds is False:
        return Check("lower bound", False, f"the certificate holds, but {link.reason}")
    if bound <= 0:
        return Check("lower bound", None, "it says nothing: it is not above 0")
    return Check("lower bound", link.holds, f"{values['lower_bound']}, {link.reason}")
