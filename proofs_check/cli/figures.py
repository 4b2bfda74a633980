"""``gateproof figures``: compute and draw the figures anew, beside their scripts."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from gateproof.proofs_check.cli import output
from gateproof.proofs_check.cli.parser import Parser, text

if TYPE_CHECKING:
    from gateproof.proofs_check.figures.drawing import Drawn

HELP = "draw the figures anew: SVG, PNG and caption beside each script"
DESCRIPTION = """\
Computes and draws the figures of a checkout, all or those named; a name may be a glob:
  gateproof figures                    all, into figures/
  gateproof figures gelu_k2 'kappa*'   some of them
  gateproof figures --list             their names
  gateproof figures --check            whether the files are what the scripts give; writes nothing
The same sources and the same matplotlib give the same bytes.
"""


def add_arguments(parser: Parser) -> None:
    """Add what only this command takes."""
    add = parser.add_argument
    add("names", nargs="*", type=text, metavar="NAME", help="a figure, or a glob (all)")
    add("--out", type=text, metavar="DIR", help="where the files go (figures/, beside the scripts)")
    add("--list", action="store_true", help="print the names")
    add("--check", action="store_true", help="compare with the files instead of writing; 1 if one differs")


def run(options: argparse.Namespace) -> int:
    """Draw, and name the files; 5 if no figure has a name that was given, 1 if --check finds a difference."""
    from gateproof.proofs_check.figures import drawing
    from gateproof.proofs_check.refused import FAILED, OK

    chosen = _chosen(drawing.names(), options.names)
    out = Path(options.out) if options.out else drawing.folder()
    if options.list:
        _put(options.json, [{"name": name} for name in chosen], [f"{name}\n" for name in chosen])
        return OK
    drawing.need_matplotlib()
    rows: list[dict[str, object]] = []
    try:
        for found in drawing.all_drawn(chosen, options.jobs or os.cpu_count() or 1):
            rows.append(_row(found, out, check=options.check))
            if not options.json:
                output.put(_said(rows[-1]))
    except KeyboardInterrupt:
        output.complain((f"interrupted: {len(rows)} of {len(chosen)} figures are done",))
        return FAILED
    if options.json:
        _put(True, rows, [])
    return FAILED if any(row.get("differing") for row in rows) else OK


def _row(found: Drawn, out: Path, *, check: bool) -> dict[str, object]:
    from gateproof.proofs_check.figures import drawing

    if check:
        wrong = drawing.differing(found, out)
        return {"name": found.name, "differing": [*wrong, *([] if drawing.listed(found) else ["README.md"])]}
    if out == drawing.folder():
        drawing.enlist(found)
    return {"name": found.name, "files": [str(path) for path in drawing.write(found, out)]}


def _said(row: dict[str, object]) -> str:
    listed = row.get("files", row.get("differing"))
    names = ", ".join(Path(str(name)).name for name in listed) if isinstance(listed, list) else ""
    if "differing" in row:
        return f"{row['name']}: differs: {names}\n" if names else f"{row['name']}: the same\n"
    return f"{row['name']}: {names}\n"


def _chosen(names: list[str], asked: list[str]) -> list[str]:
    """The names asked for, in order. Raises NothingSelectedError for one that no figure has."""
    from fnmatch import fnmatchcase

    from gateproof.proofs_check.refused import NothingSelectedError

    found: list[str] = []
    for pattern in asked or ["*"]:
        matching = [name for name in names if fnmatchcase(name, pattern)]
        if not matching:
            raise NothingSelectedError(f"no figure {pattern!r:.60}; there are {', '.join(names) or 'none'}")
        found += [name for name in matching if name not in found]
    return found


def _put(as_json: bool, rows: list[dict[str, object]], lines: list[str]) -> None:
    import json

    output.put(
        json.dumps({"schema_version": 1, "figures": rows}, indent=2) + "\n" if as_json else "".join(lines)
    )
