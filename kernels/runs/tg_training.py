"""Training with threshold gates: steps to the dense network's accuracy, compute, width, families, time.

Threshold gating, "Key findings" (TG_W: fewer steps; ResMLP of expansion 1) and "Ablation" (families in an
LSTM), scaled to what minutes of a CPU can train. Every arm of a seed has the same data order, the same
numbers where shapes agree, the same schedule; a tier starts as the dense network of its activation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from gateproof.kernels.runs.data import images
from gateproof.kernels.runs.experiment import Experiment, Job, Kept, Row
from gateproof.kernels.runs.tg_training_parts import lstm, strips
from gateproof.kernels.runs.tg_training_parts.figure import figure
from gateproof.kernels.runs.tg_training_parts.findings import summarise
from gateproof.kernels.runs.tg_training_parts.resmlp import ARMS, cost_of
from gateproof.kernels.runs.tg_training_parts.settings import (
    OTHER,
    ImageRun,
    Schedule,
    Settings,
    StripRun,
    Timing,
)
from gateproof.kernels.runs.tg_training_parts.tasks import Classify, Read, shape_of
from gateproof.kernels.runs.tg_training_parts.timing import times
from gateproof.kernels.runs.tg_training_parts.training import train

#: The columns of every row, None where they do not apply.
COLUMNS = (
    "part", "arm", "width", "seed", "control", "step", "loss", "accuracy", "test", "error", "parameters",
    "multiply_adds", "round", "step_seconds",
)  # fmt: skip


def jobs(settings: Settings) -> list[Job]:
    """Seed by seed, so that a stop leaves whole pairs; the timing last, when fewer workers are busy."""
    run, read = asdict(settings.images), asdict(settings.strips)
    shape = shape_of(settings.images)
    found = []
    for seed in settings.seeds:
        for arm in settings.images.arms:
            cost = cost_of(ARMS[arm], shape).multiply_adds * settings.images.training.steps / 1e9
            given = {"part": "images", "run": run, "arm": arm, "seed": seed, "control": False}
            found.append(Job(f"images arm={arm} seed={seed}", given, cost))
            if arm == "silu x1":
                given = given | {"seed": seed + OTHER, "control": True}
                found.append(Job(f"images arm={arm} again seed={seed}", given, cost))
        for width in settings.strips.widths:
            for family in settings.strips.families:
                given = {"part": "strips", "run": read, "arm": family, "width": width, "seed": seed}
                cost = 2.0 * settings.strips.training.steps / 1000
                found.append(Job(f"strips arm={family} width={width} seed={seed}", given, cost))
    given = {"part": "timing", "run": run, "timing": asdict(settings.timing), "seed": settings.seeds[0]}
    return [*found, Job("timing", given, 1.0)]


def run(given: Mapping[str, Any], kept: Kept) -> list[Row]:
    """The rows of one job."""
    seed = given["seed"]
    if given["part"] == "strips":
        read = StripRun(**_listed(given["run"]))
        width, family = given["width"], given["arm"]
        rows = train(Read(read, family, width, seed), kept)
        counted = lstm.parameters(family, 8 * read.columns, width, strips.SYMBOLS)
        same = {"arm": family, "width": width, "seed": seed, "parameters": counted}
    else:
        show = ImageRun(**_listed(given["run"]))
        if given["part"] == "timing":
            rows, same = times(show, Timing(**given["timing"]), seed, kept), {"seed": seed}
        else:
            arm, control = given["arm"], given["control"]
            cost = cost_of(ARMS[arm], shape_of(show))
            rows = train(Classify(show, arm, seed), kept)
            same = {
                "arm": arm,
                "seed": seed - OTHER if control else seed,
                "control": control,
                "parameters": cost.parameters,
                "multiply_adds": cost.multiply_adds,
            }
    return [dict.fromkeys(COLUMNS) | {"part": given["part"]} | same | row for row in rows]


def _listed(given: Mapping[str, Any]) -> dict[str, Any]:
    """JSON's lists as the tuples that they were."""
    plain = {
        k: tuple(v) if isinstance(v, Sequence) and not isinstance(v, str) else v for k, v in given.items()
    }
    return plain | {"training": Schedule(**given["training"])}


def needs(settings: Settings) -> None:
    """Both sets of images."""
    images.needed(settings.images.data)
    images.needed("digits")


def data(settings: Settings) -> dict[str, str]:
    """The sets by name, with their sha256."""
    return images.hashes((settings.images.data, "digits"))


EXPERIMENT = Experiment(
    name="tg-training",
    about="threshold gates in training: steps, compute, width, families of an LSTM, time",
    settings=Settings,
    jobs=jobs,
    run=run,
    summarise=summarise,
    figure=figure,
    needs=needs,
    sources=(
        "kernels/convert/tiers.py", "kernels/convert/tier_start.py", "kernels/runs/data/images.py",
        "kernels/runs/statistics_paired.py", "kernels/runs/statistics_steps.py", "theory/cost_ladder.py",
    ),
    operations=(),
    data=data,
)  # fmt: skip
