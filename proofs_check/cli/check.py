"""``gateproof check``: the guard."""

from __future__ import annotations

import argparse

from gateproof.proofs_check.cli import deciding, output
from gateproof.proofs_check.cli.parser import Parser, text

HELP = "decide claims and compare them with their pins"
DESCRIPTION = """\
Decides the claims chosen by id, glob or claims file and compares each verdict with its pin.
Without an argument: gateproof.toml where the command runs, else the claims of the three papers.
"""


def add_arguments(parser: Parser) -> None:
    """Add what only this command takes."""
    parser.add_argument("what", nargs="*", type=text, metavar="ID|GLOB|FILE")
    parser.add_argument("--strict", action="store_true", help="exit with 4 if any is inconclusive")
    parser.add_argument("--update-pins", action="store_true", help="accept the verdicts: write them as pins")


def run(options: argparse.Namespace) -> int:
    """Decide, print, and judge."""
    from gateproof.proofs_check import document
    from gateproof.proofs_check.selection import select
    from gateproof.proofs_check.status import exit_code

    found = deciding.decided(select(options.what), options)
    if options.update_pins:
        found = deciding.with_pins(found, options.what)
    made, _ = found.document()
    if options.json:
        output.put(document.to_text(made))
    else:
        from gateproof.proofs_check.render import terminal

        output.put(terminal.listing(made, terminal.look()))
    return exit_code(made, strict=options.strict)
