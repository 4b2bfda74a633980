"""The tables of a summary: arms, projections, times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gateproof.kernels.runs.experiment import Row
from gateproof.kernels.runs.statistics import Paired, holm, paired_ratio
from gateproof.kernels.runs.two_sided_parts.compared import (
    Found,
    Trained,
    against_dense,
    arms,
    column,
    end,
    loss,
    mean,
)


def arms_table(found: Found, families: Sequence[str]) -> list[Row]:
    """An arm a row: means over its seeds, and its paired difference in loss with the dense one."""
    rows: list[dict[str, Any]] = []
    for family in families:
        for name in arms(found, family):
            trained = list(found[family, name].values())
            both = None if name == "dense" else against_dense(found, family, name)
            rows.append(
                {
                    "family": family,
                    "arm": name,
                    "n": len(trained),
                    "target": _target(trained),
                    "zeros": mean([end(t, "zero_rate") for t in trained]),
                    "loss": mean(column(loss, trained)),
                    "loss_minus_dense": None if both is None else both.loss.mean,
                    "lo": None if both is None else both.loss.interval.lo,
                    "hi": None if both is None else both.loss.interval.hi,
                    "perplexity_percent": None if both is None else both.perplexity.mean,
                    "fewer_events": None if both is None else both.events.mean,
                    "fewer_operations": None if both is None else both.operations.mean,
                    "at_equal_operations": None if both is None else both.equal_operations.mean,
                    "p": None if both is None else both.loss.p,
                    "p_smallest": None if both is None else both.loss.p_smallest,
                    "weight": mean([end(t, "weight") for t in trained]),
                }
            )
    tested = {f"{r['family']} {r['arm']}": r["p"] for r in rows if r["p"] is not None}
    adjusted = holm(tested).adjusted if tested else {}
    return [r | {"p_holm": adjusted.get(f"{r['family']} {r['arm']}")} for r in rows]


def _target(trained: Sequence[Trained]) -> float | None:
    given = [t["end"][0]["target"] for t in trained]
    return None if any(g is None for g in given) else mean(given)  # type: ignore[arg-type]


def projections_table(found: Found, families: Sequence[str]) -> list[Row]:
    """A projection of an arm a row: its rate of zeros over the batches of all seeds, and their range."""
    rows: list[Row] = []
    for family in families:
        for name in arms(found, family):
            seen: dict[str, list[Row]] = {}
            for trained in found[family, name].values():
                for r in trained.get("batch", []):
                    seen.setdefault(str(r["projection"]), []).append(r)
            for projection, batches in seen.items():
                rates = [float(r["zero_rate"]) for r in batches]  # type: ignore[arg-type]
                deltas = [r["delta"] for r in batches]
                rows.append(
                    {
                        "family": family,
                        "arm": name,
                        "projection": projection,
                        "batches": len(rates),
                        "zeros": mean(rates),
                        "least": min(rates),
                        "most": max(rates),
                        "delta": None if None in deltas else mean(deltas),  # type: ignore[arg-type]
                    }
                )
    return rows


def times_table(found: Found, families: Sequence[str]) -> list[Row]:
    """Time of the consumer that skips zeros over that of the dense product, below 1 where it wins."""
    rows: list[Row] = []
    for family in families:
        for name in arms(found, family):
            for tokens, (ratio, zeros) in times(found, family, name).items():
                rows.append(
                    {
                        "family": family,
                        "arm": name,
                        "tokens": tokens,
                        "zeros": zeros,
                        "sparse_over_dense": None if ratio is None else ratio.mean,
                        "lo": None if ratio is None else ratio.interval.lo,
                        "hi": None if ratio is None else ratio.interval.hi,
                        "n": 0 if ratio is None else ratio.n,
                    }
                )
    return rows


def times(found: Found, family: str, name: str) -> dict[int, tuple[Paired | None, float]]:
    """By tokens: the ratio of total times over seeds, and the rate of zeros."""
    by_tokens: dict[int, list[tuple[float, float, float]]] = {}
    for trained in found.get((family, name), {}).values():
        parts: dict[int, list[Any]] = {}
        for r in trained.get("timing", []):
            parts.setdefault(int(r["tokens"]), []).append(r)  # type: ignore[arg-type]
        for tokens, own in parts.items():
            sums = [sum(r[c] for r in own) for c in ("sparse_seconds", "dense_seconds", "zero_rate")]
            by_tokens.setdefault(tokens, []).append((sums[0], sums[1], sums[2] / len(own)))
    made = {}
    for tokens, all_ in sorted(by_tokens.items()):
        sparse, dense, zeros = zip(*all_, strict=True)
        made[tokens] = (paired_ratio(sparse, dense) if len(all_) > 1 else None, mean(zeros))
    return made
