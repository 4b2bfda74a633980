"""Decides many readings: from the cache, in this process, or in worker processes.

Results come in the order of the readings and do not depend on the number of jobs.
Wall clock only ends a reading (``inconclusive: time``); Ctrl-C ends the run and keeps
what was decided.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import FrameType

from gateproof.proofs_check.alarm import alarm
from gateproof.proofs_check.cache import Cache
from gateproof.proofs_check.decision_json import (
    INTERRUPTED,
    TIME,
    from_json,
    question,
    statement_only,
)
from gateproof.proofs_check.pool import LostError, Worker
from gateproof.proofs_check.records import Decision, Reading, Settings
from gateproof.proofs_check.worker import ENGINE, Decider, answer, find, suggest


@dataclass(frozen=True)
class Result:
    """A decision and how it came about."""

    decision: Decision
    seconds: float = 0.0
    cached: bool = False
    #: False where the clock ended the search for a nearest true statement: not kept.
    whole: bool = True


@dataclass(frozen=True)
class Run:
    """One result a reading, in order; ``interrupted`` if Ctrl-C ended the run."""

    results: tuple[Result, ...]
    interrupted: bool = False


Progress = Callable[[int, Result], None]
#: How many times the clock of a reading is that of a certificate of a long search.
PATIENCE = 5
NOT_REACHED = Result(Decision("not-run", reason=INTERRUPTED))


def cores() -> int:
    """Return how many jobs run by default."""
    import os

    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def run(
    readings: Sequence[Reading],
    settings: Settings,
    *,
    jobs: int | None = None,
    cache: Cache | None = None,
    progress: Progress | None = None,
    decider: str = ENGINE,
    given: Mapping[int, Decision] | None = None,
) -> Run:
    """Decide all readings but those with a ``given`` decision; pins, names and prose are not looked at."""
    found: dict[int, Result] = {index: Result(decision) for index, decision in (given or {}).items()}
    keys: dict[int, str] = {}

    def keep(index: int, result: Result) -> None:
        found[index] = result
        if cache is not None and index in keys and not result.cached and result.whole:
            cache.put(keys[index], result.decision)
        if progress is not None:
            progress(index, result)

    interrupted = False
    bare = [statement_only(reading) for reading in readings]
    try:
        for index, result in found.items():
            if progress is not None:
                progress(index, result)
        for index, reading in enumerate(bare if cache is not None else ()):
            assert cache is not None
            # Code may have changed: it is called anew.
            if index in found or reading.code is not None:
                continue
            keys[index] = cache.key(reading, settings)
            known = cache.get(keys[index])
            if known is not None:
                keep(index, Result(known, cached=True))
        left = [index for index in range(len(bare)) if index not in found]
        if jobs == 1:
            _here(bare, left, settings, decider, keep)
        elif left:
            _elsewhere(bare, left, settings, min(jobs or cores(), len(left)), decider, keep)
    except KeyboardInterrupt:
        interrupted = True
    results = tuple(found.get(index, NOT_REACHED) for index in range(len(bare)))
    return Run(results, interrupted)


#: Readings after which a worker makes way for a new one: what it keeps of formulas grows by some 0.1 MB each.
ENOUGH = 100
Keep = Callable[[int, Result], None]


def _here(
    readings: Sequence[Reading],
    left: Sequence[int],
    settings: Settings,
    decider: str,
    keep: Keep,
) -> None:
    """Decide in this process, one after the other."""
    decide = find(decider) if left else None
    for index in left:
        assert decide is not None
        started = time.monotonic()
        decision = _within(decide, readings[index], settings)
        whole = True
        if asks_for_nearest(decision, decider):
            found, whole = _nearest_within(readings[index], settings)
            decision = replace(decision, nearest=found)
        keep(index, Result(decision, time.monotonic() - started, whole=whole))


class _ExpiredError(BaseException):
    """The alarm rang; not an Exception, so that no engine code takes it for one of its own."""


def _within(decide: Decider, reading: Reading, settings: Settings) -> Decision:
    try:
        with _alarm(patient(reading, settings).wall_seconds):
            return answer(decide, reading, settings)
    except _ExpiredError:
        return Decision("inconclusive", reason=TIME)


def patient(reading: Reading, settings: Settings) -> Settings:
    """A certificate that is proved again is long: the clock that stops what hangs waits longer for it."""
    times = 1 if reading.proof is None else PATIENCE
    return replace(settings, wall_seconds=times * settings.wall_seconds)


def asks_for_nearest(decision: Decision, decider: str) -> bool:
    """Tell whether a nearest true statement is looked for; a decider of its own has none."""
    return decision.verdict == "refuted" and decider == ENGINE


def _nearest_within(reading: Reading, settings: Settings) -> tuple[dict[str, str] | None, bool]:
    """Return what was found, and whether the search came to its end; the verdict stands either way."""
    try:
        with _alarm(settings.wall_seconds):
            return suggest(reading, settings), True
    except _ExpiredError:
        return None, False


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Raise _ExpiredError in the block after some seconds; signals reach main threads only."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise _ExpiredError

    with alarm(seconds, ring):
        yield


def asked(worker: Worker, reading: Reading, settings: Settings, decider: str) -> tuple[Result, bool]:
    """What a worker says of a reading, and whether it can be asked again."""
    started, task = time.monotonic(), question(reading, settings)
    try:
        decision = from_json(worker.ask(task, patient(reading, settings)))
    except LostError as error:
        lost = Decision("inconclusive", reason=str(error))
        return Result(lost, time.monotonic() - started), False
    alive = True
    if asks_for_nearest(decision, decider):
        try:
            reply = worker.ask({**task, "nearest": True}, settings)
            decision = replace(decision, nearest=reply["nearest"])
        except LostError:
            # The verdict stands; only the proposal is missing.
            alive = False
    return Result(decision, time.monotonic() - started, whole=alive), alive


def _elsewhere(
    readings: Sequence[Reading],
    left: Sequence[int],
    settings: Settings,
    jobs: int,
    decider: str,
    keep: Keep,
) -> None:
    """Decide in worker processes, one thread feeding each."""
    crew = _Crew(readings, left, settings, decider)
    threads = [threading.Thread(target=crew.serve, daemon=True) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    waiting = len(left)
    try:
        while waiting:
            try:
                # Not for ever: a signal just before the wait would be seen only after it.
                outcome = crew.results.get(timeout=0.2)
            except queue.Empty:
                continue
            if isinstance(outcome, BaseException):
                raise outcome
            keep(*outcome)
            waiting -= 1
    finally:
        crew.stop()
        for thread in threads:
            thread.join(timeout=5)
        # What was decided between the last look and Ctrl-C is kept too.
        while waiting and not crew.results.empty():
            outcome = crew.results.get()
            if not isinstance(outcome, BaseException):
                keep(*outcome)


class _Crew:
    """What the feeding threads share."""

    def __init__(
        self,
        readings: Sequence[Reading],
        left: Sequence[int],
        settings: Settings,
        decider: str,
    ) -> None:
        self.readings = readings
        self.settings = settings
        self.decider = decider
        self.left = deque(left)
        self.results: queue.SimpleQueue[tuple[int, Result] | BaseException] = queue.SimpleQueue()
        self.stopped = threading.Event()
        self.workers: set[Worker] = set()
        self.lock = threading.Lock()

    def serve(self) -> None:
        """Feed one worker until nothing is left; one that is lost or has answered enough is replaced."""
        worker: Worker | None = None
        answered = 0
        try:
            while self.left and not self.stopped.is_set():
                try:
                    index = self.left.popleft()
                except IndexError:
                    break
                if worker is not None and answered >= ENOUGH:
                    self.dismiss(worker)
                    worker = None
                if worker is None:
                    worker, answered = Worker(self.decider), 0
                    if not self.hire(worker):
                        break
                result, alive = asked(worker, self.readings[index], self.settings, self.decider)
                answered += 1
                if not alive:
                    self.dismiss(worker)
                    worker = None
                    # A verdict whose proposal was cut off is kept, one that was itself cut off is not.
                    if self.stopped.is_set() and result.whole:
                        break
                self.results.put((index, result))
        except BaseException as error:
            self.results.put(error)
        finally:
            if worker is not None:
                self.dismiss(worker)

    def hire(self, worker: Worker) -> bool:
        """Note a worker before it starts, so that ``stop`` reaches it while it does."""
        with self.lock:
            self.workers.add(worker)
            if self.stopped.is_set():
                return False
        worker.start()
        return True

    def dismiss(self, worker: Worker) -> None:
        """Let a worker go."""
        with self.lock:
            self.workers.discard(worker)
        worker.close()

    def stop(self) -> None:
        """Have every thread end, also those that wait for an answer."""
        with self.lock:
            self.stopped.set()
            for worker in self.workers:
                worker.kill()
