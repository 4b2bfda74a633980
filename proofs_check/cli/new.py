"""``gateproof new``: write a first file of claims, of an activation, of a kernel."""

from __future__ import annotations

import argparse
from pathlib import Path

from gateproof.proofs_check.cli import output
from gateproof.proofs_check.cli.parser import Parser, text

HELP = "write a commented file that works at once: claims, a claim, an activation, a kernel"
DESCRIPTION = """\
Writes one file where the command runs, never over one that is there:

  claims               gateproof.toml: the claims of a project
  claim ID             ID.claims.toml: one claim with everything that one may say
  activation NAME      NAME.claims.toml: an activation of your own, with what should be known of it
  kernel NAME          test_NAME_kernel.py: a fused operation from a formula, tested to the ulp
"""


def add_arguments(parser: Parser) -> None:
    """Add what only this command takes."""
    parser.add_argument("kind", type=text, metavar="claims|claim|activation|kernel")
    parser.add_argument("name", nargs="?", type=text, default="", metavar="NAME")
    parser.add_argument(
        "--formula", type=text, default="", metavar="FORMULA", help="activation, kernel: a formula in x"
    )


def run(options: argparse.Namespace) -> int:
    """Write the file. Raises RefusedError for a bad name, and where the file is there."""
    from gateproof.numerics import atomic
    from gateproof.proofs_check.new.kinds import KINDS, made
    from gateproof.proofs_check.refused import OK, RefusedError

    if options.kind not in KINDS:
        raise RefusedError(f"new {options.kind!r:.40}: the kinds are {', '.join(KINDS)}")
    kind = KINDS[options.kind]
    if options.formula and not kind.default_formula:
        raise RefusedError(f"new {options.kind}: --formula is for activation and kernel")
    file, written = made(options.kind, options.name, options.formula)
    path = Path(file)
    if path.exists() or path.is_symlink():
        raise RefusedError(f"{path}: is there already; move it, or give another name")
    try:
        atomic.write_text(path, written)
    except OSError as error:
        raise RefusedError(f"{path}: cannot be written: {error.strerror}") from None
    output.put(f"wrote {path}; next: {kind.then.format(file=path)}\n")
    return OK
