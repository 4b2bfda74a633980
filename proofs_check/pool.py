"""Worker processes: started when needed, killed when late, replaced when they die."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from gateproof.proofs_check.decision_json import CRASHED, TIME
from gateproof.proofs_check.records import Settings
from gateproof.proofs_check.refused import WorkerFailedError

# The parent's path replaces the worker's own, so both import the same files.
_START = (
    "import sys, json; sys.path[:] = json.loads(sys.stdin.readline());"
    "from gateproof.proofs_check.worker import main; main()"
)


class LostError(Exception):
    """No answer came; the message is the reason: time, or how the process ended."""


class Worker:
    """One worker process; an instance belongs to one thread, ``kill`` to any."""

    def __init__(self, decider: str) -> None:
        # Set and dict order of strings must not differ from run to run.
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as this)
        debug = bool(os.environ.get("GATEPROOF_DEBUG"))
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START, decider],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if debug else self.errors,
            env=environment,
            text=True,
            encoding="utf-8",
        )

    def start(self) -> None:
        """Wait until the process can answer. Raises WorkerFailedError."""
        path = [entry for entry in sys.path if entry]
        if not self._send(path) or self._receive() != {"ready": True}:
            self.close()
            raise WorkerFailedError(f"a worker could not start: {self._last_words()}")

    def ask(self, task: dict[str, Any], settings: Settings) -> dict[str, Any]:
        """Return the answer to a task. Raises LostError, and is of no use after that."""
        late = threading.Event()

        def expire() -> None:
            late.set()
            self.kill()

        timer = threading.Timer(settings.wall_seconds, expire)
        timer.daemon = True
        timer.start()
        try:
            sent = self._send({**task, "settings": asdict(settings)})
            reply = self._receive() if sent else None
        finally:
            timer.cancel()
        if reply is None:
            # The pipe closes a moment before the process ends with its own exit code.
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=1)
            self.close()
            raise LostError(TIME if late.is_set() else self._how_it_ended())
        return reply

    def kill(self) -> None:
        """End the process at once."""
        self.process.kill()

    def close(self) -> None:
        """End the process and free what it holds."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()

    def _send(self, message: object) -> bool:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()
        except OSError:
            return False
        return True

    def _receive(self) -> dict[str, Any] | None:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line.endswith("\n"):
            return None
        reply: dict[str, Any] = json.loads(line)
        return reply

    def _how_it_ended(self) -> str:
        code = self.process.returncode
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        words = self._last_words()
        return f"{CRASHED}: {how}{', ' + words if words else ''}"

    def _last_words(self) -> str:
        self.errors.seek(0)
        lines = self.errors.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1][:200] if lines else ""
