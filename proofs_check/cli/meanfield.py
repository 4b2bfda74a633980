"""``gateproof meanfield``: edge of chaos, fixed points and depth scales of wide networks."""

from __future__ import annotations

import argparse
from importlib import import_module

from gateproof.proofs_check.cli import meanfield_other, meanfield_searches
from gateproof.proofs_check.cli.clock import whole_imports
from gateproof.proofs_check.cli.parser import Parser, text, whole
from gateproof.proofs_check.refused import RefusedError

HELP = "edge of chaos, fixed points and depth scales of wide networks"
DESCRIPTION = """\
Mean field theory of wide networks with the activation TARGET, certified by ball arithmetic:
  gateproof meanfield tanh --sigma-b2 0.05 --eoc                    every critical point, with its stability
  gateproof meanfield gelu --sigma-b2 0.05 --sigma-w2 2             every fixed point of the variance map
  gateproof meanfield silu --eoc --curve 0:1:11                     the edge of chaos over sigma_b^2
  gateproof meanfield silu --sigma-b2 0.05 --folds                  where fixed points or critical points meet
  gateproof meanfield gelu --sigma-b2 0.7 --eoc --beside fit.json   how far a fit moves the critical point
  gateproof meanfield silu --initialise                             sigma_w and sigma_b to begin with
  gateproof meanfield gelu --phase gelu.svg                         where signals go, over (sigma_b, sigma_w)
  gateproof meanfield tanh --kappa                                  what 1/kappa^2 predicts, beside beta_q
  gateproof meanfield "x*sigmoid(1.702*x)" --sigma-b2 0.05 --eoc --digits 30
TARGET is a name of the zoo or a formula in x, or the JSON of a fit. docs/meanfield.md says more.
"""
DIGITS = 15
#: The questions, and which options each takes beside the target.
EDGE, FIXED, FOLDS, START, PHASE, KAPPA = (
    "--eoc",
    "--sigma-w2",
    "--folds",
    "--initialise",
    "--phase",
    "--kappa",
)
TAKES = {
    "--sigma-b2": (EDGE, FIXED, FOLDS, START, KAPPA),
    "--curve": (EDGE, FIXED),
    "--range": (EDGE, FIXED, FOLDS),
    "--apart": (EDGE, FIXED, START),
    "--depth": (START,),
    "--beside": (EDGE, KAPPA),
    "--sigma-b": (PHASE,),
    "--sigma-w": (PHASE,),
    "--digits": (EDGE, FIXED, FOLDS, START),
    "--engine": (EDGE, FIXED, FOLDS),
    "--json": (EDGE, FIXED, FOLDS, START, KAPPA),
}
INSTEAD = {
    ("--json", PHASE): "; give FILE.json",
    ("--sigma-b2", PHASE): "; give --sigma-b LO:HI:N",
    ("--curve", FOLDS): "; give one --sigma-b2",
}


def add_arguments(parser: Parser) -> None:
    """Add what only this command takes."""
    parser.takes_formulas = True
    add = parser.add_argument
    add("target", type=text, metavar="TARGET", nargs="?")
    add("--sigma-b2", type=text, action="append", default=[], metavar="S",
        help="variance of the biases, >= 0; several for a curve")  # fmt: skip
    add("--eoc", action="store_true", help="the edge of chaos: every (sigma_w^2, q*) with chi_1 = 1")
    add("--sigma-w2", type=text, metavar="W", help="every fixed point q* at this variance of the weights")
    add("--folds", action="store_true",
        help="folds at sigma_b^2, folds of the edge of chaos, and double-critical points")  # fmt: skip
    add("--beside", type=text, action="append", default=[], metavar="OTHER",
        help="--eoc: a fit or another activation, and how far it moves the critical points;"
        " --kappa: one more to fit exponents over")  # fmt: skip
    add("--initialise", action="store_true",
        help="sigma_w and sigma_b to begin with, at a critical point that attracts or near one")  # fmt: skip
    add("--depth", type=whole(1, 100_000), metavar="L",
        help="layers that --initialise is to carry a signal through")  # fmt: skip
    add("--apart", type=text, metavar="E",
        help="the difference of correlations that counts: asks for L_max; with --depth (0.01)")  # fmt: skip
    add("--phase", type=text, metavar="FILE", help="the phase diagram, as .svg, .png or .json")
    add("--sigma-b", type=text, metavar="LO:HI:N", help="deviations of the biases in --phase (0:1:200)")
    add("--sigma-w", type=text, metavar="LO:HI:N", help="deviations of the weights in --phase (0.5:3:200)")
    add("--kappa", action="store_true", help="1/kappa^2 as a depth law: each theta, exponents, intervals")
    add("--curve", type=text, metavar="LO:HI:N", help="N values of sigma_b^2 from LO to HI")
    add("--digits", type=whole(1, 1000), metavar="D", help=f"significant digits ({DIGITS})")
    add("--range", dest="within", type=text, metavar="LO,HI", help="variances q* searched (all)")
    add("--engine", type=text, metavar="KIND",
        help="certified (default), mp (any digits, estimated) or fast (JAX)")  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Search and print."""
    with whole_imports():
        import_module("gateproof.proofs_check.mean_field")
        import_module("gateproof.numerics.meanfield.field")

    if options.target is None:
        raise RefusedError(
            "give a target, as in: gateproof meanfield tanh --sigma-b2 0.05 --eoc"
            " (see gateproof meanfield --help)"
        )
    question = _question(options)
    options.digits = DIGITS if options.digits is None else options.digits
    options.engine = "certified" if options.engine is None else options.engine
    if question == PHASE:
        return meanfield_other.phase(options)
    if question == START:
        return meanfield_other.initialise(options)
    if question == KAPPA:
        return meanfield_other.kappa(options)
    return meanfield_other.shift(options) if options.beside else meanfield_searches.run(options)


def _question(options: argparse.Namespace) -> str:
    """The one question; refuse several, and options that it does not take."""
    asked = [
        name for name, given in (
            (EDGE, options.eoc), (FIXED, options.sigma_w2 is not None), (FOLDS, options.folds),
            (START, options.initialise), (PHASE, options.phase is not None), (KAPPA, options.kappa),
        ) if given
    ]  # fmt: skip
    if len(asked) != 1:
        raise RefusedError("give one of --eoc, --sigma-w2 W, --folds, --initialise, --phase FILE and --kappa")
    question = asked[0]
    for option, questions in TAKES.items():
        value = getattr(options, {"--range": "within"}.get(option, option[2:].replace("-", "_")))
        if value not in (None, False, []) and question not in questions:
            raise RefusedError(f"{question} does not take {option}{INSTEAD.get((option, question), '')}")
    return question
