"""Blocks of a long computation on disk, each written whole or not at all, so that it can go on later."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from gateproof.numerics.atomic import write_bytes


class Blocks:
    """A folder of blocks of one computation, told by what it was asked for.

    Blocks of another computation in the same folder are left alone: their names differ.
    """

    def __init__(self, folder: Path, asked: Mapping[str, Any]) -> None:
        self.folder = folder
        text = json.dumps(asked, sort_keys=True).encode()
        self.key = hashlib.sha256(text).hexdigest()[:16]
        folder.mkdir(parents=True, exist_ok=True)

    def _path(self, number: int) -> Path:
        return self.folder / f"{self.key}-{number:06d}.npz"

    def load(self, number: int) -> dict[str, Any] | None:
        """The arrays of a block, or None where it was not written."""
        try:
            with np.load(self._path(number), allow_pickle=False) as found:
                return {name: found[name] for name in found.files}
        except (FileNotFoundError, BadZipFile, ValueError, KeyError, EOFError):
            return None

    def save(self, number: int, arrays: Mapping[str, Any]) -> None:
        """Write a block whole."""
        from io import BytesIO

        out = BytesIO()
        np.savez(out, **arrays)
        write_bytes(self._path(number), out.getvalue())

    def remove(self, count: int) -> None:
        """Delete the blocks, and the folder where nothing else is in it."""
        for number in range(count):
            self._path(number).unlink(missing_ok=True)
        if not any(self.folder.iterdir()):
            self.folder.rmdir()
