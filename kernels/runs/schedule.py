"""Jobs on Dask: processes of this machine, or the workers of a scheduler that is running somewhere."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import resource_tracker
from typing import Any

from gateproof.kernels.runs import job
from gateproof.kernels.runs.refused import RunRefusedError, RunStoppedError

#: Told of a job: its key, the share that is done, a few words, and whether it has ended.
Watch = Callable[[str, float, str, bool], None]
#: Seconds that jobs have to save after a run is stopped; then their processes are ended.
GRACE = 6.0
#: Seconds to wait for a scheduler, and for the first of its workers.
CONNECT, FIRST = 10.0, 120.0
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@contextmanager
def workers(processes: int, scheduler: str | None) -> Iterator[Any]:
    """A client of a local cluster, or of the scheduler at an address. Raises RunRefusedError."""
    import dask.config
    from distributed import Client, LocalCluster

    # What matters is said by this command; a worker that is stopped would print tracebacks.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with ExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        stack.enter_context(dask.config.set({"distributed.nanny.pre-spawn-environ": _ONE_THREAD}))
        if scheduler is None:
            stack.callback(_end_all_but, multiprocessing.active_children())
            made: Any
            with _deaf():
                made = stack.enter_context(
                    LocalCluster(
                        n_workers=0,
                        threads_per_worker=1,
                        processes=True,
                        host="127.0.0.1",
                        dashboard_address="127.0.0.1:0",
                        # A worker that uses much memory is the system's to end, not Dask's to restart.
                        memory_limit=0,
                        local_directory=scratch,
                        silence_logs=logging.CRITICAL,
                    )
                )
            made.scale(processes)
            yield stack.enter_context(Client(made, set_as_default=False))
            return
        try:
            client = stack.enter_context(Client(scheduler, timeout=CONNECT, set_as_default=False))
        except (OSError, ValueError) as error:
            said = f"{error}".splitlines()[0][:200] or type(error).__name__
            raise RunRefusedError(f"--scheduler {scheduler}: no Dask scheduler answers ({said})") from None
        yield client


def _end_all_but(before: Sequence[Any]) -> None:
    """End the processes that outlived their cluster: a job may not ask for long whether to stop."""
    for process in multiprocessing.active_children():
        if process not in before:
            process.kill()


@contextmanager
def _deaf() -> Iterator[None]:
    """Have the threads that are started in the block, and the processes they start, never see Ctrl-C.

    It goes to all processes of a terminal. A worker that ended by it could not save its jobs' states.
    """
    # Its first start would undo the mask of the thread that starts the first process.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def run(
    client: Any, tasks: Sequence[job.Task], watch: Watch, stop: Callable[[], None]
) -> list[dict[str, str]]:
    """Have all tasks worked on; how each ended, in the order of their ends.

    A task whose worker is lost goes to another one, and on from its checkpoint. ``stop`` is called once
    at Ctrl-C or when the disk is full: it has all jobs save and end. Raises KeyboardInterrupt after that,
    and RunStoppedError.
    """
    from distributed import as_completed

    def hear(event: tuple[float, Mapping[str, Any]]) -> None:
        with suppress(Exception):
            watch(event[1]["key"], event[1]["done"], event[1]["text"], False)

    ended: list[dict[str, str]] = []
    run_id = tasks[0]["run"]
    client.subscribe_topic(job.topic(run_id), hear)
    _wait_for_workers(client)
    futures = {
        client.submit(
            job.work, dict(task), key=f"gateproof-{run_id}-{task['key']}", priority=-place, pure=False
        ): task
        for place, task in enumerate(tasks)
    }
    try:
        for future in as_completed(list(futures), loop=client.loop):
            found = _outcome(future, futures[future])
            ended.append(found)
            watch(found["key"], 1.0, found["status"], True)
            if found["status"] in ("full", "foreign"):
                raise RunStoppedError(found["text"], again=found["status"] == "full")
    except BaseException:
        stop()
        _wind_up(client, futures)
        raise
    return ended


def _outcome(future: Any, task: job.Task) -> dict[str, str]:
    """How a task ended; one that Dask gave up is a job that failed."""
    error = future.exception()
    if error is None:
        found: dict[str, str] = future.result()
        return found
    if type(error).__name__ == "KilledWorker":
        text = "its worker was lost again and again: out of memory?"
    else:
        text = f"{type(error).__name__}: {error}".splitlines()[0][:300]
    return {"key": task["key"], "status": "failed", "text": text}


def _wait_for_workers(client: Any) -> None:
    try:
        client.wait_for_workers(1, timeout=FIRST)
    except TimeoutError:
        raise RunStoppedError(f"no worker came within {FIRST:g} s: start some") from None


def _wind_up(client: Any, futures: Mapping[Any, job.Task]) -> None:
    """Withdraw what has not begun, and give what runs a moment to save."""
    waiting = dict(futures)
    with suppress(Exception):
        busy = {key for keys in client.processing().values() for key in keys}
        client.cancel([f for f in waiting if f.key not in busy], force=True)
        end = time.monotonic() + GRACE
        while time.monotonic() < end and any(f.status == "pending" for f in waiting if f.key in busy):
            time.sleep(0.1)


def default_processes(settings: Any) -> int:
    """As many as there are cores for this process; one where jobs would share a GPU.

    An experiment that can use a GPU has a setting ``device``, which is not ``cpu`` then.
    """
    if getattr(settings, "device", "cpu") != "cpu":
        import torch

        if torch.cuda.is_available():
            return 1
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1
