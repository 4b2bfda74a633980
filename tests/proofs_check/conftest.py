"""A stub engine and ways to run the command, for the tests of the guard."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# `N == N` gets the N-th verdict; other statements do what their left side says.
STUB = """
import os, signal, sys, time
from gateproof.proofs_check.records import VERDICTS, Controls, Decision

def decide(reading, settings):
    assert (reading.pin, reading.name, reading.meaning) == (None, "", ""), "prose reached the engine"
    word = reading.formal.split(" ")[0]
    if word == "100": time.sleep(60)
    if word == "101": os._exit(7)
    if word == "102": os.kill(os.getpid(), signal.SIGSEGV)
    if word == "103": raise TypeError("no such thing\\nsecond line")
    if word == "104": return Decision("proved", witness={"x": object()})
    if word == "105": print("chatter on stdout", flush=True)
    if word == "106": bytearray(5 << 30)
    if word == "107": return Decision("certified", value={"lo": "1.5", "hi": "1.5"},
                                      certificate={"kind": "stub", "of": reading.formal},
                                      controls=Controls(2, 2), steps=("one", "two"), trust=("arb",))
    if word == "108": return decide(reading, settings)
    number = int(word)
    verdict = VERDICTS[number] if number < len(VERDICTS) else "proved"
    reason = "out of boxes" if verdict in ("inconclusive", "not-run") else ""
    return Decision(verdict, method=f"stub {settings.seed}", reason=reason)
"""

# The command with the stub engine in place of the real one.
COMMAND = """
import functools, sys
from gateproof.proofs_check import guard
guard.run = functools.partial(guard.run, decider="stub_engine:decide")
from gateproof.proofs_check.cli import main
sys.exit(main())
"""


@pytest.fixture
def stub(tmp_path_factory, monkeypatch) -> str:
    """The name of a stub engine's function, importable here and in workers."""
    folder = tmp_path_factory.mktemp("stub")
    (folder / "stub_engine.py").write_text(STUB)
    monkeypatch.syspath_prepend(folder)
    sys.modules.pop("stub_engine", None)
    return "stub_engine:decide"


@pytest.fixture
def environment(tmp_path_factory) -> dict[str, str]:
    """An environment with a cache and a home of its own."""
    home = tmp_path_factory.mktemp("home")
    stub = tmp_path_factory.mktemp("path")
    (stub / "stub_engine.py").write_text(STUB)
    return {
        **{k: v for k, v in os.environ.items() if not k.startswith(("GATEPROOF", "XDG"))},
        "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{stub}",
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
    }


Call = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def gateproof(tmp_path, environment) -> Call:
    """Run the command in a folder of its own; ``stubbed=True`` puts the stub engine in."""

    def call(*words: str, stubbed: bool = False) -> subprocess.CompletedProcess[str]:
        start = ["-c", COMMAND] if stubbed else ["-m", "gateproof"]
        return subprocess.run(
            [sys.executable, "-P", *start, *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return call


@pytest.fixture
def claims(tmp_path) -> Callable[..., Path]:
    """Write a claims file with claims c0, c1, ... from (formal, pin) pairs."""

    def write(*entries: tuple[str, str | None], name: str = "t.claims.toml") -> Path:
        lines = []
        for number, (formal, pin) in enumerate(entries):
            lines += ["[[claim]]", f'id = "c{number}"', f'formal = "{formal}"']
            lines += [f'pin = "{pin}"'] if pin else []
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n")
        return path

    return write


@pytest.fixture
def stubbed_command() -> list[str]:
    """The start of a command line that has the stub engine in it."""
    return [sys.executable, "-P", "-c", COMMAND]


@pytest.fixture
def inside(stub, tmp_path, monkeypatch) -> Callable[..., int]:
    """Run the command in this process, in a folder of its own, with the stub engine."""
    from gateproof.proofs_check import guard
    from gateproof.proofs_check.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(guard, "run", functools.partial(guard.run, decider=stub))
    return lambda *words: main(["-j", "1", *words])


@pytest.fixture(scope="session", autouse=True)
def _interruptible() -> None:
    """A shell's background job ignores SIGINT, and so would every process that the tests interrupt."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
