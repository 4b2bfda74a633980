"""``gateproof doctor``: what is installed, and whether the arithmetic can be trusted."""

from __future__ import annotations

import argparse
import math
from typing import Any

from gateproof.proofs_check.cli import output
from gateproof.proofs_check.cli.parser import Parser

HELP = "versions of what gateproof uses, and a self-test of its arithmetic"
DESCRIPTION = "Lists dependencies, names what is missing, and tests Arb and MPFR on known values.\n"
#: The integer part of sqrt(2)*SCALE.
ROOT = math.isqrt(2 * 10**80)
SCALE = 10**40


def add_arguments(parser: Parser) -> None:
    """Add nothing."""


def run(options: argparse.Namespace) -> int:
    """Look, test, print."""
    import json

    from gateproof.proofs_check.refused import FAILED, OK

    found = examine()
    if options.json:
        output.put(json.dumps({"schema_version": 1, **found}, indent=2) + "\n")
    else:
        for name, version in found["required"].items():
            output.put(f"{name:14} {version or 'MISSING: pip install ' + name}\n")
        for name, version in found["optional"].items():
            output.put(f"{name:14} {version or 'not installed (optional)'}\n")
        for name, result in found["self_tests"].items():
            output.put(f"{name:14} {result}\n")
        output.put(f"{'cache':14} {found['cache']}\n")
    return OK if found["healthy"] else FAILED


def examine() -> dict[str, Any]:
    """Return all findings; ``healthy`` sums them up."""
    import platform

    from gateproof.proofs_check import run_info
    from gateproof.proofs_check.cache import default_folder

    required = {name: run_info.installed(name) for name in run_info.REQUIRED}
    tests = {"arb": _tested(_arb), "mpfr": _tested(_mpfr), "engine": _tested(_engine)}
    folder = default_folder()
    return {
        "gateproof": run_info.own_version(),
        "python": platform.python_version(),
        "required": required,
        "optional": {name: run_info.installed(name) for name in run_info.OPTIONAL},
        "self_tests": tests,
        "cache": "none: there is no home folder" if folder is None else str(folder),
        "healthy": all(required.values()) and set(tests.values()) == {"ok"},
    }


def _tested(test: Any) -> str:
    try:
        test()
    except Exception as error:
        return f"FAILED: {type(error).__name__}: {error}".splitlines()[0][:200]
    return "ok"


def _arb() -> None:
    """A ball round sqrt(2) must lie where integer arithmetic puts it, and be narrow."""
    import flint

    before = flint.ctx.prec
    flint.ctx.prec = 160
    try:
        ball = flint.arb(2).sqrt() * SCALE
        narrow = ball.rel_accuracy_bits() > 150
        low, high = flint.arb(ROOT), flint.arb(ROOT + 1)
        right = narrow and bool(low < ball) and bool(ball < high)
    finally:
        flint.ctx.prec = before
    if not right:
        raise ArithmeticError("Arb's enclosure of sqrt(2) is wrong")


def _mpfr() -> None:
    """Rounding down and up must give neighbours with sqrt(2) strictly between."""
    import gmpy2

    ends = []
    for direction in (gmpy2.RoundDown, gmpy2.RoundUp):
        with gmpy2.context(precision=120, round=direction):
            ends.append(gmpy2.sqrt(gmpy2.mpfr(2)).as_integer_ratio())
    (low, low_scale), (high, high_scale) = ends
    if not low * low < 2 * low_scale * low_scale or not high * high > 2 * high_scale * high_scale:
        raise ArithmeticError("MPFR's directed rounding of sqrt(2) is wrong")


def _engine() -> None:
    """A true statement must not be refuted, nor a false one proved."""
    from gateproof.proofs_check.records import Reading, Settings
    from gateproof.proofs_check.worker import ENGINE, find

    for formal, wanted in (
        ("for x in R: silu(x) == x*sigmoid(x)", "proved"),
        ("for x in R: silu(x) == x*sigmoid(2*x)", "refuted"),
    ):
        verdict = find(ENGINE)(Reading("", formal), Settings()).verdict
        if verdict != wanted:
            raise ArithmeticError(f"{formal!r} came out {verdict}")
