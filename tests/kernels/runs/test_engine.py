"""The engine of runs: the same numbers on any worker and after any stop; nothing lost, nothing mixed."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
import walks
from pyarrow import parquet

from gateproof.kernels.runs import catalogue, engine, folder, job, progress, schedule, settings
from gateproof.kernels.runs.refused import RunRefusedError, RunStoppedError


@pytest.fixture(autouse=True)
def walks_are_an_experiment(monkeypatch):
    monkeypatch.setattr(catalogue, "module_of", lambda name: "walks")
    with walks.torch_as_before():
        yield


@pytest.fixture(scope="module")
def scheduler():
    """One cluster for all; its address."""
    with schedule.workers(2, None) as client:
        yield client.scheduler.address


def planned(tmp_path, **table):
    table = {"seeds": [0, 1, 2], "marker": str(tmp_path / "marker"), **table}
    found = catalogue.Configuration("walks", "smoke", "", "", False, table, tmp_path / "walks.smoke.toml")
    return engine.plan("walks", found)


def rows(outcome):
    return [row for data in outcome.jobs for row in data["rows"]]


def here(plan, out):
    """The same jobs in this process, without Dask: an outcome of its own."""
    document = plan.document
    with folder.locked(out):
        folder.started(out, {**document, "criteria": {}, "started": "now"})
    for key, one in plan.jobs.items():
        task = {"module": "walks", "name": one.name, "settings": one.settings, "key": key,
                "folder": str(out), "code": document["code"], "run": "here"}  # fmt: skip
        assert job.work(task)["status"] == "finished"
    return engine.Outcome(document, engine.finished(plan, out), len(plan.jobs))


def test_dask_gives_what_one_process_gives_and_what_the_definition_says(tmp_path, scheduler, right):
    # Other folders, since a job that is done there is not done again; the marker is no part of the walk.
    alone = here(planned(tmp_path, marker=""), tmp_path / "alone")
    made = engine.run(planned(tmp_path, marker=""), tmp_path / "dask", processes=2, scheduler=scheduler)
    assert made.complete
    assert rows(made) == rows(alone)
    assert [row["loss"] for row in rows(made)] == pytest.approx(right, rel=1e-4, abs=1e-6)


def test_the_files_of_a_run(tmp_path, scheduler):
    out = tmp_path / "out"
    made = engine.run(planned(tmp_path), out, processes=2, scheduler=scheduler, criteria={"a": {"b": "c"}})
    table = parquet.read_table(out / "results.parquet").to_pydict()
    assert table["job"] == [f"seed={s}" for s in (0, 1, 2) for _ in range(20)]
    assert table["loss"] == [row["loss"] for row in rows(made)]
    run = json.loads((out / "run.json").read_text())
    assert run["criteria"] == {"a": {"b": "c"}}
    assert set(table["configuration"]) == {run["configuration_hash"]}
    assert set(table["code"]) == {run["code"]}
    assert "torch " in table["versions"][0]
    assert table["machine"][0].startswith("system ")
    summary = json.loads((out / "summary.json").read_text())
    assert summary["complete"] is True
    assert summary["findings"][0]["intervals"]["gap"]["n"] == 3
    figure = (out / "figure.svg").read_bytes()
    assert b"<dc:date>" not in figure
    before = {path: path.read_bytes() for path in (out / "jobs").iterdir()}
    # A second run does nothing twice, writes the same figure and keeps its criteria.
    again = engine.run(planned(tmp_path), out, processes=2, scheduler="tcp://127.0.0.1:9", criteria={})
    assert (again.complete, again.run["criteria"]) == (True, {"a": {"b": "c"}})
    assert {path: path.read_bytes() for path in (out / "jobs").iterdir()} == before
    assert (out / "figure.svg").read_bytes() == figure
    assert [(tmp_path / f"marker.{s}").read_text() for s in (0, 1, 2)] == ["0\n"] * 3


def test_a_killed_worker_s_job_goes_on_elsewhere_from_its_checkpoint(tmp_path, right):
    plan = planned(tmp_path, mishap="killed", seeds=[0, 1])
    made = engine.run(plan, tmp_path / "out", processes=2)
    assert made.complete
    assert (tmp_path / "marker").exists(), "no worker was killed"
    assert (tmp_path / "marker.0").read_text() == "0\n10\n"
    assert (tmp_path / "marker.1").read_text() == "0\n"
    assert [row["loss"] for row in rows(made)] == pytest.approx(right[:40], rel=1e-4, abs=1e-6)
    alone = here(planned(tmp_path, marker="", seeds=[0, 1]), tmp_path / "alone")
    assert rows(made) == rows(alone)
    assert list((tmp_path / "out" / "checkpoints").iterdir()) == []


def test_a_full_disk_stops_the_run_in_one_line_and_keeps_what_is_finished(tmp_path, scheduler):
    plan, out = planned(tmp_path, mishap="full", seeds=[1]), tmp_path / "out"
    made = engine.run(plan, out, processes=1, scheduler=scheduler)
    assert made.stopped == f"{out}: No space left on device"
    assert not made.complete
    made = engine.run(plan, out, processes=1, scheduler=scheduler)
    assert (made.complete, made.stopped) == (True, "")
    assert (tmp_path / "marker.1").read_text() == "0\n10\n"


def test_a_checkpoint_that_cannot_be_written_is_a_full_disk_too(tmp_path, monkeypatch):
    plan, out = planned(tmp_path), tmp_path / "out"
    with folder.locked(out):
        folder.started(out, {**plan.document, "criteria": {}, "started": "now"})

    def fsync(_handle):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", fsync)
    key, one = next(iter(plan.jobs.items()))
    task = {"module": "walks", "name": one.name, "settings": one.settings, "key": key,
            "folder": str(out), "code": plan.document["code"], "run": "here"}  # fmt: skip
    assert job.work(task)["status"] == "full"
    assert [path.name for path in (out / "checkpoints").iterdir()] == []


def test_a_job_that_fails_is_named_and_the_others_are_done(tmp_path, scheduler):
    plan, out = planned(tmp_path, mishap="fails"), tmp_path / "out"
    made = engine.run(plan, out, processes=2, scheduler=scheduler)
    assert made.failed == {"seed=1": "ArithmeticError: the loss is no number"}
    assert [data["name"] for data in made.jobs] == ["seed=0", "seed=2"]
    (traceback,) = (out / "failed").iterdir()
    assert "the loss is no number" in traceback.read_text()
    assert not (out / "figure.svg").exists()
    assert engine.run(plan, out, processes=2, scheduler=scheduler).complete


def test_ctrl_c_has_jobs_save_and_the_same_run_goes_on(tmp_path, scheduler):
    plan, out = planned(tmp_path, mishap="waits", seeds=[0, 1]), tmp_path / "out"

    def interrupt():
        started = time.monotonic()
        while not all((out / "checkpoints" / f"{key}.pt").exists() for key in plan.jobs):
            time.sleep(0.02)
            if time.monotonic() - started > 60:
                break
        os.kill(os.getpid(), signal.SIGINT)

    listener = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=interrupt, daemon=True).start()
    try:
        made = engine.run(plan, out, processes=2, scheduler=scheduler)
    finally:
        signal.signal(signal.SIGINT, listener)
    assert (made.interrupted, len(made.jobs)) == (True, 0)
    (tmp_path / "marker").touch()
    made = engine.run(plan, out, processes=2, scheduler=scheduler)
    assert made.complete
    assert [(tmp_path / f"marker.{s}").read_text() for s in (0, 1)] == ["0\n10\n"] * 2
    alone = here(planned(tmp_path, marker="", seeds=[0, 1]), tmp_path / "alone")
    assert rows(made) == rows(alone)


def test_two_runs_never_share_a_folder_at_once(tmp_path):
    out = tmp_path / "out"
    with folder.locked(out), pytest.raises(RunRefusedError, match="another run works there"):
        engine.run(planned(tmp_path), out, processes=1)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    with pytest.raises(RunRefusedError, match="is not empty and holds no run"):
        engine.run(planned(tmp_path), tmp_path / "mine", processes=1)


def test_configurations_and_versions_of_code_never_mix(tmp_path, monkeypatch):
    out = tmp_path / "out"
    here(planned(tmp_path, marker=""), out)
    with pytest.raises(RunRefusedError, match="another configuration; the two are never mixed"):
        engine.run(planned(tmp_path, marker="", steps=21), out, processes=1)
    monkeypatch.setattr(engine.keys, "versions", lambda: {"python": "3.1", "torch": "0.1"})
    with pytest.raises(RunRefusedError, match=r"another version of a library \(python .*, now 3.1, torch"):
        engine.run(planned(tmp_path, marker=""), out, processes=1)
    monkeypatch.setattr(engine.keys, "code", lambda module: "other")
    with pytest.raises(RunRefusedError, match="another version of the code"):
        engine.run(planned(tmp_path, marker=""), out, processes=1)


def test_a_worker_with_other_code_or_without_the_folder_does_nothing(tmp_path, scheduler, monkeypatch):
    plan, out = planned(tmp_path, marker=""), tmp_path / "out"
    task = {
        "module": "walks",
        "name": "seed=0",
        "settings": {},
        "key": "k",
        "folder": str(out),
        "run": "here",
    }
    assert job.work({**task, "code": plan.document["code"]})["status"] == "foreign"
    here(plan, out)
    assert job.work({**task, "code": "other"})["status"] == "foreign"
    with (
        schedule.workers(1, scheduler) as client,
        pytest.raises(RunStoppedError, match="a worker has other code"),
    ):
        schedule.run(client, [{**task, "code": "other"}], lambda *_: None, lambda: None)


def test_a_scheduler_that_is_not_there_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(schedule, "CONNECT", 0.2)
    with pytest.raises(RunRefusedError, match="no Dask scheduler answers"):
        engine.run(planned(tmp_path), tmp_path / "out", processes=1, scheduler="tcp://127.0.0.1:9")


def test_a_damaged_result_is_absent(tmp_path):
    plan, out = planned(tmp_path, marker=""), tmp_path / "out"
    here(plan, out)
    first = next(iter(plan.jobs))
    path = out / "jobs" / f"{first}.json"
    path.write_text(path.read_text().replace('"step": 1,', '"step": 9,'))
    assert len(engine.finished(plan, out)) == 2
    for text in ("", "[]", "{}", "null"):
        path.write_text(text)
        assert job.finished(out, first) is None


def test_the_code_of_a_run_is_all_that_it_imports(tmp_path, monkeypatch):
    from gateproof.kernels.runs import keys

    found = keys.closure("gateproof.kernels.functional")
    assert {"gateproof.kernels.gate_op", "gateproof.theory.formula"} <= set(found)
    assert "gateproof.kernels.runs.schedule" not in found
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "changing.py").write_text("import walks\n")
    before = keys.code("changing")
    (tmp_path / "changing.py").write_text("import walks  # once more\n")
    keys.closure.cache_clear()
    assert keys.code("changing") != before


FAULTS = {
    "seeds": ("seeds", [0, "1"], "settings.seeds[1]: give a whole number, found '1'"),
    "truth": ("seeds", [True], "settings.seeds[0]: give a whole number, found true"),
    "type": ("steps", 1.5, "settings.steps: give a whole number, found 1.5"),
    "nan": ("arm", {"rate": float("nan")}, "settings.arm.rate: give a number, found nan"),
    "missing": ("arm", {}, "settings.arm.rate: missing; give a number"),
    "list": ("others", [{"rate": 1, "nam": "x"}], "settings.others[0].nam: no such key; did you mean name?"),
    "literal": ("mishap", "late", "settings.mishap: give one of 'none', 'killed'"),
    "table": ("arm", 3, "settings.arm: give a table, found 3"),
    "own": ("steps", 0, "settings: steps: give 1 or more"),
    "unknown": ("seed", 3, "settings.seed: no such key; did you mean seeds?"),
}


@pytest.mark.parametrize(("key", "value", "said"), FAULTS.values(), ids=list(FAULTS))
def test_a_fault_of_a_configuration_is_named_with_its_place(key, value, said):
    with pytest.raises(RunRefusedError) as error:
        settings.read(walks.Settings, {"seeds": [0], key: value})
    assert error.value.lines[0].startswith(said)
    assert len(error.value.lines) == 1


def test_all_faults_are_listed_at_once_and_a_right_table_is_read():
    with pytest.raises(RunRefusedError) as error:
        settings.read(walks.Settings, {"step": 1, "arm": {"rate": "fast"}})
    assert len(error.value.lines) == 3
    found = settings.read(walks.Settings, {"seeds": [3], "arm": {"rate": 1}, "others": [{"rate": 0.5}]})
    assert found == walks.Settings((3,), arm=walks.Arm(1.0), others=(walks.Arm(0.5),))
    assert settings.plain(found)["others"] == [{"rate": 0.5, "name": "plain"}]


def test_cells_that_no_column_can_hold_are_refused(tmp_path):
    task = {"key": "k", "name": "n"}
    for row in ({"loss": [1]}, {"job": "mine"}, {"code": 1}):
        with pytest.raises(ValueError, match="no cell"):
            job.write(tmp_path, task, [row], 0.0)
    job.write(tmp_path, task, [{"loss": float("nan"), "most": float("inf"), "none": None}], 0.0)
    assert job.finished(tmp_path, "k")["rows"][0]["most"] == float("inf")


def test_the_time_left_is_by_the_pace_so_far(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    found = progress.Progress({"a": 1.0, "b": 3.0, "c": 4.0}, {"b": "seed=1"}, frozenset({"a"}))
    assert found.line() == "1 of 3 jobs, 12 %"
    now[0] = 100.0
    found.tell("b", 0.5, "loss 1.2")
    # 1.5 of 8 in 100 s, 5.5 are left.
    assert found.line() == "1 of 3 jobs, 31 %, 6 min left  seed=1: loss 1.2"
    found.tell("b", 1.0, "finished", end=True)
    assert found.line().startswith("2 of 3 jobs, 50 %")
    assert [progress.duration(s) for s in (40, 750, 12_000)] == ["40 s", "12 min", "3 h 20 min"]


GO = """
import sys
from gateproof.kernels.check import passed
from gateproof.kernels.runs import catalogue
from gateproof.proofs_check.cli import main
if __name__ == "__main__":
    catalogue.module_of = lambda name: "walks"
    catalogue.known = lambda name: {}
    passed.left = lambda folder, patterns: []
    sys.exit(main(["run", "walks", "--config", "walks.toml", "--out", "out", "-j", "2"]))
"""


@pytest.mark.deep
def test_ctrl_c_in_a_terminal_ends_all_processes_in_one_line(tmp_path):
    (tmp_path / "go.py").write_text(GO)
    table = f'seeds = [0, 1, 2]\nmishap = "waits"\nmarker = "{tmp_path}/marker"\n'
    (tmp_path / "walks.toml").write_text(f'experiment = "walks"\n[settings]\n{table}')
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    listening = functools.partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(
        [sys.executable, "-P", "go.py"], cwd=tmp_path, env=environment, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=listening,
    ) as process:  # fmt: skip
        while not all((tmp_path / f"marker.{seed}").exists() for seed in (0, 1)):
            time.sleep(0.1)
            assert process.poll() is None
        # As a terminal does: to all processes of the group.
        os.killpg(process.pid, signal.SIGINT)
        _, error = process.communicate(timeout=60)
    left = "0 of 3 jobs are finished, and the same command goes on from there"
    assert (process.returncode, error) == (1, f"gateproof: interrupted; {left}\n")
    # Python's own helper process ends a moment later.
    time.sleep(3)
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    assert len(list((tmp_path / "out" / "checkpoints").glob("*.pt"))) == 2
