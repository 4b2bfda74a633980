"""The two-sided gate in training: dense, fixed and trained thresholds behind int8 projections.

Two-sided gate, implementation, items 1 to 4: one threshold a projection (or a channel), started at the 20th
percentile of |z|, trained by the printed surrogate (or its debiased form, or the exact gradient), at several
rates of zeros, with both signs of the penalty; in a small transformer and a small state-space model
(``two_sided_parts/models.py`` has both exactly).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gateproof.kernels.runs.data import text
from gateproof.kernels.runs.experiment import Experiment, Kept, Row
from gateproof.kernels.runs.two_sided_parts.drawing import figure
from gateproof.kernels.runs.two_sided_parts.outcome import summary
from gateproof.kernels.runs.two_sided_parts.settings import Settings, jobs
from gateproof.kernels.runs.two_sided_parts.training import run as train


def run(job: Mapping[str, Any], kept: Kept) -> Sequence[Row]:
    """The rows of one job: curves, the end, a row for each projection and held-out batch, and times."""
    found = text.tokens(tuple(job["corpora"]), job["model"]["vocabulary"])
    return train(job, kept, found.tensors())


def needs(settings: Settings) -> None:
    """The corpora."""
    text.needs(settings.corpora)


EXPERIMENT = Experiment(
    name="two-sided",
    about="two-sided gates behind int8 projections: dense, fixed and trained thresholds, two language models",
    settings=Settings,
    jobs=jobs,
    run=run,
    summarise=summary,
    figure=figure,
    needs=needs,
    sources=(
        "kernels/quantised.py",
        "kernels/soft_threshold_module.py",
        "kernels/soft_threshold_graph.py",
        "kernels/sparse.py",
    ),
    operations=("soft_threshold*",),
    data=lambda settings: text.hashes(settings.corpora),
)
