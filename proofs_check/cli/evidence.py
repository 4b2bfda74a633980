"""``gateproof evidence``: what claims need beside the engine, and how to make it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateproof.proofs_check.cli import output
from gateproof.proofs_check.cli.parser import Parser, text

if TYPE_CHECKING:
    from gateproof.proofs_check.evidence.states import Evidence
    from gateproof.proofs_check.records import ClaimSpec

HELP = "make the records and certificates that claims rest on, or say what makes them"
DESCRIPTION = """\
Without a name: lists the evidence that claims name and how it stands. With claim ids, names of evidence
or globs: makes what is missing or stale, going on where it was stopped; where a run has to make it, says
which. A claims file chooses the claims of that file; its evidence lies in evidence/ beside it.
  gateproof evidence mem.lm.tiny --from runs/lm       accept what a finished gateproof run found
"""


def add_arguments(parser: Parser) -> None:
    """Add what only this command takes."""
    parser.add_argument("what", nargs="*", type=text, metavar="ID|NAME|GLOB|FILE")
    parser.add_argument("--from", dest="folder", type=text, metavar="DIR", help="accept what a run found")
    parser.add_argument("--again", action="store_true", help="make it anew where it is current too")


def run(options: argparse.Namespace) -> int:
    """List, or make; 0 where all that was named is current at the end."""
    import json

    from gateproof.proofs_check.refused import FAILED, OK
    from gateproof.proofs_check.selection import is_file

    if options.folder is not None:
        return _accepted(options)
    words = [word for word in options.what if not is_file(word)]
    chosen = _chosen([word for word in options.what if is_file(word)], words)
    if words:
        try:
            chosen = [_made(found, options) for found in chosen]
        except KeyboardInterrupt:
            output.complain(("interrupted: the same command goes on from what was finished",))
            return FAILED
    if options.json:
        output.put(
            json.dumps({"schema_version": 1, "evidence": [_entry(found) for found in chosen]}, indent=2)
            + "\n"
        )
    else:
        for found in chosen:
            output.put("".join(f"{line}\n" for line in _lines(found)))
    return OK if not words or all(found.state == "current" for found in chosen) else FAILED


def _accepted(options: argparse.Namespace) -> int:
    """Make records of what a run found, and say how they stand."""
    import json

    from gateproof.proofs_check.claims_file import load_packaged
    from gateproof.proofs_check.evidence import from_run, states
    from gateproof.proofs_check.refused import FAILED, OK, RefusedError

    try:
        made = {found.path for found in from_run.accept(Path(options.folder), options.what)}
    except OSError as error:
        raise RefusedError(f"the record cannot be written: {error.strerror}") from None
    known = [found for found in states.of(load_packaged()) if found.path in made]
    if options.json:
        output.put(
            json.dumps({"schema_version": 1, "evidence": [_entry(found) for found in known]}, indent=2) + "\n"
        )
    else:
        for found in known:
            output.put("".join(f"{line}\n" for line in _lines(found)))
    return OK if known and all(found.state == "current" for found in known) else FAILED


def _chosen(files: list[str], words: list[str]) -> list[Evidence]:
    """The evidence named. Raises RefusedError, and NothingSelectedError where nothing matches."""
    from gateproof.proofs_check.claims_file import load_packaged
    from gateproof.proofs_check.evidence import states
    from gateproof.proofs_check.refused import NothingSelectedError
    from gateproof.proofs_check.selection import LOCAL, select

    claims = select(files).claims
    if not words:
        return states.of(claims)
    matched: list[Evidence] = []
    for word in words:
        known, found = _matching(claims, word)
        if not known and not files and Path(LOCAL).is_file():
            # As everywhere, a word is looked up in gateproof.toml and then among the papers' claims.
            known, found = _matching(load_packaged(), word)
        if not found:
            said = f"{word} names no evidence" if known else f"no claim or evidence {word!r}"
            raise NothingSelectedError(f"{said}; gateproof evidence lists what there is")
        matched += [entry for entry in found if entry not in matched]
    return matched


def _matching(claims: Sequence[ClaimSpec], word: str) -> tuple[bool, list[Evidence]]:
    """Whether a word is one of the claims or of their evidence, and the evidence it stands for."""
    from fnmatch import fnmatchcase

    from gateproof.proofs_check.evidence import states

    found = [e for e in states.of(claims) if any(fnmatchcase(n, word) for n in (e.name, *e.claims))]
    return bool(found) or any(fnmatchcase(claim.id, word) for claim in claims), found


def _made(found: Evidence, options: argparse.Namespace) -> Evidence:
    """Make what is missing or stale, if something here can."""
    import os

    from gateproof.proofs_check.evidence import produce, states
    from gateproof.proofs_check.refused import RefusedError

    if found.state == "current" and not options.again:
        return found
    module = produce.producer(found.name)
    if module is None:
        return found
    folder = found.path.parent
    if not os.access(folder if folder.exists() else folder.parent, os.W_OK):
        raise RefusedError(f"{folder}: cannot be written, and the evidence belongs there")
    say = output.note if not options.json else lambda _line: None
    if found.is_record:
        readings = [reading for _, reading in found.readings]
        produce.make_record(found.path, readings, module, say, f"gateproof evidence {found.name}")
    else:
        produce.make_certificate(found.path, module, say)
    return states.state_of(found.path, found.readings)


def _lines(found: Evidence) -> list[str]:
    from gateproof.proofs_check import clean

    lines = [f"{found.name}  {found.state}{f': {found.why}' if found.why else ''}"]
    lines.append(f"  for      {', '.join(found.claims)}")
    if found.state == "current":
        lines.append(f"  file     {found.path}")
    else:
        lines += [f"  needs    {needs}" for needs in found.needs]
        rules = [reading.formal for _, reading in found.readings if reading.by_criterion]
        lines += [f"  decides  {rule}" for rule in dict.fromkeys(rules)]
    return [clean.line(line, 600) for line in lines]


def _entry(found: Evidence) -> dict[str, Any]:
    return {
        "name": found.name,
        "state": found.state,
        "why": found.why,
        "claims": found.claims,
        "needs": found.needs,
        "criteria": [reading.formal for _, reading in found.readings if reading.by_criterion],
        "file": str(found.path) if found.state == "current" else None,
    }
