"""Which operations have passed their check with the code as it is, kept in a folder of the cache."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from gateproof.numerics import atomic

if TYPE_CHECKING:
    from gateproof.kernels.check.result import Result


@cache
def version() -> str:
    """The hash of all code that a check runs, the kernels' included, and of torch and Triton."""
    from gateproof.kernels.runs import keys

    top = {p.name: p.read_text(encoding="utf-8") for p in sorted((keys.PACKAGE / "kernels").glob("*.py"))}
    found = []
    for name in ("torch", "triton", "numpy"):
        with suppress(metadata.PackageNotFoundError):
            found.append([name, metadata.version(name)])
    return keys.digest([keys.closure("gateproof.kernels.check.run"), top, found])


def read(folder: Path | None) -> frozenset[str]:
    """The operations that passed; none without a folder."""
    return frozenset(_kept(folder).get("passed", ()))


def left(folder: Path | None, patterns: Sequence[str]) -> list[str]:
    """The operations that fit a pattern and have not passed; the checks are loaded only if need be."""
    if not patterns:
        return []
    kept = _kept(folder)
    if "all" in kept:
        every = kept["all"]
    else:
        from gateproof.kernels.check.run import names

        every = names()
    idle = [one for one in patterns if not any(fnmatchcase(name, one) for name in every)]
    if idle:
        raise AssertionError(f"{idle[0]}: no operation that is checked has such a name")
    fit = [name for name in every if any(fnmatchcase(name, one) for one in patterns)]
    return [name for name in fit if name not in kept.get("passed", ())]


def _kept(folder: Path | None) -> dict[str, list[str]]:
    if folder is None:
        return {}
    try:
        found = json.loads(_path(folder).read_bytes())
        return {name: [str(one) for one in found[name]] for name in ("passed", "all")}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def note(folder: Path | None, operations: Sequence[str], results: Iterable[Result]) -> None:
    """Keep those of whole checks (all types, in PyTorch and Triton) of which no row failed."""
    if folder is None:
        return
    from gateproof.kernels.check.run import names

    rows: dict[str, list[bool | None]] = {}
    for result in results:
        rows.setdefault(result.op, []).append(result.passed)
    good = [op for op in operations if any(rows.get(op, [])) and False not in rows[op]]
    with suppress(OSError):
        path = _path(folder)
        path.parent.mkdir(parents=True, exist_ok=True)
        failed = {op for op, found in rows.items() if False in found}
        document = {"passed": sorted({*read(folder), *good} - failed), "all": names()}
        atomic.write_text(path, json.dumps(document))


def _path(folder: Path) -> Path:
    return folder / "kernels" / f"{version()}.json"
