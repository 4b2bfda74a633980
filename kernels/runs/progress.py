"""How far a run is, and how long the rest will take at the pace so far."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping


class Progress:
    """The jobs of a run by their relative costs; told from several threads."""

    def __init__(self, costs: Mapping[str, float], names: Mapping[str, str], done: frozenset[str]) -> None:
        self.costs, self.names = dict(costs), names
        self.share = {key: 1.0 if key in done else 0.0 for key in costs}
        self.total = sum(costs.values()) or 1.0
        self.ended, self.last = set(done), ""
        self.lock, self.began, self.first = threading.Lock(), time.monotonic(), self._done()

    def tell(self, key: str, done: float, text: str, *, end: bool = False) -> None:
        """Note how far a job is."""
        with self.lock:
            self.share[key] = done
            if end:
                self.ended.add(key)
            self.last = f"{self.names.get(key, key)}: {text}" if text else self.names.get(key, key)

    def line(self) -> str:
        """All in one line."""
        with self.lock:
            done, elapsed = self._done(), time.monotonic() - self.began
            said = f"{len(self.ended)} of {len(self.costs)} jobs, {100 * done / self.total:.0f} %"
            made = done - self.first
            if made > 0 and elapsed > 1:
                said += f", {duration(elapsed * (self.total - done) / made)} left"
            return f"{said}  {self.last}".rstrip()

    def _done(self) -> float:
        return sum(cost * self.share[key] for key, cost in self.costs.items())


def duration(seconds: float) -> str:
    """Seconds in words: 40 s, 12 min, 3 h 20 min."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
