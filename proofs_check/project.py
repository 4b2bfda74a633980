"""``[tool.gateproof]`` of a pyproject.toml: which files are checked, and with which budgets.

The file is the nearest pyproject.toml at or above the working folder. Unknown keys are errors, so
that a misspelt budget is no silent default. Options of the command line win over it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gateproof.proofs_check.files.claims_text import read_bytes
from gateproof.proofs_check.records import Settings
from gateproof.proofs_check.refused import RefusedError

NAME = "pyproject.toml"
TABLE = "tool.gateproof"
MAX_BYTES = 1_000_000
MAX_FILES = 1_000


@dataclass(frozen=True)
class Key:
    """A setting: what it means, how it is checked, its default in words."""

    says: str
    read: Callable[[str, Any], Any]
    default: str


def _whole(least: int, most: int) -> Callable[[str, Any], int]:
    def read(place: str, given: Any) -> int:
        if type(given) is not int or not least <= given <= most:
            raise RefusedError(f"{place} must be a whole number from {least} to {most}")
        return given

    return read


def _seconds(place: str, given: Any) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given < 1e7:
        raise RefusedError(f"{place} must be a number of seconds above 0")
    return float(given)


def _globs(place: str, given: Any) -> tuple[str, ...]:
    if not isinstance(given, list) or not given or not all(isinstance(g, str) and g for g in given):
        raise RefusedError(f'{place} must be a list of files or globs, as ["docs/*.claims.toml"]')
    for glob in given:
        if not Path(glob).parts or "\0" in glob:
            raise RefusedError(f"{place}: {glob!r:.60} is no glob; give paths below {NAME}")
        if Path(glob).is_absolute() or ".." in Path(glob).parts:
            raise RefusedError(f"{place}: {glob!r:.60} leaves the project; give paths below {NAME}")
    return tuple(given)


def _modules(place: str, given: Any) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(
        isinstance(g, str) and all(part.isidentifier() for part in g.split(".")) for g in given
    ):
        raise RefusedError(f'{place} must be a list of names of modules, as ["package.activations"]')
    return tuple(given)


#: All settings, in the order in which they are shown.
KEYS: Mapping[str, Key] = {
    "files": Key("claims files, as globs from the project's folder", _globs, "gateproof.toml, *.claims.toml"),
    "modules": Key("modules with decorated functions, as in package.activations", _modules, "none"),
    "jobs": Key("processes", _whole(1, 1024), "one a core"),
    "seed": Key("seed of all that is random", _whole(0, 2**63 - 1), "0"),
    "precision": Key("most bits of a ball", _whole(64, 100_000), "what the digits need"),
    "boxes": Key("most boxes of a bound", _whole(1, 10_000_000), "20000"),
    "timeout": Key("seconds that end a reading which hangs", _seconds, "60"),
}


@dataclass(frozen=True)
class Project:
    """The settings that a project gives, with the file that gives them; none of either without one."""

    path: Path | None = None
    values: Mapping[str, Any] = field(default_factory=dict)

    def claims_files(self) -> list[Path] | None:
        """The files that ``files`` names, sorted; None where it is not set. Raises RefusedError for none."""
        if "files" not in self.values or self.path is None:
            return None
        folder = self.path.parent
        try:
            found = sorted({p for glob in self.values["files"] for p in folder.glob(glob) if p.is_file()})
        except (ValueError, IndexError, NotImplementedError, OSError) as error:
            raise RefusedError(f"{self.path}: {TABLE}.files: no globs: {error}") from None
        if not found:
            globs = ", ".join(self.values["files"])
            raise RefusedError(f"{self.path}: {TABLE}.files: no file matches {globs}")
        if len(found) > MAX_FILES:
            raise RefusedError(
                f"{self.path}: {TABLE}.files: {len(found)} files; at most {MAX_FILES} are read"
            )
        return [_near(path) for path in found]


def find(start: Path | None = None) -> Project:
    """The project of a folder (the working one). Raises RefusedError with every fault of its table."""
    try:
        folder = (start or Path.cwd()).resolve()
    except FileNotFoundError:
        raise RefusedError("the folder where this runs is gone; change to one that is there") from None
    path = next((f / NAME for f in (folder, *folder.parents) if (f / NAME).is_file()), None)
    if path is None:
        return Project()
    data = read_bytes(path, MAX_BYTES, NAME)
    try:
        document = tomllib.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        # Not ours to judge unless it names us: other tools say what is wrong with it.
        if TABLE.encode() not in data:
            return Project()
        raise RefusedError(f"{_near(path)}: is not TOML: {str(error).splitlines()[0][:200]}") from None
    tools = document.get("tool", {})
    given = tools.get("gateproof") if isinstance(tools, dict) else None
    if given is None:
        return Project()
    if not isinstance(given, dict):
        raise RefusedError(f"{_near(path)}: {TABLE} must be a table")
    return Project(path, _values(_near(path), given))


def settings_of(project: Project) -> Settings:
    """What a decision may depend on, as a project sets it."""
    default, values = Settings(), project.values
    return Settings(
        boxes=values.get("boxes", default.boxes),
        max_bits=values.get("precision", default.max_bits),
        seed=values.get("seed", default.seed),
        wall_seconds=values.get("timeout", default.wall_seconds),
    )


def _values(path: Path, given: Mapping[str, Any]) -> dict[str, Any]:
    faults: list[str] = []
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name not in KEYS:
            from difflib import get_close_matches

            near = get_close_matches(name, KEYS, 1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(KEYS)}"
            faults.append(f"{path}: {TABLE}.{name[:40]}: no such setting; {hint}")
            continue
        try:
            found[name] = KEYS[name].read(f"{path}: {TABLE}.{name}", value)
        except RefusedError as error:
            faults += error.lines
    if faults:
        raise RefusedError(faults)
    return found


def _near(path: Path) -> Path:
    """The path as a reader of the working folder would write it."""
    try:
        return path.relative_to(Path.cwd())
    except ValueError:
        return path
