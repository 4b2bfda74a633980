"""[tool.gateproof] of pyproject.toml: what is read, what is refused, and what wins."""

from __future__ import annotations

import json

import pytest

from gateproof.proofs_check.cli import main
from gateproof.proofs_check.project import find
from gateproof.proofs_check.refused import RefusedError

GOOD = '[[claim]]\nid = "{}"\nformal = "for x in R: tanh(x)**2 <= 1"\n'


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def settings(capsys, *words):
    assert main(["check", "--show-settings", "--json", *words]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema_version"] == 1
    return {row["name"]: (row["value"], row["origin"]) for row in found["settings"]}


def test_options_win_over_the_project_and_the_project_over_defaults(here, capsys):
    (here / "pyproject.toml").write_text("[tool.gateproof]\njobs = 3\nseed = 7\nboxes = 500\n")
    found = settings(capsys, "-j", "1")
    assert found["jobs"] == (1, "command line")
    assert found["seed"] == (7, str(here / "pyproject.toml"))
    assert found["boxes"][0] == 500
    assert found["timeout"] == ("60", "default")


def test_the_settings_reach_the_decision(here, capsys):
    (here / "pyproject.toml").write_text(
        "[tool.gateproof]\nboxes = 777\nseed = 5\nprecision = 128\njobs = 1\n"
    )
    (here / "gateproof.toml").write_text(GOOD.format("a"))
    assert main(["check", "--json"]) == 0
    run = json.loads(capsys.readouterr().out)["run"]
    assert (run["settings"]["boxes"], run["settings"]["seed"], run["settings"]["max_bits"]) == (777, 5, 128)
    assert run["jobs"] == 1
    assert main(["--seed", "8", "check", "--precision", "192", "--json"]) == 0
    run = json.loads(capsys.readouterr().out)["run"]
    assert (run["settings"]["boxes"], run["settings"]["seed"], run["settings"]["max_bits"]) == (777, 8, 192)


def test_files_are_globs_from_the_projects_folder_also_below_it(here, capsys, monkeypatch):
    (here / "pyproject.toml").write_text('[tool.gateproof]\nfiles = ["docs/**/*.toml"]\njobs = 1\n')
    (here / "docs/deep").mkdir(parents=True)
    (here / "docs/a.toml").write_text(GOOD.format("a"))
    (here / "docs/deep/b.toml").write_text(GOOD.format("b"))
    (here / "gateproof.toml").write_text("not even TOML [")
    for folder in (here, here / "docs/deep"):
        monkeypatch.chdir(folder)
        assert main(["check", "--json"]) == 0
        assert [c["id"] for c in json.loads(capsys.readouterr().out)["claims"]] == ["a", "b"]


def test_without_files_all_claims_files_of_the_folder_are_found(here, capsys):
    (here / "gateproof.toml").write_text(GOOD.format("a"))
    (here / "paper.claims.toml").write_text(GOOD.format("b"))
    (here / "sub").mkdir()
    (here / "sub/c.claims.toml").write_text(GOOD.format("c"))
    assert main(["check", "--json", "-j", "1"]) == 0
    assert [c["id"] for c in json.loads(capsys.readouterr().out)["claims"]] == ["a", "b"]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("job = 2", "tool.gateproof.job: no such setting; did you mean jobs?"),
        ("zzz = 2", "known are files, modules, jobs"),
        ("jobs = 0", "from 1 to 1024"),
        ("jobs = true", "from 1 to 1024"),
        ('seed = "1"', "whole number"),
        ("timeout = -1", "seconds above 0"),
        ("timeout = nan", "seconds above 0"),
        ("files = []", "must be a list"),
        ('files = "a.toml"', "must be a list"),
        ('files = ["/etc/*.toml"]', "leaves the project"),
        ('files = ["../*.toml"]', "leaves the project"),
        ('files = ["nothing-*.toml"]', "no file matches"),
    ],
)
def test_a_wrong_setting_is_one_line(here, capsys, table, said):
    (here / "pyproject.toml").write_text(f"[tool.gateproof]\n{table}\n")
    assert main(["check"]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert len(error.strip().splitlines()) == 1


def test_every_fault_is_listed(here):
    (here / "pyproject.toml").write_text("[tool.gateproof]\njob = 2\nseed = -1\n")
    with pytest.raises(RefusedError) as error:
        find()
    assert len(error.value.lines) == 2


def test_a_project_of_other_tools_is_not_ours_to_judge(here, capsys):
    for text in ("[tool.ruff]\nline-length = 1\n", "this is no TOML [", ""):
        (here / "pyproject.toml").write_text(text)
        assert find().values == {}
    (here / "pyproject.toml").write_text("tool = 3\n")
    assert find().values == {}
    (here / "pyproject.toml").write_text("[tool]\ngateproof = 3\n")
    assert main(["check"]) == 2
    assert "must be a table" in capsys.readouterr().err


@pytest.mark.parametrize("glob", ["**x/[", "a\\u0000b", "."])
def test_what_is_no_glob_is_one_line(here, capsys, glob):
    (here / "pyproject.toml").write_text(f'[tool.gateproof]\nfiles = ["{glob}"]\n')
    assert main(["check"]) == 2
    assert "pyproject.toml: tool.gateproof.files: " in capsys.readouterr().err


def test_a_broken_project_that_names_us_is_no_silent_default(here, capsys):
    (here / "pyproject.toml").write_text("[tool.gateproof\nboxes = 1\n")
    assert main(["check"]) == 2
    assert "pyproject.toml: is not TOML: " in capsys.readouterr().err
    (here / "pyproject.toml").write_text("\ufeff[tool.gateproof]\nboxes = 500\n")
    assert settings(capsys)["boxes"][0] == 500
