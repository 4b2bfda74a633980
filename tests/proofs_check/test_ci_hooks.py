"""What other repositories plug in: the action's step, its annotations, the hook, each run as it stands."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from gateproof.proofs_check.cli import main
from gateproof.proofs_check.render import annotations

ROOT = Path(__file__).resolve().parents[2]
GOOD = '[[claim]]\nid = "good"\nformal = "for x in R: tanh(x)**2 <= 1"\npin = "proved"\n'
BAD = '\n[[claim]]\nid = "bad"\nformal = "for x in R: tanh(x)**2 <= 1/2"\npin = "proved"\n'


@pytest.fixture
def step(tmp_path):
    """Runs the action's script with a gateproof on the path, as the action has installed it."""
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin/gateproof"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m gateproof "$@"\n')
    command.chmod(0o755)

    def run(files=""):
        environment = {
            **os.environ,
            "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
            "GITHUB_OUTPUT": str(tmp_path / "output"),
            "GATEPROOF_FILES": files,
        }
        return subprocess.run(
            [ROOT / ".github/check.sh"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_a_job_that_is_as_pinned(step, tmp_path):
    (tmp_path / "gateproof.toml").write_text(GOOD)
    found = step()
    assert found.returncode == 0, found.stderr
    assert "::" not in found.stdout
    assert "good" in (tmp_path / "summary.md").read_text()
    assert (tmp_path / "output").read_text() == "exit-code=0\n"
    assert (tmp_path / "gateproof-report/report.sarif").is_file()


def test_drift_fails_the_job_at_its_line(step, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.claims.toml").write_text(GOOD + BAD)
    found = step("docs/a.claims.toml")
    assert found.returncode == 1
    (line,) = [row for row in found.stdout.splitlines() if row.startswith("::")]
    assert line.startswith("::error file=docs/a.claims.toml,line=7,title=bad%3A refuted::")
    assert "DRIFT from proved%0Afor x in R" in line
    assert (tmp_path / "summary.md").read_text().index("Drift") < 2_000
    assert (tmp_path / "output").read_text() == "exit-code=1\n"


def test_globs_reach_gateproof_as_they_are(step, tmp_path):
    (tmp_path / "gateproof.toml").write_text(GOOD + BAD)
    assert step("go*").returncode == 0
    assert step("nosuch*").returncode == 5
    (tmp_path / "docs/deep").mkdir(parents=True)
    (tmp_path / "docs/deep/a.claims.toml").write_text(GOOD)
    assert step("docs/**/*.claims.toml").returncode == 0
    assert step("docs/*.claims.toml").returncode == 2


def test_files_may_stand_on_lines_of_their_own(step, tmp_path):
    (tmp_path / "a.claims.toml").write_text(GOOD)
    (tmp_path / "b.claims.toml").write_text(BAD)
    assert step("a.claims.toml\nb.claims.toml\n").returncode == 1


def test_a_paper_that_is_named_as_a_command_is_only_printed(step, tmp_path):
    (tmp_path / "gateproof.toml").write_text(GOOD.replace("pin", 'paper = "::add-mask::a"\npin', 1))
    lines = step().stdout.splitlines()
    (stop, *_), (start, *_) = (
        [k for k, row in enumerate(lines) if re.fullmatch(p, row)]
        for p in (r"::stop-commands::\w{32}", r"::\w{32}::")
    )
    assert lines[stop].removeprefix("::stop-commands::") == lines[start].strip(":")
    assert all(stop < k < start for k, row in enumerate(lines) if "add-mask" in row)


def test_text_from_a_claim_cannot_open_another_command():
    reading = {
        "name": "r\n::error::x",
        "verdict": "refuted",
        "pin": "proved",
        "drift": True,
        "formal": "100% ::set-env",
        "witness": {"x": "1\r\n::warning::y"},
        "reason": "",
    }
    claim = {"id": "a", "source": {"file": "a,b:c.toml", "line": 3}, "readings": [reading]}
    text = annotations.render({"claims": [claim]})
    assert len(text.splitlines()) == 1
    assert text.startswith("::error file=a%2Cb%3Ac.toml,line=3,title=a%3A refuted::")
    assert "100%25" in text


def test_the_action_uses_the_script_and_passes_its_inputs():
    text = (ROOT / "action.yml").read_text()
    assert ".github/check.sh" in text
    assert set(re.findall(r"GATEPROOF_\w+", text)) == set(
        re.findall(r"GATEPROOF_\w+", (ROOT / ".github/check.sh").read_text())
    )
    assert os.access(ROOT / ".github/check.sh", os.X_OK)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("docs/a.claims.toml", True),
        ("gateproof.toml", True),
        ("x/gateproof.toml", True),
        ("mygateproof.toml", False),
        ("a.toml", False),
        ("claims.toml", False),
    ],
)
def test_the_hook_is_for_claims_files(name, wanted):
    text = (ROOT / ".pre-commit-hooks.yaml").read_text()
    pattern = re.search(r"files: (.*)", text)[1]
    assert bool(re.search(pattern, name)) == wanted
    (entry,) = re.findall(r"entry: gateproof (\w+)", text)
    assert main([entry, "--show-settings"]) == 0


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "docs" / page).read_text(), re.DOTALL)


