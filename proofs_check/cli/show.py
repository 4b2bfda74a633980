"""``gateproof show``: one claim with all its evidence."""

from __future__ import annotations

import argparse

from gateproof.proofs_check.cli import deciding, output
from gateproof.proofs_check.cli.parser import Parser, text

HELP = "print a claim with its readings, verdicts and evidence"
DESCRIPTION = """\
Prints claims chosen by id, glob, file or FILE:ID in full; decides what is not in the cache.
"""


def add_arguments(parser: Parser) -> None:
    """Add what only this command takes."""
    parser.add_argument("what", nargs="+", type=text, metavar="ID|GLOB|FILE|FILE:ID")


def run(options: argparse.Namespace) -> int:
    """Decide and print; a verdict is no failure here."""
    from gateproof.proofs_check import document
    from gateproof.proofs_check.refused import FAILED, OK
    from gateproof.proofs_check.selection import select

    found = deciding.decided(select(options.what), options)
    made, _ = found.document()
    if options.json:
        output.put(document.to_text(made))
    else:
        from gateproof.proofs_check.render import terminal

        output.put(terminal.details(made, terminal.look()))
    return FAILED if found.run.interrupted else OK
