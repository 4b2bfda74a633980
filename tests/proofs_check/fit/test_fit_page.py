"""docs/fit.md has all keys, options and statuses; test_command_pages.py runs its commands."""

from __future__ import annotations

import re
from pathlib import Path

from gateproof.proofs_check.cli import entry

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "fit.md").read_text()


def test_all_options_and_statuses_are_on_the_page():
    from gateproof.numerics.fits.result import Status

    _, parsers = entry.build()
    options = [o for action in parsers["fit"]._actions for o in action.option_strings if o.startswith("--")]
    ours = set(options) - {"--help", "--jobs", "--branches"}
    assert {o for o in ours if f"`{o}" not in PAGE and f" {o} " not in PAGE and f"{o}`" not in PAGE} == set()
    assert all(f"`{status.value}`" in PAGE for status in Status)


def test_all_keys_of_the_document_are_on_the_page_and_no_others():
    import json

    from gateproof.proofs_check import schema

    known = {*json.loads(schema.FIT.read_text())["$defs"]["fit"]["properties"]}
    rows = PAGE.split("## JSON")[1].split("| key | meaning |")[1].split("\n\n")[0]
    told = {key for row in rows.split("\n") for key in re.findall(r"`(\w+)`", row.split(" | ")[0])}
    assert told == known
