"""``gateproof kernels check``: operations against exact values."""

from __future__ import annotations

import argparse
import json
import sys
from importlib.util import find_spec
from typing import Any

from gateproof.proofs_check.cli import output
from gateproof.proofs_check.cli.parser import Parser, text

HELP = "hold operations against exact values, in units in the last place"
DESCRIPTION = """\
Measures operations in float32 against exact values on grids with tails, kinks, subnormal and infinite
numbers, and on all 65,536 inputs of bfloat16 and float16 against correctly rounded values; forward and
backward. Triton's source is checked in its interpreter. Budgets: docs/kernels-accuracy.md.
"""
CODES, DTYPES = ("torch", "compiled", "triton"), ("float32", "bfloat16", "float16")


def add_arguments(parser: Parser) -> None:
    """Add what only this command takes."""
    parser.add_argument("what", nargs="*", type=text, metavar="OP|GLOB", help="operations (all)")
    parser.add_argument("--code", choices=CODES, action="append", help="what runs (torch and triton)")
    parser.add_argument("--dtype", choices=DTYPES, action="append", help="types (all three)")


def run(options: argparse.Namespace) -> int:
    """Measure and print; 1 where a row fails."""
    from gateproof.proofs_check.refused import FAILED, OK, NothingSelectedError, RefusedError

    for library in ("torch", "numpy"):
        if find_spec(library) is None:
            raise RefusedError(f"{library} is not installed: pip install 'gateproof[torch]'")
    from gateproof.kernels.check.run import check, names, selected

    operations = selected(options.what)
    if not operations:
        raise NothingSelectedError(f"no operation fits; there are {', '.join(names())}")
    # A Triton that is missing is no failure: its rows say so.
    codes, dtypes = options.code or ["torch", "triton"], options.dtype or list(DTYPES)
    results = []
    for result in check(operations, codes, dtypes):
        results.append(result)
        if not options.json:
            output.put(_line(result))
        elif sys.stderr.isatty():
            output.note(f"{len(results)} rows: {result.op} {result.direction} {result.dtype} {result.code}")
    if set(codes) >= {"torch", "triton"} and set(dtypes) == set(DTYPES):
        from gateproof.kernels.check import passed as kept
        from gateproof.proofs_check.cache import default_folder

        kept.note(default_folder(), operations, results)
    failed = [r for r in results if r.passed is False]
    passed = not failed and any(r.passed for r in results)
    if options.json:
        output.put(
            json.dumps(
                {"schema_version": 1, "passed": passed, "results": [r.document() for r in results]}, indent=1
            )
            + "\n"
        )
    else:
        output.put(_end(results, failed))
    return OK if passed else FAILED


def _line(result: Any) -> str:
    verdict = {True: "ok", False: "FAILED", None: "not run"}[result.passed]
    most = "" if result.max_ulp is None else f"{result.max_ulp:.3g} ulp"
    wrong = result.not_correctly_rounded
    rounded = "" if wrong is None else f"{wrong} not rounded"
    named = f"{result.op:22} {result.direction:21} {result.dtype:9} {result.code:9}"
    said = f"{named}{verdict:8}{most:12}{rounded:15}{result.reason}".rstrip()
    return said + (
        f" at {', '.join(map(repr, result.worst))}\n" if result.passed is False and result.worst else "\n"
    )


def _end(results: list[Any], failed: list[Any]) -> str:
    idle = sum(r.passed is None for r in results)
    said = f"{len(results) - idle - len(failed)} passed, {len(failed)} failed"
    return said + (f", {idle} not run\n" if idle else "\n")
