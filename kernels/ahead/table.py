"""The committed table of what kernels compile to, and what counts as a regression from it.

Any spill is one. So is an access more than in the table, or a narrower widest one: vectorisation was lost.
Registers may grow by one step of their allocation (8), instructions by 5 %; both depend on the compiler, so
that they are compared with a table of the same Triton only.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from gateproof.kernels.ahead.counts import Counts

REGISTERS, INSTRUCTIONS = 8, 0.05


@dataclass(frozen=True)
class Row:
    """One compiled kernel: its place in the table, and its counts or why there are none."""

    architecture: str
    operation: str
    direction: str
    type: str
    counts: Counts | None
    not_run: str = ""

    @property
    def key(self) -> str:
        """Its place in the table."""
        return f"{self.architecture} {self.operation} {self.direction} {self.type}"


@dataclass(frozen=True)
class Table:
    """Counts by ``Row.key``, and the Triton that they came from."""

    triton: str
    rows: Mapping[str, Counts]


def read(text: str | None = None) -> Table:
    """The table in a text, or the one that comes with this version."""
    if text is None:
        text = resources.files("gateproof.kernels.ahead").joinpath("table.json").read_text("utf-8")
    found = json.loads(text)
    return Table(found["triton"], {key: Counts(**row) for key, row in found["rows"].items()})


def place() -> Path:
    """The table's file."""
    return Path(__file__).with_name("table.json")


def written(triton: str, rows: Iterable[Row], kept: Mapping[str, Counts]) -> str:
    """The text of a table of new rows, and of those that are kept."""
    found = {**kept, **{row.key: row.counts for row in rows if row.counts is not None}}
    # A line a kernel, so that a change is seen in a diff.
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(asdict(found[key]))}" for key in sorted(found))
    return f'{{"triton": {json.dumps(triton)},\n "rows": {{\n{lines}\n}}}}\n'


def regressions(row: Row, table: Table, triton: str) -> list[str]:
    """What is worse than in the table, in words."""
    now = row.counts
    if now is None:
        return []
    found = [f"{now.spills} spilled"] if now.spills else []
    before = table.rows.get(row.key)
    if before is None:
        return [*found, "not in the table: add it with --write"]
    for what in ("loads", "stores"):
        found += _narrower(what, getattr(now, what), getattr(before, what))
    if triton == table.triton:
        if now.registers > before.registers + REGISTERS:
            found.append(f"registers {before.registers} -> {now.registers}")
        if now.instructions > before.instructions * (1 + INSTRUCTIONS):
            found.append(f"instructions {before.instructions} -> {now.instructions}")
    return found


def _narrower(what: str, now: Mapping[str, int], before: Mapping[str, int]) -> list[str]:
    if sum(now.values()) > sum(before.values()) or _widest(now) < _widest(before):
        return [f"{what} {accesses(before)} -> {accesses(now)}"]
    return []


def _widest(found: Mapping[str, int]) -> int:
    return max((int(bits) for bits in found), default=0)


def accesses(found: Mapping[str, int]) -> str:
    """Accesses as people write them: 2x128+6x32."""
    return "+".join(f"{count}x{bits}" for bits, count in found.items()) or "none"


def as_json(row: Row, worse: list[str]) -> dict[str, Any]:
    """A row for the command's JSON; ``passed`` is null where it was not run."""
    given = {
        "arch": row.architecture,
        "op": row.operation,
        "direction": row.direction,
        "dtype": row.type,
    }
    if row.counts is None:
        return {**given, "passed": None, "not_run": row.not_run}
    return {**given, **asdict(row.counts), "passed": not worse, "regressions": worse}
