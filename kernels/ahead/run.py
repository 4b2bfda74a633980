"""Compiles the cases that are asked for."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from fnmatch import fnmatchcase

from gateproof.kernels.ahead.cases import TYPES, Case, cases, launches
from gateproof.kernels.ahead.counts import counts
from gateproof.kernels.ahead.table import Row
from gateproof.kernels.ahead.targets import compiled, missing, target


def version() -> str:
    """The version of Triton that compiles."""
    import triton

    found: str = triton.__version__
    return found


def names() -> list[str]:
    """What can be asked for."""
    return list(dict.fromkeys(case.name.split()[0] for case in cases()))


def selected(patterns: Sequence[str]) -> list[Case]:
    """The cases whose name, or its first word, matches one of the patterns; all of them for none."""
    return [
        case
        for case in cases()
        if not patterns
        or any(fnmatchcase(name, p) for p in patterns for name in (case.name, case.name.split()[0]))
    ]


def rows(
    patterns: Sequence[str], architectures: Sequence[str], types: Sequence[str] = tuple(TYPES), jobs: int = 1
) -> Iterator[Row]:
    """The rows of the cases, in their order, each as soon as it is there."""
    work = [(c.name, kind, arch) for arch in architectures for c in selected(patterns) for kind in types]
    if jobs == 1 or len(work) == 1:
        for name, kind, arch in work:
            yield from _of(name, kind, arch)
        return
    # Started anew: a fork would inherit the compiler's threads.
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        for found in pool.map(_of, *zip(*work, strict=True)):
            yield from found


def _of(name: str, kind: str, architecture: str) -> list[Row]:
    case = next(c for c in cases() if c.name == name)
    lacking = missing(architecture)
    found = []
    for direction, launch in launches(case, kind, target(architecture).warp_size):
        result = None if lacking else counts(compiled(launch, architecture))
        found.append(Row(architecture, name, direction, kind, result, lacking))
    return found
