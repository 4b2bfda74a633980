"""``gateproof run``: what it prints and writes, what it says to claims, and what is accepted as evidence."""

from __future__ import annotations

import contextlib
import json
import math
from dataclasses import replace
from fractions import Fraction

import pytest
import walks

from gateproof.kernels.check import passed
from gateproof.kernels.check.result import Row
from gateproof.kernels.runs import catalogue, job, schedule
from gateproof.kernels.runs.experiment import Finding, Interval
from gateproof.proofs_check import claims_file
from gateproof.proofs_check.cli import main
from gateproof.proofs_check.evidence import from_run, record
from gateproof.proofs_check.refused import NothingSelectedError, RefusedError

CLAIMS = """\
[[claim]]
id = "walks.low"
evidence = "walks"
criterion = "gap_lo > 0"
needs = "walks"

[[claim]]
id = "walks.small"
evidence = "walks"
criterion = "gap_hi < 1/1000"
needs = "walks"

[[claim]]
id = "walks.other"
evidence = "walks"
criterion = "other_lo > 0"
needs = "walks"

[[claim]]
id = "runs.other"
evidence = "runs"
criterion = "gap_lo > 0"
needs = "runs"
"""
PRESET = """\
experiment = "walks"
shows = "that walks go down"
cannot = "where to"
evidence = {evidence}

[settings]
seeds = [0, 1]
record = "walks"
"""


@pytest.fixture(autouse=True)
def setting(tmp_path, monkeypatch):
    """Two presets, four claims, and jobs that run in this process, one after the other."""
    presets = tmp_path / "presets"
    presets.mkdir()
    for name, evidence in (("smoke", "false"), ("tiny", "true")):
        (presets / f"walks.{name}.toml").write_text(PRESET.format(evidence=evidence))
    (tmp_path / "walks.claims.toml").write_text(CLAIMS)
    monkeypatch.setattr(catalogue, "PRESETS", presets)
    monkeypatch.setattr(catalogue, "module_of", lambda name: "walks")
    monkeypatch.setattr(
        claims_file, "load_packaged", lambda: claims_file.load([tmp_path / "walks.claims.toml"])
    )
    monkeypatch.setattr(passed, "left", lambda folder, patterns: [])

    def serially(client, tasks, watch, stop):
        return [job.work(task) for task in tasks]

    monkeypatch.setattr(schedule, "workers", lambda processes, scheduler: contextlib.nullcontext())
    monkeypatch.setattr(schedule, "run", serially)
    monkeypatch.chdir(tmp_path)
    with walks.torch_as_before():
        yield


def run(capsys, *words):
    code = main(["run", *words])
    out, err = capsys.readouterr()
    return code, json.loads(out) if "--json" in words and out else out, err


def test_without_a_name_it_lists_what_each_preset_shows_and_does_not(capsys):
    code, text, _ = run(capsys)
    assert (code, text.split("\n")[:3]) == (
        0,
        ["walks", "  --preset smoke   that walks go down", "                   not: where to"],
    )
    _, found, _ = run(capsys, "walks", "--json")
    assert [(e["preset"], e["evidence"]) for e in found["presets"]] == [("smoke", False), ("tiny", True)]


def test_a_run_says_to_claims_what_a_report_would(capsys, tmp_path):
    code, text, error = run(capsys, "walks", "--preset", "tiny", "--out", "out")
    assert (code, error) == (0, "")
    assert "walks.low  supported" in text
    assert "walks.small  unsupported" in text
    document = json.loads((tmp_path / "out" / "claims.json").read_text())
    found = {entry["id"]: entry for entry in document["claims"]}
    assert list(found) == ["walks.low", "walks.small", "walks.other"]
    assert found["walks.low"]["controls"] == {"planted": 1, "caught": 1}
    assert found["walks.other"]["verdict"] == "not-run"
    assert found["walks.other"]["reason"] == "the record has no number other_lo"
    _, again, _ = run(capsys, "walks", "--preset", "tiny", "--out", "out", "--json")
    assert [entry["verdict"] for entry in again["claims"]] == ["supported", "unsupported", "not-run"]
    assert again["summary"]["tables"]["last"][1]["job"] == "seed=1"


def test_a_criterion_that_is_changed_after_the_start_decides_nothing(capsys, tmp_path):
    run(capsys, "walks", "--preset", "tiny", "--out", "out")
    (tmp_path / "walks.claims.toml").write_text(CLAIMS.replace("1/1000", "1000"))
    _, found, _ = run(capsys, "walks", "--preset", "tiny", "--out", "out", "--json")
    changed = found["claims"][1]
    assert changed["verdict"] == "not-run"
    assert changed["reason"] == "stale record: this criterion was not fixed before the run"


