"""``gateproof fit``: the best threshold gate near a target, with a certified error."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from gateproof.proofs_check.cli import output
from gateproof.proofs_check.cli.clock import clock, whole_imports
from gateproof.proofs_check.cli.parser import Parser, text, whole
from gateproof.proofs_check.refused import RefusedError

if TYPE_CHECKING:
    from gateproof.numerics.fits.result import Fit

HELP = "fit a threshold gate to an activation, with a certified error"
DESCRIPTION = """\
Fits K branches with K-1 thresholds (a threshold gate, TG) as near to TARGET as can be:
  gateproof fit gelu                                   two branches, the asymptotes exact
  gateproof fit "elu(x, 1/2)" -k 4 --sharpness free
  gateproof fit gelu --tol 1e-3                        the fewest branches that do
  gateproof fit "exp(x)" -k 4 --domain "[-4, 4]"
  gateproof fit measured.csv -k 3                      a measured curve: x, y, optional standard error
  gateproof fit --allow-code mypackage.act:f -k 3      a Python or torch function
TARGET is a name of the zoo or a formula in x, the JSON of another fit, a CSV or NPY file. A formula's fit
has a certified error over the whole domain, tails included. docs/fit.md says more.
"""


def add_arguments(parser: Parser) -> None:
    """Add what only this command takes."""
    parser.takes_formulas = True
    add = parser.add_argument
    add("target", type=text, metavar="TARGET", nargs="?")
    add(
        "-k",
        "--branches",
        dest="branches",
        type=whole(1, 64, "1 to 16 (hard gates: 64)"),
        metavar="K",
        help="branches (2); at most 16, 64 if hard",
    )
    add("--tol", type=text, metavar="E", help="the fewest branches whose error is at most E")
    add("--curve", action="store_true", help="the error for 1, 2, .. K branches, or up to --tol")
    add("--sharpness", type=text, metavar="KIND", help="shared (default), free or hard")
    add("--gates", type=text, default="difference", metavar="KIND",
        help="gate algebra: difference (default), stick or softmax")  # fmt: skip
    add("--ends", type=text, metavar="KIND",
        help="outer lines: pinned to the asymptotes (default on R), slopes or free")  # fmt: skip
    add("--domain", type=text, metavar="SET", help='"[-8, 8]", "[0, oo)"; R if it is left out')
    add("--norm", type=text, default="sup", metavar="KIND", help="sup (default), rms or relative")
    add("--mu", type=text, metavar="M", help="mean of the inputs, for the root mean square (0)")
    add("--sigma", type=text, metavar="S", help="standard deviation of the inputs (1)")
    add("--histogram", type=text, metavar="FILE", help="the inputs' distribution, measured")
    add("--weight", type=text, metavar="FORMULA", help="weight of the error, a formula in x")
    add("--family", type=text, default="general", metavar="KIND",
        help="branches: general (default), multiplicative (through 0) or constant")  # fmt: skip
    add("--monotone", action="store_true", help="only gates that are monotone")
    add("--max-coefficient", type=text, metavar="C", help="bound of |slope| and |intercept|")
    add(
        "--quantise",
        type=whole(2, 32),
        metavar="BITS",
        help="parameters in fixed point; the error is after that",
    )
    add("--tolerance", type=text, action="append", default=[], metavar="KEY=SIZE",
        help="certified worst case of tau, theta, slope or intercept within SIZE (0.01, or 5%%)")  # fmt: skip
    add("--continuous", action="store_true", help="hard gates without jumps")
    add("--allow-code", type=text, metavar="MODULE:FUNCTION", help="run that function as the target")
    add("--certificate", dest="certificates", type=text, action="append", default=[], metavar="FILE.json",
        help="write the certificate for gateproof verify")  # fmt: skip
    add("--export", "--out", dest="exports", type=text, action="append", default=[], metavar="FILE",
        help="write the gate; FILE ends in .json, .py, torch.py, .h, .c, .onnx (.double.onnx), .csv, .md, "
        ".hardware.json or .tex")  # fmt: skip
    add("--hardware", type=text, action="append", default=[], metavar="KEY=NUMBER,..",
        help="hardware tables: temperature-kelvin (300), slope-factor (1.5), tail-ampere (1e-6)")  # fmt: skip
    add("--plot", dest="plots", type=text, action="append", default=[], metavar="FILE",
        help="draw target, fit, gates and error (.svg, .png, .pdf)")  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Fit and print."""
    with whole_imports():
        from gateproof.proofs_check import certificate_file, fitting, fitting_files

        import_module("gateproof.numerics.fits.solve")
        import_module("gateproof.numerics.fits.target_any")

    if options.target is None and options.allow_code is None:
        raise RefusedError("give a target, as in: gateproof fit gelu -k 2 (see gateproof fit --help)")
    if options.target is not None and options.allow_code is not None:
        raise RefusedError("--allow-code names the target; leave out the other one")
    if options.allow_code is not None and ":" not in options.allow_code:
        stem = options.allow_code.removesuffix(".py")
        raise RefusedError(f"--allow-code {options.allow_code!r:.60}: give MODULE:FUNCTION, as {stem:.60}:f")
    request = fitting.request_of(_options(options))
    for path in options.certificates:
        certificate_file.refuse_early(path)
    fitting_files.refuse_twice(options.certificates, options.exports, options.plots)
    fitting_files.refuse_early(options.exports, "--export")
    fitting_files.refuse_early(options.plots, "--plot")
    fitting_files.pair_of(options.hardware, options.exports)
    if options.curve and (options.exports or options.plots or options.certificates):
        raise RefusedError("--curve is a table of many fits; --export, --plot and --certificate are for one")
    if options.curve and options.tolerance:
        raise RefusedError("--curve is a table of many fits; --tolerance is for one: give -k")
    code = options.allow_code is not None
    watch = _progress(options)
    with clock(options.timeout) as limit:
        with limit.saying("as the target was read"):
            target = fitting.read_target(
                options.allow_code if code else options.target, options.domain, allow_code=code
            )
        with limit.saying("before there was a gate"):
            several = list(fitting.curve(target, request, watch)) if options.curve else []
            found = None if options.curve else fitting.solved(target, request, watch)
    if watch is not None:
        output.watched("")
    return _print_curve(options, several) if found is None else _print(options, found)


