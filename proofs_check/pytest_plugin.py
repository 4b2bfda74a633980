"""``pytest --gateproof``: every reading of the claims files under the tests is a test.

Files are ``*.claims.toml`` and ``gateproof.toml``, those that the project's settings name, and Python files
with functions that are decorated with ``gateproof.claims``, which are imported as tests are. ``-k``,
``--lf``, node ids, ``-x`` and xdist work as for any test. A reading passes as pinned, or unpinned as
proved or certified; one that is not-run as pinned is skipped with what it needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from gateproof.proofs_check.one import OneByOne
    from gateproof.proofs_check.records import ClaimSpec, Decision, Reading

ENDINGS = (".claims.toml",)
NAMES = ("gateproof.toml",)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the plugin."""
    group = parser.getgroup("gateproof", "claims about formulas")
    group.addoption(
        "--gateproof", action="store_true", help="decide *.claims.toml and gateproof.toml as tests"
    )
    group.addoption("--gateproof-no-cache", action="store_true", help="decide every claim anew")


def pytest_configure(config: pytest.Config) -> None:
    """Name the marker, for ``-m gateproof``."""
    config.addinivalue_line("markers", "gateproof: a reading of a claims file")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a claims file, where ``--gateproof`` asks for it."""
    if not parent.config.getoption("--gateproof"):
        return None
    named = file_path.name in NAMES or file_path.name.endswith(ENDINGS)
    if named or file_path in _named_by_project(parent.config):
        return ClaimsFile.from_parent(parent, path=file_path)
    if file_path.suffix == ".py" and _may_have_claims(file_path):
        found: pytest.Collector = CodeFile.from_parent(parent, path=file_path)
        return found
    return None


def _may_have_claims(path: Path) -> bool:
    """Whether the text speaks of both; whether a function is decorated is seen when it is imported."""
    try:
        text = path.read_bytes()
    except OSError:
        return False
    return b"gateproof" in text and b"claims(" in text


def _named_by_project(config: pytest.Config) -> frozenset[Path]:
    """The files of ``[tool.gateproof]``, among them texts with marked claims."""
    if _FILES not in config.stash:
        from gateproof.proofs_check.project import find
        from gateproof.proofs_check.refused import RefusedError

        try:
            named = find(config.rootpath).claims_files() or []
        except RefusedError as error:
            raise pytest.UsageError("\n".join(error.lines)) from None
        config.stash[_FILES] = frozenset(Path.cwd() / path for path in named)
    return config.stash[_FILES]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """End the worker process."""
    deciding = session.config.stash.get(_DECIDING, None)
    if deciding is not None:
        deciding.close()


_DECIDING: pytest.StashKey[OneByOne] = pytest.StashKey()
_FILES: pytest.StashKey[frozenset[Path]] = pytest.StashKey()


class ClaimsFile(pytest.File):
    """A claims file; all of it is read before anything is decided."""

    def collect(self) -> Iterator[pytest.Item]:
        """Every reading, named CLAIM, or CLAIM[READING] where a claim has more than one."""
        from gateproof.proofs_check import clean
        from gateproof.proofs_check.claims_file import load
        from gateproof.proofs_check.refused import RefusedError

        try:
            claims = load([self.path])
        except RefusedError as error:
            raise self.CollectError("\n".join(map(clean.line, error.lines))) from None
        for claim in claims:
            for reading in claim.readings:
                alone = len(claim.readings) == 1
                name = claim.id if alone else f"{claim.id}[{reading.name}]"
                yield ReadingItem.from_parent(self, name=name, claim=claim, reading=reading)


class CodeFile(pytest.Module):
    """A Python file with decorated functions."""

    def collect(self) -> Iterator[pytest.Item]:
        """Every statement about a function, named FUNCTION[STATEMENT [TYPE]]."""
        from gateproof.proofs_check import clean
        from gateproof.proofs_check.code.modules import claim_of, decorated
        from gateproof.proofs_check.refused import RefusedError

        module = self.obj
        for own, function in decorated(module):
            try:
                claim = claim_of(module.__name__, own, function)
            except RefusedError as error:
                raise self.CollectError("\n".join(map(clean.line, error.lines))) from None
            for reading in claim.readings:
                name = f"{own}[{reading.name}]"
                yield CodeItem.from_parent(self, name=name, claim=claim, reading=reading, function=function)


class NotAsPinned(Exception):
    """A reading whose verdict is not the accepted one; the message is the whole account."""


class ReadingItem(pytest.Item):
    """One reading of one claim."""

    def __init__(self, *, claim: ClaimSpec, reading: Reading, **rest: Any) -> None:
        super().__init__(**rest)
        self.claim, self.reading = claim, reading
        self.add_marker("gateproof")

    def runtest(self) -> None:
        """Decide the reading and compare it with its pin."""
        from gateproof.proofs_check import document
        from gateproof.proofs_check.status import state

        decision = self._decision()
        entry = document.reading_entry(self.reading, decision)
        self.user_properties += [("verdict", entry["verdict"]), ("method", entry["method"])]
        found = state(entry)
        if found == "ok" and entry["verdict"] == "not-run":
            pytest.skip(f"not-run, as pinned: {entry['reason']}")
        if found != "ok":
            raise NotAsPinned(self._account(entry, decision))

    def _decision(self) -> Decision:
        return self._deciding().decide(self.claim, self.reading).decision

    def _deciding(self) -> OneByOne:
        stash = self.config.stash
        if _DECIDING not in stash:
            from gateproof.proofs_check.one import OneByOne
            from gateproof.proofs_check.project import find, settings_of

            cached = not self.config.getoption("--gateproof-no-cache")
            stash[_DECIDING] = OneByOne(settings_of(find(self.config.rootpath)), use_cache=cached)
        return stash[_DECIDING]

    def _account(self, entry: dict[str, Any], decision: Decision) -> str:
        from gateproof.proofs_check import clean
        from gateproof.proofs_check.render import words

        lines = [f"{self.claim.id}, {entry['name']}: {entry['verdict']} ({words.pinned(entry)})"]
        rows = (
            ("says", self.claim.says),
            ("formal", entry["formal"]),
            ("value", words.enclosure(entry["value"])),
            ("witness", words.witness(entry["witness"])),
            ("true instead", words.nearest(entry)),
            ("reason", entry["reason"]),
            ("method", entry["method"]),
            ("controls", words.controls(entry["controls"])),
            *(("step", step) for step in decision.steps[:5]),
        )
        lines += [f"  {name:12} {text}" for name, text in rows if text]
        return "\n".join(map(clean.line, lines))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The account of a reading instead of a traceback."""
        if isinstance(excinfo.value, NotAsPinned):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The file and the line of the claim, which hosts annotate."""
        return self.path, max(0, self.claim.line - 1), f"claim {self.name}"


class CodeItem(ReadingItem):
    """One statement about one function, which is called in this process."""

    def __init__(self, *, function: Any, **rest: Any) -> None:
        super().__init__(**rest)
        self.function = function

    def _decision(self) -> Decision:
        from gateproof.proofs_check.code.declared import KEPT
        from gateproof.proofs_check.code.judge import decide
        from gateproof.proofs_check.project import find, settings_of

        assert self.reading.code is not None
        declared = getattr(self.function, KEPT)[self.reading.code[2]]
        return decide(self.function, declared, settings_of(find(self.config.rootpath)).seed)
