"""``gateproof meanfield`` with --initialise, --phase, --kappa, or --eoc and --beside."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from gateproof.proofs_check.cli import output
from gateproof.proofs_check.cli.clock import clock
from gateproof.proofs_check.refused import INCONCLUSIVE, OK, RefusedError


def initialise(options: argparse.Namespace) -> int:
    """What to begin with."""
    from gateproof.numerics.meanfield import given
    from gateproof.numerics.meanfield.choices import checked_digits
    from gateproof.proofs_check import mean_field
    from gateproof.proofs_check.render import initialised

    if options.apart is not None and options.depth is None:
        raise RefusedError("--initialise takes --apart with --depth only")
    with mean_field.refusing():
        bias = _bias(options, "--initialise")
        checked_digits(options.digits, "certified")
        apart = {} if options.apart is None else {"apart": float(given.difference(options.apart, "--apart"))}
        with clock(options.timeout) as limit, limit.saying("before there was a result"):
            field = mean_field.meanfield(options.target)
            made = field.initialise(
                sigma_b2=bias, depth=options.depth, digits=max(options.digits, 16), **apart
            )
    _put(options, made.as_json(), initialised.summary(made, options.digits))
    return OK


def phase(options: argparse.Namespace) -> int:
    """The phase diagram as a file."""
    from gateproof.proofs_check import mean_field, phase_file

    phase_file.refuse_early(options.phase)
    with mean_field.refusing():
        b, w = phase_file.axes(options.sigma_b, options.sigma_w)
        with clock(options.timeout) as limit, limit.saying("before there was a diagram"):
            field = mean_field.meanfield(options.target)
            try:
                found = phase_file.made(field, options.phase, b, w, _points)
            finally:
                output.watched("")
    output.put(phase_file.summary(found))
    return OK


def kappa(options: argparse.Namespace) -> int:
    """1/kappa^2 beside beta_q."""
    from gateproof.numerics.meanfield.kappa_json import kappa_json
    from gateproof.proofs_check import mean_field
    from gateproof.proofs_check.render import kappa as words

    with mean_field.refusing():
        bias = _bias(options, "--kappa")
        given = {} if bias is None else {"sigma_b2": bias}
        with clock(options.timeout) as limit, limit.saying("before there was a result"):
            field = mean_field.meanfield(options.target)
            others = [mean_field.activation_of(other) for other in options.beside]
            try:
                found = field.kappa_law(beside=others, **given)
            except ArithmeticError as error:
                raise RefusedError(f"the depth rate is not reached in floats: {error}") from None
    _put(options, kappa_json(found), words.summary(found))
    return OK


def shift(options: argparse.Namespace) -> int:
    """How far another activation moves the critical points."""
    from gateproof.numerics.meanfield.choices import checked_digits
    from gateproof.proofs_check import mean_field
    from gateproof.proofs_check.render import shifted

    for option, given in (
        ("--curve", options.curve),
        ("--range", options.within),
        ("--apart", options.apart),
    ):
        if given is not None:
            raise RefusedError(f"--eoc --beside does not take {option}")
    if len(options.beside) > 1:
        raise RefusedError("--eoc takes one --beside")
    if options.engine != "certified":
        raise RefusedError("--eoc --beside is for --engine certified")
    with mean_field.refusing():
        bias = _bias(options, "--eoc --beside")
        if bias is None:
            raise RefusedError("give the variance of the biases, as --sigma-b2 0.05")
        checked_digits(options.digits, "certified")
        with clock(options.timeout) as limit, limit.saying("before there was a result"):
            field = mean_field.meanfield(options.target)
            other = mean_field.activation_of(options.beside[0])
            found = field.shift(other, bias, digits=options.digits)
    _put(options, found.as_json(), shifted.summary(found))
    return OK if found.certified else INCONCLUSIVE


def _points(done: int, of: int) -> None:
    output.watched(f"points: {done} of {of}")


def _bias(options: argparse.Namespace, question: str) -> Fraction | None:
    """The one sigma_b^2, where it is given."""
    from gateproof.numerics.meanfield import given

    if len(options.sigma_b2) > 1:
        raise RefusedError(f"{question} takes one --sigma-b2")
    return given.bias_variance(options.sigma_b2[0], "--sigma-b2") if options.sigma_b2 else None


def _put(options: argparse.Namespace, document: Mapping[str, Any], summary: str) -> None:
    from gateproof.numerics.meanfield.result import about
    from gateproof.proofs_check.decision_json import lines

    output.put(lines({**document, **about()}) if options.json else summary)
