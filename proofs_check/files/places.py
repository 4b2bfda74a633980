"""Where a claim, a reading or one of its keys stands in a claims file."""

from __future__ import annotations

from collections.abc import Sequence

from gateproof.proofs_check.files.toml_scan import Statement, Table


class Places:
    """Looks up lines and statements by claim, reading (or None) and key.

    Tables written inline (``claim = [{...}]``) have no place: the answer is then None.
    """

    def __init__(self, tables: Sequence[Table]) -> None:
        self.root = tables[0]
        self.claims: list[Table] = []
        self.readings: list[list[Table]] = []
        self.inner: list[list[Table]] = []
        for table in tables[1:]:
            if table.path == ("claim",) and table.array:
                self.claims.append(table)
                self.readings.append([])
                self.inner.append([])
            elif self.claims and table.path == ("claim", "reading") and table.array:
                self.readings[-1].append(table)
            elif self.claims and table.path[:1] == ("claim",):
                self.inner[-1].append(table)
        self.others = {t.path[0]: t.line for t in reversed(tables[1:])}

    def table(self, claim: int, reading: int | None = None) -> Table | None:
        """Return the table of a claim or of one of its readings."""
        if reading is None:
            return self.claims[claim] if claim < len(self.claims) else None
        if claim < len(self.readings) and reading < len(self.readings[claim]):
            return self.readings[claim][reading]
        return None

    def statement(self, claim: int, reading: int | None, key: str) -> Statement | None:
        """Return the statement that gives a key."""
        table = self.table(claim, reading)
        found = [s for s in table.statements if s.key[0] == key] if table is not None else []
        return found[0] if found else None

    def line(self, claim: int, reading: int | None = None, key: str | None = None) -> int | None:
        """Return the line of a key, else of its table, else of its claim."""
        statement = self.statement(claim, reading, key) if key else None
        if statement is not None:
            return statement.line
        if reading is None and key is not None and claim < len(self.inner):
            lines = [inner.line for inner in self.inner[claim] if inner.path[1] == key]
            if lines:
                return lines[0]
        table = self.table(claim, reading) or self.table(claim)
        return None if table is None else table.line

    def top(self, key: str) -> int | None:
        """Return the line of a key outside all claims."""
        found = [s.line for s in self.root.statements if s.key[0] == key]
        return found[0] if found else self.others.get(key)
