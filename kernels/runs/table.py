"""The results table: all rows of all jobs in one Parquet file, each with where it comes from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gateproof.kernels.runs.experiment import Row

_KINDS = {bool: "true or false", str: "a text", int: "a number", float: "a number"}


def merged(jobs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows of finished jobs in the order given, with a column ``job``, as a summary takes them.

    Raises ValueError for a column that holds texts in one row and numbers in another.
    """
    rows = [{"job": data["name"], **row} for data in jobs for row in data["rows"]]
    kinds: dict[str, str] = {}
    for row in rows:
        for name, value in row.items():
            if value is not None and kinds.setdefault(name, _KINDS[type(value)]) != _KINDS[type(value)]:
                raise ValueError(f"column {name}: {kinds[name]} in one row, {_KINDS[type(value)]} in another")
    return rows


#: Columns that the engine adds: no part of what a job found.
ADDED = ("configuration", "code", "versions", "machine", "seconds")


def columns(run: Mapping[str, Any], jobs: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The table: a row's own columns, and configuration, code, versions, machine and the job's seconds."""
    rows = merged(jobs)
    names = list(dict.fromkeys(name for row in rows for name in row))
    found: dict[str, list[Any]] = {name: [row.get(name) for row in rows] for name in names}
    for name, values in found.items():
        if any(type(value) is float for value in values):
            found[name] = [None if value is None else float(value) for value in values]
    counts = [(data, len(data["rows"])) for data in jobs]
    made = (
        lambda _: run["configuration_hash"],
        lambda _: run["code"],
        lambda data: _words(data["versions"]),
        lambda data: _words(data["machine"]),
        lambda data: data["seconds"],
    )
    for name, of in zip(ADDED, made, strict=True):
        found[name] = [of(data) for data, count in counts for _ in range(count)]
    return found


def write(path: Path, run: Mapping[str, Any], jobs: Sequence[Mapping[str, Any]]) -> None:
    """Write the table, whole or not at all; what the run was is in the file's metadata too."""
    import pyarrow as pa
    from pyarrow import parquet

    from gateproof.numerics import atomic

    kept = {key: run[key] for key in ("experiment", "preset", "configuration", "configuration_hash", "code")}
    made = pa.table(columns(run, jobs)).replace_schema_metadata({"gateproof": json.dumps(kept)})
    out = pa.BufferOutputStream()
    parquet.write_table(made, out, compression="zstd")
    atomic.write_bytes(path, out.getvalue().to_pybytes())


def of_rows(rows: Sequence[Row]) -> list[str]:
    """The lines of a table for a terminal, columns aligned."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [names, *([_shown(row.get(name)) for name in names] for row in rows)]
    widths = [max(len(line[k]) for line in cells) for k in range(len(names))]
    pairs = [zip(line, widths, strict=True) for line in cells]
    return ["  ".join(cell.ljust(width) for cell, width in line).rstrip() for line in pairs]


def _words(found: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in found.items() if value)


def _shown(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