def composite(given, tmp_path):
    """Run the shell steps of action.yml as a runner would, with the inputs that a workflow gives it.

    Left out: steps that use an action of GitHub's, and the installation, since ``gateproof`` is on the path.
    """
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert set(given) <= set(action["inputs"])
    inputs = {name: one["default"] for name, one in action["inputs"].items()} | given
    environment = {
        **os.environ,
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
    }
    ran = 0
    for one in action["runs"]["steps"]:
        if "run" not in one:
            assert re.fullmatch(r"actions/(setup-python|cache)@v\d+", one["uses"])
            continue
        assert one["shell"] == "bash"
        if "pip install" in one["run"]:
            continue
        given_here = {
            name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda m: str(inputs[m[1]]), text)
            for name, text in one.get("env", {}).items()
        }
        assert not any("${{" in text for text in given_here.values())
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", one["run"]],
            env={**environment, **given_here}, cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        ran += 1
        if done.returncode:
            return done
    assert ran == 1
    return done


@pytest.mark.parametrize(("text", "code"), [(GOOD, 0), (GOOD + BAD, 1)])
def test_the_page_s_workflow_step(tmp_path, step, text, code):
    """The step of docs/ci.md with its inputs, its annotations, summary and output."""
    (block, _) = blocks("ci.md", "yaml")
    (one,) = yaml.safe_load(block)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.claims.toml").write_text(text)
    done = composite(one["with"], tmp_path)
    assert done.returncode == code, done.stderr
    assert ("::error file=docs/a.claims.toml,line=7" in done.stdout) == bool(code)
    assert "good" in (tmp_path / "summary.md").read_text()
    assert (tmp_path / "output").read_text() == f"exit-code={code}\n"
    sarif = json.loads((tmp_path / "gateproof-report/report.sarif").read_text())
    assert len(sarif["runs"][0]["results"]) == code


@pytest.mark.parametrize(("text", "codes"), [(GOOD, [0, 0]), (GOOD + BAD, [1, 0])])
def test_the_tutorial_s_steps(tmp_path, step, text, codes):
    """The shell steps of docs/tutorial-guard.md; one that always runs does so after a failed one."""
    (block,) = blocks("tutorial-guard.md", "yaml")
    (tmp_path / "gateproof.toml").write_text(text)
    environment = {
        **os.environ,
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
    }
    found, uploaded = [], []
    for one in yaml.safe_load(block):
        if "run" not in one:
            uploaded.append(one["with"]["sarif_file"])
        elif not one["run"].startswith("pip install gateproof") and (
            not any(found) or one.get("if") == "always()"
        ):
            shell = ["bash", "-e", "-c", one["run"]]
            found.append(subprocess.run(shell, env=environment, cwd=tmp_path, check=False).returncode)
    assert found == codes
    assert "good" in (tmp_path / "summary.md").read_text()
    (path,) = uploaded
    assert len(json.loads((tmp_path / path).read_text())["runs"][0]["results"]) == codes[0]


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_pre_commit_runs_the_page_s_configuration(tmp_path, step):
    """The configuration of docs/ci.md, with a repository that holds our hooks in the place of OWNER's."""
    from importlib.util import find_spec

    if find_spec("pre_commit") is None:
        pytest.skip("pre-commit is not installed")
    work, hooks = tmp_path / "work", tmp_path / "hooks"
    environment = {
        **os.environ,
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "PRE_COMMIT_HOME": str(tmp_path / "kept"),
        **{
            f"GIT_{who}_{what}": "a@example.org"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        },
    }

    def run(*words, folder=work):
        return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)

    for folder in (work, hooks):
        folder.mkdir()
        run("git", "init", "-q", folder=folder)
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", hooks)
    run("git", "add", ".", folder=hooks)
    assert run("git", "commit", "-qm", "hooks", folder=hooks).returncode == 0
    (_, block) = blocks("ci.md", "yaml")
    settings = yaml.safe_load(block)
    (repository,) = settings["repos"]
    assert repository["repo"].endswith("/gateproof")
    run("git", "tag", repository["rev"], folder=hooks)
    repository["repo"] = str(hooks)
    # The gateproof of this environment, instead of one that pre-commit builds from the sources.
    repository["hooks"][0]["language"] = "system"
    (work / ".pre-commit-config.yaml").write_text(yaml.safe_dump(settings))
    (work / "gateproof.toml").write_text(GOOD)
    (work / "other.toml").write_text("a = 1\n")
    run("git", "add", "gateproof.toml", "other.toml")
    command = (sys.executable, "-P", "-m", "pre_commit", "run", "--all-files")
    passed = run(*command)
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert "gateproof check" in passed.stdout
    (work / "gateproof.toml").write_text(GOOD + BAD)
    failed = run(*command)
    assert failed.returncode == 1
    assert "DRIFT from proved" in failed.stdout
