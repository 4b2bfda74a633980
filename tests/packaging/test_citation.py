"""CITATION.cff says what the package says."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from pathlib import Path

import gateproof

ROOT = Path(__file__).resolve().parents[2]
LINES = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
FIELDS = dict(re.findall(r"^([a-z-]+): (.+)$", "\n".join(LINES), re.MULTILINE))


def test_the_version_and_the_licence_are_those_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert FIELDS["version"] == gateproof.__version__
    assert FIELDS["license"] == project["license"]
    assert date.fromisoformat(FIELDS["date-released"]).year >= 2026


def test_the_fields_that_the_format_requires_are_there():
    assert {"cff-version", "message", "title", "type"} <= {*FIELDS}
    assert "authors:" in LINES
    assert FIELDS["cff-version"] == "1.2.0"
