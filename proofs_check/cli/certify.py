"""``gateproof certify``: the value of a formula, with certified digits."""

from __future__ import annotations

import argparse
from typing import Any

from gateproof.proofs_check.cli import output
from gateproof.proofs_check.cli.options import settings
from gateproof.proofs_check.cli.parser import Parser, text, whole

HELP = "the value of a formula with certified digits"
DESCRIPTION = """\
Encloses a closed formula, as in
  gateproof certify "sup(abs(x*sigmoid(1.702*x) - gelu(x)), x in R)" --digits 12
or decides a closed statement. The formula may start with a minus sign.
"""


def add_arguments(parser: Parser) -> None:
    """Add what only this command takes."""
    parser.takes_formulas = True
    parser.add_argument("formula", type=text, metavar="EXPR")
    parser.add_argument(
        "--digits", type=whole(1, 1000), default=15, metavar="D", help="significant digits (15)"
    )
    parser.add_argument(
        "--coq", type=text, metavar="FILE.v", help="write the theorem for coqc with coq-interval"
    )


def run(options: argparse.Namespace) -> int:
    """Certify and print."""
    from gateproof.proofs_check.certify_text import is_conclusive
    from gateproof.proofs_check.decision_json import lines
    from gateproof.proofs_check.refused import INCONCLUSIVE, OK

    found = _found(options) if options.coq is None else _found_for_coq(options)
    if options.json:
        output.put(lines(found))
    else:
        from gateproof.proofs_check.render import terminal

        output.put(terminal.certified(found))
    return OK if is_conclusive(found, options.digits) else INCONCLUSIVE


def _found_for_coq(options: argparse.Namespace) -> dict[str, Any]:
    """Certify, and write the Coq file; what cannot become one is refused before the search if possible."""
    from gateproof.proofs_check.coq import write

    write.refuse_early(options.formula, options.coq)
    found = _found(options)
    write.write(options.coq, write.of_decision(options.formula, found))
    return found


def _found(options: argparse.Namespace) -> dict[str, Any]:
    """Ask a worker, so that the clock can stop it; with -j 1 stay in this process."""
    from gateproof.proofs_check import certify_text
    from gateproof.proofs_check.pool import LostError, Worker
    from gateproof.proofs_check.refused import RefusedError
    from gateproof.proofs_check.worker import ENGINE

    chosen = settings(options)
    if options.jobs == 1:
        return certify_text.certify_text(options.formula, options.digits, chosen)
    certify_text.read(options.formula)
    worker = Worker(ENGINE)
    try:
        worker.start()
        task = {"text": options.formula, "digits": options.digits}
        reply = worker.ask(task, chosen)
    except LostError as error:
        return certify_text.undecided(str(error))
    finally:
        worker.close()
    if "refused" in reply:
        raise RefusedError(str(reply["refused"]))
    found: dict[str, Any] = reply["certified"]
    return found
