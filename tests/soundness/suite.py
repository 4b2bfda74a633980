"""The soundness suite: facts of published tables and textbooks, true and changed, at several precisions.

``python -m soundness.suite`` (``make soundness``) decides every statement of ``tables``, and variants that
``evaluate`` sees to be false or without a value, and fails on a false proved, certified, refuted or ill-posed
at any setting, or where more of the true statements stay inconclusive than ``MOST_INCONCLUSIVE``.
``--variants`` writes ``variants.json``, ``--write`` ``score.json``, of which ``soundness.page`` makes
``docs/soundness.md``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from soundness.evaluate import CannotSay, fails
from soundness.mutants import SECONDS, Variant, false_variants, limited, seen_without_value

from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Decision, Reading, Settings
from gateproof.proofs_check.runner import run

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TABLES, SCORE, VARIANTS = HERE / "tables", HERE / "score.json", HERE / "variants.json"
#: The decider that the workers import: the engine, without the search for true statements beside false ones.
DECIDER = "soundness.suite:decided"
SETTINGS = {
    "default": Settings(wall_seconds=20),
    "low": Settings(max_bits=64, boxes=500, wall_seconds=10),
    "high": Settings(max_bits=2048, boxes=40_000, digits=30, seed=5, wall_seconds=20),
}
#: Every so many statements, and variants, are decided with a setting.
EVERY = {
    "default": {"true": 1, "changed": 2},
    "low": {"true": 12, "changed": 12},
    "high": {"true": 24, "changed": 24},
}
#: ``make soundness`` decides every so many of these.
THIN = 3
#: The aim is a tenth; this holds what is reached.
MOST_INCONCLUSIVE = 0.21
HOLDS, FAILS = ("proved", "certified"), ("refuted",)
#: Entries that are false as they are printed.
PRINTED_WRONG = "printed_wrong"
SOURCES = ("fungrim", "DLMF", "A&S", "GR", "textbook")
#: The sources whose every statement names an entry that was looked up.
LOOKED_UP = ("fungrim", "DLMF")


@dataclass(frozen=True)
class Case:
    """A statement with its table, source and truth; what was changed in it; whether it fails, where false."""

    table: str
    source: str
    text: str
    true: bool
    change: str = ""
    fails: bool = True

    @property
    def group(self) -> str:
        """Its source without the number of the entry; textbook where no table is named, or its number."""
        name, _, number = self.source.partition(" ")
        return name if name in ("fungrim", "A&S", "GR") or (name == "DLMF" and "." in number) else (
            "DLMF, by chapter" if name == "DLMF" else "textbook"
        )  # fmt: skip


def decided(reading: Reading, settings: Settings) -> Decision:
    """The engine's decision."""
    return decide(reading, settings)


