"""The engine's version: a hash of the sources that a verdict can depend on."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import metadata
from pathlib import Path

#: Packages whose release can change a verdict or an enclosure's digits.
_LIBRARIES = ("python-flint", "gmpy2")


@cache
def source_version() -> str:
    """sha256 over the sources that a verdict may come from, and the libraries' versions."""
    import gateproof.numerics
    import gateproof.theory

    digest = hashlib.sha256()
    here = Path(__file__).resolve().parent
    folders = [
        Path(next(iter(gateproof.theory.__path__))),
        Path(next(iter(gateproof.numerics.__path__))),
        here,
        here.parent / "checker",
        here.parent / "floating",
    ]
    files = [(folder, path) for folder in folders for path in sorted(folder.rglob("*.py"))]
    files.append((here.parent, here.parent / "evidence" / "certificates.py"))
    for folder, path in files:
        digest.update(path.relative_to(folder).as_posix().encode())
        digest.update(path.read_bytes())
    for library in _LIBRARIES:
        digest.update(f"{library}=={metadata.version(library)}".encode())
    return digest.hexdigest()[:24]
