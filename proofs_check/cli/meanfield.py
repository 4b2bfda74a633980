"""``gateproof meanfield``: edge of chaos, fixed points and depth scales of wide networks."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from gateproof.proofs_check.cli import output
from gateproof.proofs_check.cli.clock import clock, whole_imports
from gateproof.proofs_check.cli.parser import Parser, text, whole
from gateproof.proofs_check.refused import OK, RefusedError

if TYPE_CHECKING:
    from gateproof.numerics.meanfield.field import MeanField
    from gateproof.numerics.meanfield.result import FieldPoints

HELP = "edge of chaos, fixed points and depth scales of wide networks"
DESCRIPTION = """\
Mean field theory of wide networks with the activation TARGET, certified by ball arithmetic:
  gateproof meanfield tanh --sigma-b2 0.05 --eoc                    every critical point, with its stability
  gateproof meanfield gelu --sigma-b2 0.05 --sigma-w2 2             every fixed point of the variance map
  gateproof meanfield silu --eoc --curve 0:1:11                     the edge of chaos over sigma_b^2
  gateproof meanfield silu --sigma-b2 0.05 --folds                  where fixed points or critical points meet
  gateproof meanfield silu --initialise                             sigma_w and sigma_b to begin with
  gateproof meanfield gelu --phase gelu.svg                         where signals go, over (sigma_b, sigma_w)
  gateproof meanfield "x*sigmoid(1.702*x)" --sigma-b2 0.05 --eoc --digits 30
TARGET is a name of the zoo or a formula in x, or the JSON of a fit. docs/meanfield.md says more.
"""
#: Values of sigma_b^2 in one curve.
MOST = 1_000


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
    add("--initialise", action="store_true",
        help="sigma_w and sigma_b to begin with, at a critical point that attracts or near one")  # fmt: skip
    add(
        "--depth",
        type=whole(1, 100_000),
        metavar="L",
        help="layers that --initialise is to carry a signal through",
    )
    add("--phase", type=text, metavar="FILE", help="the phase diagram, as .svg, .png or .json")
    add("--sigma-b", type=text, metavar="LO:HI:N", help="deviations of the biases in --phase (0:1:200)")
    add("--sigma-w", type=text, metavar="LO:HI:N", help="deviations of the weights in --phase (0.5:3:200)")
    add("--curve", type=text, metavar="LO:HI:N", help="N values of sigma_b^2 from LO to HI")
    add("--digits", type=whole(1, 1000), default=15, metavar="D", help="significant digits (15)")
    add("--range", dest="within", type=text, metavar="LO,HI", help="variances q* searched (all)")
    add("--engine", type=text, default="certified", metavar="KIND",
        help="certified (default), mp (any digits, estimated) or fast (JAX)")  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Search and print."""
    with whole_imports():
        from gateproof.proofs_check import mean_field

        import_module("gateproof.numerics.meanfield.field")

    if options.target is None:
        raise RefusedError(
            "give a target, as in: gateproof meanfield tanh --sigma-b2 0.05 --eoc"
            " (see gateproof meanfield --help)"
        )
    _one_question(options)
    if options.phase is not None:
        return _phase(options)
    if options.initialise:
        return _initialise(options)
    with mean_field.refusing():
        biases = _biases(options)
        _checked(options)
        with clock(options.timeout) as limit, limit.saying("before there was a result"):
            field = mean_field.meanfield(options.target, digits=options.digits, engine=options.engine)
            found = _found(options, field, biases)
    return _print(options, found)


def _one_question(options: argparse.Namespace) -> None:
    """Refuse several questions at once, and options that the one asked does not take."""
    asked = {
        "--eoc": options.eoc,
        "--sigma-w2": options.sigma_w2 is not None,
        "--folds": options.folds,
        "--initialise": options.initialise,
        "--phase": options.phase is not None,
    }
    if sum(asked.values()) != 1:
        raise RefusedError("give one of --eoc, --sigma-w2 W, --folds, --initialise and --phase FILE")
    question = next(name for name, given in asked.items() if given)
    search = question not in ("--initialise", "--phase")
    given = {
        "--sigma-b2": bool(options.sigma_b2) and question == "--phase",
        "--depth": options.depth is not None and question != "--initialise",
        "--sigma-b": options.sigma_b is not None and question != "--phase",
        "--sigma-w": options.sigma_w is not None and question != "--phase",
        "--curve": options.curve is not None and not search,
        "--range": options.within is not None and not search,
        "--engine": options.engine != "certified" and not search,
        "--json": options.json and question == "--phase",
    }
    for option, wrong in given.items():
        if wrong:
            instead = {"--json": "; give FILE.json", "--sigma-b2": "; give --sigma-b LO:HI:N"}.get(option, "")
            raise RefusedError(f"{question} does not take {option}{instead if question == '--phase' else ''}")