def statements() -> list[Case]:
    """Those of the tables; all true but the ones that are printed wrong."""
    found = []
    for path in sorted(TABLES.glob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                source, _, text = line.partition(" | ")
                found.append(Case(path.stem, source, text.strip(), path.stem != PRINTED_WRONG))
    return found


def mistyped(cases: Sequence[Case]) -> list[Case]:
    """Statements whose truth numbers contradict: the table is wrong here, not the engine."""
    return [c for c in cases if _clearly_false(c.text) == c.true]


def _clearly_false(text: str) -> bool:
    try:
        with limited(SECONDS):
            return fails(text) is True
    except CannotSay:
        return False


def changed(cases: Sequence[Case], each: int, seed: int, jobs: int = 1) -> list[Case]:
    """Variants that are false, or without a value somewhere, by numbers; and what is printed wrong."""
    true = [c for c in cases if c.true]
    work = [(c.text, each, seed) for c in true]
    if jobs > 1:
        with ProcessPoolExecutor(jobs) as pool:
            found = list(pool.map(_variants, work, chunksize=8))
    else:
        found = list(map(_variants, work))
    return [c for c in cases if not c.true] + [
        Case(c.table, c.source, v.text, False, v.change, v.fails)
        for c, variants in zip(true, found, strict=True)
        for v in variants
    ]


def _variants(work: tuple[str, int, int]) -> list[Variant]:
    return false_variants(*work)


def kept_variants() -> list[Case]:
    """Those of ``variants.json``, which names what it was made of, and what is printed wrong."""
    document = json.loads(VARIANTS.read_text(encoding="utf-8"))
    if document["made from"] != made_from()["statements"]:
        raise SystemExit("the statements changed: python -m soundness.suite --variants --write")
    return [c for c in statements() if not c.true] + [
        Case(*row[:3], False, *row[3:]) for row in document["rows"]
    ]


def _keep(cases: Sequence[Case]) -> None:
    rows = [[c.table, c.source, c.text, c.change, c.fails] for c in cases if c.change]
    lines = ",\n".join(json.dumps(row) for row in rows)
    VARIANTS.write_text(
        f'{{"made from": "{made_from()["statements"]}", "rows": [\n{lines}\n]}}\n', encoding="utf-8"
    )


def wrong(case: Case, verdict: str) -> bool:
    """Whether a verdict is false: of a true statement anything but proved, certified or undecided."""
    if case.true:
        return verdict not in (*HOLDS, "inconclusive")
    return verdict in HOLDS


def unjustified(case: Case, verdict: str) -> bool:
    """Whether a changed statement is called ill-posed where the evaluator sees no point without a value."""
    return not case.true and verdict == "ill-posed" and case.fails and not seen_without_value(case.text)


def decide_all(cases: Sequence[Case], settings: Settings, jobs: int) -> list[Decision]:
    """Decisions in the order of the cases."""
    readings = [Reading(c.source, c.text) for c in cases]
    return [r.decision for r in run(readings, settings, jobs=jobs, decider=DECIDER).results]


def _sha(paths: Iterable[Path]) -> str:
    found = hashlib.sha256()
    for path in sorted(paths):
        found.update(f"{path.relative_to(ROOT).as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return found.hexdigest()


def made_from() -> dict[str, str]:
    """Hashes: of the tables with what changes and tests them, and of what decides."""
    parts = ("mutants", "evaluate", "values", "scopes", "functions")
    engine = [ROOT / folder for folder in ("theory", "numerics", "proofs_check/engine")]
    return {
        "statements": _sha([*TABLES.glob("*.txt"), *(HERE / f"{p}.py" for p in parts)]),
        "engine": _sha(p for folder in engine for p in folder.rglob("*.py")),
    }


def _row(cases: Sequence[Case], decisions: Sequence[Decision]) -> dict[str, int]:
    found = Counter(d.verdict for d in decisions)
    found["wrong"] = sum(wrong(c, d.verdict) for c, d in zip(cases, decisions, strict=True))
    return {"statements": len(cases), **dict(sorted(found.items()))}


def _by(
    key: Callable[[Case], str], cases: Sequence[Case], decisions: Sequence[Decision]
) -> dict[str, dict[str, int]]:
    groups: dict[str, list[tuple[Case, Decision]]] = {}
    for case, decision in zip(cases, decisions, strict=True):
        groups.setdefault(key(case), []).append((case, decision))
    return {k: _row([c for c, _ in v], [d for _, d in v]) for k, v in sorted(groups.items())}


def main(words: Sequence[str] | None = None) -> int:
    """Run the suite; 0 where nothing is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write score.json")
    parser.add_argument("--variants", action="store_true", help="look for mistyped ones, write variants.json")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--each", type=int, default=1, help="changed variants of a statement")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--thin", type=int, default=THIN, help="decide every so many (1: all)")
    parser.add_argument("--only", choices=SETTINGS, help="one setting")
    options = parser.parse_args(words)
    began = time.monotonic()
    cases = statements()
    true = [c for c in cases if c.true]
    faults: list[str] = []
    if options.variants:
        faults += [f"mistyped: {c.source}: {c.text}" for c in mistyped(cases)]
        _keep(changed(cases, 1, 0, options.jobs))
    kept = (options.each, options.seed) == (1, 0)
    false = kept_variants() if kept else changed(cases, options.each, options.seed, options.jobs)
    took = time.monotonic() - began
    print(f"{len(true)} true statements, {len(false)} false ones ({took:.0f} s)", flush=True)
    score: dict[str, object] = {"made from": made_from(), "every": EVERY, "thin": options.thin}
    undecided, thin = 0.0, options.thin
    for name, settings in SETTINGS.items():
        if options.only not in (None, name):
            continue
        for kind, every in (("true", true), ("changed", false)):
            some = every[:: EVERY[name][kind] * thin]
            decisions = decide_all(some, settings, options.jobs)
            row = _row(some, decisions)
            for c, d in zip(some, decisions, strict=True):
                said = f"{name}: {c.source}: {c.text}: {d.verdict} {d.reason}"
                if wrong(c, d.verdict):
                    faults.append(said)
                elif unjustified(c, d.verdict):
                    row["unjustified"] = row.get("unjustified", 0) + 1
                    print(f"no point without a value was seen: {said}")
            score[f"{name}, {kind}"] = row
            if name == "default" and kind == "true":
                undecided = sum(d.verdict == "inconclusive" for d in decisions) / len(some)
                score["inconclusive, default"] = f"{100 * undecided:.1f} %"
            print(f"{name:8} {kind:8} {row}  ({time.monotonic() - began:.0f} s)", flush=True)
            if name == "default" and kind == "true":
                score["by table"] = _by(lambda c: c.table, some, decisions)
                score["by source"] = _by(lambda c: c.group, some, decisions)
            if name == "default" and kind == "changed":
                score["by change"] = _by(lambda c: c.change or "as printed", some, decisions)
            if options.write and kept and not faults and not options.only:
                SCORE.write_text(json.dumps(score, indent=2) + "\n", encoding="utf-8")
    print(f"inconclusive of the true ones: {100 * undecided:.1f} %; {len(faults)} wrong")
    print("\n".join(faults))
    if not options.write and json.loads(SCORE.read_text(encoding="utf-8"))["made from"] != made_from():
        print("score.json is of another engine, or of other statements: --write renews it")
    return 1 if faults or undecided >= MOST_INCONCLUSIVE else 0


if __name__ == "__main__":
    sys.exit(main())
