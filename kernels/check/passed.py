"""Which operations have passed their check with the code as it is, kept in a folder of the cache."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path

from gateproof.kernels.check.result import Result
from gateproof.kernels.runs import keys
from gateproof.numerics import atomic


@cache
def version() -> str:
    """The hash of all code that a check runs, the kernels' included, and of torch and Triton."""
    top = {p.name: p.read_text(encoding="utf-8") for p in sorted((keys.PACKAGE / "kernels").glob("*.py"))}
    found = []
    for name in ("torch", "triton", "numpy"):
        with suppress(metadata.PackageNotFoundError):
            found.append([name, metadata.version(name)])
    return keys.digest([keys.closure("gateproof.kernels.check.run"), top, found])


def read(folder: Path | None) -> frozenset[str]:
    """The operations that passed; none without a folder."""
    if folder is None:
        return frozenset()
    try:
        return frozenset(map(str, json.loads(_path(folder).read_bytes())["passed"]))
    except (OSError, ValueError, KeyError, TypeError):
        return frozenset()


def note(folder: Path | None, operations: Sequence[str], results: Iterable[Result]) -> None:
    """Keep those of whole checks (all types, in PyTorch and Triton) of which no row failed."""
    if folder is None:
        return
    rows: dict[str, list[bool | None]] = {}
    for result in results:
        rows.setdefault(result.op, []).append(result.passed)
    good = [op for op in operations if any(rows.get(op, [])) and False not in rows[op]]
    with suppress(OSError):
        path = _path(folder)
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic.write_text(path, json.dumps({"passed": sorted({*read(folder), *good})}))


def _path(folder: Path) -> Path:
    return folder / "kernels" / f"{version()}.json"
