"""The bytes of a claims file, or one clear line why it cannot be read."""

from __future__ import annotations

import stat
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateproof.proofs_check.files.toml_scan import MAX_BYTES, Table, UnsafeError, scan
from gateproof.proofs_check.refused import RefusedError

_BOM = "\ufeff"


@dataclass(frozen=True)
class Source:
    """One file: its text as it stands (a BOM and CRLF kept), its tables and its data."""

    path: Path
    text: str
    tables: list[Table]
    data: dict[str, Any]


def read_bytes(path: Path, limit: int, what: str) -> bytes:
    """Read the whole of a regular file that the user named. Raises RefusedError."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise RefusedError(f"{path}: is a folder; name {what}")
        if not stat.S_ISREG(mode):
            raise RefusedError(f"{path}: is not a regular file; name {what}")
        with path.open("rb") as stream:
            data = stream.read(limit + 1)
    except RefusedError:
        raise
    except FileNotFoundError:
        raise RefusedError(f"{path}: no such file; name {what}") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise RefusedError(f"{str(path)[:200]}: cannot be read: {why}") from None
    if len(data) > limit:
        raise RefusedError(f"{path}: larger than {limit // 1_000} kB; split it")
    return data


def read_source(path: Path) -> Source:
    """Read a claims file as tables and data. Raises RefusedError."""
    return parse_source(path, read_bytes(path, MAX_BYTES, "a claims file, *.claims.toml"))


def parse_source(path: Path, data: bytes) -> Source:
    """Do the same for bytes that were read before."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise RefusedError(f"{path}: is UTF-16; save it as UTF-8")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise RefusedError(f"{path}:{line}: is not UTF-8 text; a claims file is TOML") from None
    plain = text.removeprefix(_BOM)
    if not plain.strip():
        raise RefusedError(f"{path}: is empty; a claim is a [[claim]] table with id and formal")
    try:
        tables, stopped = scan(plain)
    except UnsafeError as error:
        raise RefusedError(f"{path}:{error.line}: {error}; no claims file needs that") from None
    try:
        found = tomllib.loads(plain)
    except (ValueError, RecursionError) as error:
        raise RefusedError(f"{path}{_place(str(error), stopped)}") from None
    return Source(path, text, tables, found)


def _place(message: str, stopped: int | None) -> str:
    """Return ``:line: message`` from the TOML reader's ``message (at line L, column C)``.

    It gives no line for what is still open at the end; the scan knows where that began.
    """
    text, _, place = message.rpartition(" (at line ")
    if not text:
        line = f":{stopped}" if stopped else ""
        return f"{line}: is not TOML: {message}"
    line, _, column = place.rstrip(")").partition(", column ")
    return f":{line}: is not TOML: {text} (column {column})"
