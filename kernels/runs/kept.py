"""Checkpoints of one job: whole or absent, saved by the clock, the one before kept beside."""

from __future__ import annotations

import hashlib
import io
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gateproof.numerics import atomic

#: Seconds between checkpoints at least, and how many times the last one's own duration: at most 5 %.
LEAST, TIMES = 10.0, 20.0
#: Seconds between two looks whether to stop, and between two reports.
LOOK, SPEAK = 0.5, 0.5
_MARK = b"gateproof checkpoint 1\n"


class StopJobError(Exception):
    """The job's state is saved, and its run was stopped."""


class Checkpoints:
    """What :class:`gateproof.kernels.runs.experiment.Kept` promises, in two files.

    A state holds tensors, numbers, texts, lists, tuples and dicts; it is read without running any code
    in it. A file that is not whole, by its own sha256, counts as absent.
    """

    def __init__(
        self,
        path: Path,
        *,
        least: float = LEAST,
        report: Callable[[float, str], None] | None = None,
        stop: Path | None = None,
    ) -> None:
        self.path, self.before = path, path.with_suffix(".before")
        self.least, self.report, self.stop = least, report, stop
        self.began = self.saved = time.monotonic()
        self.wait, self.looked, self.spoke = least, 0.0, float("-inf")
        self.stopping, self.earlier, self.resumed = False, 0.0, False

    @property
    def seconds(self) -> float:
        """How long the job has run, what went before the checkpoint included."""
        return self.earlier + time.monotonic() - self.began

    def load(self) -> dict[str, Any] | None:
        """The state last saved, or None."""
        for path in (self.path, self.before):
            found = _read(path)
            if found is not None:
                self.earlier, self.resumed = float(found["seconds"]), True
                state: dict[str, Any] = found["state"]
                return state
        return None

    def due(self) -> bool:
        """Whether it is time to save."""
        now = time.monotonic()
        self._look(now)
        return self.stopping or now - self.saved >= self.wait

    def save(self, state: Mapping[str, Any]) -> None:
        """Keep a state. Raises OSError where it cannot be written, StopJobError where the run is stopped."""
        import torch

        began = time.monotonic()
        data = io.BytesIO()
        torch.save({"state": dict(state), "seconds": self.seconds}, data)
        body = data.getvalue()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.exists():
            self.path.replace(self.before)
        atomic.write_bytes(self.path, _MARK + hashlib.sha256(body).digest() + body, durable=True)
        self.saved = time.monotonic()
        self.wait = max(self.least, TIMES * (self.saved - began))
        self._look(self.saved)
        if self.stopping:
            raise StopJobError

    def say(self, done: float, text: str = "") -> None:
        """Report."""
        now = time.monotonic()
        if self.report is not None and now - self.spoke >= SPEAK:
            self.spoke = now
            self.report(min(max(float(done), 0.0), 1.0), text)

    def forget(self) -> None:
        """Remove both files."""
        for path in (self.path, self.before):
            path.unlink(missing_ok=True)

    def _look(self, now: float) -> None:
        if self.stop is not None and not self.stopping and now - self.looked >= LOOK:
            self.looked = now
            self.stopping = self.stop.exists()


def _read(path: Path) -> dict[str, Any] | None:
    import torch

    try:
        data = path.read_bytes()
    except OSError:
        return None
    head = len(_MARK) + hashlib.sha256().digest_size
    if not data.startswith(_MARK) or hashlib.sha256(data[head:]).digest() != data[len(_MARK) : head]:
        return None
    try:
        # On the CPU: the machine that goes on may have no such device.
        found: dict[str, Any] = torch.load(io.BytesIO(data[head:]), map_location="cpu", weights_only=True)
    except Exception:
        return None
    return found if set(found) == {"state", "seconds"} else None
