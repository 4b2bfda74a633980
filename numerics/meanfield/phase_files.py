"""A phase diagram's JSON as a file, without holding its text in memory."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def write_json(path: Path, parts: Iterator[tuple[str, Any]]) -> None:
    """An object of these parts; iterators are lists, written item by item. All of the file or nothing."""
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        made = Path(folder) / path.name
        with made.open("w", encoding="utf-8") as out:
            out.write("{")
            for number, (name, value) in enumerate(parts):
                out.write(f"{',' * (number > 0)}\n{json.dumps(name)}: ")
                if isinstance(value, str | dict | list):
                    out.write(json.dumps(value))
                    continue
                out.write("[")
                for row, item in enumerate(value):
                    out.write(f"{',' * (row > 0)}\n{json.dumps(item)}")
                out.write("]")
            out.write("\n}\n")
        made.replace(path)
