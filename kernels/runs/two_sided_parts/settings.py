"""Settings of the experiment, and the arms and jobs that they make."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

from gateproof.kernels.runs.experiment import Job

Family = Literal["transformer", "state-space"]
Extra = Literal["debiased", "exact", "channel", "less", "less fixed", "smooth", "natural", "plus", "minus"]


@dataclass(frozen=True)
class Model:
    """Sizes; ``heads`` and ``hidden`` are the transformer's, ``states`` the state-space model's."""

    vocabulary: int
    context: int
    width: int
    layers: int
    heads: int
    hidden: int
    states: int


@dataclass(frozen=True)
class Descent:
    """How every arm is trained and measured.

    sharpness: C. batch: windows a step. rate, threshold_rate: Adam's, of weights and of alpha. ramp: steps
    until the controller wants the whole target. integral, proportional: its gains. every: steps between
    points of the curve. curve_batches, end_batches: held-out batches of a point and of the end.
    """

    sharpness: float
    batch: int
    steps: int
    warmup: int
    rate: float
    threshold_rate: float
    ramp: int
    integral: float
    proportional: float
    every: int
    curve_batches: int
    end_batches: int


@dataclass(frozen=True)
class Settings:
    """What is compared.

    start: the rate of zeros at which trained thresholds begin (the source: 0.2). half: the target of the main
    arm, over one half by what the controller may miss. less, more: the other targets (the source: 0.3, 0.75).
    fixed: the rate, one for each of ``families``, at which fixed thresholds are set, once, after
    ``fixed_step`` steps without; at the start activations grow out of any threshold. penalty: the size of w
    in the arms plus and minus. seeds: of the main arms. few: the seeds of the extras, the first so many.
    """

    corpora: tuple[str, ...]
    families: tuple[Family, ...]
    seeds: tuple[int, ...]
    few: int
    start: float
    half: float
    less: float
    more: float
    fixed: tuple[float, ...]
    fixed_step: int
    penalty: float
    transformer_extras: tuple[Extra, ...]
    state_space_extras: tuple[Extra, ...]
    model: Model
    training: Descent

    def __post_init__(self) -> None:
        rates = {name: getattr(self, name) for name in ("start", "half", "less", "more")}
        rates |= {f"fixed[{k}]": rate for k, rate in enumerate(self.fixed)}
        faults = [
            f"{name} = {rate}: a rate of zeros is between 0 and 1"
            for name, rate in rates.items()
            if not 0 < rate < 1
        ]
        if len(set(self.seeds)) < 2 or len(set(self.seeds)) < len(self.seeds):
            faults.append(f"seeds = {list(self.seeds)}: give 2 or more different seeds, one a pair")
        if not 2 <= self.few <= len(self.seeds):
            faults.append(f"few = {self.few}: give 2 to {len(self.seeds)}, the number of seeds")
        if not self.families or len(set(self.families)) < len(self.families):
            faults.append("families: name each model once, transformer or state-space")
        if len(self.fixed) != len(self.families):
            faults.append(f"fixed: give {len(self.families)} rates, one for each of families")
        if not 0 <= self.fixed_step < self.training.steps:
            faults.append(
                f"fixed_step = {self.fixed_step}: give 0 to {self.training.steps - 1}, before the last step"
            )
        if self.penalty <= 0:
            faults.append(f"penalty = {self.penalty}: give a positive number; both of its signs are run")
        model, training = self.model, self.training
        for part in (model, training):
            for field in dataclasses.fields(part):
                value = getattr(part, field.name)
                if value <= 0 and field.name not in ("warmup", "integral", "proportional"):
                    faults.append(f"{field.name} = {value}: give a number above 0")
        if model.heads > 0 and model.width % model.heads:
            faults.append(f"heads = {model.heads} does not divide width = {model.width}")
        if training.curve_batches > training.end_batches:
            faults.append("curve_batches: give at most end_batches")
        if faults:
            raise ValueError("\n".join(faults))


def arm(
    name: str,
    thresholds: str = "trainable",
    *,
    start: float,
    start_step: int = 0,
    per: str = "projection",
    gradient: str = "surrogate",
    target: float | None = None,
    penalty: float = 0.0,
    match: bool = False,
    timed: bool = False,
) -> dict[str, Any]:
    """One training. ``match``: its target is the rate at which the arm before it ended."""
    return {
        "name": name, "thresholds": thresholds, "per": per, "gradient": gradient, "start": start,
        "start_step": start_step, "target": target, "penalty": penalty, "match": match, "timed": timed,
    }  # fmt: skip


def main_arms(s: Settings, fixed: float) -> list[list[dict[str, Any]]]:
    """The arms of each main job."""
    return [
        [arm("dense", "dense", start=s.start)],
        [arm("trained", start=s.start, target=s.half, timed=True)],
        [
            arm("fixed", "fixed", start=fixed, start_step=s.fixed_step),
            arm("matched", start=s.start, match=True),
        ],
        [arm("trained more", start=s.start, target=s.more, timed=True)],
    ]


def extra_arm(s: Settings, fixed: float, name: Extra) -> dict[str, Any]:
    """An arm beside the main ones."""
    made = {
        "debiased": arm("debiased", start=s.start, target=s.half, gradient="debiased"),
        "exact": arm("exact", start=s.start, target=s.half, gradient="exact"),
        "channel": arm("channel", start=s.start, target=s.half, per="channel"),
        "less": arm("trained less", start=s.start, target=s.less),
        "less fixed": arm("fixed less", "fixed", start=s.less, start_step=s.fixed_step),
        "smooth": arm("smooth", "smooth", start=fixed, start_step=s.fixed_step),
        "natural": arm("natural", start=s.start),
        "plus": arm("plus", start=s.start, penalty=s.penalty),
        "minus": arm("minus", start=s.start, penalty=-s.penalty),
    }
    return made[name]


def jobs(s: Settings) -> list[Job]:
    """A job for each family, seed and arm; fixed thresholds and those trained to the same rate are one."""
    shared = {
        "corpora": list(s.corpora),
        "model": dataclasses.asdict(s.model),
        "training": dataclasses.asdict(s.training),
    }
    made = []
    for family, fixed in zip(s.families, s.fixed, strict=True):
        extras = s.transformer_extras if family == "transformer" else s.state_space_extras
        for seed in s.seeds:
            groups = main_arms(s, fixed)
            if seed in s.seeds[: s.few]:
                groups += [[extra_arm(s, fixed, name)] for name in extras]
            for group in groups:
                name = f"{family} seed={seed} {' and '.join(a['name'] for a in group)}"
                settings = shared | {"family": family, "seed": seed, "arms": group}
                cost = len(group) * (1.0 if family == "transformer" else 0.8)
                made.append(Job(name, settings, cost))
    return made
