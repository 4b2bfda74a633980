"""The folder of a run: one run at a time, one configuration and one code version ever."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from gateproof.kernels.runs.refused import RunRefusedError
from gateproof.numerics import atomic

VERSION = 1
#: What may never differ between two runs in one folder, and what it is called.
FIXED = (
    ("experiment", "experiment"),
    ("configuration_hash", "configuration"),
    ("code", "version of the code"),
    ("versions", "version of a library"),
)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Have the folder alone; it is made where it is missing. Raises RunRefusedError."""
    try:
        if folder.exists() and not (folder / "run.json").is_file() and _holds_something(folder):
            raise RunRefusedError(f"{folder}: is not empty and holds no run; give another --out")
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise RunRefusedError(f"{folder}: {error.strerror}; give another --out") from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunRefusedError(f"{folder}: another run works there; wait for it or stop it") from None
        except OSError as error:
            raise RunRefusedError(f"{folder}: {error.strerror} (a lock); give another --out") from None
        yield
    finally:
        os.close(handle)


def _holds_something(folder: Path) -> bool:
    return not folder.is_dir() or any(entry.name != ".lock" for entry in folder.iterdir())


def started(folder: Path, document: Mapping[str, Any]) -> dict[str, Any]:
    """The run.json of a folder: the one that is there if it is of the same run, else this one, written.

    Raises RunRefusedError in one line where the folder is another run's.
    """
    path = folder / "run.json"
    if not path.exists():
        write_json(path, {"schema_version": VERSION, **document})
    found = read(folder)
    for key, word in FIXED:
        if found.get(key) != document[key]:
            other = f"another {word}{_named(found, document, key)}"
            raise RunRefusedError(f"{folder}: was begun with {other}; {_ADVICE}")
    return found


_ADVICE = "the two are never mixed: give another --out"


def _named(found: Mapping[str, Any], wanted: Mapping[str, Any], key: str) -> str:
    if key == "experiment":
        return f" ({found.get(key)!r:.40})"
    if key == "versions" and isinstance(found.get(key), dict):
        both = found[key], wanted[key]
        names = [name for name in {**both[0], **both[1]} if both[0].get(name) != both[1].get(name)]
        return f" ({', '.join(f'{n} {both[0].get(n)}, now {both[1].get(n)}' for n in names)})"
    return ""


def read(folder: Path) -> dict[str, Any]:
    """The run.json of a folder. Raises RunRefusedError."""
    path = folder / "run.json"
    try:
        found = json.loads(path.read_bytes())
    except OSError as error:
        raise RunRefusedError(f"{path}: {error.strerror}; give the folder of a run") from None
    except ValueError:
        found = None
    if not isinstance(found, dict) or found.get("schema_version") != VERSION:
        raise RunRefusedError(f"{path}: is no run of this version; give another folder")
    return found


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """Write JSON, whole or not at all."""
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    atomic.write_bytes(path, text.encode(), durable=True)


def ask_to_stop(folder: Path, run: str) -> Path:
    """Have all jobs of a run save and end, wherever they run."""
    path = folder / f".stop-{run}"
    with suppress(OSError):
        path.touch()
    return path


def shown(folder: Path) -> Path:
    """Where the tracebacks of failed jobs are."""
    return folder / "failed"
