"""What the trainings say: paired effects with intervals, named as the claims read them.

All intervals are Student's at 95 % over pairs of one seed. Effects on the loss are in percent of SwiGLU's
final loss of the same seed, so that they add. ``tail`` is the mean of closed less open over both parities,
``parity`` of odd less one-sided over both tails (see gates.py); ``scale_silu`` and ``scale_memglu`` are what
the factor 1/c0 does to either shape, ``shape_unscaled`` what the shape does at the larger scale.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gateproof.kernels.runs import statistics
from gateproof.kernels.runs.experiment import Interval
from gateproof.kernels.runs.language_model_parts.gates import REFERENCE, mean_field
from gateproof.kernels.runs.language_model_parts.results import Numbers, Results, enough, paired
from gateproof.kernels.runs.language_model_parts.settings import Settings, Shape

#: The margin that the paper's "about 0.1 %" rounds from, in percent.
MARGIN = 0.15
FIVE = 5


@dataclass(frozen=True)
class Effect:
    """A mean over seeds with its interval; ``values`` are those of the seeds."""

    about: str
    unit: str
    values: Numbers
    found: statistics.Paired


#: Effects on the loss: the arms, and the effect in percent from the arms' losses, SwiGLU's first.
_LOSS: dict[str, tuple[str, tuple[str, ...], Callable[..., Numbers]]] = {
    "gap": ("memglu against swiglu", ("memglu",), lambda s, m: m - s),
    "gap_unscaled": ("memglu-unscaled against swiglu", ("memglu-unscaled",), lambda s, m: m - s),
    "scale_silu": ("swiglu-scaled against swiglu: scale alone", ("swiglu-scaled",), lambda s, x: x - s),
    "scale_memglu": (
        "memglu-unscaled against memglu: scale alone",
        ("memglu", "memglu-unscaled"),
        lambda _s, m, x: x - m,
    ),
    "shape_unscaled": (
        "memglu-unscaled against swiglu-scaled: shape at the larger scale",
        ("swiglu-scaled", "memglu-unscaled"),
        lambda _s, x, m: m - x,
    ),
    "tail": (
        "closed against open tail, mean over parities",
        ("memglu", "odd", "one-sided"),
        lambda s, m, odd, one: ((one - s) + (m - odd)) / 2,
    ),
    "parity": (
        "odd against one-sided, mean over tails",
        ("memglu", "odd", "one-sided"),
        lambda s, m, odd, one: ((odd - s) + (m - one)) / 2,
    ),
    "interaction": (
        "what the tail does to odd gates less what it does to one-sided ones",
        ("memglu", "odd", "one-sided"),
        lambda s, m, odd, one: (m - odd) - (one - s),
    ),
}
_RATIOS = {
    "occupancy_ratio": "occupancy",
    "share_q_ratio": "share_q",
    "share_h_ratio": "share_h",
    **{f"rms_{name}_ratio": f"rms_{name}" for name in ("g", "q", "h", "dx")},
}


def effects(settings: Settings, results: Results) -> dict[str, Effect]:
    """All paired effects that the rows allow, by the names that criteria read."""
    return {
        **_losses(settings, results),
        **_mechanism(settings, results),
        **_interventions(settings, results),
        **_cost(results),
    }


def short_steps(settings: Settings) -> int:
    """The length of the short pairs, 0 if there are none."""
    return max(1, round(settings.short * settings.training.steps)) if settings.short else 0


def _losses(settings: Settings, results: Results) -> dict[str, Effect]:
    steps, found = settings.training.steps, {}
    for name, (about, arms, formula) in _LOSS.items():
        values = paired(*(results.last(arm, steps, "final_nll") for arm in (REFERENCE, *arms)))
        if enough(values):
            found[name] = _mean(about, "% of loss", 100 * formula(*values) / values[0])
    five = paired(*(results.last_mean(arm, steps, "validation_nll", FIVE) for arm in (REFERENCE, "memglu")))
    if enough(five):
        about = "memglu against swiglu, mean of the last five evaluations"
        found["gap_five"] = _mean(about, "% of loss", 100 * (five[1] - five[0]) / five[0])
    few = short_steps(settings)
    if few:
        lengths = [(arm, length) for length in (steps, few) for arm in (REFERENCE, "memglu")]
        s, m, s0, m0 = paired(*(results.last(arm, length, "final_nll") for arm, length in lengths))
        if enough([s]):
            gap, gap0 = 100 * (m - s) / s, 100 * (m0 - s0) / s0
            found["gap_short"] = _mean("memglu against swiglu after the short training", "% of loss", gap0)
            found["tokens_shift"] = _mean("the gap, long less short training", "% of loss", gap - gap0)
    return found


def _mechanism(settings: Settings, results: Results) -> dict[str, Effect]:
    steps, found = settings.training.steps, {}

    def of(arm: str, metric: str) -> dict[int, float]:
        return results.last(arm, steps, metric)

    for name, metric in _RATIOS.items():
        s, m = paired(of(REFERENCE, metric), of("memglu", metric))
        if enough([s]) and min(s.min(), m.min()) > 0:
            found[name] = _ratio(f"{metric} of memglu over that of swiglu", m, s)
    values = paired(
        *(of(arm, metric) for arm in (REFERENCE, "memglu") for metric in ("occupancy", "share_q", "share_h")),
        of(REFERENCE, "share_silu"),
        of(REFERENCE, "share_memglu"),
    )
    if enough(values) and min(v.min() for v in values) > 0:
        so, sq, sh, mo, mq, mh, silu, memglu = values
        found["unit_q"] = _ratio("gate energy a unit of occupancy, memglu over swiglu", mq / mo, sq / so)
        found["unit_h"] = _ratio("product energy a unit of occupancy, memglu over swiglu", mh / mo, sh / so)
        found["shape_q"] = _ratio(
            "the same for both gates on the pre-activations of the trained swiglu", memglu, silu
        )
        found["learned_q"] = _ratio(
            "unit_q over shape_q: what training adds to the shapes", mq / mo / (sq / so), memglu / silu
        )
    for arm, name in (("memglu", "occupancy_gain"), (REFERENCE, "occupancy_gain_swiglu")):
        start, end = paired(of(arm, "start_occupancy"), of(arm, "occupancy"))
        if enough([start]):
            found[name] = _mean(f"occupancy of {arm}, end less start", "points", 100 * (end - start))
    return found


def _interventions(settings: Settings, results: Results) -> dict[str, Effect]:
    steps, found = settings.training.steps, {}
    names = ("final_nll", "nll_cap", "nll_smooth", "nll_hard")
    base, cap, smooth, hard = paired(*(results.last(REFERENCE, steps, name) for name in names))
    if enough([base]):
        found["cap"] = _mean("loss of the trained swiglu with capped tail, increase", "nats", cap - base)
        found["smooth"] = _mean("with smoothly attenuated tail, increase", "nats", smooth - base)
        found["hard"] = _mean("with removed tail, increase", "nats", hard - base)
        found["smooth_less_cap"] = _mean("attenuated less capped", "nats", smooth - cap)
        found["hard_less_smooth"] = _mean("removed less attenuated", "nats", hard - smooth)
    return found


def _cost(results: Results) -> dict[str, Effect]:
    found = {}
    for kind in ("plain", "fused"):
        s, m = paired(*(results.last(f"{arm} {kind}", 0, "step") for arm in (REFERENCE, "memglu")))
        if enough([s]):
            about = f"throughput of memglu against swiglu, {kind}, rounds side by side"
            found[f"speed_{kind}"] = _mean(about, "%", 100 * (s / m - 1))
    return found


def memory(results: Results) -> dict[str, float]:
    """How much more memory a step of MemGLU has allocated at most, in percent of SwiGLU's."""
    found = {}
    for kind in ("plain", "fused"):
        s, m = (results.last(f"{arm} {kind}", 0, "peak_bytes").get(0) for arm in (REFERENCE, "memglu"))
        if s and m:
            found[f"memory_{kind}"] = 100 * (m / s - 1)
    return found


def scales(shape: Shape, results: Results, name: str) -> dict[str, float | Interval] | None:
    """c0 of random models of a shape, and over the mean-field value at variance d s^2 of normed inputs."""
    c0 = results.last(name, 0, "c0")
    if len(c0) < 2:
        return None
    values = np.array([c0[k] for k in sorted(c0)])
    variance = shape.width * shape.deviation**2
    squares = mean_field(variance)
    theory = float(np.sqrt(squares["silu(g)"] / squares["memglu(g)"]))
    return {
        "c0": float(values.mean()),
        "theory": theory,
        "variance": float(np.mean(list(results.last(name, 0, "variance").values()))),
        "variance_theory": variance,
        "interval": statistics.mean_interval(values),
        "ratio": statistics.mean_interval(values / theory),
    }


def _mean(about: str, unit: str, values: Numbers) -> Effect:
    return Effect(about, unit, values, statistics.paired_difference(values, np.zeros_like(values)))


def _ratio(about: str, a: Numbers, b: Numbers) -> Effect:
    return Effect(about, "ratio", a / b, statistics.paired_ratio(a, b))
