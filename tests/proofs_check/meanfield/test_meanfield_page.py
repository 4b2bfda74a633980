"""docs/meanfield.md has all keys, options and statuses; test_command_pages.py runs its commands."""

from __future__ import annotations

import re
from pathlib import Path

from gateproof.proofs_check.cli import entry

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "meanfield.md").read_text()


def test_all_options_statuses_and_engines_are_on_the_page():
    from gateproof.numerics.meanfield.choices import ENGINES
    from gateproof.numerics.meanfield.outcome import Status

    _, parsers = entry.build()
    actions = parsers["meanfield"]._actions
    options = {o for action in actions for o in action.option_strings if o.startswith("--")}
    common = {"--help", "--jobs", "--seed", "--precision", "--no-cache"}
    assert {o for o in options - common if o not in PAGE} == set()
    assert all(f"`{word}`" in PAGE for word in (*Status, *ENGINES))


def test_all_keys_of_the_document_are_on_the_page_and_no_others():
    import json

    from gateproof.proofs_check import schema

    defined = json.loads(schema.MEANFIELD.read_text())["$defs"]
    for head, name in (
        ("| key | meaning |", "document"),
        ("| key of a point | meaning |", "point"),
        ("| key of `--initialise` | meaning |", "initialisation"),
        ("| key of `--kappa` | meaning |", "kappa"),
        ("| key of `--beside` | meaning |", "shift"),
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
