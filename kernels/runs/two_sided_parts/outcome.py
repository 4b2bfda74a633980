"""What the trainings say to the claims, and the whole summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, log

from gateproof.kernels.runs.experiment import Finding, Interval, Row, Summary
from gateproof.kernels.runs.statistics import paired_difference, seeds_needed
from gateproof.kernels.runs.two_sided_parts.compared import (
    Found,
    Trained,
    against_dense,
    column,
    end,
    loss,
    mean,
    pairs,
    sorted_out,
)
from gateproof.kernels.runs.two_sided_parts.settings import Settings
from gateproof.kernels.runs.two_sided_parts.tables import arms_table, projections_table, times, times_table

_Parts = tuple[dict[str, float], dict[str, Interval], Sequence[int]]
_NONE: _Parts = ({}, {}, ())

#: Points of zeros by which trained and fixed thresholds may differ, in every pair, to be compared.
ALIKE = 2.0


def _known(intervals: Mapping[str, Interval]) -> dict[str, Interval]:
    """Those with ends: all values may be equal, and then there is none."""
    return {k: i for k, i in intervals.items() if -inf < i.lo and i.hi < inf}


def findings(s: Settings, found: Found) -> list[Finding]:
    """The records; only whole ones, of all seeds."""
    made: list[Finding] = []
    for family in s.families:
        tail = "" if family == "transformer" else f".{family}"
        about = f"a {family} language model with int8 projections, paired seeds; run two-sided"
        for record, numbers, intervals, seeds in (
            ("two.training", *_training(s, found, family)),
            ("two.criterion", *_criterion(s, found, family)),
            ("two.penalty", *_penalty(s, found, family)),
        ):
            if intervals:
                made.append(
                    Finding(
                        record + tail,
                        about,
                        _known(intervals),
                        numbers,
                        _ranges(s, family),
                        seeds,
                    )
                )
    return made


def rate_gaps(matched: Sequence[Trained], fixed: Sequence[Trained]) -> list[float]:
    """By how many points the zeros of two arms differ, pair by pair."""
    return [100 * (end(a, "zero_rate") - end(b, "zero_rate")) for a, b in zip(matched, fixed, strict=True)]


def _training(s: Settings, found: Found, family: str) -> _Parts:
    trained, fixed = against_dense(found, family, "trained"), against_dense(found, family, "fixed")
    seeds, matched, set_once = pairs(found, family, "matched", "fixed")
    if (
        trained is None
        or fixed is None
        or not all(len(n) == len(s.seeds) for n in (trained.seeds, fixed.seeds, seeds))
    ):
        return _NONE
    gap = {"trained_minus_fixed": paired_difference(column(loss, matched), column(loss, set_once)).interval}
    if max(map(abs, rate_gaps(matched, set_once))) > ALIKE:
        # Not at the same rate of zeros: the difference is of something else.
        gap = {}
    rates = paired_difference(
        [100 * end(t, "zero_rate") for t in matched], [100 * end(t, "zero_rate") for t in set_once]
    )
    return (
        {
            "zeros": 100 * mean([end(t, "zero_rate") for t in found[family, "trained"].values()]),
            "fixed_zeros": 100 * mean([end(t, "zero_rate") for t in set_once]),
            "matched_zeros": 100 * mean([end(t, "zero_rate") for t in matched]),
        },
        {
            "events": trained.events.interval,
            "perplexity": trained.perplexity.interval,
            "fixed_events": fixed.events.interval,
            "fixed_perplexity": fixed.perplexity.interval,
            "matched_rate": rates.interval,
            **gap,
        },
        seeds,
    )


def _criterion(s: Settings, found: Found, family: str) -> _Parts:
    half, more = against_dense(found, family, "trained"), against_dense(found, family, "trained more")
    if half is None or more is None or not all(len(n) == len(s.seeds) for n in (half.seeds, more.seeds)):
        return _NONE
    intervals = {
        "operations": half.operations.interval,
        "equal_operations": half.equal_operations.interval,
        "more_events": more.events.interval,
        "more_perplexity": more.perplexity.interval,
        "more_operations": more.operations.interval,
    }
    for arm, start in (("trained", "time"), ("trained more", "more_time")):
        for tokens, (ratio, _) in times(found, family, arm).items():
            if ratio is not None and ratio.n == len(s.seeds):
                intervals[start if tokens == 1 else f"{start}_batch"] = ratio.interval
    return {}, intervals, half.seeds


def _penalty(s: Settings, found: Found, family: str) -> _Parts:
    intervals, numbers, kept = {}, {}, []
    for sign in ("plus", "minus"):
        seeds, ours, natural = pairs(found, family, sign, "natural")
        if len(seeds) != s.few:
            return _NONE
        kept = seeds
        rates = [[100 * end(t, "zero_rate") for t in side] for side in (ours, natural)]
        intervals[sign] = paired_difference(*rates).interval
        numbers[f"{sign}_zeros"], numbers["natural_zeros"] = mean(rates[0]), mean(rates[1])
    return numbers, intervals, kept


def _ranges(s: Settings, family: str) -> dict[str, str]:
    m, t = s.model, s.training
    sizes = f"width {m.width}, {m.layers} layers, " + (
        f"{m.heads} heads, MLP of {m.hidden}" if family == "transformer" else f"{m.states} states"
    )
    return {
        "model": f"{family}, {sizes}, {m.vocabulary} byte pairs, {m.context} tokens of context",
        "training": f"{t.steps} steps of {t.batch * m.context} tokens, Adam at {t.rate:g}, then constant",
        "held out": f"{t.end_batches * t.batch * m.context} tokens of the same text, not trained on",
        "gate": f"sharpness {t.sharpness:g}, trained from {s.start:g} zeros to {s.half:g} and {s.more:g}, "
        f"fixed at {s.fixed[s.families.index(family)]:g} after {s.fixed_step} steps",
    }


_EVENTS = (
    "Events are nonzero outputs of gated projections. Operations are multiply-adds of forward passes that no "
    "zero spares, in all products of the model; int8 levels of 0 are spared in every arm, the dense one too."
)
_BACKWARD = (
    "With the surrogate no backward pass has zeros to skip: equal operations are those of forward passes."
)
_TESTS = (
    "p: exact sign flips; p_holm: Holm's, over all comparisons of the table. Intervals are Student's, 95 %."
)


def notes(s: Settings, found: Found) -> list[str]:
    """What a reader of the tables needs."""
    made = [_EVENTS, _BACKWARD, _TESTS]
    for family in s.families:
        _, ours, dense = pairs(found, family, "trained", "dense")
        d = [loss(a) - loss(b) for a, b in zip(ours, dense, strict=True)]
        if len(set(d)) > 1:
            need = seeds_needed(d, log(1.01))
            made.append(
                f"{family}: at the spread seen, {_said(need.n)} pairs (between {_said(need.n_lo)} and "
                f"{_said(need.n_hi)}) find a difference of 1 % perplexity with power 0.8."
            )
        _, matched, fixed = pairs(found, family, "matched", "fixed")
        if matched:
            most = max(map(abs, rate_gaps(matched, fixed)))
            more = "" if most <= ALIKE else f", more than {ALIKE:g}: their losses are not compared"
            made.append(
                f"{family}: matched and fixed thresholds end within {most:.2f} points of zeros{more}."
            )
    return made


def _said(pairs_needed: int | None) -> str:
    return "very many" if pairs_needed is None else str(pairs_needed)


def summary(s: Settings, rows: Sequence[Row]) -> Summary:
    """All tables, findings and notes."""
    found = sorted_out(rows)
    return Summary(
        {
            "arms": arms_table(found, s.families),
            "projections": projections_table(found, s.families),
            "times": times_table(found, s.families),
        },
        findings(s, found),
        notes(s, found),
    )
