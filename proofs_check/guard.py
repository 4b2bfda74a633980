"""From chosen claims to decided ones, with all that a report needs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gateproof.proofs_check import document, run_info
from gateproof.proofs_check.cache import Cache, default_folder
from gateproof.proofs_check.evidence.judging import plan
from gateproof.proofs_check.records import ClaimSpec, Decision, Settings
from gateproof.proofs_check.runner import Progress, Run, run


@dataclass(frozen=True)
class Guarded:
    """Claims with one decision a reading, claim after claim."""

    claims: tuple[ClaimSpec, ...]
    run: Run
    info: Mapping[str, Any]

    @property
    def decisions(self) -> list[Decision]:
        """Return the decisions in the order of the readings."""
        return [result.decision for result in self.run.results]

    def document(
        self, naming: Callable[[str], str] = document.by_hash
    ) -> tuple[dict[str, Any], dict[str, Mapping[str, Any]]]:
        """Return report.json's document, and the certificates by hash."""
        return document.build(self.claims, self.decisions, self.info, naming)


def open_cache() -> Cache | None:
    """Return the user's cache, or None where there is no home for one."""
    from gateproof.proofs_check.engine import engine_version

    folder = default_folder()
    return None if folder is None else Cache(folder, engine_version())


def decide_claims(
    claims: Sequence[ClaimSpec],
    settings: Settings,
    *,
    jobs: int | None = None,
    use_cache: bool = True,
    progress: Progress | None = None,
) -> Guarded:
    """Decide every reading of the claims."""
    started, clock = time.time(), time.monotonic()
    plans = [plan(claim, reading) for claim in claims for reading in claim.readings]
    given = {index: entry.decision for index, entry in enumerate(plans) if entry.decision is not None}
    cache = open_cache() if use_cache else None
    asked = [entry.reading for entry in plans]
    done = run(asked, settings, jobs=jobs, cache=cache, progress=progress, given=given)
    pairs = zip(plans, done.results, strict=True)
    done = replace(done, results=tuple(replace(r, decision=entry.judged(r.decision)) for entry, r in pairs))
    seconds = time.monotonic() - clock
    info = run_info.describe(claims, done, settings, started=started, seconds=seconds, jobs=jobs)
    return Guarded(tuple(claims), done, info)
