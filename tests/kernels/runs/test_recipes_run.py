"""The recipes of docs/runs.md for clusters, run on this machine: Dask by hand, Slurm and a cluster of pods.

Real schedulers, workers and clients of Dask do the jobs. What stands in: ``gateproof run`` reads its own
command line and then does the jobs of a tiny experiment; Slurm is a folder with ``sbatch`` and ``scancel``;
a pod is a process with the pod's command and environment, and this machine has the service's name.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

pytest.importorskip("distributed")
TESTS = Path(__file__).resolve().parents[2]
PAGE = (TESTS.parent / "docs" / "runs.md").read_text()

GATEPROOF = """
import json, sys
from pathlib import Path
import walks
from gateproof.kernels.runs import catalogue, engine
from gateproof.proofs_check.cli.entry import parse
from gateproof.kernels.runs.experiment import Experiment

def main():
    given = parse(sys.argv[1:])
    assert given.command == "run" and given.scheduler
    assert given.preset in catalogue.known(given.name)
    catalogue.module_of = lambda name: "walks"
    found = catalogue.Configuration("walks", "smoke", "", "", False, {"seeds": [0, 1, 2]}, Path("walks.toml"))
    made = engine.run(engine.plan("walks", found), Path(given.out), processes=2, scheduler=given.scheduler)
    losses = [row["loss"] for data in made.jobs for row in data["rows"]]
    (Path(given.out) / "losses.json").write_text(json.dumps(losses))
    return 0 if made.complete else 1

if __name__ == "__main__":
    sys.exit(main())
"""
SBATCH = """#!/bin/sh
# The last argument is the script; a job's number is its process group.
for script; do :; done
cp "$script" "$JOBS/$$.sh" # as Slurm does: the file may go when this ends
setsid sh "$JOBS/$$.sh" >"$JOBS/$$.out" 2>&1 </dev/null &
echo $! >>"$JOBS/numbers"
echo "Submitted batch job $!"
"""
SCANCEL = '#!/bin/sh\nfor job; do kill -TERM -- "-$job"; done\n'


def script(path, text):
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def machine(tmp_path):
    """The environment of a machine with these programs on its path, and a folder that all see."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "jobs").mkdir()
    (tmp_path / "stand_in.py").write_text(GATEPROOF)
    script(
        tmp_path / "bin/gateproof", f'#!/bin/sh\nexec "{sys.executable}" -P "{tmp_path}/stand_in.py" "$@"\n'
    )
    script(tmp_path / "bin/dask", f'#!/bin/sh\nexec "{sys.executable}" -P -m dask "$@"\n')
    script(tmp_path / "bin/sbatch", SBATCH)
    script(tmp_path / "bin/scancel", SCANCEL)
    paths = [str(TESTS.parent / "src"), str(TESTS), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "JOBS": str(tmp_path / "jobs"),
        "OMP_NUM_THREADS": "1",
    }


@pytest.fixture
def background(machine, tmp_path):
    """Starts a command that goes on; all of them end with the test."""
    started = []

    def start(words, environment=None):
        with (tmp_path / f"{len(started)}.log").open("w") as log:
            started.append(
                subprocess.Popen(
                    words,
                    env={**machine, **(environment or {})},
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            )

    yield start
    for process in reversed(started):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(20)


def port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return str(taken.getsockname()[1])


def fenced(language, holds):
    (text,) = (t for t in re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL) if holds in t)
    return text


def same(found, right):
    assert json.loads((found / "losses.json").read_text()) == pytest.approx(right, rel=1e-5)


def test_by_hand(machine, background, tmp_path, right):
    text = fenced("sh", "dask worker")
    for old, new in (("HOST", "127.0.0.1"), ("8786", port()), ("16", "2"), ("/shared", str(tmp_path))):
        assert old in text
        text = text.replace(old, new)
    *going_on, command = [line.partition(" #")[0].strip() for line in text.strip().splitlines()]
    assert len(going_on) == 2
    for line in going_on:
        background(["sh", "-c", f"exec {line}"])
    done = subprocess.run(
        ["sh", "-c", command], env=machine, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    same(tmp_path / "depth", right)


def test_in_pods(machine, background, tmp_path, right):
    free = port()
    deployments = [d for d in yaml.safe_load_all(fenced("yaml", "apiVersion")) if d["kind"] == "Deployment"]
    assert [d["metadata"]["name"] for d in deployments] == ["dask-scheduler", "dask-worker"]
    for deployment in deployments:
        (pod,) = deployment["spec"]["template"]["spec"]["containers"]
        command = [word.replace("dask:8786", f"127.0.0.1:{free}") for word in pod["command"]]
        command = [free if word == "8786" else word for word in command]
        background(command, {one["name"]: one["value"] for one in pod["env"]})
    (address,) = re.findall(r"`--scheduler (tcp://dask:8786) --out /shared/NAME`", PAGE)
    words = [
        "--scheduler",
        address.replace("dask:8786", f"127.0.0.1:{free}"),
        "--out",
        str(tmp_path / "NAME"),
    ]
    done = subprocess.run(
        ["gateproof", "run", "depth", "--preset", "tiny", *words],
        env=machine, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    same(tmp_path / "NAME", right)


@pytest.mark.skipif(find_spec("dask_jobqueue") is None, reason="dask-jobqueue is not installed")
def test_on_slurm(machine, tmp_path, right):
    text = fenced("python", "SLURMCluster")
    for old, new in (("jobs=12", "jobs=2"), ("/shared", str(tmp_path))):
        assert old in text
        text = text.replace(old, new)
    done = subprocess.run(
        [sys.executable, "-P", "-c", text],
        env=machine, cwd=tmp_path, capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    submitted = (tmp_path / "jobs/numbers").read_text().split()
    for job in submitted:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(int(job), signal.SIGKILL)
    assert len(submitted) == 2
    same(tmp_path / "9m", right)
