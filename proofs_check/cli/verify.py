"""``gateproof verify``: have certificates checked again, by the independent checker."""

from __future__ import annotations

import argparse
from functools import cache
from pathlib import Path
from typing import Any

from gateproof.proofs_check.cli import output
from gateproof.proofs_check.cli.parser import Parser, text

HELP = "re-verify certificates, and those in the documents of fits, with the independent checker (MPFR)"
DESCRIPTION = """\
Checks certificate files again, without search and without the engine that made them (those of searches
over two sharpnesses, *.json.gz, with Arb, which made them too). A folder stands
for all certificates in it, or in its certificates/: name the folder of a report to check all of them.
Of the JSON document of a fit the certificates in it are checked, and that they are about its gate and
target and give the error and the lower bound that it prints; of a hardware table that of its worst case.
Of several files each gets its verdict, those that cannot be read included.
"""
KEYS = "tau, theta, slope and intercept"
MAX_BYTES = 64_000_000
MAX_REPORT = 256_000_000
_WORDS = {True: "accepted", False: "REJECTED", None: "not checked"}


def add_arguments(parser: Parser) -> None:
    """Add what only this command takes."""
    parser.add_argument("certificates", nargs="+", type=text, metavar="CERT|DIR")
    parser.add_argument(
        "--coq", type=text, metavar="FILE.v", help="write the theorem of one certificate for coqc"
    )


def run(options: argparse.Namespace) -> int:
    """Verify each file; one that cannot be read does not keep the others from their verdicts."""
    import json

    from gateproof.proofs_check import clean
    from gateproof.proofs_check.refused import FAILED, INCONCLUSIVE, OK

    names = [name for word in options.certificates for name in _files(word)]
    if options.coq is not None:
        _write_coq(options.coq, names)
    results = _results(names)
    if options.json:
        output.put(json.dumps({"schema_version": 1, "certificates": results}, indent=2) + "\n")
    else:
        for result in results:
            claims = f"  {', '.join(result['claims'])}" if result["claims"] else ""
            reason = f": {result['reason']}" if result["reason"] and "checks" not in result else ""
            line = f"{_WORDS[result['accepted']]}  {result['file']}{claims}{reason}"
            output.put(clean.line(line, 600) + "\n")
            for check in result.get("checks", ()):
                word = _WORDS[check["accepted"]]
                output.put(clean.line(f"  {word}  {check['what']}: {check['reason']}", 600) + "\n")
        if len(results) > 1:
            good = sum(result["accepted"] is True for result in results)
            output.put(f"{good} of {len(results)} certificates accepted\n")
    if any(result["accepted"] is False for result in results):
        return FAILED
    return OK if all(result["accepted"] for result in results) else INCONCLUSIVE


def _results(names: list[str]) -> list[dict[str, Any]]:
    """The verdict on each file. Raises RefusedError where none can be read."""
    from gateproof.proofs_check.refused import RefusedError

    results: list[dict[str, Any]] = []
    refused: list[str] = []
    for name in names:
        try:
            found = (
                _proved_again(Path(name)) if name.endswith(".json.gz") else _verified(name, _read(Path(name)))
            )
            results.append({"file": name, "claims": _claims_of(Path(name)), **found})
        except RefusedError as error:
            refused += error.lines
            said = "; ".join(error.lines).removeprefix(f"{name}: ")
            results.append({"file": name, "claims": [], "accepted": None, "reason": said})
    if len(refused) == len(names):
        raise RefusedError(refused)
    return results


def _proved_again(path: Path) -> dict[str, Any]:
    """The verdict on the certificate of a search, by ball arithmetic. Raises RefusedError."""
    from gateproof.numerics.lower_bound_pair_certificate import check
    from gateproof.proofs_check.evidence import certificates
    from gateproof.proofs_check.refused import RefusedError

    try:
        document = certificates.read(path)
        wrong, proves = check(document), certificates.statement(document)
    except certificates.UNREADABLE as error:
        raise RefusedError(f"{path}: is no certificate of a search: {error}") from None
    return {"accepted": wrong is None, "reason": wrong or f"every leaf proved again with Arb, of {proves}"}


