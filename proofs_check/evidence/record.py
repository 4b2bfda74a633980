"""Records: JSON files with the numbers of one run, and whether what went into it is still the same.

The schema is proofs_check/schema/evidence.schema.json. Every number is text, exact: a decimal
or p/q. ``sha256`` covers all but itself and ``run``, so an edited record refuses itself.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from gateproof.numerics import atomic
from gateproof.proofs_check.claims_file import PACKAGED
from gateproof.proofs_check.decision_json import digest
from gateproof.proofs_check.files.claims_text import read_bytes
from gateproof.proofs_check.records import Reading
from gateproof.proofs_check.refused import RefusedError

VERSION = 1
MAX_BYTES = 4_000_000
HERE = Path(__file__).resolve().parent
#: ``gateproof/...`` in a record's inputs.
PACKAGE = HERE.parent.parent
KEYS = ("schema_version", "name", "about", "producer", "criteria", "inputs", "seeds", "ranges", "numbers",
        "intervals", "run", "sha256")  # fmt: skip
_NUMBER = re.compile(
    r"-?[0-9]{1,200}(\.[0-9]{1,100})?([eE][-+]?[0-9]{1,2})?|-?[0-9]{1,200}/[0-9]{1,200}", re.ASCII
)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)


@dataclass(frozen=True)
class Record:
    """A record that is whole: its data, and the file that it came from."""

    data: Mapping[str, Any]
    path: Path

    @property
    def numbers(self) -> dict[str, Fraction]:
        """All numbers by the names that a criterion uses."""
        found = {name: Fraction(text) for name, text in self.data["numbers"].items()}
        for name, interval in self.data["intervals"].items():
            found[f"{name}_lo"], found[f"{name}_hi"] = Fraction(interval["lo"]), Fraction(interval["hi"])
        return found

    def changed(self) -> list[str]:
        """The inputs that are no longer what they were; one that is not at hand is not looked at."""
        return [
            entry["file"]
            for entry in self.data["inputs"]
            if entry["file"] is not None and _hash(self.path, entry["file"]) != entry["sha256"]
        ]


def path_of(claims_file: str, reading: Reading) -> Path:
    """The record, or the certificate, that a reading of a claims file names: in ``evidence`` beside it."""
    kind, ending = ("records", ".json") if reading.by_criterion else ("certificates", ".json.gz")
    folder = Path(claims_file).resolve().parent
    return (HERE / kind if folder == PACKAGED else folder / "evidence") / f"{reading.evidence}{ending}"


def load(path: Path) -> Record | None:
    """The record of a file; None where there is none. Raises RefusedError for one that is not whole."""
    if not path.is_file():
        return None
    raw = read_bytes(path, MAX_BYTES, "a record")
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        raise RefusedError(f"{path.name}: is not JSON; a record is one JSON document") from None
    wrong = next(_faults(data), None)
    if wrong is not None:
        raise RefusedError(f"{path.name}: is no record: {wrong}")
    if data["name"] != path.stem:
        raise RefusedError(f"{path.name}: is the record {data['name']!r:.90} under another name")
    if data["sha256"] != seal(data):
        raise RefusedError(f"{path.name}: was changed after it was made; make it anew")
    return Record(data, path)


def write(path: Path, data: Mapping[str, Any]) -> Record:
    """Seal a record and write it, whole or not at all. Raises RefusedError for data that are no record."""
    made = sealed({**data, "name": path.stem})
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic.write_text(path, json.dumps(made, indent=1) + "\n")
    return Record(made, path)


def sealed(data: Mapping[str, Any]) -> dict[str, Any]:
    """Data with their seal. Raises RefusedError for data that are no record."""
    made = {**data, "schema_version": VERSION}
    made["sha256"] = seal(made)
    wrong = next(_faults(made), None)
    if wrong is not None:
        raise RefusedError(f"{data['name']}: what was found is no record: {wrong}")
    return made


def seal(data: Mapping[str, Any]) -> str:
    """The sha256 of all that a verdict may rest on."""
    return digest({key: value for key, value in data.items() if key not in ("run", "sha256")})


def source(file: str) -> dict[str, Any]:
    """An input that is a file of the package, as it is now. Raises RefusedError where there is none."""
    found = _hash(HERE, f"gateproof/{file}")
    if found is None:
        raise RefusedError(f"gateproof/{file}: no such file, so it is no input of a record")
    return {"file": f"gateproof/{file}", "sha256": found}


def _hash(record: Path, file: str) -> str | None:
    parts = file.split("/")
    base = PACKAGE if parts[0] == "gateproof" else record.parent
    path = base.joinpath(*(parts[1:] if parts[0] == "gateproof" else parts))
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except (OSError, ValueError):
        return None


def _faults(data: Any) -> Iterator[str]:
    """What keeps data from being a record; looked at without jsonschema, which is slow to load."""
    if not isinstance(data, dict) or set(data) != set(KEYS):
        yield f"its keys must be {', '.join(KEYS)}"
        return
    if data["schema_version"] != VERSION:
        yield f"schema_version {data['schema_version']!r:.20} is not known; only {VERSION} is"
    texts = all(isinstance(data[k], str) and data[k].strip() for k in ("name", "about", "producer", "sha256"))
    if not texts or not isinstance(data["run"], dict):
        yield "name, about, producer and sha256 are texts, run an object"
    if not _texts(data["criteria"]) or not data["criteria"]:
        yield "criteria, by sha256, must say what was fixed before the run"
    if not isinstance(data["seeds"], list) or not all(type(seed) is int for seed in data["seeds"]):
        yield "seeds is a list of whole numbers"
    if not _texts(data["ranges"]) or not data["ranges"]:
        yield "ranges must say over what was sampled"
    if not isinstance(data["inputs"], list) or not all(map(_input, data["inputs"])):
        yield 'inputs are {"file": "gateproof/..." or a name beside the record or null, "sha256"}'
    yield from _wrong_numbers(data)


def _wrong_numbers(data: Mapping[str, Any]) -> Iterator[str]:
    numbers, intervals = data["numbers"], data["intervals"]
    if not isinstance(numbers, dict) or not isinstance(intervals, dict) or not intervals:
        yield "numbers and intervals are objects, with one interval at least"
        return
    wrong = [name for name in (*numbers, *intervals) if not _NAME.fullmatch(name)]
    # X_lo and X_hi are ends of an interval X, never numbers that a run gave by themselves.
    wrong += [n for n, value in numbers.items() if n.endswith(("_lo", "_hi")) or not _is_number(value)]
    for name, interval in intervals.items():
        if not _is_interval(interval):
            wrong.append(name)
    if wrong:
        yield f"{wrong[0]!r:.60}: no number or interval (exact texts; lo <= hi, level, method, n)"


def _is_interval(found: object) -> bool:
    if not isinstance(found, dict) or set(found) != {"lo", "hi", "level", "method", "n"}:
        return False
    if not all(map(_is_number, (found["lo"], found["hi"], found["level"]))):
        return False
    if type(found["n"]) is not int or found["n"] < 1 or not isinstance(found["method"], str):
        return False
    return Fraction(found["lo"]) <= Fraction(found["hi"]) and 0 < Fraction(found["level"]) < 1


def _is_number(value: object) -> bool:
    if not isinstance(value, str) or not _NUMBER.fullmatch(value):
        return False
    return "/" not in value or int(value.partition("/")[2]) != 0


def _texts(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(text, str) and text for text in value.values())


def _input(entry: object) -> bool:
    if not isinstance(entry, dict) or not {"file", "sha256"} <= set(entry) <= {"file", "sha256", "what"}:
        return False
    file = entry["file"]
    # Nothing above the record's folder or the package is read.
    inside = file is None or (isinstance(file, str) and not {"", ".", ".."} & set(file.split("/")))
    return inside and (file is not None or bool(entry.get("what"))) and isinstance(entry["sha256"], str)
