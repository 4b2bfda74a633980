"""``gateproof kernels compile``: every kernel compiled for cards that are not there."""

from __future__ import annotations

import argparse
import json
import os
from importlib.util import find_spec
from typing import Any

from gateproof.proofs_check.cli import output
from gateproof.proofs_check.cli.parser import Parser, text

HELP = "compile kernels ahead of time, without a GPU, and count what comes out"
DESCRIPTION = """\
Compiles the fused Triton kernels as a launch would, and counts registers, spills, the width of loads and
stores, and instructions. --check holds them against the table that comes with this version: a spill, an
access that became narrower, more registers or 5 % more instructions fail.
"""
ARCHITECTURES = ("sm_80", "sm_90", "sm_100", "gfx942")
DTYPES = ("bf16", "fp32")


def add_arguments(parser: Parser) -> None:
    """Add what only this command takes."""
    parser.add_argument("what", nargs="*", type=text, metavar="OP|GLOB", help="operations (all)")
    parser.add_argument("--arch", choices=ARCHITECTURES, action="append", help="cards (all four)")
    parser.add_argument("--dtype", choices=DTYPES, action="append", help="types (both)")
    parser.add_argument("--check", action="store_true", help="fail where it is worse than the table")
    parser.add_argument("--write", action="store_true", help="put what is found into the table")


def run(options: argparse.Namespace) -> int:
    """Compile, print, compare or write."""
    from gateproof.proofs_check.refused import FAILED, OK, NothingSelectedError, RefusedError

    for library in ("torch", "triton"):
        if find_spec(library) is None:
            raise RefusedError(f"{library} is not installed: pip install 'gateproof[torch]'")
    if os.environ.get("TRITON_INTERPRET") == "1":
        raise RefusedError("TRITON_INTERPRET=1 has kernels interpreted, not compiled: unset it")
    from gateproof.kernels.ahead import run as ahead
    from gateproof.kernels.ahead import table as tables

    if not ahead.selected(options.what):
        raise NothingSelectedError(f"no operation fits; there are {', '.join(ahead.names())}")
    table, here, rows, worse = tables.read(), ahead.version(), [], {}
    architectures, types = options.arch or ARCHITECTURES, options.dtype or DTYPES
    for row in ahead.rows(options.what, architectures, types, options.jobs or os.cpu_count() or 1):
        rows.append(row)
        worse[row.key] = tables.regressions(row, table, here)
        if not options.json:
            output.put(_line(row, worse[row.key] if options.check else []))
    if options.write:
        whole = not (options.what or options.arch or options.dtype)
        _write(tables, rows, {} if whole else table.rows, here, table.triton)
    failed = [key for key, found in worse.items() if found]
    if options.json:
        document = {
            "schema_version": 1,
            "passed": not failed,
            "triton": here,
            "table": table.triton,
            "results": [tables.as_json(row, worse[row.key]) for row in rows],
        }
        output.put(json.dumps(document, indent=1) + "\n")
    elif options.check:
        output.put(_end(rows, failed, here, table.triton))
    return FAILED if options.check and failed else OK


def _line(row: Any, worse: list[str]) -> str:
    from gateproof.kernels.ahead.table import accesses

    named = f"{row.architecture:7}{row.operation:31}{row.direction:11}{row.type:5}"
    if row.counts is None:
        return f"{named}not run: {row.not_run}\n"
    c = row.counts
    said = f"{named}{c.registers:4} registers {c.spills:3} spilled {c.instructions:6} instructions"
    said += f"  loads {accesses(c.loads)}, stores {accesses(c.stores)}"
    return said + (f"  WORSE: {'; '.join(worse)}\n" if worse else "\n")


def _end(rows: list[Any], failed: list[str], now: str, then: str) -> str:
    idle = sum(row.counts is None for row in rows)
    said = f"{len(rows) - idle - len(failed)} as in the table or better, {len(failed)} worse"
    said += f", {idle} not run" if idle else ""
    if now != then:
        said += f"; registers and instructions not compared: Triton {now} here, {then} in the table"
    return said + "\n"


def _write(tables: Any, rows: list[Any], kept: Any, now: str, then: str) -> None:
    from gateproof.proofs_check.refused import RefusedError

    if kept and now != then:
        raise RefusedError(f"the table is of Triton {then}, here is {now}: write all of it, without a choice")
    try:
        tables.place().write_text(tables.written(now, rows, kept), encoding="utf-8")
    except OSError as error:
        raise RefusedError(f"{tables.place()} cannot be written: {error.strerror}") from None