def _options(options: argparse.Namespace) -> dict[str, Any]:
    from gateproof.proofs_check import fitting
    from gateproof.proofs_check.tolerances import read_sizes

    if options.tolerance:
        read_sizes("--tolerance", options.tolerance)
    numbers = {
        name: fitting.number(f"--{name}", getattr(options, name))
        for name in ("tol", "mu", "sigma", "max_coefficient")
    }
    names = ("branches", "sharpness", "gates", "ends", "norm", "histogram", "weight", "family", "monotone")
    plain = {name: getattr(options, name) for name in (*names, "quantise", "continuous", "seed")}
    sizes = dict(word.partition("=")[::2] for word in options.tolerance)
    return {**plain, **numbers, "tolerance": {k.strip(): v.strip() for k, v in sizes.items()}}


def _print(options: argparse.Namespace, found: Fit) -> int:
    from gateproof.proofs_check import fitting
    from gateproof.proofs_check.decision_json import lines
    from gateproof.proofs_check.render import fitted, terminal

    codes, refused = [fitting.code(found)], None
    try:
        codes.append(_write(options, found))
    except RefusedError as error:
        # The search may have been long: what it found is printed all the same.
        refused = error
    if options.json:
        output.put(lines(found.to_json()))
    else:
        output.put(fitted.summary(found, terminal.look()))
    if refused is not None:
        raise refused
    return max(codes, key=_weight)


def _write(options: argparse.Namespace, found: Fit) -> int:
    """The files that were asked for; 4 where there is no certificate to be written."""
    from gateproof.proofs_check import fitting_files
    from gateproof.proofs_check.refused import INCONCLUSIVE, OK

    pair = fitting_files.pair_of(options.hardware, options.exports)
    fitting_files.write_all(found, options.exports, options.plots, pair)
    lines = [fitting_files.write_certificate(path, found) for path in options.certificates]
    for missing in filter(None, lines):
        output.note(missing)
    return INCONCLUSIVE if any(lines) else OK


def _print_curve(options: argparse.Namespace, found: list[Fit]) -> int:
    from gateproof.proofs_check import fitting
    from gateproof.proofs_check.decision_json import lines
    from gateproof.proofs_check.render import fitted

    if options.json:
        output.put(lines({"curve": [fit.to_json() for fit in found]}))
    else:
        output.put(fitted.curve_table(found))
    return max((fitting.code(fit) for fit in found), key=_weight)


def _weight(code: int) -> int:
    """1 beats 4 beats 0."""
    return {0: 0, 4: 1, 1: 2}.get(code, 3)


def _progress(options: argparse.Namespace) -> Callable[[int, float], None] | None:
    """A line on stderr that is written over, where somebody watches."""
    if options.json or not output.is_watched():
        return None
    return lambda branches, error: output.watched(f"fitting: {branches} branches, error {error:.3g}")
