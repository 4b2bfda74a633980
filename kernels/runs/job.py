"""One job in a worker process: the same numbers whichever worker runs it, and after any stop."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from gateproof.kernels.runs import keys
from gateproof.kernels.runs.experiment import Experiment
from gateproof.kernels.runs.kept import LEAST, Checkpoints, StopJobError
from gateproof.numerics import atomic

#: What the engine adds to a row.
COLUMNS = ("job", "configuration", "code", "versions", "machine", "seconds")
FULL = (errno.ENOSPC, errno.EDQUOT)
Task = Mapping[str, Any]
Report = Callable[[float, str], None]


def work(task: Task) -> dict[str, str]:
    """Run a job and write its rows to the run's folder, ``jobs/KEY.json``; says how it ended.

    ``status`` is finished, failed, stopped, full (the disk), or foreign (a worker that lacks the folder
    or has other code); ``text`` is one line.
    """
    folder = Path(task["folder"])
    if not (folder / "run.json").is_file():
        return _end(task, "foreign", f"a worker does not see {folder}: all need one shared folder")
    if keys.code(task["module"]) != task["code"]:
        return _end(
            task,
            "foreign",
            "a worker has other code than the run began with (if it was changed: another --out)",
        )
    if finished(folder, task["key"]) is not None:
        return _end(task, "finished")
    stop = folder / f".stop-{task['run']}"
    if stop.exists():
        return _end(task, "stopped")
    prepare()
    kept = Checkpoints(
        folder / "checkpoints" / f"{task['key']}.pt",
        least=task.get("least", LEAST),
        report=_reporter(task),
        stop=stop,
    )
    experiment: Experiment = import_module(task["module"]).EXPERIMENT
    try:
        rows = experiment.run(task["settings"], kept)
        write(folder, task, rows, kept.seconds)
        kept.forget()
    except StopJobError:
        return _end(task, "stopped")
    except OSError as error:
        if error.errno in FULL:
            return _end(task, "full", f"{folder}: {error.strerror}")
        return _end(task, "failed", _said(error))
    except Exception as error:
        with suppress(OSError):
            _trace(folder, task)
        return _end(task, "failed", _said(error))
    return _end(task, "finished")


def prepare() -> None:
    """One thread and deterministic algorithms: sums then have one order on a machine."""
    import torch

    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True, warn_only=torch.cuda.is_available())
    torch.set_default_dtype(torch.float32)
    # Jobs bring generators of their own; one that does not is at least no other after a stop at 0.
    torch.manual_seed(0)


def write(folder: Path, task: Task, rows: Sequence[Mapping[str, Any]], seconds: float) -> None:
    """Keep the rows, whole or not at all. Raises ValueError for what no column can hold."""
    for row in rows:
        wrong = next((name for name, value in row.items() if not _is_cell(name, value)), None)
        if wrong is not None:
            raise ValueError(f"column {wrong!r:.40}: {row[wrong]!r:.40} is no cell, or the name is taken")
    data = {
        "key": task["key"],
        "name": task["name"],
        "rows": [dict(row) for row in rows],
        "seconds": round(seconds, 3),
        "versions": keys.versions(),
        "machine": keys.machine(),
    }
    data["sha256"] = keys.digest(data)
    path = folder / "jobs" / f"{task['key']}.json"
    path.parent.mkdir(exist_ok=True)
    atomic.write_bytes(path, json.dumps(data).encode(), durable=True)


def finished(folder: Path, key: str) -> dict[str, Any] | None:
    """What a finished job left; None for a file that is absent or damaged."""
    try:
        data: dict[str, Any] = json.loads((folder / "jobs" / f"{key}.json").read_bytes())
        sealed = {name: value for name, value in data.items() if name != "sha256"}
        return data if data["key"] == key and data["sha256"] == keys.digest(sealed) else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _is_cell(name: str, value: object) -> bool:
    return name not in COLUMNS and (value is None or type(value) in (str, int, float, bool))


def _end(task: Task, status: str, text: str = "") -> dict[str, str]:
    return {"key": task["key"], "status": status, "text": text}


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0][:300]


def _trace(folder: Path, task: Task) -> None:
    import traceback

    path = folder / "failed" / f"{task['key']}.txt"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{task['name']}\n\n{traceback.format_exc()}", encoding="utf-8")


def _reporter(task: Task) -> Report | None:
    """Reports go to the scheduler, whose clients hear them."""
    try:
        from distributed import get_worker

        worker = get_worker()
    except (ImportError, ValueError):
        return None

    def report(done: float, text: str) -> None:
        worker.log_event(topic(task["run"]), {"key": task["key"], "done": done, "text": text[:80]})

    return report


def topic(run: str) -> str:
    """Where reports of a run are published."""
    return f"gateproof-run-{run}"
