"""What a run says to tg.steps, tg.compute, tg.width, tg.wallclock and tg.family, and its tables."""

from __future__ import annotations

from collections.abc import Sequence

from gateproof.kernels.runs.experiment import Cell, Finding, Interval, Row, Summary
from gateproof.kernels.runs.statistics import holm, mean_interval, paired_difference, seeds_for
from gateproof.kernels.runs.tg_training_parts.compare import decided, ratio, ratio_of_all, scaled
from gateproof.kernels.runs.tg_training_parts.results import AGAIN, Results, results
from gateproof.kernels.runs.tg_training_parts.settings import Settings

#: Points of accuracy that tg.width allows.
HALF = 0.5
DENSE, EQUAL, GATED = "silu x1", "silu x2", "TG_W x1"
#: Dense network, then what is compared with it.
COMPARED = {
    DENSE: (GATED, "TG_W x1 drawn", "TG_A x1", EQUAL, AGAIN),
    "gelu x1": ("TG_W x1 from gelu",),
    "relu x1": (GATED, "relu x2"),
}
_Intervals = dict[str, Interval]


def summarise(settings: Settings, rows: Sequence[Row]) -> Summary:
    """All tables and findings that the rows are enough for."""
    found = results(rows, settings.images.training.steps)
    budget = settings.images.training.steps
    steps, notes = _steps(found, budget)
    tables = {
        "steps": steps,
        "accuracy": _accuracy(found),
        "widths": _widths(found),
        "families": _families(found),
    }
    shown = [*_images(settings, found, budget), *_strips(settings, found)]
    notes = [
        "steps: the dense network's first step at its own final accuracy over the arm's",
        f"all: its whole schedule over the arm's, above 1 also for the same network by chance ({AGAIN})",
        "lo, hi: Student's where every training was there in time, else of the median by order statistics",
        f"seeds_half: pairs that tell {HALF} points from 0 with power 0.8, by the spread seen",
        "p: two-sided sign flips of Gehan's scores, adjusted by Holm over the table",
        "step times are of plain PyTorch operations on this CPU, one thread",
        *notes,
    ]
    return Summary({k: v for k, v in tables.items() if v}, shown, notes)


def _steps(found: Results, budget: int) -> tuple[list[Row], list[str]]:
    compared = {
        (base, arm): both
        for base, arms in COMPARED.items()
        for arm in arms
        if (both := ratio(found, base, base, arm, budget)) is not None
    }
    adjusted = holm({f"{b}/{a}": r.p for (b, a), r in compared.items()}).adjusted if compared else {}
    rows: list[Row] = []
    notes: list[str] = []
    for (base, arm), one in compared.items():
        end = decided(one)
        whole = ratio_of_all(found, base, arm, budget)
        cost, own = found.counts.get(_arm(arm)), found.counts[base]
        factor = own[1] / cost[1] if cost else None
        times = (found.step_time(base), found.step_time(_arm(arm)))
        rows.append(
            {
                "dense": base,
                "arm": arm,
                "steps": one.ratio,
                "word": one.word,
                "lo": end.lo,
                "hi": end.hi,
                "p_holm": adjusted[f"{base}/{arm}"],
                "reached": one.both + one.only_b,
                "pairs": one.both + one.only_a + one.only_b + one.neither,
                "all": None if whole is None else whole.ratio,
                "multiply_adds": None if factor is None else one.ratio * factor,
                "time": None if None in times else one.ratio * times[0] / times[1],  # type: ignore[operator]
            }
        )
        notes += [f"{arm} against {base}: {n}" for n in one.notes if "cut off" in n]
    return rows, notes


def _arm(name: str) -> str:
    return DENSE if name == AGAIN else name


def _accuracy(found: Results) -> list[Row]:
    rows: list[Row] = []
    for arm, curves in found.curves.items():
        tests = _tests(found, arm, list(curves))
        if len(tests) < 2:
            continue
        end, (parameters, macs) = mean_interval(tests), found.counts[_arm(arm)]
        seconds = found.step_time(_arm(arm))
        rows.append(
            {
                "arm": arm,
                "parameters": parameters,
                "multiply_adds": macs,
                "step_seconds": seconds,
                "test": sum(tests) / len(tests),
                "lo": end.lo,
                "hi": end.hi,
                "seeds": len(tests),
            }
        )
    return rows


def _tests(found: Results, arm: str, seeds: Sequence[int]) -> list[float]:
    ends = [found.curves[arm][s].test for s in seeds]
    return [e for e in ends if e is not None]


def _gain(found: Results, arm: str, than: str) -> tuple[Row, Interval] | None:
    """Points of final accuracy over pairs."""
    seeds = found.paired(arm, than)
    if len(seeds) < 2:
        return None
    both = paired_difference(_tests(found, arm, seeds), _tests(found, than, seeds))
    row: Row = {"arm": arm, "than": than} | both.row()
    few = 0 < both.sd < 100 * HALF
    return {**row, "seeds_half": seeds_for(HALF, both.sd) if few else None}, both.interval


