"""What the command loads: the base install suffices, and the start is quick."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {"torch", "triton", "jax", "matplotlib", "scipy", "numpy"}

# Runs the command as its console script does, and leaves the loaded modules in a file.
PROBE = """
import atexit, json, sys
out = sys.argv.pop(1)
atexit.register(lambda: open(out, "w").write(json.dumps(sorted(sys.modules))))
sys.argv[0] = "gateproof"
from gateproof.proofs_check.cli import main
sys.exit(main())
"""

CLAIM = """
[[claim]]
id = "startup.silu"
formal = "for x in R: silu(x) == x*sigmoid(x)"
"""


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT / "src")}


def loaded(code: str, folder: Path, *arguments: str) -> set[str]:
    """The top-level modules loaded when `code` ends; it must end with exit code 0."""
    out = folder / "modules.json"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, str(out), *arguments],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return {name.split(".")[0] for name in json.loads(out.read_text())}


def base_distributions() -> set[str]:
    """The distributions that a base install brings, from pyproject.toml on down."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found: set[str] = set()
    queue = list(project["dependencies"])
    while queue:
        requirement = Requirement(queue.pop())
        name = canonicalize_name(requirement.name)
        if name in found or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        found.add(name)
        queue.extend(requires(name) or [])
    return found


@pytest.fixture(params=["help", "check"])
def modules(request, tmp_path):
    if request.param == "help":
        return loaded(PROBE, tmp_path, "--help")
    (tmp_path / "start.claims.toml").write_text(CLAIM)
    # One job and no cache: the claim is then decided in the process that is looked at.
    return loaded(PROBE, tmp_path, "check", "start.claims.toml", "--no-cache", "-j", "1")


def test_command_loads_nothing_heavy(modules):
    assert modules & HEAVY == set()


def test_command_needs_the_base_install_only(modules, tmp_path):
    bare = PROBE[: PROBE.index("sys.argv[0]")]
    allowed = base_distributions() | {"gateproof"}
    owners = packages_distributions()
    foreign = {
        name: owners[name]
        for name in modules - loaded(bare, tmp_path) - set(sys.stdlib_module_names)
        if name in owners and not allowed & {canonicalize_name(owner) for owner in owners[name]}
    }
    assert foreign == {}


def test_import_of_the_door_loads_only_itself(tmp_path):
    bare = PROBE[: PROBE.index("sys.argv[0]")]
    door = loaded(bare + "import gateproof; dir(gateproof); gateproof.__version__", tmp_path)
    assert door - loaded(bare, tmp_path) - set(sys.stdlib_module_names) == {"gateproof"}


def test_door_names_resolve():
    import gateproof

    assert {name for name in gateproof.__all__ if not hasattr(gateproof, name)} == set()
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        gateproof.nothing  # noqa: B018


def cpu_seconds(*arguments: str) -> float:
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "gateproof", *arguments],
        env=environment(),
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_utime + usage.ru_stime


def test_help_starts_quickly():
    # The least of five: load from other processes only ever adds, and the first may compile.
    assert min(cpu_seconds("--help") for _ in range(5)) < 0.3
