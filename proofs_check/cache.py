"""What was decided before, by the content of the question.

The key is a hash of the statement, controls, definitions, work settings, and the
versions of engine and format; pins, names and prose are no part of it. An entry that
cannot be read, or whose content does not match its own hash, counts as absent.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from gateproof.numerics import atomic
from gateproof.proofs_check.decision_json import digest, from_json, is_lasting, question, to_json
from gateproof.proofs_check.records import Decision, Reading, Settings

FORMAT = 2


def default_folder() -> Path | None:
    """Return ``$XDG_CACHE_HOME/gateproof`` or ``~/.cache/gateproof``; None without a home."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The specification has a relative path ignored.
    if base and Path(base).is_absolute():
        return Path(base) / "gateproof"
    try:
        return Path.home() / ".cache" / "gateproof"
    except RuntimeError:
        return None


class Cache:
    """Decisions in a folder. A folder that cannot be written is only read."""

    def __init__(self, folder: Path, engine: str) -> None:
        self.folder = folder
        self.engine = engine
        self.writable = True

    def key(self, reading: Reading, settings: Settings) -> str:
        """Return the hash that names an entry."""
        asked = question(reading, settings)
        return digest({"format": FORMAT, "engine": self.engine, "question": asked})

    def get(self, key: str) -> Decision | None:
        """Return the decision stored under a key, if it is whole."""
        try:
            entry = json.loads(self._path(key).read_bytes())
            if entry["key"] == key and entry["hash"] == digest(entry["decision"]):
                return from_json(entry["decision"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            pass
        return None

    def put(self, key: str, decision: Decision) -> None:
        """Store a decision that would come out the same again."""
        if not self.writable or not is_lasting(decision):
            return
        data = to_json(decision)
        entry = {"key": key, "hash": digest(data), "decision": data}
        path = self._path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            atomic.write_text(path, json.dumps(entry))
        except OSError:
            self.writable = False

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"
