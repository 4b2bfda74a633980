"""The ``run`` object of a report: when, for how long, with what, on what."""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from gateproof.proofs_check.records import ClaimSpec, Settings
from gateproof.proofs_check.runner import Run, cores

REQUIRED = ("python-flint", "gmpy2", "jinja2", "jsonschema", "rich")
OPTIONAL = ("torch", "triton", "jax", "numpy", "scipy", "matplotlib")


def own_version() -> str:
    """Return the version of gateproof, also where it runs from a source tree."""
    return str(sys.modules["gateproof"].__version__)


def installed(name: str) -> str | None:
    """Return the version of a distribution without importing it."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def describe(
    claims: Sequence[ClaimSpec],
    run: Run,
    settings: Settings,
    *,
    started: float,
    seconds: float,
    jobs: int | None,
) -> dict[str, Any]:
    """Return what differs from run to run; nothing in it names the user or the machine."""
    names = [f"{claim.id}/{reading.name}" for claim in claims for reading in claim.readings]
    durations = {name: round(result.seconds, 3) for name, result in zip(names, run.results, strict=True)}
    return {
        "started": datetime.fromtimestamp(started, UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 3),
        "jobs": jobs or cores(),
        "interrupted": run.interrupted,
        "cached": sum(result.cached for result in run.results),
        "settings": asdict(settings),
        "versions": {
            "gateproof": own_version(),
            "python": platform.python_version(),
            **{name: installed(name) for name in REQUIRED[:2]},
        },
        "environment": {
            "implementation": platform.python_implementation(),
            "system": platform.system(),
            "machine": platform.machine(),
            "cores": cores(),
        },
        "durations": durations,
    }
