"""The wheel, built through the sdist from a clean export, holds what is tracked and runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("theory", "numerics", "kernels", "proofs_check")

pytestmark = pytest.mark.wheel


def call(*command: str | Path, cwd: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def tracked() -> list[PurePosixPath]:
    listing = call("git", "ls-files", "-z", "--cached", cwd=ROOT)
    return [PurePosixPath(name) for name in listing.split("\0") if name]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel of the tracked files as they stand in the work tree.

    Never built in place: setuptools re-uses a stale build/lib there, which hides a file that the
    package data forgot.
    """
    export = tmp_path_factory.mktemp("export")
    for name in tracked():
        target = export / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target, follow_symlinks=False)
    out = tmp_path_factory.mktemp("dist")
    # Without --sdist or --wheel, `build` makes the wheel from the unpacked sdist.
    call(sys.executable, "-P", "-m", "build", "--no-isolation", "--outdir", out, export, cwd=export)
    (built,) = out.glob("*.whl")
    return built


def test_wheel_holds_exactly_the_tracked_files(wheel):
    expected = {}
    for name in tracked():
        if name.parts[0] in FOLDERS:
            expected[f"gateproof/{name}"] = ROOT / name
        elif name.parts[:2] == ("src", "gateproof") and not (ROOT / name).is_symlink():
            expected[str(name.relative_to("src"))] = ROOT / name
    with zipfile.ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if ".dist-info/" not in name}
        assert sorted(set(expected) - found) == [], "left out of the wheel"
        assert sorted(found - set(expected)) == [], "in the wheel, but not tracked"
        differ = [name for name, path in expected.items() if archive.read(name) != path.read_bytes()]
    assert differ == []


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """The bin folder of an environment that has the wheel, and the dependencies of this one."""
    home = tmp_path_factory.mktemp("venv")
    venv.create(home, with_pip=False, symlinks=True)
    python = home / "bin" / "python"
    call(
        sys.executable, "-P", "-m", "pip", "--python", python, "install", "--quiet",
        "--disable-pip-version-check", "--no-index", "--no-deps", wheel, cwd=home,
    )  # fmt: skip
    # A path line puts the folder on sys.path without reading the .pth files in it, so that the
    # editable install there stays out of reach.
    (site,) = home.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return home / "bin"


def test_installed_command_runs_outside_the_repository(installed, tmp_path):
    place = call(
        installed / "python",
        "-P",
        "-c",
        "import gateproof; print(gateproof.__file__)",
        cwd=tmp_path,
    )
    assert Path(place.strip()).is_relative_to(installed.parent)
    assert "report" in call(installed / "gateproof", "--help", cwd=tmp_path)


def test_installed_command_finds_its_data(installed, tmp_path):
    claim = '[[claim]]\nid = "wheel.silu"\nformal = "for x in R: silu(x) == x*sigmoid(x)"\n'
    (tmp_path / "wheel.claims.toml").write_text(claim)
    call(installed / "gateproof", "report", "wheel.claims.toml", "--out", "out", cwd=tmp_path)
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {
        "report.html",
        "report.json",
        "report.md",
        "junit.xml",
    }


def test_the_five_minutes_of_the_readme_word_for_word(wheel, installed, tmp_path):
    """Every line in a shell of its own folder; only ``pip install`` is done already, of this wheel."""
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    section = re.search(r"^## Five minutes\n(.*?)^## ", page, re.MULTILINE | re.DOTALL)[1]
    steps = re.findall(r"^ {4}\$ (.*)\n((?: {4}(?!\$ ).*\n)*)", section, re.MULTILINE)
    assert len(steps) == 6
    code, environment = 0, {**os.environ, "PATH": f"{installed}:{os.environ['PATH']}"}
    environment.pop("PYTHONPATH", None)
    environment["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    for command, shown in steps:
        if command.startswith("pip install "):
            assert command.split()[-1] == wheel.name
            continue
        done = subprocess.run(
            ["sh", "-c", f"(exit {code}); {command}"], cwd=tmp_path, env=environment, capture_output=True,
            text=True, timeout=120, check=False,
        )  # fmt: skip
        code = done.returncode
        printed = [" ".join(line.split()) for line in done.stdout.splitlines()]
        for line in (" ".join(line.split()) for line in shown.splitlines()):
            assert line == "..." or any(one.startswith(line) for one in printed), (command, line, done)
    python = [installed / "python", "-P", "-m", "pytest", "--gateproof", "-q", "-p", "no:cacheprovider", "."]
    done = subprocess.run(python, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert "1 failed, 1 passed" in done.stdout
    assert "gateproof.toml::softplus.stable" in done.stdout
