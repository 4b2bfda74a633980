"""Who answers: worker processes in two lanes, so that drawing never waits for a proof.

Each question has a wall clock; a worker that is late or dies is replaced, and the page says so.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from gateproof.proofs_check.decision_json import TIME
from gateproof.proofs_check.pool import LostError, Worker
from gateproof.proofs_check.records import Settings
from gateproof.proofs_check.refused import WorkerFailedError
from gateproof.proofs_check.worker import ENGINE

#: Seconds that a question may take, by lane, and how long it may wait for a free worker.
QUICK, SLOW, WAIT = 5.0, 45.0, 20.0
#: Questions that are answered while a slider moves.
DRAWN = ("draw",)
BUSY = "busy with earlier questions; it will be asked again when something changes"


class Desk:
    """One worker for drawing and ``slow`` for all else; safe to be asked by any number of threads."""

    def __init__(self, slow: int = 2) -> None:
        self.lanes = {True: _Lane(1, QUICK), False: _Lane(slow, SLOW)}

    def ask(self, task: Mapping[str, Any]) -> dict[str, Any]:
        """The answer; ``refused`` where there is none."""
        return self.lanes[task.get("ask") in DRAWN].ask(dict(task))

    def close(self) -> None:
        """End all workers."""
        for lane in self.lanes.values():
            lane.close()


class _Lane:
    def __init__(self, size: int, seconds: float) -> None:
        self.seconds = seconds
        self.free = threading.Semaphore(size)
        self.lock = threading.Lock()
        self.idle: list[Worker] = []
        self.all: set[Worker] = set()
        self.closed = False

    def ask(self, task: dict[str, Any]) -> dict[str, Any]:
        if not self.free.acquire(timeout=WAIT):
            return {"refused": BUSY}
        try:
            worker = self._worker()
            try:
                found = worker.ask(task, Settings(wall_seconds=self.seconds))
            except LostError as lost:
                self._drop(worker)
                late = str(lost) == TIME
                why = f"stopped after {self.seconds:g} s" if late else f"the work ended early ({lost})"
                return {"refused": f"{why}; the commands of gateproof have no such limit"}
            self._give_back(worker)
            return found
        except WorkerFailedError as error:
            return {"refused": str(error)}
        finally:
            self.free.release()

    def _worker(self) -> Worker:
        with self.lock:
            if self.idle:
                return self.idle.pop()
        worker = Worker(ENGINE)
        with self.lock:
            self.all.add(worker)
        worker.start()
        return worker

    def _give_back(self, worker: Worker) -> None:
        with self.lock:
            if not self.closed:
                self.idle.append(worker)

    def _drop(self, worker: Worker) -> None:
        with self.lock:
            self.all.discard(worker)

    def close(self) -> None:
        with self.lock:
            self.closed = True
            workers, self.idle = list(self.all), []
            self.all.clear()
        for worker in workers:
            with suppress(OSError):
                worker.close()
