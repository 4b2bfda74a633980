"""What the rows of the experiment ``depth`` say together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, inf, log, log2
from typing import Any

from gateproof.kernels.runs.depth_parts.criterion import TrainableDepth, trainable_depth
from gateproof.kernels.runs.depth_parts.gates import periodic, residual
from gateproof.kernels.runs.depth_parts.setting import Settings
from gateproof.kernels.runs.depth_parts.slope import log_slope
from gateproof.kernels.runs.experiment import Cell, Finding, Interval, Row, Summary
from gateproof.kernels.runs.statistics import (
    better_predictor,
    holm,
    paired_difference,
    rank_correlation,
)

#: Predictors of an activation's depth, by their columns; of kappa the law says that depth falls with it.
DEEPER = ("beta_q", "told_apart", "xi_q")
SHALLOWER = ("gate", "inflection", "extremum", "largest", "gaussian", "matched")
#: Fewer activations give no correlation.
_FEWEST = 5


@dataclass
class Trained:
    """One activation or variance: what theory says of it, and its trainable depth for each seed."""

    about: Mapping[str, Cell]
    depths: dict[int, TrainableDepth] = field(default_factory=dict)

    @property
    def mean(self) -> float:
        """The geometric mean over seeds, in layers."""
        return exp(sum(log(d.value) for d in self.depths.values()) / len(self.depths))

    def number(self, column: str) -> float | None:
        """What theory says, where it says a number."""
        value = self.about.get(column)
        return None if value is None or isinstance(value, str) else float(value)

    def row(self) -> dict[str, Cell]:
        """Mean, least and most over seeds, how many are censored."""
        values = [d.value for d in self.depths.values()]
        return {
            "depth": self.mean,
            "least": min(values),
            "most": max(values),
            "censored": sum(bool(d.censored) for d in self.depths.values()),
        }


def summarise(settings: Settings, rows: Sequence[Row]) -> Summary:
    """Tables, findings and notes."""
    share, scale = settings.training.share, settings.scale
    tables: dict[str, Sequence[Row]] = {}
    findings: list[Finding] = []
    edge = trained(rows, "edge", share)
    phase = {(a, n, r): t for (a, n, r), t in trained(rows, "phase", share).items()}
    tables["activations"] = [_activation(t) for t in edge.values()]
    tables["phase"] = [_phase(key, t) for key, t in phase.items()]
    compared, intervals, numbers = predictors(edge, phase)
    tables["predictors"] = compared
    if intervals:
        about = "trainable depth of networks at their start, beside what predicts it"
        findings.append(Finding(
            f"tg.depth.{scale}", about, intervals, numbers, _ranges(settings), settings.edge.seeds
        ))  # fmt: skip
    pairs, third = _third_branch(edge)
    tables["third branch"] = pairs
    if third:
        about = "log2 of the trainable depth, three branches less two, paired by seed"
        findings.append(Finding(
            f"tg.depth.k2.{scale}", about, third, {}, _ranges(settings), settings.edge.seeds
        ))  # fmt: skip
    for make in (periodic, residual):
        made, found = make(settings, rows)
        tables |= made
        findings += found
    notes = [
        f"trained: loss at most {share:g} log 10 nats after {settings.training.steps} steps, for some rate",
        "correlations are over activations of the group zoo, p by permutation, Holm over all predictors",
        "intervals of claims are of one reading each, at 95 %, not adjusted for their number",
    ]
    return Summary({k: v for k, v in tables.items() if v}, findings, notes)


def trained(rows: Sequence[Row], part: str, share: float) -> dict[tuple[str, str, float], Trained]:
    """(activation, network, ratio) -> its trainable depths, in the order of the rows."""
    found: dict[tuple[str, str, float], Trained] = {}
    losses: dict[tuple[Any, ...], dict[int, float]] = defaultdict(dict)
    for row in rows:
        if row.get("part") != part:
            continue
        key = (str(row["activation"]), str(row.get("network") or ""), float(row.get("ratio") or 1))
        if row["row"] == "theory":
            found[key] = Trained(row)
            continue
        each, depth, loss = losses[(key, row["seed"])], int(row["depth"] or 0), row["loss"]
        # min() with NaN keeps its first argument.
        each[depth] = min(each.get(depth, inf), inf if loss is None else float(loss))
    for (key, seed), each in losses.items():
        if key in found:
            found[key].depths[seed] = trainable_depth(each, share)
    return {key: t for key, t in found.items() if t.depths}


def _activation(t: Trained) -> dict[str, Cell]:
    columns = ("activation", "group", "kind", "sigma_w2", "sigma_b2", "beta_q", "told_apart", "xi_q")
    kappas = [f"kappa_{k}" for k in SHALLOWER]
    return {c: t.about.get(c) for c in columns} | t.row() | {c: t.about.get(c) for c in kappas}


def _phase(key: tuple[str, str, float], t: Trained) -> dict[str, Cell]:
    xi = t.number("xi_c")
    return {
        "activation": key[0],
        "network": key[1],
        **{c: t.about.get(c) for c in ("ratio", "sigma_w2", "chi_1", "xi_q", "xi_c")},
        **t.row(),
        "depth / xi_c": None if xi is None or xi == inf or key[1] != "plain" else t.mean / xi,
    }


def predictors(
    edge: Mapping[Any, Trained], phase: Mapping[Any, Trained]
) -> tuple[list[Row], dict[str, Interval], dict[str, float | int]]:
    """Rank correlations of each predictor with the trainable depth; the table, intervals, numbers."""
    zoo = [t for t in edge.values() if t.about.get("group") == "zoo"]
    off = [t for (_, network, ratio), t in phase.items() if network == "plain" and ratio != 1]
    tries: list[tuple[str, str, str, list[Trained], Callable[[Trained], float | None]]] = []
    tries += [("edge", c, c, zoo, _reader(c, 1)) for c in DEEPER]
    tries += [("edge", c, f"1/kappa^2, {c}", zoo, _reader(f"kappa_{c}", -1)) for c in SHALLOWER]
    tries += [("phase", f"{c}_phase", c, off, _reader(c, 1)) for c in ("xi_c", "xi_q")]
    intervals: dict[str, Interval] = {}
    ps: dict[str, float] = {}
    rows: list[dict[str, Cell]] = []
    for where, name, words, cases, read in tries:
        known = [(read(t), t.mean) for t in cases]
        pairs = [(x, y) for x, y in known if x is not None]
        x, y = [p[0] for p in pairs], [p[1] for p in pairs]
        if len(pairs) < _FEWEST or len(set(x)) < 2 or len(set(y)) < 2:
            continue
        rho, tau = rank_correlation(x, y), rank_correlation(x, y, method="kendall")
        intervals[name], ps[name] = rho.interval, rho.p
        rows.append({
            "where": where, "predictor": words, "n": rho.n, "rho": rho.value, "lo": rho.interval.lo,
            "hi": rho.interval.hi, "tau": tau.value, "p": rho.p, "name": name,
        })  # fmt: skip
    if not ps:
        return [], {}, {}
    adjusted = holm(ps).adjusted
    table: list[Row] = [
        {k: v for k, v in row.items() if k != "name"} | {"p_holm": adjusted[str(row["name"])]} for row in rows
    ]
    both = [
        (b, -k, t.mean) for t in zoo
        if (b := t.number("beta_q")) is not None and (k := t.number("kappa_inflection")) is not None
    ]  # fmt: skip
    if len(both) >= _FEWEST:
        beta, kappa, depth = zip(*both, strict=True)
        intervals["beta_over_inflection"] = better_predictor(beta, kappa, depth).interval
    law = [(k, t.mean) for t in zoo if (k := t.number("kappa_inflection"))]
    if len(law) >= _FEWEST:
        intervals["exponent"] = log_slope([k for k, _ in law], [d for _, d in law])
    return table, intervals, {f"p_holm_{name}": p for name, p in adjusted.items()}


def _reader(column: str, sign: int) -> Callable[[Trained], float | None]:
    def read(t: Trained) -> float | None:
        value = t.number(column)
        return None if value is None else sign * value

    return read


def _third_branch(edge: Mapping[Any, Trained]) -> tuple[list[Row], dict[str, Interval]]:
    by = {str(t.about["activation"]): t for t in edge.values()}
    table: list[Row] = []
    intervals: dict[str, Interval] = {}
    for name, two, three in (("third", "tanh", "constant K=3"), ("third_gelu", "gelu K=2", "gelu K=3")):
        if two not in by or three not in by:
            continue
        seeds = sorted(by[two].depths.keys() & by[three].depths.keys())
        if len(seeds) < 2:
            continue
        a, b = ([log2(by[who].depths[s].value) for s in seeds] for who in (three, two))
        found = paired_difference(a, b)
        intervals[name] = found.interval
        table.append({"three": three, "two": two, "unit": "log2 depth", **found.row()})
    return table, intervals


def _ranges(settings: Settings) -> dict[str, str]:
    t, e = settings.training, settings.edge
    return {
        "networks": f"{len(e.activations)} activations, width {t.width}, depths {e.depths[0]} to"
        f" {e.depths[-1]}, sigma_b^2 = {e.sigma_b2:g} or the nearest that is reachable",
        "training": f"{t.count or 'all'} images of {t.images}, batch {t.batch}, {t.steps} steps, rates"
        f" {', '.join(f'{r:g}' for r in t.rates)} over the tangent kernel",
    }  # fmt: skip