def _widths(found: Results) -> list[Row]:
    pairs = [(GATED, f"relu x{h}") for h in (1, 2, 3)] + [(GATED, EQUAL), ("TG_A x1", DENSE), (AGAIN, DENSE)]
    return [g[0] for a, b in pairs if (g := _gain(found, a, b)) is not None]


def _families(found: Results) -> list[Row]:
    rows: list[Row] = []
    for (family, width), errors in found.errors.items():
        base = found.errors.get(("baseline", width), {})
        seeds = sorted(set(errors) & set(base))
        if len(seeds) < 2:
            continue
        row: dict[str, Cell] = {"width": width, "family": family}
        row |= {
            "error": sum(errors[s] for s in seeds) / len(seeds),
            "diverged": found.diverged[family, width],
        }
        same = family == "baseline"
        both = None if same else paired_difference([errors[s] for s in seeds], [base[s] for s in seeds])
        columns = ("mean", "lo", "hi", "sd", "p", "p_smallest")
        row |= dict.fromkeys(columns) if both is None else {c: both.row()[c] for c in columns}
        rows.append(row | {"n": len(seeds)})
    return sorted(rows, key=lambda r: (int(str(r["width"])), str(r["family"])))


def _record(settings: Settings, name: str) -> str:
    return f"{name}.{settings.scale}" if settings.scale else name


def _images(settings: Settings, found: Results, budget: int) -> list[Finding]:
    run, seeds = settings.images, found.paired(DENSE, GATED)
    about = f"ResMLPs on {run.data}, {run.blocks} blocks of {run.width} channels, {budget} steps"
    ranges = {"data": run.data, "steps": str(budget), "evaluated every": f"{run.training.every} steps"}
    said: dict[str, tuple[_Intervals, dict[str, float | int]]] = {}
    own = ratio(found, DENSE, DENSE, GATED, budget)
    again, equal = ratio(found, DENSE, DENSE, AGAIN, budget), ratio(found, DENSE, EQUAL, GATED, budget)
    whole = {
        name: r
        for name, arm in (("all", GATED), ("again", AGAIN))
        if (r := ratio_of_all(found, DENSE, arm, budget)) is not None
    }
    if own is not None:
        intervals = {"ratio": decided(own)} | {name: decided(r) for name, r in whole.items()}
        if again is not None:
            intervals["placebo"] = decided(again)
        said["tg.steps"] = intervals, {"censored": own.only_a + own.neither}
        macs = found.counts[DENSE][1] / found.counts[GATED][1]
        compute = {"macs": scaled(decided(own), macs)}
        if equal is not None:
            compute["equal"] = decided(equal)
        if (gain := _gain(found, GATED, EQUAL)) is not None:
            compute["accuracy"] = gain[1]
        counts: dict[str, float | int] = {
            f"parameters_{name}": found.counts[arm][0]
            for name, arm in (("gated", GATED), ("equal", EQUAL))
            if arm in found.counts
        }
        said["tg.compute"] = compute, counts
        times = found.step_time(DENSE), found.step_time(GATED)
        if times[0] is not None and times[1] is not None:
            factor = times[0] / times[1]
            said["tg.wallclock"] = {"gain": scaled(decided(own), factor)}, {"step_time": 1 / factor}
    gains = {f"gain{h}": g[1] for h in (1, 2, 3) if (g := _gain(found, GATED, f"relu x{h}")) is not None}
    if gains:
        said["tg.width"] = gains, {}
    return [
        Finding(_record(settings, name), about, intervals, numbers, ranges, seeds)
        for name, (intervals, numbers) in said.items()
    ]


def _strips(settings: Settings, found: Results) -> list[Finding]:
    """gapW, slopesW, everywhereW: points above the baseline's error at width W; behindW: above constant's."""
    run, intervals, all_seeds = settings.strips, {}, set[int]()
    for width in run.widths:
        for name, family, than in (
            ("gap", "multiplicative", "baseline"),
            ("slopes", "slopes", "baseline"),
            ("everywhere", "slopes everywhere", "baseline"),
            ("behind", "multiplicative", "constant"),
            ("constant", "constant", "baseline"),
        ):
            one, other = (found.errors.get((f, width), {}) for f in (family, than))
            seeds = sorted(set(one) & set(other))
            if len(seeds) >= 2:
                all_seeds |= set(seeds)
                both = paired_difference([one[s] for s in seeds], [other[s] for s in seeds])
                intervals[f"{name}{width}"] = both.interval
    if not intervals:
        return []
    about = f"LSTMs of {', '.join(map(str, run.widths))} units that read strips of {run.length} digits"
    ranges = {"test strips": str(run.tests), "steps": str(run.training.steps)}
    lost = {f"diverged_{f.replace(' ', '_')}{w}": n for (f, w), n in found.diverged.items() if n}
    return [Finding(_record(settings, "tg.family"), about, intervals, lost, ranges, sorted(all_seeds))]