def test_what_is_accepted_is_a_record_that_a_report_decides(capsys, tmp_path):
    run(capsys, "walks", "--preset", "tiny", "--out", "out")
    (made,) = from_run.accept(tmp_path / "out", [], tmp_path / "evidence")
    assert made.path == tmp_path / "evidence" / "walks.json"
    assert record.load(made.path).data == made.data
    files = [entry["file"] for entry in made.data["inputs"]]
    assert "gateproof/numerics/atomic.py" in files
    assert any(entry.get("what", "").startswith("torch ") for entry in made.data["inputs"])
    assert made.data["run"]["machines"][0]["system"]
    assert main(["check", "walks.claims.toml", "--json", "--no-cache", "-j", "1"]) == 1
    found = json.loads(capsys.readouterr().out)["claims"]
    assert [c["readings"][0]["verdict"] for c in found] == ["supported", "unsupported", "not-run", "not-run"]


def test_smoke_half_a_run_other_code_and_other_settings_are_not_accepted(capsys, tmp_path, monkeypatch):
    run(capsys, "walks", "--preset", "smoke", "--out", "smoke")
    with pytest.raises(RefusedError, match="the preset smoke of walks is no evidence"):
        from_run.accept(tmp_path / "smoke", [], tmp_path)
    run(capsys, "walks", "--preset", "tiny", "--out", "out")
    with pytest.raises(NothingSelectedError, match="found walks"):
        from_run.accept(tmp_path / "out", ["mem.*"], tmp_path)
    with monkeypatch.context() as other:
        other.setattr(record, "_hash", lambda path, file: "0")
        with pytest.raises(RefusedError, match=r"numerics/atomic.py.* changed since the run began"):
            from_run.accept(tmp_path / "out", [], tmp_path)
    preset = tmp_path / "presets" / "walks.tiny.toml"
    preset.write_text(preset.read_text().replace("[0, 1]", "[0, 2]"))
    with pytest.raises(RefusedError, match=r"not that of walks.tiny.toml as it is now"):
        from_run.accept(tmp_path / "out", [], tmp_path)
    preset.write_text(preset.read_text().replace("[0, 2]", "[0, 1]"))
    next((tmp_path / "out" / "jobs").iterdir()).unlink()
    with pytest.raises(RefusedError, match="1 of 2 jobs are finished"):
        from_run.accept(tmp_path / "out", [], tmp_path)
    assert not (tmp_path / "walks.json").exists()


def test_the_command_accepts_into_the_package_and_says_how_it_stands(capsys, tmp_path, monkeypatch):
    run(capsys, "walks", "--preset", "tiny", "--out", "out")
    accept = from_run.accept
    monkeypatch.setattr(from_run, "accept", lambda out, words: accept(out, words, tmp_path / "evidence"))
    assert main(["evidence", "walks", "--from", "out"]) == 0
    assert capsys.readouterr().out.startswith("walks  current\n")
    assert main(["evidence", "--from", "nowhere"]) == 2
    assert "nowhere/run.json: No such file or directory" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["walk", "--preset", "tiny", "--out", "out"], "no experiment 'walk'; did you mean walks?"),
        (["walks", "--preset", "huge", "--out", "out"], "no preset 'huge'; there are smoke, tiny"),
        (["walks", "--out", "out"], "give --preset, one of smoke, tiny, or --config FILE"),
        (["walks", "--preset", "tiny"], "give --out DIR"),
        (["walks", "--preset", "tiny", "--out", "out", "--seed", "3"], "stand in its configuration"),
        (["walks", "--config", "none.toml", "--out", "out"], "none.toml: No such file"),
        (["walks", "--config", "walks.claims.toml", "--out", "out"], "claim: no such key"),
        (["--preset", "tiny"], "give an experiment: walks"),
        (["walks", "--preset", "tiny", "--config", "a", "--out", "out"], "not both"),
    ],
)
def test_what_cannot_be_run_is_refused_in_a_line(capsys, tmp_path, words, said):
    code, _, error = run(capsys, *words)
    assert code == 2
    assert said in error
    assert not (tmp_path / "out").exists()


