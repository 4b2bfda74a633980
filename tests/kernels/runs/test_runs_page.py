"""docs/runs.md: its commands, its configuration and its recipes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import dask
import distributed  # noqa: F401 - its defaults are what the recipes change
import pages
import pytest
import yaml

from gateproof.kernels.runs import catalogue
from gateproof.proofs_check.cli.entry import parse
from gateproof.proofs_check.cli.run import FILES

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "runs.md").read_text()


def fenced(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("block", pages.commands(PAGE), ids=pages.first_line)
def test_the_page_s_command_prints_what_is_shown(capsys, block):
    shown, printed = pages.run(block, capsys)
    assert pages.holds_in_order(shown, printed) is None


def test_the_commands_that_take_long_can_be_read():
    lines = [line.partition("#")[0] for text in fenced("sh") for line in text.splitlines()]
    words = [shlex.split(line)[1:] for line in lines if line.startswith("gateproof ")]
    words += [[*shlex.split(text)[1:], "tcp://a"] for text in re.findall(r'"(gateproof run .*)"', PAGE)]
    assert len(words) == 5
    for one in words:
        options = parse(one)
        if options.command == "run":
            assert options.preset in catalogue.known(options.name)


def test_the_configuration_is_one(tmp_path):
    (text,) = fenced("toml")
    (tmp_path / "mine.toml").write_text(text)
    found = catalogue.read(tmp_path / "mine.toml", "two-sided", "mine")
    assert found.table == {"seeds": [0, 1, 2]}
    assert found.evidence is False


def test_the_recipes_hold_together():
    (text,) = fenced("python")
    compile(text, "slurm", "exec")
    (key,) = re.findall(r'"(distributed\..*?)"', text)
    assert dask.config.get(key) == 3
    (text,) = fenced("yaml")
    service, scheduler, worker = yaml.safe_load_all(text)
    inside = scheduler["spec"]["template"]["spec"]["containers"][0]
    set_there = dask.config.collect_env({e["name"]: e["value"] for e in inside["env"]})
    assert dask.config.get(key, config=set_there) == 1000
    port = str(service["spec"]["ports"][0]["port"])
    assert port in inside["command"]
    address = worker["spec"]["template"]["spec"]["containers"][0]["command"][2]
    assert address == f"tcp://{service['metadata']['name']}:{port}"
    assert service["spec"]["selector"] == scheduler["spec"]["selector"]["matchLabels"]


def test_the_files_of_a_run_are_listed():
    assert set(FILES) <= set(re.findall(r"^\| `([\w.]+)` \|", PAGE, re.MULTILINE))
