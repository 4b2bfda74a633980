"""Real pre-activations as a distribution of inputs: samples, or bins with counts.

NPY: samples, an array of any shape. CSV (and the like): one column of samples, or three columns, left edge,
right edge and count of each bin. In Python also an array of samples, or what ``numpy.histogram`` gives.
Within a bin inputs are spread evenly.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gateproof.numerics.fits.data_read import BYTES, load_array, read_table
from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.measure import Measure
from gateproof.numerics.fits.target import RefusedTarget, Target

#: Bins, and samples (of 64 MB in half precision), that are taken.
MOST_BINS, MOST_SAMPLES = 4096, 32_000_000


def of_histogram(given: Any, target: Target) -> Measure:
    """The distribution of a file or of arrays, within the target's domain. Raises RefusedTarget."""
    name = str(given) if isinstance(given, str | Path) else "the histogram"
    if isinstance(given, str | Path):
        found = _of_file(Path(given))
    else:
        found = given
    if isinstance(found, tuple):
        return _of_bins(*_edges(found, name), target, name)
    return _of_samples(np.asarray(found), target, name)


def _of_file(path: Path) -> Any:
    if path.suffix.lower() == ".npy":
        if path.is_file() and path.stat().st_size > BYTES:
            raise RefusedTarget(f"{path}: more than {BYTES // 10**6} MB; take a part of the samples")
        return load_array(path)
    table = read_table(path)
    if len(table.columns) == 1:
        return table.columns[0]
    if len(table.columns) != 3:
        raise RefusedTarget(
            f"{path}: {len(table.columns)} columns; give one, samples, or three: left edge, right edge, count"
        )
    lo, hi, count = table.columns
    bad = np.flatnonzero(~np.isfinite(table.columns).all(axis=0))
    if len(bad):
        raise RefusedTarget(f"{path}: line {table.lines[bad[0]]}: an edge or count is missing, or infinite")
    order = np.argsort(lo, kind="stable")
    lo, hi, count = lo[order], hi[order], count[order]
    apart = np.abs(hi[:-1] - lo[1:]) > 1e-9 * np.maximum(np.abs(hi[:-1]), hi[1:] - lo[:-1])
    if (hi <= lo).any() or (apart & (hi[:-1] > lo[1:])).any():
        raise RefusedTarget(
            f"{path}: bins overlap, or have no width; columns are left edge, right edge, count"
        )
    edges, counts = [lo[0]], list[float]()
    for a, b, n in zip(lo, hi, count, strict=True):
        if a > edges[-1] and a - edges[-1] > 1e-9 * max(abs(a), b - a):
            edges, counts = [*edges, a], [*counts, 0.0]
        edges.append(b)
        counts.append(n)
    return np.array(edges), np.array(counts)


def _edges(given: tuple[Any, ...], name: str) -> tuple[Array, Array]:
    try:
        a, b = (np.asarray(part, dtype=np.float64) for part in given)
    except (ValueError, TypeError):
        raise RefusedTarget(f"{name}: edges and counts are expected, as numpy.histogram gives them") from None
    edges, counts = (a, b) if len(a) == len(b) + 1 else (b, a)
    if edges.ndim != 1 or counts.ndim != 1 or len(edges) != len(counts) + 1 or len(counts) < 1:
        raise RefusedTarget(f"{name}: n bins have n + 1 edges; found {len(a)} and {len(b)} numbers")
    return edges, counts


def _of_bins(edges: Array, counts: Array, target: Target, name: str) -> Measure:
    if not (np.isfinite(edges).all() and np.isfinite(counts).all()):
        raise RefusedTarget(f"{name}: an edge or count is not finite")
    if len(counts) > MOST_BINS:
        raise RefusedTarget(f"{name}: {len(counts)} bins, {MOST_BINS} at most; make them wider")
    if (np.diff(edges) <= 0).any():
        raise RefusedTarget(f"{name}: edges must ascend")
    if (counts < 0).any() or not counts.sum() > 0:
        raise RefusedTarget(f"{name}: counts must not be negative, and not all 0")
    heights = counts / np.diff(edges) / (counts.sum() / (edges[-1] - edges[0]))
    lo = -np.inf if target.lo is None else float(target.lo)
    hi = np.inf if target.hi is None else float(target.hi)
    if not ((edges[1:] > lo) & (edges[:-1] < hi) & (counts > 0)).any():
        raise RefusedTarget(f"{name}: no bin with a count meets {target.domain}")

    def density(x: Array) -> Array:
        place = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, len(heights) - 1)
        return np.where((x >= edges[0]) & (x <= edges[-1]), heights[place], 0.0)

    text = f"{len(counts)} bins of {name}"
    notes = (f"inputs outside of {target.domain} are left out",) if edges[0] < lo or edges[-1] > hi else ()
    return Measure("bins", text, density, tuple(edges.tolist()), notes=notes)


def _of_samples(given: Any, target: Target, name: str) -> Measure:
    if given.dtype.kind not in "iuf":
        raise RefusedTarget(f"{name}: values of type {given.dtype}; real numbers are expected")
    if given.size > MOST_SAMPLES:
        raise RefusedTarget(f"{name}: {given.size} samples, {MOST_SAMPLES} at most; take a part of them")
    values = given.astype(np.float64).ravel()
    finite = np.isfinite(values)
    notes = []
    if not finite.all():
        notes.append(f"{int((~finite).sum())} of {len(values)} samples are not finite and are left out")
        values = values[finite]
    inside = np.ones(len(values), dtype=bool)
    if target.lo is not None:
        inside &= values >= float(target.lo)
    if target.hi is not None:
        inside &= values <= float(target.hi)
    if not inside.all():
        notes.append(f"{int((~inside).sum())} of {len(values)} samples lie outside of {target.domain}")
        values = values[inside]
    x, counts = np.unique(values, return_counts=True)
    if len(x) < 2:
        raise RefusedTarget(f"{name}: {len(x)} different samples in {target.domain}; give two or more")
    weight = counts / counts.sum()
    return Measure("points", f"{len(values)} samples of {name}", None, x=x, weight=weight, notes=tuple(notes))
