"""``gateproof explain``: why a reading came out as it did, and what would decide it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

from gateproof.proofs_check.cli import deciding, output
from gateproof.proofs_check.cli.parser import Parser, text

HELP = "why a reading is refuted or undecided, and what would decide it"
DESCRIPTION = """\
Explains the readings of claims: what the verdict rests on, where it fails, the nearest true
statement, and for what is undecided which budgets or parts of the domain decide it, tried one by one.
"""


def add_arguments(parser: Parser) -> None:
    """Add what only this command takes."""
    parser.add_argument("what", nargs="+", type=text, metavar="ID|GLOB|FILE|FILE:ID")


def run(options: argparse.Namespace) -> int:
    """Decide, then explain; a verdict is no failure here."""
    import json

    from gateproof.proofs_check.cli.options import settings, with_project
    from gateproof.proofs_check.explaining import explain
    from gateproof.proofs_check.one import OneByOne
    from gateproof.proofs_check.refused import FAILED, OK
    from gateproof.proofs_check.selection import select

    found = deciding.decided(select(options.what), options)
    document, _ = found.document()
    chosen = settings(with_project(options))
    explained = []
    with closing(OneByOne(chosen, use_cache=False)) as one:
        for spec, claim in zip(found.claims, document["claims"], strict=True):
            for reading, entry in zip(spec.readings, claim["readings"], strict=True):
                said = explain(entry, reading, chosen, one)
                row = {"claim": claim["id"], "reading": entry["name"], "formal": entry["formal"], **said}
                explained.append(row)
                if not options.json:
                    output.put("\n".join(_lines(row, entry)) + "\n\n")
    if options.json:
        output.put(json.dumps({"schema_version": 1, "readings": explained}, indent=2) + "\n")
    return FAILED if found.run.interrupted else OK


def _lines(row: Mapping[str, Any], entry: Mapping[str, Any]) -> Iterator[str]:
    from gateproof.proofs_check import clean
    from gateproof.proofs_check.render import words

    yield clean.line(f"{row['claim']}, {row['reading']}: {row['verdict']}: {row['why']}")
    yield clean.line(f"  {row['formal']}")
    facts = [("reason", row.get("reason", "")), ("witness", words.witness(entry["witness"]))]
    facts += [("value", words.enclosure(entry["value"]))]
    facts += [("step", step) for step in entry["steps"][:6]]
    facts += [("tried", f"{t['what']}: {t['verdict']}{': ' + t['reason'] if t['reason'] else ''}")
              for t in row.get("tried", ())]  # fmt: skip
    facts += [("so", advice) for advice in row["advice"]]
    for name, told in facts:
        if told:
            yield clean.line(f"  {name:8} {told}")
