"""``gateproof meanfield`` with --eoc, --sigma-w2 or --folds: searches, one or a curve of them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gateproof.proofs_check.cli import output
from gateproof.proofs_check.cli.clock import Clock, clock
from gateproof.proofs_check.refused import FAILED, RefusedError

if TYPE_CHECKING:
    from gateproof.numerics.meanfield.field import MeanField
    from gateproof.numerics.meanfield.result import FieldPoints

#: Values of sigma_b^2 in one curve.
MOST = 1_000


def run(options: argparse.Namespace) -> int:
    """Search and print; what was found before Ctrl-C, or before the time was over, is printed too."""
    from gateproof.proofs_check import mean_field

    found: list[FieldPoints] = []
    with mean_field.refusing():
        biases = _biases(options)
        _checked(options)
        with clock(options.timeout) as limit, limit.saying("before there was a result"):
            try:
                field = mean_field.meanfield(options.target, digits=options.digits, engine=options.engine)
                for one in _each(options, field, biases):
                    found.append(one)  # noqa: PERF402 - what is found stays when the search is stopped
            except KeyboardInterrupt:
                if not found:
                    raise
                return _stopped(options, found, len(biases), limit)
    return _print(options, found)


def _stopped(options: argparse.Namespace, found: list[FieldPoints], biases: int, limit: Clock) -> int:
    _progress(options, biases, biases)
    of = f"{len(found)} of {biases} values of sigma_b^2 were" if not options.folds else "not all kinds were"
    output.complain(
        (f"{f'stopped after {limit.seconds:g} s' if limit.over else 'interrupted'}: {of} searched",)
    )
    _print(options, found, 0 if options.folds else biases - len(found))
    return FAILED


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
    if options.apart is not None:
        given.difference(options.apart, "--apart")
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


def _each(options: argparse.Namespace, field: MeanField, biases: Sequence[str]) -> Iterator[FieldPoints]:
    """The searches, one by one."""
    where = options.within
    if options.folds:
        if _positive(biases[0]):
            yield field.folds(biases[0], within=where)
        yield from _where_any(field, where)
        return
    for place, s in enumerate(biases):
        _progress(options, place, len(biases))
        if options.eoc:
            found = field.edge_of_chaos(s, within=where)
        else:
            found = field.fixed_points(options.sigma_w2, s, within=where)
        yield found if options.apart is None else field.with_depths(found, options.apart)
    _progress(options, len(biases), len(biases))


def _progress(options: argparse.Namespace, done: int, of: int) -> None:
    """What is being searched, where somebody watches a curve."""
    if of > 1 and not options.json:
        output.watched(f"sigma_b^2: {done + 1} of {of}" if done < of else "")


def _positive(bias: str) -> bool:
    from gateproof.numerics.meanfield import given

    return given.bias_variance(bias) > 0


def _where_any(field: MeanField, where: str | None) -> Iterator[FieldPoints]:
    """Folds of the edge and double-critical points, which belong to no one sigma_b^2."""
    from gateproof.numerics.meanfield.activation import RefusedActivation

    for search in (field.edge_folds, field.double_critical):
        try:
            yield search(within=where)
        except RefusedActivation as error:
            output.note(str(error))


def _print(options: argparse.Namespace, found: list[FieldPoints], missing: int = 0) -> int:
    from gateproof.numerics.meanfield.result import curve_json, folds_json
    from gateproof.proofs_check import mean_field
    from gateproof.proofs_check.decision_json import lines
    from gateproof.proofs_check.render import fields

    if not found:
        raise RefusedError("nothing is left to be searched")
    curve = len(found) + missing > 1 and not options.folds
    if options.json and options.folds:
        output.put(lines(folds_json(found)))
    elif options.json:
        output.put(lines(curve_json(found, missing) if curve else found[0].to_json()))
    elif curve:
        output.put(fields.curve_table(found, missing))
    else:
        output.put("\n".join(fields.summary(one) for one in found))
    return max(mean_field.code(one) for one in found)
