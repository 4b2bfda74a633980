"""Which claims a command is about: ids, globs and files as the user gave them."""

from __future__ import annotations

import fnmatch
import glob
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gateproof.proofs_check.claims_file import load, load_packaged
from gateproof.proofs_check.project import find
from gateproof.proofs_check.records import ClaimSpec
from gateproof.proofs_check.refused import NothingSelectedError, RefusedError

LOCAL = "gateproof.toml"
ENDING = "*.claims.toml"
#: How a module with decorated functions is named among claims files.
PREFIX = "module:"
_ID_LIKE = re.compile(r"[A-Za-z0-9*?\[\]!._-]+")


@dataclass(frozen=True)
class Selection:
    """The claims chosen, and in words where they come from."""

    claims: tuple[ClaimSpec, ...]
    origin: str


def select(words: Sequence[str]) -> Selection:
    """Choose claims. Raises RefusedError, and NothingSelectedError where no claim matches.

    Files, globs of files (``docs/**/*.claims.toml``) and modules (``module:NAME``) that are named make the
    pool that ids and globs of ids choose from.
    Without any it is the project's own (``files`` of its pyproject.toml, else ``gateproof.toml`` and
    ``*.claims.toml`` where the command runs; its ``modules``), then the claims of the package; a word
    is looked up in the first of them that knows it.
    """
    if "" in words:
        raise RefusedError("an empty name; give an id, a glob or a claims file")
    modules = [word for word in words if word.startswith(PREFIX)]
    words = [part for word in words if word not in modules for part in _split(word)]
    files = [path for word in words if is_file(word) for path in _matching(word)]
    wanted = [word for word in words if not is_file(word)]
    if files or modules:
        files, modules = list(dict.fromkeys(files)), list(dict.fromkeys(modules))
        pool = [*load(map(Path, files)), *_coded(modules)]
        return _chosen([(pool, ", ".join((*files, *modules)))], wanted)
    pools: list[tuple[list[ClaimSpec], str]] = []
    own, coded = own_files(), [PREFIX + name for name in find().values.get("modules", ())]
    if own or coded:
        pools.append(([*load(own), *_coded(coded)], ", ".join(map(str, (*own, *coded)))))
    if wanted or not pools:
        pools.append((load_packaged(), "the claims that come with gateproof"))
    return _chosen(pools, wanted)


def _coded(modules: Sequence[str]) -> list[ClaimSpec]:
    """The claims on the code of modules. Raises RefusedError."""
    if not modules:
        return []
    from gateproof.proofs_check.code.modules import claims_of

    return [claim for word in modules for claim in claims_of(word.removeprefix(PREFIX))]


def own_files() -> list[Path]:
    """The claims files of the project that the command runs in. Raises RefusedError."""
    named = find().claims_files()
    if named is not None:
        return named
    found = [Path(LOCAL)] if Path(LOCAL).is_file() else []
    return found + sorted(path for path in Path().glob(ENDING) if path.is_file())


def _split(word: str) -> list[str]:
    """Return the file and the id of ``FILE:ID``, else the word itself."""
    file, colon, claim = word.rpartition(":")
    if colon and _ID_LIKE.fullmatch(claim) and not Path(word).is_file():
        try:
            if file.endswith(".toml") or Path(file).is_file():
                return [file, claim]
        except (OSError, ValueError):
            return [word]
    return [word]


def _matching(word: str) -> list[str]:
    """The files that a glob names; another word, and one that is itself a file, as it is."""
    if not glob.has_magic(word):
        return [word]
    try:
        if Path(word).is_file():
            return [word]
        # Path.glob takes no absolute pattern.
        found = sorted(path for path in glob.glob(word, recursive=True) if Path(path).is_file())  # noqa: PTH207
    except (OSError, ValueError):
        found = []
    if not found:
        raise RefusedError(f"{word:.200}: no file matches; name a claims file, {ENDING}")
    return found


def is_file(word: str) -> bool:
    """Tell a file from an id: by its ending, a separator, or because it is there."""
    if word.endswith(".toml") or not _ID_LIKE.fullmatch(word):
        return True
    return Path(word).is_file()


def _chosen(pools: Sequence[tuple[list[ClaimSpec], str]], wanted: Sequence[str]) -> Selection:
    origins = " and ".join(origin for _, origin in pools)
    if not wanted:
        chosen = tuple(claim for claims, _ in pools for claim in claims)
        if not chosen:
            raise NothingSelectedError(f"no claims in {origins}")
        return Selection(chosen, origins)
    ids: dict[str, ClaimSpec] = {}
    missing: list[str] = []
    for word in wanted:
        for claims, _ in pools:
            found = [claim for claim in claims if fnmatch.fnmatchcase(claim.id, word)]
            ids.update((claim.id, claim) for claim in found)
            if found:
                break
        else:
            missing.append(word)
    folders = [word for word in missing if Path(word).is_dir()]
    if folders:
        raise RefusedError([f"{word}: is a folder; name a claims file" for word in folders])
    if missing:
        known = sorted(claim.id for claims, _ in pools for claim in claims)
        raise NothingSelectedError(
            [f"no claim {word!r} in {origins}{_hint(word, known)}" for word in missing]
        )
    order = [claim for claims, _ in pools for claim in claims if ids.get(claim.id) is claim]
    return Selection(tuple(order), origins)


def _hint(word: str, known: Sequence[str]) -> str:
    import difflib

    close = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean {close[0]}?" if close else ""
