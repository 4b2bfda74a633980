"""``--coq FILE.v``: what the command line needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gateproof.proofs_check.coq.document import of_certificate, of_statement
from gateproof.proofs_check.coq.statement import NotARelationError, parts_of
from gateproof.proofs_check.refused import RefusedError


def refuse_path(path: str) -> None:
    """Raise RefusedError for a name that no Coq file can have."""
    if Path(path).suffix != ".v":
        raise RefusedError(f"--coq {path}: a file of Coq is named *.v")
    if not Path(path).absolute().parent.is_dir():
        raise RefusedError(f"--coq {path}: there is no such folder")


def refuse_early(text: str, path: str) -> None:
    """Raise RefusedError for what no search could make a Coq file of."""
    from gateproof.theory.formula import FormulaError, parse_claim

    refuse_path(path)
    try:
        parse_claim(text)
    except FormulaError:
        return  # an expression: its certificate is what becomes a file
    try:
        parts_of(text)
    except NotARelationError:
        return


def of_decision(text: str, found: Mapping[str, Any]) -> str:
    """The file for what ``certify`` found. Raises RefusedError."""
    certificate = found["certificate"]
    if found["kind"] == "boolean" and found["value"] is True:
        try:
            return of_statement(text, certificate)
        except NotARelationError:
            if certificate is None:
                raise
    elif found["kind"] == "boolean" or certificate is None:
        raise RefusedError("nothing is proved that a Coq file could state, so none is written")
    return of_accepted(certificate, text)


def of_accepted(certificate: Mapping[str, Any], said: str = "") -> str:
    """The file for a certificate, which the checker must accept. Raises RefusedError."""
    from gateproof.proofs_check.checker import verify

    verdict = verify(certificate)
    if not verdict.accepted:
        raise RefusedError(f"the certificate is rejected, no Coq file is written: {verdict.reason}")
    return of_certificate(certificate, said)


def write(path: str, text: str) -> None:
    """Write the file, whole or not at all. Raises RefusedError."""
    from gateproof.numerics.atomic import write_text

    try:
        write_text(Path(path), text)
    except OSError as error:
        raise RefusedError(f"--coq {path}: cannot be written: {error.strerror}") from None
