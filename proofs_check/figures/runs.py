"""Figures of training runs: drawn from the committed tables of accepted runs, not trained again.

``figures/data/NAME.PRESET.parquet`` is the results table that a run wrote; the record that the claims rest on
was sealed from the same run, and the tests compute its intervals again from this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gateproof.proofs_check.figures.drawing import folder

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def run(name: str, preset: str = "tiny") -> dict[str, Any]:
    """The experiment, its settings, the rows of all jobs and what they say together."""
    from pyarrow import parquet

    from gateproof.kernels.runs import catalogue
    from gateproof.kernels.runs.table import ADDED

    table = parquet.read_table(folder() / "data" / f"{name}.{preset}.parquet")
    # A column that only other jobs have is None here; a run's own summary sees rows without it.
    rows = [{key: value for key, value in row.items() if key not in ADDED} for row in table.to_pylist()]
    experiment = catalogue.load(name)
    settings = catalogue.read_settings(experiment, catalogue.preset(name, preset))
    found = {"experiment": experiment, "settings": settings, "rows": rows}
    return {**found, "summary": experiment.summarise(settings, rows)}


def made(found: Mapping[str, Any], size: tuple[float, float], labels: float = 7) -> Figure:
    """The experiment's own figure in inches that a page has, its points' labels (in points) apart."""
    from matplotlib.text import Annotation

    drawn: Figure = found["experiment"].figure(found["settings"], found["rows"], found["summary"])
    drawn.set_size_inches(size)
    for axes in drawn.axes:
        for text in axes.texts:
            if isinstance(text, Annotation):
                text.set_fontsize(labels)
        legend = axes.get_legend()
        # Words over a heat map or a crowd of lines stay readable.
        if legend is not None:
            legend.set_frame_on(True)
            legend.get_frame().set(facecolor="white", edgecolor="none", alpha=0.85)
    return drawn


def said(found: Mapping[str, Any]) -> str:
    """What a caption says of every run: what it shows, what it cannot, where the numbers are."""
    from gateproof.kernels.runs import catalogue

    name = found["experiment"].name
    preset = catalogue.preset(name, "tiny")
    records = sorted({finding.record for finding in found["summary"].findings})
    return (
        f"What the run shows: {preset.shows} What it cannot show: {preset.cannot}\n\n"
        f"`gateproof run {name} --preset tiny` makes it again; the table is data/{name}.tiny.parquet. "
        f"Records: {', '.join(records)}."
    )
