"""The jobs that train deep networks: one activation at its start, or around its critical point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from typing import Any

from gateproof.kernels.runs.data import images
from gateproof.kernels.runs.depth_parts.loop import Work
from gateproof.kernels.runs.depth_parts.nets import Examples, Nets, examples
from gateproof.kernels.runs.depth_parts.theory import Place, around, begin
from gateproof.kernels.runs.depth_parts.units import Function, Unit
from gateproof.kernels.runs.experiment import Cell, Kept, Row
from gateproof.kernels.runs.settings import read


def unit_of(settings: Mapping[str, Any]) -> Unit:
    """The activation of a job's settings."""
    found: Unit = read(Unit, {k: v for k, v in settings.items() if v is not None}, "unit")
    return found


def edge(settings: Mapping[str, Any], kept: Kept) -> list[Row]:
    """One activation where ``gateproof meanfield --initialise`` begins, depth after depth.

    It stops at the first depth at which no seed is trained: nothing beyond counts (see ``criterion``).
    """
    unit = unit_of(settings["unit"])
    formula, function = unit.known()
    place, about = begin(formula, settings["sigma_b2"])
    head: dict[str, Cell] = {"part": "edge", "activation": unit.label, "group": unit.group}
    return _depths(settings, kept, function, [(place, about)], head, stop=True)


def phase(settings: Mapping[str, Any], kept: Kept) -> list[Row]:
    """One activation at multiples of its critical sigma_w^2, all depths, plain or residual."""
    unit = unit_of(settings["unit"])
    formula, function = unit.known()
    kind = "residual" if settings["residual"] else "plain"
    head: dict[str, Cell] = {"part": "phase", "activation": unit.label, "network": kind}
    places = around(formula, settings["sigma_b2"], tuple(settings["ratios"]))
    return _depths(settings, kept, function, places, head, stop=False)


def _depths(
    settings: Mapping[str, Any], kept: Kept, function: Function,
    places: Sequence[tuple[Place, Mapping[str, Cell]]], head: Mapping[str, Cell], *, stop: bool,
) -> list[Row]:  # fmt: skip
    data = examples(images.load(settings["images"]), settings["count"], 0)
    depths, rates, seeds = settings["depths"], settings["rates"], settings["seeds"]
    work = Work(kept, depths)
    if not work.done and not work.rows:
        # What theory says comes before any training, with no depth of its own.
        work.rows += [{**head, **about, "row": "theory"} for _, about in places]
    for k in range(work.done, len(depths)):
        nets = Nets(
            function, [p for p, _ in places], seeds, rates, inputs=data.train.shape[1],
            width=settings["width"], depth=depths[k], residual=settings.get("residual", False),
            before=settings.get("before", 0),
        )  # fmt: skip
        before, _ = nets.measured(data.train, data.train_labels)
        work.train(_batch(nets, data, settings["batch"]), nets.params, nets.rates, settings["steps"])
        after, right = nets.measured(data.train, data.train_labels)
        rows: list[Row] = []
        for (p, seed, rate), b, a, r in zip(nets.each, before, after, right, strict=True):
            about = places[p][1]
            rows.append({
                **head, "row": "trained", "ratio": about.get("ratio"), "sigma_w2": about["sigma_w2"],
                "depth": depths[k], "seed": seed, "rate": rate, "before": b, "loss": a, "right": r,
            })  # fmt: skip
        work.finished(rows)
        if stop and not any(a <= settings["share"] * log(10) for a in after):
            break
    return work.rows


def _batch(nets: Nets, data: Examples, batch: int) -> Any:
    return lambda step: nets.batch_losses(data, batch, step)
