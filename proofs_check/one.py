"""Deciding one reading at a time, in a worker process that lives as long as its owner.

For callers that ask one by one, as a test runner does; many at once go to :mod:`.runner`.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace

from gateproof.proofs_check.cache import Cache
from gateproof.proofs_check.decision_json import from_json, question, statement_only
from gateproof.proofs_check.evidence.judging import plan
from gateproof.proofs_check.guard import open_cache
from gateproof.proofs_check.pool import LostError, Worker
from gateproof.proofs_check.records import ClaimSpec, Decision, Reading, Settings
from gateproof.proofs_check.runner import Result, asks_for_nearest, patient
from gateproof.proofs_check.worker import ENGINE


class OneByOne:
    """Decides readings in the order in which they are asked; a worker that is lost is replaced."""

    def __init__(self, settings: Settings, *, use_cache: bool = True) -> None:
        self.settings = settings
        self.cache: Cache | None = open_cache() if use_cache else None
        self.worker: Worker | None = None

    def decide(self, claim: ClaimSpec, reading: Reading) -> Result:
        """The decision of one reading, from the cache where it is known."""
        asked = plan(claim, reading)
        if asked.decision is not None:
            return Result(asked.decision)
        bare = statement_only(asked.reading)
        key = self.cache.key(bare, self.settings) if self.cache is not None else ""
        known = self.cache.get(key) if self.cache is not None else None
        found = Result(known, cached=True) if known is not None else self._decided(bare)
        if self.cache is not None and not found.cached and found.whole:
            self.cache.put(key, found.decision)
        return replace(found, decision=asked.judged(found.decision))

    def statement(self, reading: Reading) -> Decision:
        """The decision of a statement by itself, neither looked up nor kept."""
        return self._decided(statement_only(reading)).decision

    def _decided(self, reading: Reading) -> Result:
        started, task = time.monotonic(), question(reading, self.settings)
        try:
            decision = from_json(self._running().ask(task, patient(reading, self.settings)))
        except LostError as error:
            self.worker = None
            return Result(Decision("inconclusive", reason=str(error)), time.monotonic() - started)
        whole = True
        if asks_for_nearest(decision, ENGINE):
            try:
                reply = self._running().ask({**task, "nearest": True}, self.settings)
                decision = replace(decision, nearest=reply["nearest"])
            except LostError:
                # The verdict stands; only the proposal is missing.
                self.worker, whole = None, False
        return Result(decision, time.monotonic() - started, whole=whole)

    def _running(self) -> Worker:
        if self.worker is None:
            self.worker = Worker(ENGINE)
            self.worker.start()
        return self.worker

    def close(self) -> None:
        """End the worker."""
        if self.worker is not None:
            with suppress(OSError):
                self.worker.close()
        self.worker = None
