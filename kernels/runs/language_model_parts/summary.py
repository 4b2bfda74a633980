"""Tables and findings of a run."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from math import isfinite

import numpy as np

from gateproof.kernels.runs import statistics
from gateproof.kernels.runs.experiment import Cell, Finding, Interval, Row, Summary
from gateproof.kernels.runs.language_model_parts.findings import (
    FIVE,
    MARGIN,
    Effect,
    effects,
    memory,
    scales,
    short_steps,
)
from gateproof.kernels.runs.language_model_parts.gates import ARMS, REFERENCE
from gateproof.kernels.runs.language_model_parts.results import Results, paired
from gateproof.kernels.runs.language_model_parts.settings import Settings

#: The effects that are tested together: one family, adjusted by Holm.
FAMILY = (
    "gap",
    "gap_unscaled",
    "scale_silu",
    "scale_memglu",
    "shape_unscaled",
    "tail",
    "parity",
    "interaction",
)
_MECHANISM = ("occupancy", "share_q", "share_h", "rms_g", "rms_q", "rms_h", "rms_dx")
OWN = "own shape"


def summarise(settings: Settings, rows: Sequence[Row]) -> Summary:
    """What the finished jobs say together; effects whose arms are missing are left out."""
    results = Results(rows)
    found = effects(settings, results)
    shapes = {OWN: settings.shape, **{one.name: one.shape for one in settings.printed}}
    calibrated = {
        name: one for name, shape in shapes.items() if (one := scales(shape, results, name)) is not None
    }
    tables: dict[str, list[Row]] = {
        "losses": _losses(settings, results),
        "effects": _effects(found),
        "mechanism": _mechanism(settings, results),
        "calibration": _calibration(settings, calibrated),
        "cost": _cost(settings, results),
    }
    equal = _equivalence(settings, results)
    if equal:
        tables["equivalence"] = [equal]
    finding = _finding(settings, results, found, calibrated)
    return Summary(
        {name: table for name, table in tables.items() if table},
        [finding] if finding else [],
        _notes(settings, results, found),
    )


def _losses(settings: Settings, results: Results) -> list[Row]:
    table: list[Row] = []
    steps = settings.training.steps
    base = results.last(REFERENCE, steps, "final_nll")
    for arm in settings.arms:
        final = results.last(arm, steps, "final_nll")
        if not final:
            continue
        values = np.array(list(final.values()))
        five = np.array(list(results.last_mean(arm, steps, "validation_nll", FIVE).values()))
        s, own = paired(base, final)
        table.append(
            {
                "arm": arm,
                "gate": ARMS[arm].about,
                "scale": next(iter(results.last(arm, steps, "scale").values())),
                "final_nll": float(values.mean()),
                "sd": _sd(values),
                "final_five_nll": float(five.mean()) if len(five) else None,
                "five_sd": _sd(five),
                "difference_percent": float((100 * (own - s) / s).mean()) if len(s) else None,
                "wins": int((own < s).sum()),
                "pairs": len(s),
                "diverged": int((~np.isfinite(values)).sum()),
            }
        )
    return table


def _sd(values: np.ndarray) -> float | None:
    return float(values.std(ddof=1)) if len(values) > 1 else None


def _effects(found: dict[str, Effect]) -> list[Row]:
    family = {name: found[name].found.p for name in FAMILY if name in found}
    adjusted = statistics.holm(family).adjusted if family else {}
    table: list[Row] = []
    for name, effect in found.items():
        seeds: Cell = None
        if effect.unit == "% of loss" and effect.found.sd > 0:
            # Refused where more than a million would be needed.
            with suppress(ValueError):
                seeds = statistics.seeds_for(MARGIN, effect.found.sd)
        table.append(
            {
                "effect": name,
                "about": effect.about,
                "unit": effect.unit,
                **effect.found.row(),
                "p_holm": adjusted.get(name),
                "pairs_to_detect": seeds,
            }
        )
    return table


def _mechanism(settings: Settings, results: Results) -> list[Row]:
    """Means over seeds, before and after training."""
    table: list[Row] = []
    for arm in settings.arms:
        for when, prefix in (("start", "start_"), ("end", "")):
            found = {m: results.last(arm, settings.training.steps, prefix + m) for m in _MECHANISM}
            if all(found.values()):
                means = {m: float(np.mean(list(values.values()))) for m, values in found.items()}
                table.append({"arm": arm, "when": when, **means})
    return table


def _calibration(settings: Settings, found: dict[str, dict[str, float | Interval]]) -> list[Row]:
    printed = {one.name: one.c0 for one in settings.printed}
    table: list[Row] = []
    for name, one in found.items():
        interval = one["interval"]
        assert isinstance(interval, Interval)
        cells: dict[str, Cell] = {key: value for key, value in one.items() if not isinstance(value, Interval)}
        table.append(
            {
                "shape": name,
                **cells,
                "c0_lo": interval.lo,
                "c0_hi": interval.hi,
                "models": interval.n,
                "printed": printed.get(name),
            }
        )
    return table


def _cost(settings: Settings, results: Results) -> list[Row]:
    tokens = settings.training.batch * settings.shape.context
    table: list[Row] = []
    for kind in ("plain", "fused"):
        for gate in (REFERENCE, "memglu"):
            seconds = list(results.last(f"{gate} {kind}", 0, "step").values())
            peak = results.last(f"{gate} {kind}", 0, "peak_bytes").get(0)
            if seconds:
                table.append(
                    {
                        "gate": gate,
                        "kind": kind,
                        "tokens_per_second": tokens / float(np.mean(seconds)),
                        "peak_megabytes": None if peak is None else peak / 1e6,
                        "rounds": len(seconds),
                    }
                )
    return table


def _equivalence(settings: Settings, results: Results) -> Row | None:
    steps = settings.training.steps
    s, m = paired(*(results.last(arm, steps, "final_nll") for arm in (REFERENCE, "memglu")))
    return statistics.equivalence(m, s, MARGIN, percent=True).row() if len(s) > 1 else None


def _finding(
    settings: Settings,
    results: Results,
    found: dict[str, Effect],
    calibrated: dict[str, dict[str, float | Interval]],
) -> Finding | None:
    if "gap" not in found:
        return None
    intervals = {name: effect.found.interval for name, effect in found.items()}
    numbers: dict[str, float | int] = {
        **{name: effect.found.mean for name, effect in found.items()},
        **memory(results),
        "diverged": sum(int(row["diverged"] or 0) for row in _losses(settings, results)),
    }
    for name, one in calibrated.items():
        short = "c0" if name == OWN else f"c0_{name}"
        for key, value in (("interval", short), ("ratio", f"{short}_ratio")):
            interval = one[key]
            assert isinstance(interval, Interval)
            intervals[value] = interval
    shape, training = settings.shape, settings.training
    return Finding(
        record=f"mem.lm.{settings.scale}",
        about=(
            f"Paired pretraining of a decoder of {shape.parameters} parameters with {len(settings.arms)} "
            "gates: differences in final loss, use of the gate, interventions, cost, and c0."
        ),
        intervals=intervals,
        numbers=numbers,
        ranges={
            "model": (
                f"{shape.layers} layers of width {shape.width}, {shape.heads} heads, FFN {shape.hidden}, "
                f"context {shape.context}, vocabulary {shape.vocabulary}, N(0, {shape.deviation:g}^2)"
            ),
            "training": (
                f"{training.steps} steps of {training.batch * shape.context} tokens, AdamW at "
                f"{training.learning_rate:g}, {settings.precision}"
            ),
            "short training": f"{short_steps(settings)} steps",
            "text": " and ".join(settings.corpora),
            "validation": f"{training.last_validation_tokens} tokens, the same for all",
        },
        seeds=settings.seeds,
    )


def _notes(settings: Settings, results: Results, found: dict[str, Effect]) -> list[str]:
    notes = [f"Effects {', '.join(name for name in FAMILY if name in found)} are one family for Holm."]
    if "gap" in found:
        gap = found["gap"].found
        notes += gap.notes
        verdict = "within" if gap.interval.lo > -MARGIN and gap.interval.hi < MARGIN else "not shown within"
        notes.append(
            f"MemGLU against SwiGLU: {gap.mean:+.3f} % [{gap.interval.lo:+.3f}, {gap.interval.hi:+.3f}], "
            f"{verdict} {MARGIN} %."
        )
    lost = sum(int(row["diverged"] or 0) for row in _losses(settings, results))
    if lost:
        notes.append(
            f"{lost} trainings ended without a finite loss; their pairs are left out of all effects."
        )
    if settings.shape.parameters < 8_000_000:
        notes.append("A model of this size says little about those of 9M and 30M parameters.")
    assert all(isfinite(effect.found.mean) for effect in found.values())
    return notes