def test_a_configuration_of_one_s_own_is_run_and_never_evidence_of_the_package(capsys, tmp_path):
    (tmp_path / "mine.toml").write_text(PRESET.format(evidence="true").replace("[0, 1]", "[5]"))
    code, text, _ = run(capsys, "walks", "--config", "mine.toml", "--out", "out")
    assert (code, "seed=5" in text) == (0, True)
    with pytest.raises(RefusedError, match="no preset 'mine'"):
        from_run.accept(tmp_path / "out", [], tmp_path)
    (tmp_path / "mine.toml").write_text('experiment = "walks"\n[settings]\nseed = [1]\nsteps = "2"\n')
    code, _, error = run(capsys, "walks", "--config", "mine.toml", "--out", "other")
    assert (code, len(error.splitlines())) == (2, 3)
    assert "mine.toml: settings.steps: give a whole number, found '2'" in error


def test_no_run_starts_with_kernels_that_fail(capsys, tmp_path, monkeypatch):
    from gateproof.kernels.check import run as checks

    monkeypatch.setattr(passed, "left", lambda folder, patterns: list(patterns))
    monkeypatch.setattr(passed, "note", lambda *_: None)
    monkeypatch.setattr(
        checks, "check", lambda *_: [Row("relu", "forward", "float32", "torch").failed("off")]
    )
    code, _, error = run(capsys, "walks", "--preset", "tiny", "--out", "out")
    assert code == 1
    assert "relu forward float32 torch: off" in error
    assert not (tmp_path / "out").exists()


def test_what_has_passed_is_kept_for_this_code_only(tmp_path, monkeypatch):
    good, bad = Row("silu", "forward", "float32", "torch"), Row("relu", "forward", "float32", "torch")
    found = [good.not_run("x"), bad.failed("x")]
    monkeypatch.undo()
    passed.note(tmp_path, ["silu", "relu"], found)
    # Not run is not passed.
    assert passed.read(tmp_path) == frozenset()
    passed.note(tmp_path, ["silu", "relu"], [replace(found[0], passed=True), found[1]])
    assert passed.read(tmp_path) == {"silu"}
    assert passed.left(tmp_path, ["silu", "rel*"]) == ["relu", "relu6"]
    assert passed.left(tmp_path, []) == []
    assert passed.left(None, ["silu"]) == ["silu"]
    with pytest.raises(AssertionError, match="no operation that is checked"):
        passed.left(tmp_path, ["sillu"])
    passed.note(tmp_path, ["silu"], [found[1], good.failed("x")])
    assert passed.read(tmp_path) == frozenset()
    passed.note(tmp_path, ["silu"], [replace(found[0], passed=True)])
    monkeypatch.setattr(passed, "version", lambda: "other")
    assert passed.read(tmp_path) == frozenset()


def test_an_interval_without_any_end_is_no_number_of_a_record():
    run = {"criteria": {"walks": {"0" * 64: "gap_lo > 0"}}, "inputs": [], "preset": "tiny",
           "configuration_hash": "1" * 64, "started": "now"}  # fmt: skip
    nothing = Interval(-math.inf, math.inf, 0.95, "none", 2)
    ends = {"gap": Interval(0.25, 0.5, 0.95, "t", 3), "open": nothing}
    made = from_run.data_of(Finding("walks", "W.", ends, {"p": 1e-130, "n": 3}), run, "walk")
    assert list(made["intervals"]) == ["gap"]
    assert (made["numbers"]["n"], made["intervals"]["gap"]["lo"]) == ("3", "0.250000")
    with pytest.raises(RefusedError, match="no interval with an end"):
        from_run.data_of(Finding("walks", "W.", {"open": ends["open"]}), run, "walk")
    with pytest.raises(RefusedError, match="no claim had a criterion"):
        from_run.data_of(Finding("other", "W.", ends), run, "walk")


@pytest.mark.parametrize(("lo", "hi"), [(0.8, math.inf), (-math.inf, 0.8), (0.8, 1.25)])
def test_an_infinite_end_keeps_the_other(lo, hi):
    found = from_run.interval_of(Interval(lo, hi, 0.95, "order statistics", 6))
    ends = Fraction(found["lo"]), Fraction(found["hi"])
    assert ends[0] <= lo or math.isinf(lo)
    assert ends[1] >= hi or math.isinf(hi)
    assert (abs(ends[0]) == 10**99, abs(ends[1]) == 10**99) == (math.isinf(lo), math.isinf(hi))
    assert ("infinite" in found["method"]) == (math.isinf(lo) or math.isinf(hi))
