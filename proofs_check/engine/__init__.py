"""The claim engine: a reading in, a verdict with its evidence out."""

from __future__ import annotations

from gateproof.proofs_check.records import Decision, Reading, Settings

__all__ = ["decide", "engine_version"]


def decide(reading: Reading, settings: Settings | None = None) -> Decision:
    """Decide one reading. Raises FormulaError where its text cannot be read."""
    from gateproof.proofs_check.engine.judge import decide_reading

    return decide_reading(reading, settings or Settings())


def engine_version() -> str:
    """Changes whenever a verdict could: part of every cache key."""
    from gateproof.proofs_check.engine.version import source_version

    return source_version()
