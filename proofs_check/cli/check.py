"""``gateproof check``: the guard."""

from __future__ import annotations

import argparse

from gateproof.proofs_check.cli import deciding, output
from gateproof.proofs_check.cli.parser import Parser, text

HELP = "decide claims and compare them with their pins"
DESCRIPTION = """\
Decides the claims chosen by id, glob or claims file and compares each verdict with its pin;
module:NAME imports a module and holds its functions that are decorated with gateproof.claims.
Without an argument: the project's claims files ([tool.gateproof] files in pyproject.toml, else
gateproof.toml and *.claims.toml where the command runs), else the claims of the three papers.
"""


def add_arguments(parser: Parser) -> None:
    """Add what only this command takes."""
    parser.add_argument("what", nargs="*", type=text, metavar="ID|GLOB|FILE|module:NAME")
    parser.add_argument("--strict", action="store_true", help="exit with 4 if any is inconclusive")
    parser.add_argument("--update-pins", action="store_true", help="accept the verdicts: write them as pins")
    parser.add_argument(
        "--show-settings", action="store_true", help="print each setting with where it comes from, and stop"
    )


def run(options: argparse.Namespace) -> int:
    """Decide, print, and judge."""
    from gateproof.proofs_check import document
    from gateproof.proofs_check.selection import select
    from gateproof.proofs_check.status import exit_code

    if options.show_settings:
        return _show_settings(options)
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


def _show_settings(options: argparse.Namespace) -> int:
    """Print every setting with its value and its origin: the command line, pyproject.toml, or the default."""
    import json

    from gateproof.proofs_check.project import KEYS, find
    from gateproof.proofs_check.refused import OK

    project, rows = find(), []
    for name, key in KEYS.items():
        if name in options.explicit:
            value, origin = getattr(options, name), "command line"
        elif name in project.values:
            value, origin = project.values[name], f"{project.path}"
        else:
            value, origin = key.default, "default"
        value = list(value) if isinstance(value, tuple) else value
        rows.append({"name": name, "value": value, "origin": origin, "says": key.says})
    if options.json:
        output.put(json.dumps({"schema_version": 1, "settings": rows}, indent=2) + "\n")
        return OK
    for row in rows:
        shown = ", ".join(row["value"]) if isinstance(row["value"], list) else str(row["value"])
        output.put(f"{row['name']:10} {shown:32} {row['origin']}  ({row['says']})\n")
    return OK