def _write_coq(path: str, names: list[str]) -> None:
    from gateproof.proofs_check import fit_check, hardware_check
    from gateproof.proofs_check.coq import write
    from gateproof.proofs_check.refused import RefusedError

    if len(names) != 1:
        raise RefusedError("--coq takes one certificate at a time")
    document = _read(Path(names[0]))
    if fit_check.is_fit(document) or hardware_check.is_table(document):
        raise RefusedError("--coq takes a certificate; --certificate of gateproof fit writes that of a fit")
    write.refuse_path(path)
    write.write(path, write.of_accepted(document))


def _files(word: str) -> list[str]:
    """Return a file as it is named, or the certificates of a folder."""
    from gateproof.proofs_check.refused import RefusedError

    path = Path(word)
    try:
        if not path.is_dir():
            return [word]
        inner = path / "certificates"
        folder = inner if inner.is_dir() else path
        found = sorted(str(file) for file in folder.glob("*.json") if file.name != "report.json")
    except (OSError, ValueError) as error:
        raise RefusedError(f"{word}: cannot be read: {error}") from None
    if not found:
        raise RefusedError(
            f"{word}: holds no certificate; name the folder of a report, or certificates/*.json"
        )
    return found


def _claims_of(path: Path) -> list[str]:
    """Return the readings that a report beside the certificate rests on it, ``id (reading)`` each."""
    folder = path.absolute().parent
    return _named(folder.parent if folder.name == "certificates" else folder).get(path.name, [])


@cache
def _named(folder: Path) -> dict[str, list[str]]:
    """Map certificate files to readings, by the report.json of a folder; empty where there is none."""
    import json

    from gateproof.proofs_check import schema
    from gateproof.proofs_check.files.claims_text import read_bytes
    from gateproof.proofs_check.refused import RefusedError
    from gateproof.proofs_check.status import readings

    try:
        document = json.loads(read_bytes(folder / "report.json", MAX_REPORT, "a report.json"))
    except (RefusedError, ValueError, RecursionError):
        return {}
    if schema.faults(document):
        return {}
    found: dict[str, list[str]] = {}
    for claim, reading in readings(document):
        if reading["certificate"]:
            name = str(reading["certificate"]).rpartition("/")[2].removesuffix(".json") + ".json"
            found.setdefault(name, []).append(f"{claim['id']} ({reading['name']})")
    return found


def _read(path: Path) -> dict[str, Any]:
    import json

    from gateproof.proofs_check.files.claims_text import read_bytes
    from gateproof.proofs_check.fit_check import is_fit
    from gateproof.proofs_check.refused import RefusedError

    data = read_bytes(path, MAX_BYTES, "a certificate, certificates/*.json")
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise RefusedError(f"{path}: is not JSON; a certificate is one JSON document") from None
    if not isinstance(found, dict) or ("kind" not in found and not is_fit(found)):
        raise RefusedError(f"{path}: is no certificate, which has a kind, and no fit, which has {KEYS}")
    return found


def _verified(name: str, document: dict[str, Any]) -> dict[str, Any]:
    from gateproof.proofs_check import fit_check, hardware_check
    from gateproof.proofs_check.checker import verify

    try:
        if hardware_check.is_table(document):
            return fit_check.summed(hardware_check.checks(document))
        if fit_check.is_fit(document):
            return fit_check.summed(fit_check.checks(name))
        verdict = verify(document)
        if verdict.accepted and verdict.kind == "composite":
            step = "of a fit, verify of its JSON (--export FILE.json) checks that step for its error"
            return {"accepted": True, "reason": f"{verdict.reason}; {step}"}
    except RecursionError:
        return {"accepted": False, "reason": "nested too deeply"}
    return {"accepted": bool(verdict.accepted), "reason": str(verdict.reason)}
