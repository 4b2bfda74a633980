"""``gateproof kernels bench``: ratios of times measured side by side."""

from __future__ import annotations

import argparse
import json
from importlib.util import find_spec

from gateproof.proofs_check.cli import output
from gateproof.proofs_check.cli.parser import Parser, text, whole

HELP = "time operations beside a copy, PyTorch's own and other libraries'"
DESCRIPTION = """\
Times operations beside a copy of the same bytes, PyTorch's own operations, torch.compile and, on a GPU,
Liger-Kernel where it is installed; all in one run, in turn. Figures of one machine say nothing about another.
"""


def add_arguments(parser: Parser) -> None:
    """Add what only this command takes."""
    parser.add_argument("what", nargs="*", type=text, metavar="OP|GLOB", help="operations (all)")
    parser.add_argument("--device", choices=("cpu", "cuda"), help="where (cuda where there is one)")
    parser.add_argument("--repeats", type=whole(3, 1000), default=20, metavar="N", help="times each (20)")
    parser.add_argument(
        "--busy", action="store_true", help="on a CPU count its time, where others use it too"
    )
    parser.add_argument(
        "--elements", type=whole(1, 2**31), default=2**24, metavar="N", help="elements on a CPU (16777216)"
    )


def run(options: argparse.Namespace) -> int:
    """Time and print."""
    from gateproof.proofs_check.refused import OK, NothingSelectedError, RefusedError

    if find_spec("torch") is None:
        raise RefusedError("torch is not installed: pip install 'gateproof[torch]'")
    from gateproof.kernels.bench import cpu, gpu, operations, report

    if not operations.selected(options.what):
        raise NothingSelectedError(f"no operation fits; there are {', '.join(operations.names())}")
    if (options.device or ("cuda" if gpu.present() else "cpu")) == "cuda":
        found = gpu.measured(options.what, options.repeats)
    else:
        found = cpu.measured(options.what, options.repeats, options.elements, options.busy)
    output.put(json.dumps(found, indent=1) + "\n" if options.json else report.text(found))
    return OK
