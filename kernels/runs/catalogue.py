"""Which experiments and presets there are; nothing is imported to list them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

from gateproof.kernels.runs import settings
from gateproof.kernels.runs.experiment import Experiment
from gateproof.kernels.runs.refused import RunRefusedError

HERE = Path(__file__).resolve().parent
PRESETS = HERE / "presets"
#: The order of lists: small first.
_ORDER = ("smoke", "tiny")
_KEYS = {"experiment": str, "shows": str, "cannot": str, "evidence": bool, "settings": dict}
MAX_BYTES = 1_000_000


@dataclass(frozen=True)
class Configuration:
    """A file that is read: whose it is, what it shows, and the settings as they stand in it."""

    experiment: str
    preset: str
    shows: str
    cannot: str
    evidence: bool
    table: Mapping[str, Any]
    path: Path


def module_of(name: str) -> str:
    """The module of an experiment."""
    return f"gateproof.kernels.runs.{name.replace('-', '_')}"


def files() -> dict[str, dict[str, Path]]:
    """The presets of each experiment, by name."""
    found: dict[str, dict[str, Path]] = {}
    for path in sorted(PRESETS.glob("*.*.toml"), key=_place):
        name, preset, _ = path.name.rsplit(".", 2)
        found.setdefault(name, {})[preset] = path
    return dict(sorted(found.items()))


def _place(path: Path) -> tuple[str, int, int, str]:
    name, preset, _ = path.name.rsplit(".", 2)
    return name, _ORDER.index(preset) if preset in _ORDER else len(_ORDER), len(preset), preset


def known(name: str) -> dict[str, Path]:
    """The presets of an experiment. Raises RunRefusedError for a name that is none."""
    there = files()
    if name not in there:
        near = get_close_matches(name, there, 1)
        said = f"did you mean {near[0]}?" if near else f"there are {', '.join(there)}"
        raise RunRefusedError(f"no experiment {name!r:.60}; {said}")
    return there[name]


def preset(name: str, which: str) -> Configuration:
    """A preset. Raises RunRefusedError."""
    there = known(name)
    if which not in there:
        raise RunRefusedError(f"{name} has no preset {which!r:.60}; there are {', '.join(there)}")
    return read(there[which], name, which)


def read(path: Path, name: str, preset: str) -> Configuration:
    """The configuration of a file. Raises RunRefusedError with all that is wrong with its head."""
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise RunRefusedError(f"{path}: is larger than {MAX_BYTES} bytes, so it is no configuration")
        table = tomllib.loads(data.decode())
    except OSError as error:
        raise RunRefusedError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise RunRefusedError(f"{path}: is not UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise RunRefusedError(f"{path}: is not TOML: {f'{error}'.splitlines()[0]:.200}") from None
    there = ", ".join(_KEYS)
    faults = [f"{path}: {key}: no such key; there are {there}" for key in table if key not in _KEYS]
    for key, kind in _KEYS.items():
        if key in table and type(table[key]) is not kind:
            faults.append(f"{path}: {key}: give {settings.wanted(kind)}")
    if table.get("experiment") != name:
        faults.append(f"{path}: experiment: give {name!r}, the experiment that is run")
    if faults:
        raise RunRefusedError(faults)
    return Configuration(
        name, preset, table.get("shows", ""), table.get("cannot", ""), table.get("evidence", False),
        table.get("settings", {}), path,
    )  # fmt: skip


def load(name: str) -> Experiment:
    """The experiment; its module is imported. Raises RunRefusedError where a library is missing."""
    try:
        found: Experiment = import_module(module_of(name)).EXPERIMENT
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("gateproof"):
            raise
        raise RunRefusedError(f"{error.name} is not installed: pip install 'gateproof[runs]'") from None
    return found


def read_settings(experiment: Experiment, configuration: Configuration) -> Any:
    """The settings of a configuration. Raises RunRefusedError with every fault and its place."""
    try:
        return settings.read(experiment.settings, configuration.table)
    except RunRefusedError as error:
        raise RunRefusedError([f"{configuration.path}: {line}" for line in error.lines]) from None
