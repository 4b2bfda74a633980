"""docs/meanfield.md: its commands print what it says; keys, options and statuses are all there."""

from __future__ import annotations

import re
from pathlib import Path

import pages
import pytest

from gateproof.proofs_check.cli import entry

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "meanfield.md").read_text()
COMMANDS = pages.commands(PAGE)


@pytest.mark.parametrize("block", COMMANDS, ids=pages.first_line)
def test_a_command_prints_what_the_page_says(tmp_path, monkeypatch, capsys, block):
    monkeypatch.chdir(tmp_path)
    shown, printed = pages.run(block, capsys)
    assert pages.plain(printed) == pages.plain(shown)


def test_all_options_statuses_and_engines_are_on_the_page():
    from gateproof.numerics.meanfield.choices import ENGINES
    from gateproof.numerics.meanfield.outcome import Status

    _, parsers = entry.build()
    actions = parsers["meanfield"]._actions
    options = {o for action in actions for o in action.option_strings if o.startswith("--")}
    common = {"--help", "--jobs", "--seed", "--precision", "--no-cache"}
    assert {o for o in options - common if o not in PAGE} == set()
    assert all(f"`{word}`" in PAGE for word in (*Status, *ENGINES))


def test_there_are_commands():
    assert len(COMMANDS) == 12


def test_all_keys_of_the_document_are_on_the_page_and_no_others():
    import json

    from gateproof.proofs_check import schema

    defined = json.loads(schema.MEANFIELD.read_text())["$defs"]
    for head, name in (
        ("| key | meaning |", "document"),
        ("| key of a point | meaning |", "point"),
        ("| key of `--initialise` | meaning |", "initialisation"),
    ):
        rows = PAGE.split("## JSON")[1].split(head)[1].split("\n\n")[0]
        told = {key for row in rows.split("\n") for key in re.findall(r"`(\w+)`", row.split(" | ")[0])}
        assert told == {*defined[name]["properties"]}


def test_the_python_of_the_page_runs():
    section = PAGE.split("## Python")[1].split("\n## ")[0]
    lines = [line[4:] for line in section.split("\n") if line.startswith("    ")]
    names = {}
    exec("\n".join(lines), names)  # noqa: S102 - our own page
    assert "silu" in repr(names["field"])
    assert names["edge"].to_json()["digits"] == 30
