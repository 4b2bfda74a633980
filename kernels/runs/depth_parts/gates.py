"""What the rows of the parts ``periodic`` and ``scan`` say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean

from gateproof.kernels.runs.depth_parts.setting import Settings
from gateproof.kernels.runs.experiment import Cell, Finding, Interval, Row
from gateproof.kernels.runs.statistics import Paired, paired_difference, paired_percent

_NAMES = {2: "two", 3: "three", 4: "four"}
_TASKS = {
    "within": ("loss_", "test loss, percent above that of sin", paired_percent),
    "beyond": ("picture_", "dB above sin", paired_difference),
}

Made = tuple[dict[str, Sequence[Row]], list[Finding]]


def periodic(settings: Settings, rows: Sequence[Row]) -> Made:
    """Each activation against sin, paired by seed."""
    quality: dict[tuple[str, str], dict[int, Row]] = defaultdict(dict)
    for row in rows:
        if row.get("part") == "periodic":
            quality[str(row["task"]), str(row["activation"])][int(row["seed"] or 0)] = row
    branches = {u.label: u.branches for u in settings.periodic.activations}
    table: list[Row] = []
    intervals: dict[str, Interval] = {}
    for (task, label), each in quality.items():
        base = quality.get((task, "sin"), {})
        seeds = sorted(each.keys() & base.keys())
        name, unit, compare = _TASKS[task]
        line: dict[str, Cell] = {
            "task": task,
            "activation": label,
            "quality": fmean(_cell(each[s], "quality") for s in each),
            "percent outside": fmean(_cell(each[s], "outside") for s in each),
            "unit": unit,
        }
        if label != "sin" and len(seeds) > 1:
            found = compare(
                [_cell(each[s], "quality") for s in seeds], [_cell(base[s], "quality") for s in seeds]
            )
            line |= found.row()
            if branches.get(label) in _NAMES:
                intervals[name + _NAMES[branches[label]]] = found.interval
        table.append(line)
    if not intervals:
        return {"periodic": table}, []
    s = settings.periodic
    ranges = {
        "within": f"{s.images}, depth {s.depth}, width {s.width}, {s.steps} steps, from sin's critical point",
        "beyond": f"pictures of {s.pictures}, {s.picture_layers} layers of {s.picture_width}, omega 30",
    }
    about = "gates fitted to sin on [-pi, pi] in its place, less sin, paired by seed"
    return {"periodic": table}, [
        Finding(f"tg.periodic.{settings.scale}", about, intervals, {}, ranges, s.seeds)
    ]


def residual(settings: Settings, rows: Sequence[Row]) -> Made:
    """Steps of accuracy from K to K + 1 branches: of each seed the mean over depths is one number."""
    accuracy: dict[tuple[int, int], dict[int, float]] = defaultdict(dict)
    weights: dict[tuple[int, int], int] = {}
    for row in rows:
        if row.get("part") == "scan":
            key = int(row["branches"] or 0), int(row["depth"] or 0)
            accuracy[key][int(row["seed"] or 0)] = _cell(row, "accuracy")
            weights[key] = int(row["weights"] or 0)
    scan: list[Row] = [
        {
            "branches": k,
            "blocks": d,
            "weights": weights[k, d],
            "accuracy": fmean(each.values()),
            "n": len(each),
        }
        for (k, d), each in sorted(accuracy.items())
    ]
    table: list[Row] = []
    intervals: dict[str, Interval] = {}
    for low, high in ((1, 2), (2, 3)):
        for depths in ([d] for d in (*settings.scan.depths, 0)):
            which = list(settings.scan.depths) if depths == [0] else depths
            found = _step(accuracy, low, high, which)
            if found is None:
                continue
            where = "all" if depths == [0] else str(depths[0])
            table.append({"step": f"{low} to {high}", "blocks": where, "unit": "points", **found.row()})
            if where == "all":
                intervals[f"step{low}{high}"] = found.interval
    if len(intervals) < 2:
        return {"scan": scan, "branches": table}, []
    s = settings.scan
    ranges = {
        "networks": f"residual, dense layers of width {s.width}, {', '.join(map(str, s.depths))} blocks",
        "training": f"{s.count or 'all'} images of {s.images}, {s.steps} steps of Adam, batch {s.batch}",
    }
    about = "gain of a branch in points of test accuracy, the mean over depths, paired by seed"
    said = Finding(f"tg.depth.scan.{settings.scale}", about, intervals, {}, ranges, s.seeds)
    return {"scan": scan, "branches": table}, [said]


def _step(
    accuracy: Mapping[tuple[int, int], Mapping[int, float]], low: int, high: int, depths: Sequence[int]
) -> Paired | None:
    sides = [[accuracy.get((k, d), {}) for d in depths] for k in (low, high)]
    seeds = set.intersection(*(set(each) for side in sides for each in side))
    if len(seeds) < 2:
        return None
    before, after = ([fmean(each[s] for each in side) for s in sorted(seeds)] for side in sides)
    return paired_difference(after, before)


def _cell(row: Row, name: str) -> float:
    value = row[name]
    assert isinstance(value, float | int)
    return float(value)
