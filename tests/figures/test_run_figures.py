"""Tables of accepted runs: what a record says follows from the committed table, computed again."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from gateproof.proofs_check.evidence import record
from gateproof.proofs_check.figures import drawing, runs

pytest.importorskip("pyarrow")
pytest.importorskip("torch")
TABLES = sorted(
    path.name.removesuffix(".tiny.parquet") for path in (drawing.folder() / "data").glob("*.parquet")
)


def test_every_experiment_has_a_table():
    assert TABLES == ["depth", "language-model", "tg-training", "two-sided"]


@pytest.mark.parametrize("name", TABLES)
def test_records_follow_from_the_table(name):
    found = runs.run(name)
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
            slack = max(abs(lo), abs(hi)) * Fraction(1, 10_000) + Fraction(1, 10**6)
            assert lo - slack <= Fraction(ours.lo) <= lo + slack, (finding.record, key)
            assert hi - slack <= Fraction(ours.hi) <= hi + slack, (finding.record, key)
        for key, number in data["numbers"].items():
            assert float(finding.numbers[key]) == pytest.approx(float(Fraction(number)), rel=1e-6), key
    assert sealed


def test_a_changed_table_is_told():
    """The check above is no formality: losses of one arm that are off by a tenth change a record's interval."""
    found = runs.run("two-sided")
    rows = [dict(row) for row in found["rows"]]
    for row in rows:
        if row.get("arm") == "trained" and isinstance(row.get("loss"), float):
            row["loss"] += 0.1
    again = found["experiment"].summarise(found["settings"], rows)
    assert [f.intervals for f in again.findings] != [f.intervals for f in found["summary"].findings]
