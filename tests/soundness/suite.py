"""The soundness suite: facts of published tables and textbooks, true and changed, at several precisions.

``python -m soundness.suite`` (``make soundness``) decides every statement of ``tables``, and variants that
``evaluate`` sees to be false, and fails on a false proved, certified, refuted or ill-posed at any setting, or
where a tenth or more of the true statements stay inconclusive. It writes ``score.json`` with ``--write``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from soundness.evaluate import CannotSay, fails
from soundness.mutants import false_variants

from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Decision, Reading, Settings
from gateproof.proofs_check.runner import run

HERE = Path(__file__).resolve().parent
TABLES, SCORE = HERE / "tables", HERE / "score.json"
#: The decider that the workers import: the engine, without the search for true statements beside false ones.
DECIDER = "soundness.suite:decided"
SETTINGS = {
    "low": Settings(max_bits=64, boxes=500, wall_seconds=10),
    "default": Settings(wall_seconds=20),
    "high": Settings(max_bits=2048, boxes=40_000, digits=30, seed=5, wall_seconds=20),
}
#: Every so many statements are decided with the high setting.
HIGH = 4
MOST_INCONCLUSIVE = 0.1
HOLDS, FAILS = ("proved", "certified"), ("refuted",)


@dataclass(frozen=True)
class Case:
    """A statement with its table, source and truth."""

    table: str
    source: str
    text: str
    true: bool


def decided(reading: Reading, settings: Settings) -> Decision:
    """The engine's decision."""
    return decide(reading, settings)


def statements() -> list[Case]:
    """Those of the tables, all true."""
    found = []
    for path in sorted(TABLES.glob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                source, _, text = line.partition(" | ")
                found.append(Case(path.stem, source, text.strip(), true=True))
    return found


def mistyped(cases: Sequence[Case]) -> list[Case]:
    """Statements that numbers contradict: the table is wrong here, not the engine."""
    return [c for c in cases if _clearly_false(c.text)]


def _clearly_false(text: str) -> bool:
    try:
        return fails(text) is True
    except CannotSay:
        return False


def changed(cases: Sequence[Case], each: int, seed: int) -> list[Case]:
    """Variants that are false by numbers."""
    return [
        Case(c.table, c.source, text, true=False)
        for c in cases
        for text in false_variants(c.text, each, seed)
    ]


def wrong(case: Case, verdict: str) -> bool:
    """Whether a verdict is false: of a true statement anything but proved, certified or undecided."""
    if case.true:
        return verdict not in (*HOLDS, "inconclusive")
    return verdict in HOLDS


def decide_all(cases: Sequence[Case], settings: Settings, jobs: int) -> list[Decision]:
    """Decisions in the order of the cases."""
    readings = [Reading(c.source, c.text) for c in cases]
    return [r.decision for r in run(readings, settings, jobs=jobs, decider=DECIDER).results]


def made_from() -> str:
    """The sha256 of the tables and of what changes and tests them."""
    parts = [
        p.read_bytes() for p in (*sorted(TABLES.glob("*.txt")), HERE / "mutants.py", HERE / "evaluate.py")
    ]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def _row(cases: Sequence[Case], decisions: Sequence[Decision]) -> dict[str, int]:
    found = Counter(d.verdict for d in decisions)
    found["wrong"] = sum(wrong(c, d.verdict) for c, d in zip(cases, decisions, strict=True))
    return {"statements": len(cases), **dict(sorted(found.items()))}


def _of_table(
    table: str, cases: Sequence[Case], decisions: Sequence[Decision]
) -> tuple[list[Case], list[Decision]]:
    pairs = [(c, d) for c, d in zip(cases, decisions, strict=True) if c.table == table]
    return [c for c, _ in pairs], [d for _, d in pairs]


def main(words: Sequence[str] | None = None) -> int:
    """Run the suite; 0 where nothing is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write score.json")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--each", type=int, default=1, help="changed variants of a statement")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(words)
    began = time.monotonic()
    true = statements()
    faults = [f"mistyped: {c.source}: {c.text}" for c in mistyped(true)]
    false = changed(true, options.each, options.seed)
    print(
        f"{len(true)} true statements, {len(false)} changed ones ({time.monotonic() - began:.0f} s)",
        flush=True,
    )
    score: dict[str, object] = {"made from": made_from(), "seed": options.seed}
    undecided = 0.0
    for name, settings in SETTINGS.items():
        for kind, cases in (("true", true), ("changed", false)):
            some = cases[::HIGH] if name == "high" else cases
            decisions = decide_all(some, settings, options.jobs)
            faults += [
                f"{name}: {c.source}: {c.text}: {d.verdict} {d.reason}"
                for c, d in zip(some, decisions, strict=True)
                if wrong(c, d.verdict)
            ]
            score[f"{name}, {kind}"] = _row(some, decisions)
            print(
                f"{name:8} {kind:8} {score[f'{name}, {kind}']}  ({time.monotonic() - began:.0f} s)",
                flush=True,
            )
            if name == "default" and kind == "true":
                undecided = sum(d.verdict == "inconclusive" for d in decisions) / len(some)
                score["by table"] = {
                    table: _row(*_of_table(table, some, decisions))
                    for table in sorted({c.table for c in some})
                }
    score["inconclusive, default"] = f"{100 * undecided:.1f} %"
    print(f"inconclusive of the true ones: {100 * undecided:.1f} %; {len(faults)} wrong")
    print("\n".join(faults))
    if options.write and not faults:
        SCORE.write_text(json.dumps(score, indent=2) + "\n", encoding="utf-8")
    return 1 if faults or undecided >= MOST_INCONCLUSIVE else 0


if __name__ == "__main__":
    sys.exit(main())
