"""Tables of accepted runs: what a record says follows from the committed table, computed again."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import pytest

from gateproof.proofs_check.evidence import from_run, record
from gateproof.proofs_check.figures import drawing, runs

pytest.importorskip("pyarrow")
pytest.importorskip("torch")
TABLES = sorted(tuple(path.name.split(".")[:2]) for path in (drawing.folder() / "data").glob("*.parquet"))


def test_every_experiment_has_a_table():
    tiny = [(name, "tiny") for name in ("depth", "language-model", "tg-training", "two-sided")]
    assert sorted([*tiny, ("depth", "fashion")]) == TABLES


@pytest.mark.parametrize(("name", "preset"), TABLES)
def test_records_follow_from_the_table(name, preset):
    found = runs.run(name, preset)
    sealed = 0
    for finding in found["summary"].findings:
        path = record.HERE / "records" / f"{finding.record}.json"
        if not path.is_file():
            continue
        data = json.loads(path.read_text(encoding="utf-8"))
        sealed += 1
        for key, interval in data["intervals"].items():
            ours = finding.intervals[key]
            assert ours.n == interval["n"]
            # The record rounds outwards, so its ends enclose these, closely.
            lo, hi = Fraction(interval["lo"]), Fraction(interval["hi"])
            finite = [abs(end) for end in (lo, hi) if abs(end) != Fraction(from_run.FAR)]
            slack = max(finite) * Fraction(1, 10_000) + Fraction(1, 10**6)
            for ours_end, end in ((ours.lo, lo), (ours.hi, hi)):
                if math.isinf(ours_end):
                    assert abs(end) == Fraction(from_run.FAR)
                else:
                    assert abs(Fraction(ours_end) - end) <= slack, (finding.record, key)
        for key, number in data["numbers"].items():
            assert float(finding.numbers[key]) == pytest.approx(float(Fraction(number)), rel=1e-6), key
    assert sealed


def test_a_changed_table_is_told():
    """The check above is no formality: losses of one arm off by a tenth change a record."""
    found = runs.run("two-sided")
    rows = [dict(row) for row in found["rows"]]
    for row in rows:
        if row.get("arm") == "trained" and isinstance(row.get("loss"), float):
            row["loss"] += 0.1
    again = found["experiment"].summarise(found["settings"], rows)
    assert [f.intervals for f in again.findings] != [f.intervals for f in found["summary"].findings]
