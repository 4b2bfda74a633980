"""``gateproof report``: decide, and write the report."""

from __future__ import annotations

import argparse
from pathlib import Path

from gateproof.proofs_check.cli import deciding, output
from gateproof.proofs_check.cli.parser import Parser, text

HELP = "decide claims and write report.html, .md, .json, .sarif, .tex and junit.xml"
DESCRIPTION = """\
Decides every claim of the files (without one: the project's, as check finds them, else the claims
of the three papers) and writes to a folder: report.html, report.md (for a job summary),
report.json, junit.xml, report.sarif (what is not as pinned, at its file and line), report.tex (a
table for an appendix) and certificates/. Ids and globs choose some of the claims.
"""


def add_arguments(parser: Parser) -> None:
    """Add what only this command takes."""
    parser.add_argument("what", nargs="*", type=text, metavar="FILE|ID|GLOB")
    parser.add_argument(
        "--out", type=text, default="report", metavar="DIR", help="folder to write to (report)"
    )
    parser.add_argument(
        "--annotate",
        choices=("github",),
        help="print annotations at the claims' lines, for a job of that host",
    )
    parser.add_argument("--update-pins", action="store_true", help="accept the verdicts: write them as pins")


def run(options: argparse.Namespace) -> int:
    """Decide, write, summarise, and judge."""
    from gateproof.proofs_check import document, report_folder
    from gateproof.proofs_check.render import html, katex
    from gateproof.proofs_check.selection import select
    from gateproof.proofs_check.status import exit_code

    selection = select(options.what)
    html.check_tex({claim.id: claim.latex for claim in selection.claims})
    folder = Path(options.out)
    report_folder.prepare(folder)
    found = deciding.decided(selection, options)
    if options.update_pins:
        found = deciding.with_pins(found, options.what)
    made = report_folder.write(found, folder)
    if options.json:
        output.put(document.to_text(made))
    else:
        from gateproof.proofs_check.render import terminal

        summary = terminal.summary(made, terminal.look())
        if options.annotate:
            from gateproof.proofs_check.render import annotations

            summary = annotations.quoted(summary) + annotations.render(made)
        output.put(summary)
        output.note(f"wrote {folder / 'report.html'} (also .md, .json, .sarif, .tex and junit.xml)")
    if notice := katex.usable()[1]:
        output.note(notice)
    return exit_code(made)
