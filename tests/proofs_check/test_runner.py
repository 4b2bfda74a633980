"""Many readings: in order, the same for any number of jobs, whatever happens to one."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from gateproof.proofs_check.records import Reading, Settings
from gateproof.proofs_check.refused import WorkerFailedError
from gateproof.proofs_check.runner import run

QUICK = Settings(wall_seconds=30)


def readings(*numbers):
    return [Reading(f"r{n}", f"{n} == {n}", pin="proved", meaning="words") for n in numbers]


def verdicts(found):
    return [(r.decision.verdict, r.decision.reason) for r in found.results]


@pytest.mark.parametrize("jobs", [1, 2, 3, None])
def test_results_come_in_order_and_see_no_pin(stub, jobs):
    found = run(readings(*range(8), 107, 105), QUICK, jobs=jobs, decider=stub)
    assert [v for v, _ in verdicts(found)] == [
        "proved", "certified", "refuted", "supported", "unsupported", "ill-posed", "inconclusive",
        "not-run", "certified", "proved",
    ]  # fmt: skip
    assert not found.interrupted
    assert not any(result.cached for result in found.results)


def test_results_do_not_depend_on_the_number_of_jobs(stub):
    asked = readings(*range(8), 107, 105, 103, 104, 108)
    one, two = (run(asked, QUICK, jobs=jobs, decider=stub) for jobs in (1, 2))
    assert [r.decision for r in one.results] == [r.decision for r in two.results]


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_an_engine_raises_is_a_reason(stub, jobs):
    found = verdicts(run(readings(103, 104, 108, 0), QUICK, jobs=jobs, decider=stub))
    assert found == [
        ("inconclusive", "engine fault: TypeError: no such thing"),
        ("inconclusive", "engine fault: TypeError: Object of type object is not JSON serializable"),
        ("inconclusive", "engine fault: nested too deeply"),
        ("proved", ""),
    ]


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_clock_ends_a_reading_and_the_rest_goes_on(stub, jobs):
    begin = time.monotonic()
    found = run(readings(0, 100, 1), Settings(wall_seconds=0.5), jobs=jobs, decider=stub)
    assert verdicts(found) == [("proved", ""), ("inconclusive", "time"), ("certified", "")]
    assert time.monotonic() - begin < 10


def test_a_worker_that_dies_costs_its_own_reading_only(stub):
    found = verdicts(run(readings(0, 101, 1, 102, 2), QUICK, jobs=2, decider=stub))
    assert found == [
        ("proved", ""),
        ("inconclusive", "the worker process ended: exit code 7"),
        ("certified", ""),
        ("inconclusive", f"the worker process ended: signal {signal.SIGSEGV.value}"),
        ("refuted", ""),
    ]


def test_a_worker_cannot_eat_all_memory(stub):
    found = verdicts(run(readings(106, 0), QUICK, jobs=2, decider=stub))
    assert found == [("inconclusive", "engine fault: out of memory"), ("proved", "")]


def test_an_engine_that_cannot_start_is_no_verdict():
    with pytest.raises(WorkerFailedError, match="no_such_module"):
        run(readings(0, 1), QUICK, jobs=2, decider="no_such_module:decide")


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_keeps_what_was_decided(stub, jobs):
    reached = threading.Event()

    def interrupt(_index, _result):
        if not reached.is_set():
            reached.set()
            # To this process only, as Ctrl-C would but without the other tests' processes.
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()

    begin = time.monotonic()
    asked = readings(0, 100, 100, 100)
    found = run(asked, QUICK, jobs=jobs, progress=interrupt, decider=stub)
    assert time.monotonic() - begin < 10
    assert found.interrupted
    assert verdicts(found) == [("proved", "")] + [("not-run", "interrupted")] * 3


def test_an_interrupt_while_workers_start(stub, monkeypatch):
    from gateproof.proofs_check import runner

    started = []

    class Slow(runner.Worker):
        def __init__(self, decider):
            super().__init__(decider)
            started.append(self)
            time.sleep(1)

    monkeypatch.setattr(runner, "Worker", Slow)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    begin = time.monotonic()
    found = run(readings(0, 1, 2), QUICK, jobs=2, decider=stub)
    assert found.interrupted
    assert time.monotonic() - begin < 4
    assert all(worker.process.poll() is not None for worker in started)


def test_no_worker_is_left_behind(stub):
    from gateproof.proofs_check import pool

    started = []
    original = pool.subprocess.Popen

    class Watched(original):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            started.append(self)

    pool.subprocess.Popen = Watched
    try:
        run(readings(0, 101, 100), Settings(wall_seconds=0.3), jobs=2, decider=stub)
    finally:
        pool.subprocess.Popen = original
    assert len(started) >= 2
    assert all(process.poll() is not None for process in started)


def test_nothing_to_decide_starts_nothing():
    assert run([], QUICK, decider="no_such_module:decide").results == ()


FALSE = Reading("", "for x in R: silu(x) >= 0")


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_refuted_reading_comes_with_the_nearest_true_statement(jobs):
    (result,) = run([FALSE], QUICK, jobs=jobs).results
    assert result.decision.verdict == "refuted"
    assert result.decision.nearest == {
        "formal": "for x in [0, oo): silu(x) >= 0",
        "verdict": "proved",
        "kind": "domain",
    }
    assert result.whole


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_clock_takes_the_proposal_but_never_the_verdict(jobs, monkeypatch, tmp_path, stub):
    # In this process the search sleeps; a worker would import the engine itself.
    from gateproof.proofs_check import runner
    from gateproof.proofs_check.cache import Cache

    monkeypatch.setattr(runner, "ENGINE", stub)
    monkeypatch.setattr(runner, "suggest", lambda reading, settings: time.sleep(30))
    cache = Cache(tmp_path, "engine")
    if jobs == 2:
        real = runner.Worker.ask

        def ask(self, task, settings):
            if task.get("nearest"):
                raise runner.LostError("time")
            return real(self, task, settings)

        monkeypatch.setattr(runner.Worker, "ask", ask)
    asked = [Reading("", "2 == 2")]
    (result,) = run(asked, Settings(wall_seconds=0.5), jobs=jobs, cache=cache, decider=stub).results
    assert (result.decision.verdict, result.decision.nearest, result.whole) == ("refuted", None, False)
    assert cache.get(cache.key(asked[0], Settings())) is None


def test_a_worker_that_has_answered_enough_makes_way(stub, monkeypatch):
    from gateproof.proofs_check import runner

    hired = []

    class Counted(runner.Worker):
        def __init__(self, decider):
            hired.append(self)
            super().__init__(decider)

    monkeypatch.setattr(runner, "Worker", Counted)
    monkeypatch.setattr(runner, "ENOUGH", 3)
    found = run(readings(*range(8)), QUICK, jobs=2, decider=stub)
    assert [v for v, _ in verdicts(found)][:3] == ["proved", "certified", "refuted"]
    # Eight readings of two workers, three each at most.
    assert len(hired) in (3, 4)
    assert all(worker.process.poll() is not None for worker in hired)
