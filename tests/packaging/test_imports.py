"""What the command loads: the base install suffices, and the start is quick."""

from __future__ import annotations

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

# Python imports `sitecustomize` at its start, in worker processes too. Names are written at once,
# since a worker is killed and never reaches its exit; and they are written when an import is tried,
# so that `import torch` is caught where torch is not installed and sys.modules would not show it.
RECORDER = """
import os, sys

class Recorder:
    out = open(os.path.join({folder!r}, str(os.getpid())), "a", buffering=1)

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        cls.out.write(name + chr(10))

sys.meta_path.insert(0, Recorder)
"""

CLAIM = """
[[claim]]
id = "startup.silu"
formal = "for x in R: silu(x) == x*sigmoid(x)"
"""


def environment(*folders: Path) -> dict[str, str]:
    path = [str(folder) for folder in (*folders, ROOT / "src")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}


def imported(folder: Path, *arguments: str) -> set[str]:
    """The modules that Python and its worker processes import; it must end with exit code 0."""
    hook, names = folder / "hook", folder / "names"
    hook.mkdir()
    names.mkdir()
    (hook / "sitecustomize.py").write_text(RECORDER.format(folder=str(names)))
    done = subprocess.run(
        [sys.executable, "-P", *arguments],
        cwd=folder,
        env=environment(hook),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return {name for file in names.iterdir() for name in file.read_text().split()}


def tops(modules: set[str]) -> set[str]:
    return {name.split(".")[0] for name in modules}


def base_distributions() -> set[str]:
    """The distributions that a base install brings, from pyproject.toml on down."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
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


@pytest.fixture(scope="module", params=["help", "check", "fit", "meanfield", "run"])
def modules(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "help":
        return imported(folder, "-m", "gateproof", "--help")
    if request.param == "run":
        found = imported(folder, "-m", "gateproof", "run", "--json")
        assert "gateproof.kernels.runs.catalogue" in found
        return found
    if request.param == "fit":
        found = imported(folder, "-m", "gateproof", "fit", "gelu", "-k", "2", "--json")
        assert "numpy" in found
        return found
    if request.param == "meanfield":
        found = imported(
            folder, "-m", "gateproof", "meanfield", "gelu", "--sigma-b2", "0.05", "--sigma-w2", "2"
        )
        assert "gateproof.numerics.meanfield.certified" in found
        return found
    (folder / "start.claims.toml").write_text(CLAIM)
    found = imported(folder, "-m", "gateproof", "check", "start.claims.toml", "--no-cache")
    # Else the process that decides was not looked at.
    assert "gateproof.proofs_check.engine" in found
    assert "flint" in found
    return found


def test_command_imports_nothing_heavy(modules):
    # NumPy and SciPy come with the base install, and are loaded by `fit` only: SciPy where it is needed.
    base = {"numpy", "scipy"} if "gateproof.numerics.fits.solve" in modules else set()
    assert tops(modules) & HEAVY - base == set()


def test_command_needs_the_base_install_only(modules):
    allowed = base_distributions() | {"gateproof"}
    owners = packages_distributions()
    foreign = {
        name: owners[name]
        for name in tops(modules) - set(sys.stdlib_module_names)
        if name in owners and not allowed & {canonicalize_name(owner) for owner in owners[name]}
    }
    assert foreign == {}


def test_door_imports_only_itself(tmp_path):
    found = imported(tmp_path, "-c", "import gateproof; dir(gateproof); gateproof.__version__")
    assert tops(found) - set(sys.stdlib_module_names) == {"gateproof"}
    assert "gateproof.theory" not in found


def test_recorder_sees_failed_and_child_imports(tmp_path):
    child = "import importlib\ntry: importlib.import_module('torch.absent')\nexcept ImportError: pass"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-P', '-c', {child!r}])"
    assert "torch" in imported(tmp_path, "-c", code)


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
