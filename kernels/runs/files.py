"""The files of a run: results.parquet, summary.json, figure.svg."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from math import isfinite, isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateproof.kernels.runs import folder, keys, table
from gateproof.kernels.runs.experiment import Finding, Summary
from gateproof.numerics import atomic

if TYPE_CHECKING:
    from gateproof.kernels.runs.engine import Outcome, Plan


def write(made: Plan, out: Path, outcome: Outcome) -> None:
    """Write the files of a run from the rows of its finished jobs."""
    if not outcome.jobs:
        return
    rows = table.merged(outcome.jobs)
    table.write(out / "results.parquet", outcome.run, outcome.jobs)
    try:
        outcome.summary = made.experiment.summarise(made.settings, rows)
    except (ValueError, ArithmeticError, LookupError):
        if outcome.complete:
            raise
        # A part of the jobs is not enough for it.
        return
    folder.write_json(out / "summary.json", summary_document(made, outcome))
    if outcome.complete:
        atomic.write_bytes(out / "figure.svg", figure(made, rows, outcome.summary))


def summary_document(made: Plan, outcome: Outcome) -> dict[str, Any]:
    """summary.json; ``run`` holds what differs from run to run."""
    assert outcome.summary is not None
    run = outcome.run
    kept = ("experiment", "preset", "configuration", "configuration_hash", "code", "versions")
    found = {
        "schema_version": folder.VERSION,
        **{key: run[key] for key in kept},
        "about": made.experiment.about,
        "shows": made.configuration.shows,
        "cannot": made.configuration.cannot,
        "jobs": {"total": outcome.total, "finished": len(outcome.jobs), "failed": dict(outcome.failed)},
        "complete": outcome.complete,
        "tables": outcome.summary.tables,
        "notes": list(outcome.summary.notes),
        "findings": [finding_document(finding) for finding in outcome.findings],
        "run": {
            "started": run["started"],
            "written": datetime.now(UTC).isoformat(timespec="seconds"),
            "job_seconds": round(sum(data["seconds"] for data in outcome.jobs), 3),
            "machines": list(
                {keys.digest(data["machine"]): data["machine"] for data in outcome.jobs}.values()
            ),
        },
    }
    plain: dict[str, Any] = strict(found)
    return plain


def finding_document(finding: Finding) -> dict[str, Any]:
    """A finding as JSON."""
    return {
        "record": finding.record,
        "about": finding.about,
        "intervals": {name: asdict(interval) for name, interval in finding.intervals.items()},
        "numbers": dict(finding.numbers),
        "ranges": dict(finding.ranges),
        "seeds": list(finding.seeds),
    }


def strict(value: Any) -> Any:
    """Plain JSON, in which numbers that JSON lacks are texts: oo, -oo, nan."""
    if isinstance(value, Mapping):
        return {str(key): strict(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [strict(one) for one in value]
    if isinstance(value, float) and not isfinite(value):
        return "nan" if isnan(value) else "oo" if value > 0 else "-oo"
    return value


def figure(made: Plan, rows: Sequence[Mapping[str, Any]], summary: Summary) -> bytes:
    """The figure as SVG; the same rows give the same bytes with the same matplotlib."""
    import matplotlib as mpl

    mpl.use("agg")
    out = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "gateproof", "svg.fonttype": "path"}):
        drawn = made.experiment.figure(made.settings, rows, summary)
        drawn.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return out.getvalue()
