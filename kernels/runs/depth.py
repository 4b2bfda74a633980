"""How deep networks train: what mean field theory and 1/kappa^2 predict, and gates of one to four branches.

Four parts: ``edge``, activations at their start by ``gateproof meanfield --initialise``; ``phase``, one
activation around its critical sigma_w^2, plain and residual; ``periodic``, gates fitted to sin in its place;
``scan``, residual networks of one, two and three branches. The criteria are in ``depth_parts``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gateproof.kernels.runs.data import images
from gateproof.kernels.runs.depth_parts import deep, periodic, scan
from gateproof.kernels.runs.depth_parts.picture import figure
from gateproof.kernels.runs.depth_parts.setting import Settings
from gateproof.kernels.runs.depth_parts.summary import summarise
from gateproof.kernels.runs.experiment import Experiment, Job, Kept, Row
from gateproof.kernels.runs.settings import plain

_PARTS = {
    "edge": deep.edge,
    "phase": deep.phase,
    "within": periodic.within,
    "beyond": periodic.beyond,
    "scan": scan.scan,
}
#: Relative cost of a layer by a gate, beside one by a function of PyTorch.
_GATE = 3.0


def jobs(settings: Settings) -> list[Job]:
    """The long ones first."""
    s = settings
    given, training = plain(s), plain(s.training)
    made: list[Job] = []
    for network, ratios in (("plain", s.phase.ratios), ("residual", s.phase.residual)):
        for k in range(0, len(ratios), s.phase.each):
            some = ratios[k : k + s.phase.each]
            made.append(_job(
                "phase", f"{s.phase.activation.label} {network} ratios={','.join(f'{r:g}' for r in some)}",
                training | {
                    "unit": given["phase"]["activation"], "sigma_b2": s.phase.sigma_b2, "ratios": list(some),
                    "residual": network == "residual", "depths": list(s.phase.depths),
                    "seeds": list(s.phase.seeds), "before": k,
                },
                len(some) * len(s.phase.seeds) * sum(s.phase.depths) * training["steps"],
            ))  # fmt: skip
    for unit, of in zip(given["edge"]["activations"], s.edge.activations, strict=True):
        slower = _GATE if of.branches or of.gate is not None else 1.0
        made.append(_job(
            "edge", of.label,
            training | {"unit": unit, "sigma_b2": s.edge.sigma_b2, "depths": list(s.edge.depths),
                        "seeds": list(s.edge.seeds)},
            slower * len(s.edge.seeds) * sum(s.edge.depths) / 4 * training["steps"],
        ))  # fmt: skip
    for k in s.scan.branches:
        for depth in s.scan.depths:
            own = {n: v for n, v in given["scan"].items() if n not in ("branches", "depths")}
            made.append(_job(
                "scan", f"K={k} blocks={depth}", own | {"branches": k, "blocks": depth},
                k * _GATE * depth * len(s.scan.seeds) * s.scan.steps,
            ))  # fmt: skip
    made += _periodic(s, given["periodic"])
    return sorted(made, key=lambda job: -job.cost)


def _periodic(s: Settings, given: Mapping[str, Any]) -> list[Job]:
    made = []
    of = s.periodic
    for unit, own in zip(given["activations"], of.activations, strict=True):
        slower = _GATE if own.branches else 1.0
        common = {"unit": unit, "seeds": list(of.seeds)}
        classes = {
            n: given[n] for n in ("images", "count", "sigma_b2", "width", "depth", "batch", "steps", "rate")
        }
        cost = slower * len(of.seeds) * of.depth * of.steps
        made.append(_job("within", own.label, common | classes, cost))
        pictures = {
            "images": of.pictures, "width": of.picture_width, "layers": of.picture_layers,
            "steps": of.picture_steps, "rate": of.picture_rate,
        }  # fmt: skip
        cost = slower * len(of.seeds) * of.picture_layers * of.picture_steps * 8
        made.append(_job("beyond", own.label, common | pictures, cost))
    return made


def _job(part: str, name: str, settings: Mapping[str, Any], cost: float) -> Job:
    return Job(f"{part} {name}", {"part": part, **settings}, cost)


def run(settings: Mapping[str, Any], kept: Kept) -> Sequence[Row]:
    """One job."""
    return _PARTS[settings["part"]](settings, kept)


def needs(settings: Settings) -> None:
    """Raises ValueError for images that are missing."""
    for name in sorted(_sets(settings)):
        images.needed(name)


def data(settings: Settings) -> dict[str, str]:
    """The images by their hashes."""
    return images.hashes(_sets(settings))


def _sets(settings: Settings) -> set[str]:
    of = settings
    return {of.training.images, of.periodic.images, of.periodic.pictures, of.scan.images}


EXPERIMENT = Experiment(
    name="depth",
    about="how deep networks train, beside mean field theory and 1/kappa^2; gates of few branches",
    settings=Settings,
    jobs=jobs,
    run=run,
    summarise=summarise,
    figure=figure,
    needs=needs,
    sources=(
        "kernels/functional.py",
        "kernels/runs/data/images.py",
        "kernels/runs/statistics_rank.py",
        "kernels/runs/statistics_paired.py",
        "kernels/runs/statistics_many.py",
        "numerics/meanfield/initialise.py",
        "numerics/meanfield/edge.py",
        "numerics/meanfield/plain.py",
        "numerics/kappa.py",
    ),
    operations=("tg_k*",),
    data=data,
)
