"""Does a language model need SwiGLU's open tail? Paired pretraining of gates that differ in one thing each.

The paper's decoder (MemGLU, sections 4 to 6 and appendices B to E) with its two gates and those between them
that it lacks; gates.py says what each isolates. All arms of a seed share initial weights and batches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gateproof.kernels.runs.data import text
from gateproof.kernels.runs.experiment import Experiment, Job, Kept, Row
from gateproof.kernels.runs.language_model_parts.calibration_rows import calibration_rows
from gateproof.kernels.runs.language_model_parts.cost import cost
from gateproof.kernels.runs.language_model_parts.drawing import figure
from gateproof.kernels.runs.language_model_parts.findings import short_steps
from gateproof.kernels.runs.language_model_parts.gates import REFERENCE
from gateproof.kernels.runs.language_model_parts.settings import Settings, Setup
from gateproof.kernels.runs.language_model_parts.summary import OWN, summarise
from gateproof.kernels.runs.language_model_parts.train import train
from gateproof.kernels.runs.settings import plain, read

#: A training's cost is its steps; these are in the same unit, as measured with the preset tiny.
_COST_OF_CALIBRATION = 2000.0


def jobs(settings: Settings) -> list[Job]:
    """Costs first, while nothing else is known; then the seeds one after another, all arms of each."""
    setup = settings.setup
    found = []
    if settings.cost_rounds:
        given = {
            "kind": "cost",
            "setup": plain(setup),
            "rounds": settings.cost_rounds,
            "steps": settings.cost_steps,
        }
        found.append(Job("cost", given, 4.0 * settings.cost_rounds * settings.cost_steps))
    shapes = [(one.name, one.shape, one.calibration) for one in settings.printed]
    found += [_calibration(settings, name, plain(shape), plain(models)) for name, shape, models in shapes]
    found.append(_calibration(settings, OWN, plain(settings.shape), plain(settings.calibration)))
    few = short_steps(settings)
    for seed in settings.seeds:
        found += [_training(setup, arm, seed) for arm in settings.arms]
        if few:
            found += [_training(shortened(setup, few), arm, seed) for arm in (REFERENCE, "memglu")]
    return found


def shortened(setup: Setup, steps: int) -> Setup:
    """The same training with fewer steps: warm-up as the same share, no more evaluations than fit."""
    whole = setup.training
    warmup = whole.warmup * steps // whole.steps
    evaluations = max(1, whole.evaluations * steps // whole.steps)
    return replace(setup, training=replace(whole, steps=steps, warmup=warmup, evaluations=evaluations))


def _training(setup: Setup, arm: str, seed: int) -> Job:
    steps = setup.training.steps
    given = {"kind": "train", "setup": plain(setup), "arm": arm, "seed": seed}
    return Job(f"arm={arm} seed={seed} steps={steps}", given, float(steps))


def _calibration(settings: Settings, name: str, shape: Any, calibration: Any) -> Job:
    given = {
        "kind": "calibrate",
        "name": name,
        "corpora": list(settings.corpora),
        "shape": shape,
        "calibration": calibration,
    }
    small = name == OWN and settings.shape.parameters < 1_000_000
    return Job(f"c0 {name}", given, 50.0 if small else _COST_OF_CALIBRATION)


def run(settings: Mapping[str, Any], kept: Kept) -> Sequence[Row]:
    """One training, or one of the measurements beside it."""
    if settings["kind"] == "calibrate":
        return calibration_rows(settings["name"], settings)
    setup: Setup = read(Setup, settings["setup"])
    if settings["kind"] == "cost":
        return cost(setup, settings["rounds"], settings["steps"], kept)
    return train(setup, settings["arm"], settings["seed"], kept)


def _needs(settings: Settings) -> None:
    text.needs(settings.corpora)
    for one in settings.printed:
        # Made here once, before workers ask for it at the same time.
        text.tokens(settings.corpora, one.shape.vocabulary)
    made, context = text.tokens(settings.corpora, settings.shape.vocabulary), settings.shape.context
    have = min(len(made.train), len(made.validation))
    if have <= context:
        raise ValueError(f"corpora: a shard has {have} tokens, fewer than one context of {context}")
    wanted = settings.training.last_validation_tokens
    if len(made.validation) <= wanted:
        raise ValueError(
            f"corpora: {len(made.validation)} tokens for validation, and last_validation_tokens = {wanted}: "
            "give more text, or ask for fewer"
        )


EXPERIMENT = Experiment(
    name="language-model",
    about="Paired pretraining of decoders with SwiGLU, MemGLU and the gates between them.",
    settings=Settings,
    jobs=jobs,
    run=run,
    summarise=summarise,
    figure=figure,
    needs=_needs,
    sources=(
        "kernels/functional.py",
        "kernels/pointwise.py",
        "kernels/runs/data/text.py",
        "kernels/runs/data/packed_bible.py",
        "kernels/runs/statistics_paired.py",
        *(
            f"kernels/runs/language_model_parts/{name}.py"
            for name in (
                "calibrate",
                "calibration_rows",
                "cost",
                "findings",
                "gates",
                "model",
                "probe",
                "results",
                "settings",
                "summary",
                "train",
            )
        ),
    ),
    operations=("swiglu", "memglu", "silu_*"),
    data=lambda settings: text.hashes(settings.corpora),
)
