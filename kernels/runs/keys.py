"""Hashes that name things: a configuration, a job, the code that a run depends on."""

from __future__ import annotations

import ast
import hashlib
import json
import platform
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

#: Holds theory, numerics, kernels and proofs_check.
PACKAGE = Path(__file__).resolve().parents[2]
#: Of two releases of these the same code may give other numbers.
LIBRARIES = ("torch", "numpy", "scipy", "scikit-learn", "tokenizers")


def canonical(value: Any) -> str:
    """JSON in one form only; floats by their shortest digits, infinite ones as Python writes them."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(value: Any) -> str:
    """The sha256 of plain JSON."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def versions() -> dict[str, str]:
    """Python's version and those of the libraries that are there."""
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def machine() -> dict[str, Any]:
    """The kind of machine; nothing in it names its owner."""
    import torch

    gpu = torch.cuda.get_device_name(0) if torch.cuda.is_available() else None
    return {"system": platform.system(), "machine": platform.machine(), "processor": _processor(), "gpu": gpu}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


@cache
def closure(module: str) -> dict[str, str]:
    """The sha256 of every file that a module imports from its own package, at any depth.

    Imports are read from the source, those within functions too; a module that is named only by a text
    at run time is not seen. Names are those of modules.
    """
    found: dict[str, str] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        path = path_of(name)
        if name in found or path is None:
            continue
        text = path.read_bytes()
        found[name] = hashlib.sha256(text).hexdigest()
        waiting += [one for one in _imported(text, module.partition(".")[0]) if one not in found]
    return dict(sorted(found.items()))


def code(module: str) -> str:
    """The version of all code that a module's outcome may depend on, this engine's part included."""
    return digest([closure(module), closure("gateproof.kernels.runs.job")])


def path_of(name: str) -> Path | None:
    """The file of a module; None where there is none."""
    parts = name.split(".")
    if parts[0] == "gateproof":
        base = PACKAGE.joinpath(*parts[1:])
        for path in (base.with_suffix(".py"), base / "__init__.py"):
            if path.is_file():
                return path
        return None
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):
        return None
    return None if spec is None or not spec.origin or not spec.has_location else Path(spec.origin)


def _imported(text: bytes, package: str) -> Iterator[str]:
    """The names that may be modules of the package: ``from a import b`` may mean the module a.b."""
    inside = {package, "gateproof"}
    for node in ast.walk(ast.parse(text)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            parts = name.split(".")
            if parts[0] in inside and len(parts) > 1:
                # A package's __init__ runs before its modules.
                yield from (".".join(parts[:k]) for k in range(2, len(parts) + 1))
