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

Threshold gates with parameters that are off: the worst of all devices within a tolerance, certified, or
a sample of devices with noise, which supports and never proves:
  gateproof certify "sup(abs(tg(x, tau=1.702, theta=[0], slope=[0,1], intercept=[0,0]) - gelu(x)), x in R)" \\
      --tolerance tau=5% --tolerance theta=0.01 --noise tau=2% --samples 1000
Given parameters, without fitting (TARGET is a name or a formula in x; else that of the document):
  gateproof certify --from fit.json gelu
docs/certify.md says more.
"""


def add_arguments(parser: Parser) -> None:
    """Add what only this command takes."""
    parser.takes_formulas = True
    parser.add_argument("formula", type=text, metavar="EXPR|TARGET", nargs="?")
    parser.add_argument(
        "--digits", type=whole(1, 1000), default=None, metavar="D", help="significant digits (15)"
    )
    parser.add_argument(
        "--from", dest="given", type=text, metavar="FIT.json", help="certify the gate of a fit's document"
    )
    parser.add_argument(
        "--tolerance", type=text, action="append", default=[], metavar="KEY=SIZE",
        help="worst case over tau, theta, slope or intercept of tg(...) within SIZE (0.01, or 5%%)",
    )  # fmt: skip
    parser.add_argument(
        "--noise", type=text, action="append", default=[], metavar="KEY=SIZE",
        help="sample devices whose parameters have this standard deviation",
    )  # fmt: skip
    parser.add_argument(
        "--samples", type=whole(1, 100_000), default=None, metavar="N", help="devices with noise (1000)"
    )
    parser.add_argument(
        "--certificate", type=text, metavar="FILE.json", help="write the certificate for gateproof verify"
    )
    parser.add_argument(
        "--coq", type=text, metavar="FILE.v", help="write the theorem for coqc with coq-interval"
    )


def run(options: argparse.Namespace) -> int:
    """Certify and print."""
    from gateproof.proofs_check import certificate_file
    from gateproof.proofs_check.certify_text import is_conclusive
    from gateproof.proofs_check.decision_json import lines
    from gateproof.proofs_check.refused import INCONCLUSIVE, OK, RefusedError

    formula, gate, extra = _asked(options)
    if options.coq is not None and extra:
        raise RefusedError("--coq states the formula as it stands; leave out --tolerance and --noise")
    if options.certificate is not None:
        certificate_file.refuse_early(options.certificate)
    found = _found_for_coq(options, formula, extra) if options.coq else _found(options, formula, extra)
    if gate is not None:
        found = {**found, "formula": formula, "gate": gate}
    done = is_conclusive(found, options.digits)
    if options.certificate is not None:
        refusal = certificate_file.refusal(found)
        if refusal:
            fate = certificate_file.fate(options.certificate)
            output.note(f"{refusal}, so {options.certificate} {fate}")
            done = False
        else:
            certificate_file.write(options.certificate, found["certificate"])
    if options.json:
        output.put(lines(found))
    else:
        from gateproof.proofs_check.render import terminal

        output.put(terminal.certified(found, settings(options)))
    return OK if done else INCONCLUSIVE


def _asked(options: argparse.Namespace) -> tuple[str, dict[str, list[str]] | None, dict[str, Any]]:
    """The formula, the numbers of a given gate, and what varies. Raises RefusedError."""
    from gateproof.proofs_check.refused import RefusedError

    extra: dict[str, Any] = {}
    for option in ("tolerance", "noise"):
        words = getattr(options, option)
        if words:
            from gateproof.proofs_check.tolerances import read_sizes

            read_sizes(f"--{option}", words)
            extra[option] = dict(word.partition("=")[::2] for word in words)
    if options.samples is not None:
        if not options.noise:
            raise RefusedError("--samples is for --noise")
        extra["samples"] = options.samples
    if options.given is not None:
        from gateproof.proofs_check.given_gate import given

        formula, gate = given(options.given, options.formula)
        return formula, gate, extra
    if options.formula is None:
        raise RefusedError("give a formula, or --from FIT.json (see gateproof certify --help)")
    return options.formula, None, extra


def _found_for_coq(options: argparse.Namespace, formula: str, extra: dict[str, Any]) -> dict[str, Any]:
    """Certify, and write the Coq file; what cannot become one is refused before the search if possible."""
    from gateproof.proofs_check.coq import write

    write.refuse_early(formula, options.coq)
    found = _found(options, formula, extra)
    write.write(options.coq, write.of_decision(formula, found))
    return found


def _found(options: argparse.Namespace, formula: str, extra: dict[str, Any]) -> dict[str, Any]:
    """Ask a worker, so that the clock can stop it; with -j 1 stay in this process."""
    from gateproof.proofs_check import certify_text
    from gateproof.proofs_check.pool import LostError, Worker
    from gateproof.proofs_check.refused import RefusedError
    from gateproof.proofs_check.worker import ENGINE

    chosen = settings(options)
    if options.jobs == 1:
        return certify_text.certify_text(formula, options.digits, chosen, **extra)
    certify_text.read(formula)
    worker = Worker(ENGINE)
    try:
        worker.start()
        reply = worker.ask({"text": formula, "digits": options.digits, "varied": extra}, chosen)
    except LostError as error:
        return certify_text.undecided(str(error))
    finally:
        worker.close()
    if "refused" in reply:
        raise RefusedError(str(reply["refused"]))
    found: dict[str, Any] = reply["certified"]
    return found