def _initialise(options: argparse.Namespace) -> int:
    """What to begin with."""
    from gateproof.numerics.meanfield import given
    from gateproof.numerics.meanfield.choices import checked_digits
    from gateproof.numerics.meanfield.result import about
    from gateproof.proofs_check import mean_field
    from gateproof.proofs_check.decision_json import lines
    from gateproof.proofs_check.render import initialised

    if len(options.sigma_b2) > 1:
        raise RefusedError("--initialise takes one --sigma-b2")
    with mean_field.refusing():
        bias = given.bias_variance(options.sigma_b2[0], "--sigma-b2") if options.sigma_b2 else None
        checked_digits(options.digits, "certified")
        with clock(options.timeout) as limit, limit.saying("before there was a result"):
            field = mean_field.meanfield(options.target)
            made = field.initialise(sigma_b2=bias, depth=options.depth, digits=max(options.digits, 16))
    if options.json:
        output.put(lines({**made.as_json(), **about()}))
    else:
        output.put(initialised.summary(made, options.digits))
    return OK


def _phase(options: argparse.Namespace) -> int:
    """The phase diagram as a file."""
    from gateproof.proofs_check import mean_field, phase_file

    phase_file.refuse_early(options.phase)
    with mean_field.refusing():
        b, w = phase_file.axes(options.sigma_b, options.sigma_w)
        with clock(options.timeout) as limit, limit.saying("before there was a diagram"):
            field = mean_field.meanfield(options.target)
            found = phase_file.made(field, options.phase, b, w)
    output.put(phase_file.summary(found))
    return OK


def _checked(options: argparse.Namespace) -> None:
    """Refuse bad numbers before the search."""
    from gateproof.numerics.meanfield import given
    from gateproof.numerics.meanfield.choices import checked_digits

    checked_digits(options.digits, options.engine)
    if options.within is not None:
        lo, _ = given.variances_within(options.within, "--range")
        if options.folds and lo == 0:
            raise RefusedError("--range: folds are looked for at variances > 0")
    if options.sigma_w2 is not None:
        given.weight_variance(options.sigma_w2, "--sigma-w2")
    if options.folds and options.engine != "certified":
        raise RefusedError("--folds is for --engine certified")


def _biases(options: argparse.Namespace) -> list[str]:
    """The values of sigma_b^2, checked."""
    from gateproof.numerics.meanfield import given

    if options.curve is not None:
        if options.sigma_b2:
            raise RefusedError("give --sigma-b2 or --curve, not both")
        return _curve(options.curve)
    if not options.sigma_b2:
        raise RefusedError("give the variance of the biases, as --sigma-b2 0.05")
    if len(options.sigma_b2) > 1 and options.folds:
        raise RefusedError("--folds takes one --sigma-b2")
    if len(options.sigma_b2) > MOST:
        raise RefusedError(f"at most {MOST} values of sigma_b^2")
    for value in options.sigma_b2:
        given.bias_variance(value, "--sigma-b2")
    return list(options.sigma_b2)


def _curve(words: str) -> list[str]:
    from gateproof.numerics.meanfield import given
    from gateproof.proofs_check import mean_field

    first, last, count = mean_field.span(words, "--curve", example="0:1:11", most=MOST)
    lo, hi = (given.bias_variance(end, "--curve") for end in (first, last))
    if not lo < hi:
        raise RefusedError(f"--curve {words!r:.40}: LO < HI is expected")
    steps = count - 1
    return [str(lo + (hi - lo) * k / steps) for k in range(steps + 1)]


def _found(options: argparse.Namespace, field: MeanField, biases: Sequence[str]) -> list[FieldPoints]:
    where = options.within
    if options.folds:
        folds = [field.folds(biases[0], within=where)] if _positive(biases[0]) else []
        return [*folds, *_where_any(field, where)]
    found = []
    for place, s in enumerate(biases):
        _progress(options, place, len(biases))
        if options.eoc:
            found.append(field.edge_of_chaos(s, within=where))
        else:
            found.append(field.fixed_points(options.sigma_w2, s, within=where))
    _progress(options, len(biases), len(biases))
    return found


def _progress(options: argparse.Namespace, done: int, of: int) -> None:
    """A line on stderr that is written over, where somebody watches a curve."""
    if of == 1 or options.json or sys.stderr is None or not sys.stderr.isatty():
        return
    sys.stderr.write(f"\r\x1b[K{f'sigma_b^2: {done + 1} of {of}' if done < of else ''}")
    sys.stderr.flush()


def _positive(bias: str) -> bool:
    from gateproof.numerics.meanfield import given

    return given.bias_variance(bias) > 0


def _where_any(field: MeanField, where: str | None) -> list[FieldPoints]:
    """Folds of the edge and double-critical points, which belong to no one sigma_b^2."""
    from gateproof.numerics.meanfield.activation import RefusedActivation

    found = []
    for search in (field.edge_folds, field.double_critical):
        try:
            found.append(search(within=where))
        except RefusedActivation as error:
            output.note(str(error))
    return found


def _print(options: argparse.Namespace, found: list[FieldPoints]) -> int:
    from gateproof.numerics.meanfield.result import curve_json, folds_json
    from gateproof.proofs_check import mean_field
    from gateproof.proofs_check.decision_json import lines
    from gateproof.proofs_check.render import fields

    if not found:
        raise RefusedError("nothing is left to be searched")
    if options.json and options.folds:
        output.put(lines(folds_json(found)))
    elif options.json:
        output.put(lines(curve_json(found) if len(found) > 1 else found[0].to_json()))
    elif len(found) > 1 and not options.folds:
        output.put(fields.curve_table(found))
    else:
        output.put("\n".join(fields.summary(one) for one in found))
    return max(mean_field.code(one) for one in found)
