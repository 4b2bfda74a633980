"""Files of numbers: CSV and its relatives, and NPY, as columns of float64.

Text: UTF-8, or UTF-16 with a byte order mark; columns are separated by commas, semicolons, tabs or blanks,
the same on every line; empty lines and what follows # or % are left out; one header line may stand first.
Missing values are empty (not between blanks), nan, na, n/a, null or none. NPY: a real array, no objects.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.target import RefusedTarget

#: Sizes that are read.
BYTES, ROWS, COLUMNS = 64_000_000, 1_000_000, 16
MISSING = ("", "nan", "na", "n/a", "null", "none")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eEdD][+-]?\d+)?|[+-]?(inf|infinity)", re.ASCII | re.IGNORECASE)
_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class Table:
    """Columns of equal length, shape (columns, rows), NaN where a value is missing; the header's names.

    ``lines`` are the numbers of the lines (or rows) that they stand on.
    """

    columns: Array
    names: tuple[str, ...]
    lines: NDArray[np.int64]


def read_table(path: Path) -> Table:
    """The columns of a file. Raises RefusedTarget with the line that is wrong."""
    data = _bytes(path)
    if path.suffix.lower() == ".npy" or data[:6] == b"\x93NUMPY":
        return _npy(path)
    return _text(path, _decoded(path, data))


def _bytes(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise RefusedTarget(f"{path} is a directory; give a file of columns x, y")
        with path.open("rb") as file:
            data = file.read(BYTES + 1)
    except FileNotFoundError:
        raise RefusedTarget(f"{path}: no such file") from None
    except OSError as error:
        raise RefusedTarget(f"{path}: cannot be read: {error.strerror or error}") from None
    if len(data) > BYTES:
        raise RefusedTarget(f"{path}: more than {BYTES // 10**6} MB; thin the curve out, or average it")
    if not data.strip():
        raise RefusedTarget(f"{path}: is empty")
    return data


def _decoded(path: Path, data: bytes) -> str:
    wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    try:
        return data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError:
        raise RefusedTarget(f"{path}: is no text in UTF-8; a measured curve is CSV, or NPY") from None


# --- arrays --------------------------------------------------------------------


def _npy(path: Path) -> Table:
    found = load_array(path)
    if found.dtype.names:
        kinds = {found.dtype[name].kind for name in found.dtype.names}
        if not kinds <= set("iuf") or found.ndim != 1:
            raise RefusedTarget(f"{path}: its fields must be numbers, one row each")
        names = tuple(found.dtype.names)
        return table_of([found[name] for name in names], names, str(path))
    if found.ndim == 1:
        return table_of([found], (), str(path))
    return table_of(found, (), str(path))


def load_array(path: Path) -> NDArray[Any]:
    """The array of an NPY file, in memory. Raises RefusedTarget; nothing in the file is run."""
    try:
        # Mapped first: a header may ask for more memory than the file has bytes.
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise RefusedTarget(f"{path}: no such file") from None
    except (ValueError, OSError, EOFError, OverflowError, TypeError, SyntaxError, MemoryError) as error:
        objects = "bject" in str(error) or "allow_pickle" in str(error)
        why = "holds Python objects" if objects else "is no NPY file"
        raise RefusedTarget(f"{path}: {why}; save a plain array of numbers with numpy.save") from None
    if not isinstance(found, np.ndarray):
        raise RefusedTarget(f"{path}: holds several arrays; save one array of columns x, y with numpy.save")
    return np.array(found)


def table_of(given: object, names: tuple[str, ...], name: str) -> Table:
    """A table of an array (rows, columns) or (columns, rows), or of a list of columns."""
    if isinstance(given, list | tuple):
        try:
            lengths = {len(c) for c in given}
        except TypeError:
            raise RefusedTarget(f"{name}: columns of numbers are expected") from None
        if len(lengths) != 1:
            raise RefusedTarget(f"{name}: its columns have different lengths {sorted(lengths)}")
    try:
        array = np.asarray(given)
    except (ValueError, TypeError):
        raise RefusedTarget(f"{name}: is no array of numbers") from None
    if array.dtype.kind == "c":
        raise RefusedTarget(f"{name}: complex numbers; give the real curve that is meant")
    if array.dtype.kind not in "iuf":
        raise RefusedTarget(f"{name}: values of type {array.dtype}; numbers are expected")
    if array.ndim != 2:
        raise RefusedTarget(f"{name}: an array of shape {array.shape}; columns x, y are expected, as (n, 2)")
    if array.shape[1] <= 3 < array.shape[0]:
        array = array.T
    if array.shape[0] > COLUMNS:
        raise RefusedTarget(f"{name}: an array of shape {array.shape}; columns x, y are expected, as (n, 2)")
    if array.shape[1] > ROWS:
        raise RefusedTarget(f"{name}: more than {ROWS} rows; thin the curve out, or average it")
    return Table(array.astype(np.float64), names, np.arange(1, array.shape[1] + 1))


# --- text ----------------------------------------------------------------------


def _text(path: Path, text: str) -> Table:
    rows: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        bare = re.split("[#%]", line, maxsplit=1)[0].strip("\r\n\x00 ")
        if bare.strip():
            rows.append((number, bare))
    if not rows:
        raise RefusedTarget(f"{path}: holds comments only")
    if len(rows) > ROWS:
        raise RefusedTarget(f"{path}: more than {ROWS} rows; thin the curve out, or average it")
    separator = _separator(rows[len(rows) // 2][1])
    names = _header(rows[0][1], separator)
    rows = rows[1:] if names else rows
    if not rows:
        raise RefusedTarget(f"{path}: holds a header only")
    width = len(_cells(rows[0][1], separator))
    names = names if len(names) == width else ()
    if width > COLUMNS:
        raise RefusedTarget(f"{path}: line {rows[0][0]} has {width} columns; two or three are expected")
    found = np.empty((width, len(rows)))
    for k, (number, line) in enumerate(rows):
        cells = _cells(line, separator)
        if len(cells) != width:
            hint = _hint(cells, line, separator)
            raise RefusedTarget(f"{path}: line {number} has {len(cells)} columns and not {width}{hint}")
        for column, cell in enumerate(cells):
            value = _value(cell)
            if value is None:
                raise RefusedTarget(f"{path}: line {number}, column {column + 1}: {_wrong(cell)}")
            found[column, k] = value
    return Table(found, names, np.array([number for number, _ in rows]))


def _header(line: str, separator: str) -> tuple[str, ...]:
    """The names in a line without numbers; none where it is a row."""
    cells = [c.strip().strip("\"'").strip() for c in _cells(line, separator)]
    words = [c for c in cells if _value(c) is None]
    numbers = [c for c in cells if c.lower() not in MISSING and _value(c) is not None]
    return () if numbers or not words or any(_COMMA.fullmatch(c) for c in cells) else tuple(cells)


def _separator(line: str) -> str:
    for mark in (";", "\t", ","):
        if mark in line:
            return mark
    return " "


def _cells(line: str, separator: str) -> list[str]:
    if separator == " ":
        return line.split()
    cells = line.split(separator)
    # A separator at the end of every line is common in exports of instruments.
    return cells[:-1] if len(cells) > 2 and not cells[-1].strip() and separator != "," else cells


def _value(cell: str) -> float | None:
    text = cell.strip().strip("\"'").strip()
    if text.lower() in MISSING:
        return math.nan
    if not _NUMBER.fullmatch(text):
        return None
    return float(text.lower().replace("d", "e") if "inf" not in text.lower() else text)


def _wrong(cell: str) -> str:
    text = cell.strip()
    if _COMMA.fullmatch(text):
        return f"{text:.30} has a decimal comma; write decimal points"
    if re.fullmatch(r"[+-]?[\d.eE+-]+[jiJI]\)?", text.lstrip("(")) or "j" in text.lower().rstrip(")")[-1:]:
        return f"{text!r:.32} is complex; give the real curve that is meant"
    if re.search(r"\d[ \t]+[\d.+-]", text):
        return f"{text!r:.32} is two numbers; separate all columns in the same way, with decimal points"
    return f"{text!r:.32} is not a number"


def _hint(cells: list[str], line: str, separator: str) -> str:
    """A decimal comma in a file whose columns are separated by commas shows as more of them."""
    if separator == "," and len(cells) in (3, 4, 6):
        return "; are there decimal commas? write decimal points"
    return "; separate all columns in the same way" if _separator(line) != separator else ""
