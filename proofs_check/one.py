"""Deciding one reading at a time, in a worker process that lives as long as its owner.

For callers that ask one by one, as a test runner does; many at once go to :mod:`.runner`.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from gateproof.proofs_check.cache import Cache
from gateproof.proofs_check.decision_json import statement_only
from gateproof.proofs_check.evidence.judging import plan
from gateproof.proofs_check.guard import open_cache
from gateproof.proofs_check.pool import Worker
from gateproof.proofs_check.records import ClaimSpec, Decision, Reading, Settings
from gateproof.proofs_check.runner import Result, asked
from gateproof.proofs_check.worker import ENGINE


class OneByOne:
    """Decides readings in the order in which they are asked; a worker that is lost is replaced."""

    def __init__(self, settings: Settings, *, use_cache: bool = True) -> None:
        self.settings = settings
        self.cache: Cache | None = open_cache() if use_cache else None
        self.worker: Worker | None = None

    def decide(self, claim: ClaimSpec, reading: Reading) -> Result:
        """The decision of one reading, from the cache where it is known."""
        planned = plan(claim, reading)
        if planned.decision is not None:
            return Result(planned.decision)
        bare = statement_only(planned.reading)
        cache = self.cache if bare.code is None else None
        key = cache.key(bare, self.settings) if cache is not None else ""
        known = cache.get(key) if cache is not None else None
        found = Result(known, cached=True) if known is not None else self._decided(bare, self.settings)
        if cache is not None and not found.cached and found.whole:
            cache.put(key, found.decision)
        return replace(found, decision=planned.judged(found.decision))

    def statement(self, reading: Reading, settings: Settings) -> Decision:
        """The decision of a statement by itself, neither looked up nor kept."""
        return self._decided(statement_only(reading), settings).decision

    def _decided(self, reading: Reading, settings: Settings) -> Result:
        result, alive = asked(self._running(), reading, settings, ENGINE)
        if not alive:
            self.worker = None
        return result

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
