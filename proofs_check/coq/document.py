"""Whole Coq files: from a certificate, or from a statement with the certificate it rests on."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from gateproof.proofs_check.coq.compact import unfolding
from gateproof.proofs_check.coq.preamble import PREAMBLE
from gateproof.proofs_check.coq.statement import Part, parts_of
from gateproof.proofs_check.coq.tail import Limits
from gateproof.proofs_check.coq.text import number
from gateproof.proofs_check.coq.theorem import Question, Theorem, theorem
from gateproof.proofs_check.coq.total import total
from gateproof.proofs_check.refused import RefusedError
from gateproof.theory.formula import Expr, to_text
from gateproof.theory.formula.serial import from_json

_PARTS = 20

#: Coq's functions are total: whether a formula has a value is no part of a theorem about its value.
_DEFINED = (
    "The formula is defined for all reals: its divisors, and what it takes logarithms and roots of, are\n"
    "   positive sums and products, or those of sigmoid, softplus, sech and tanh (lemma `defined`)."
)
_NOT_SEEN = (
    "Coq's functions are total (1/0, ln(-1) have values): that the formula is defined is NOT said here,\n"
    "   but by what decided it."
)


def certificate_hash(document: Mapping[str, Any]) -> str:
    """sha256 of the certificate's compact JSON with sorted keys."""
    compact = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(compact.encode()).hexdigest()


def of_certificate(document: Mapping[str, Any], said: str = "") -> str:
    """The file for a certificate that the checker accepts; ``said``: what was asked. Raises RefusedError."""
    parts = document["parts"] if document["kind"] == "composite" else [document]
    if len(parts) > _PARTS or any(part["kind"] != "range" for part in parts):
        raise RefusedError(f"only range certificates, at most {_PARTS} of them together, become Coq files")
    head = [f"asked: {_safe(said)}"] if said else []
    head.append(f"certificate sha256 {certificate_hash(document)}")
    body: list[str] = []
    names: list[str] = []
    exprs: list[Expr] = []
    for place, part in enumerate(parts, 1):
        label = f"f{place}"
        question = _question(part)
        found = theorem(question, label)
        exprs.append(question.expr)
        head += [
            f"{label}: {_safe(to_text(question.expr))}",
            f"  formula sha256 {part['formula_hash']}",
            f"  {label}_bounds covers {found.covers}.",
        ]
        body.append(found.text)
        names.append(f"{label}_bounds")
        for count, witness in enumerate(part["witnesses"], 1):
            names.append(f"{label}_witness_{count}")
            body.append(_witness(question, label, names[-1], witness))
    return _file(head, body, names, exprs)


def of_statement(text: str, certificate: Mapping[str, Any] | None) -> str:
    """The file for a statement that was decided to be true. Raises RefusedError."""
    head = [f"statement: {_safe(text)}"]
    head.append(
        "no certificate: it was decided by a symbolic proof"
        if certificate is None
        else f"certificate sha256 {certificate_hash(certificate)}"
    )
    body: list[str] = []
    names: list[str] = []
    exprs: list[Expr] = []
    for place, part in enumerate(parts_of(text), 1):
        label = f"f{place}"
        found = theorem(part.question, label)
        exprs.append(part.question.expr)
        head.append(f"statement_{place} covers {found.covers}.")
        body += [found.text, _stated(part, found, label, f"statement_{place}")]
        names.append(f"statement_{place}")
    return _file(head, body, names, exprs)


def _stated(part: Part, found: Theorem, label: str, name: str) -> str:
    """The user's own relation, from the bounds of ``label``."""
    (own,) = part.names
    bounds = part.question.limits.statement(f"{label} {own}")
    intro = "intros D. " if part.domain else ""
    by = "lra" if found.hypotheses else "idtac"
    return (
        f"Theorem {name} ({own} : R) : {part.domain}{part.relation}.\n"
        f"Proof.\n  {intro}assert (B : {bounds}) by (apply {label}_bounds; {by}).\n"
        f"  unfold {label} in B. {part.closing}\nQed.\n"
    )


def _question(part: Mapping[str, Any]) -> Question:
    conclusion = part["conclusion"]
    limits = Limits(
        _end(conclusion["lower"]),
        _end(conclusion["upper"]),
        conclusion["lower_strict"],
        conclusion["upper_strict"],
    )
    if limits.lower is None and limits.upper is None:
        raise RefusedError("the certificate claims no bound: no Coq file")
    box = {name: (_end(ends["lo"]), _end(ends["hi"])) for name, ends in part["domain"].items()}
    cuts: tuple[Fraction | None, Fraction | None] = (None, None)
    if len(box) == 1:
        tails = part["tails"].get(next(iter(box)), {})
        cuts = (_end(tails.get("minus")), _end(tails.get("plus")))
    return Question(from_json(part["core"]), box, limits, cuts)


def _end(text: str | None) -> Fraction | None:
    return None if text is None or text in ("oo", "-oo") else Fraction(text)


def _witness(question: Question, label: str, name: str, witness: Mapping[str, Any]) -> str:
    point = " ".join(number(Fraction(witness["at"][variable])) for variable in question.box)
    inside = Limits(Fraction(witness["lower"]), Fraction(witness["upper"]))
    bits = max([80, *(end.denominator.bit_length() + 30 for end in (inside.lower, inside.upper) if end)])
    return (
        f"Theorem {name} : {inside.statement(f'{label} {point}')}.\n"
        f"Proof. {unfolding(label, question.expr)} split; interval with (i_prec {bits}). Qed.\n"
    )


def _safe(text: str) -> str:
    """Text for a comment: printable, and it can neither end the comment nor open a string."""
    plain = "".join(letter if letter.isprintable() and letter != '"' else "?" for letter in text)
    return re.sub(r"\(\*|\*\)", lambda found: " ".join(found[0]), plain)


def _file(head: Sequence[str], body: Sequence[str], names: Sequence[str], exprs: Sequence[Expr]) -> str:
    notes = [
        "Written by gateproof. Check it with coqc; coq-interval is needed.",
        *head,
        _DEFINED if all(total(expr) for expr in exprs) else _NOT_SEEN,
    ]
    comment = "(* " + "\n   ".join(notes) + " *)\n"
    checks = f"Definition all_together := ({', '.join(names)}).\nPrint Assumptions all_together.\n"
    return "\n".join([comment, PREAMBLE, *body, checks])
