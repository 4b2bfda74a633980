"""``gateproof kernels``: what runs, held against what it stands for; one module a sub-command."""

from __future__ import annotations

import argparse
from types import ModuleType

from gateproof.proofs_check.cli import kernels_bench, kernels_check, kernels_compile
from gateproof.proofs_check.cli.options import add_common
from gateproof.proofs_check.cli.parser import Parser

HELP = "check, compile and time the kernels"
DESCRIPTION = "Checks the fused operations against exact values, compiles them without a GPU, times them.\n"
ACTIONS: dict[str, ModuleType] = {
    "check": kernels_check,
    "compile": kernels_compile,
    "bench": kernels_bench,
}


def add_arguments(parser: Parser) -> None:
    """Add the sub-commands."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", parser_class=Parser, required=True)
    for name, module in ACTIONS.items():
        sub = actions.add_parser(name, help=module.HELP, description=module.DESCRIPTION)
        module.add_arguments(sub)
        add_common(sub)
        # Words are marked before the sub-command is known.
        parser.takes_value.update(sub.takes_value)


def run(options: argparse.Namespace) -> int:
    """Run the sub-command."""
    code: int = ACTIONS[options.action].run(options)
    return code
