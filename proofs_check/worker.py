"""A process that answers questions: one JSON line in, one JSON line out.

It is started by :mod:`gateproof.proofs_check.pool` as a plain Python process, not by
``multiprocessing``: that would import the caller's main module a second time, and
reads pickles. What the engine prints goes to stderr, since stdout carries answers.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from gateproof.proofs_check.decision_json import FAULT, from_json, reading_from, to_json
from gateproof.proofs_check.records import Decision, Reading, Settings

Decider = Callable[[Reading, Settings], Decision]
ENGINE = "gateproof.proofs_check.engine.judge:decide_reading"
RECHECK = "gateproof.proofs_check.evidence.certificates:decide"
CODE = "gateproof.proofs_check.code.modules:decide_reading"
MEMORY = 4 << 30
GRACE = 5.0


def find(decider: str) -> Decider:
    """Import ``module:function``."""
    module, _, name = decider.partition(":")
    found: Decider = getattr(importlib.import_module(module), name)
    return found


def answer(decide: Decider, reading: Reading, settings: Settings) -> Decision:
    """Decide one reading; what the engine raises becomes a reason."""
    if reading.proof is not None:
        decide = find(RECHECK)
    if reading.code is not None:
        decide = find(CODE)
    try:
        # Through JSON also when decided in the caller's process: one result for any -j.
        return from_json(json.loads(json.dumps(to_json(decide(reading, settings)))))
    except MemoryError:
        return Decision("inconclusive", reason=f"{FAULT}: out of memory")
    except RecursionError:
        return Decision("inconclusive", reason=f"{FAULT}: nested too deeply")
    except Exception as error:
        if os.environ.get("GATEPROOF_DEBUG"):
            import traceback

            traceback.print_exc()
        text = f"{type(error).__name__}: {error}".splitlines()[0]
        return Decision("inconclusive", reason=f"{FAULT}: {text[:300]}")


def suggest(reading: Reading, settings: Settings) -> dict[str, str] | None:
    """Look for a true statement near a refuted one; what the search raises counts as none."""
    from gateproof.proofs_check.engine.nearest import nearest

    try:
        found = nearest(reading, settings)
        return None if found is None else json.loads(json.dumps(dict(found)))
    except Exception:
        if os.environ.get("GATEPROOF_DEBUG"):
            import traceback

            traceback.print_exc()
        return None


def certify(task: dict[str, Any]) -> dict[str, Any]:
    """Answer a ``certify`` question; errors come back as one line."""
    from gateproof.proofs_check.certify_text import certify_text

    try:
        settings = Settings(**task["settings"])
        return {"certified": certify_text(task["text"], task["digits"], settings, **task["varied"])}
    except ValueError as error:
        return {"refused": str(error)}


def main() -> None:
    """Serve until the input ends."""
    # Ctrl-C reaches the whole group; the parent decides what happens to its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    decide = find(sys.argv[1])
    print(json.dumps({"ready": True}), file=out, flush=True)
    for line in sys.stdin:
        task = json.loads(line)
        settings = Settings(**task["settings"])
        # The parent kills a worker that takes too long; this ends one whose parent is gone.
        signal.setitimer(signal.ITIMER_REAL, settings.wall_seconds + GRACE)
        if "ask" in task:
            from gateproof.proofs_check.explore.questions import answer as explored

            reply = explored(task)
        elif "text" in task:
            reply = certify(task)
        elif task.get("nearest"):
            reply = {"nearest": suggest(reading_from(task), settings)}
        else:
            reply = to_json(answer(decide, reading_from(task), settings))
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(json.dumps(reply), file=out, flush=True)
