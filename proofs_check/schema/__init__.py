"""The JSON Schemas of reports, fits, mean fields and evidence records, and the check against them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).resolve().parent
FILE = _FOLDER / "report.schema.json"
FIT = _FOLDER / "fit.schema.json"
MEANFIELD = _FOLDER / "meanfield.schema.json"
EVIDENCE = _FOLDER / "evidence.schema.json"


def faults(document: Mapping[str, Any], file: Path = FILE) -> list[str]:
    """List where a document differs from a schema (the report's), a line each."""
    from jsonschema import Draft202012Validator

    schema = json.loads(file.read_text(encoding="utf-8"))
    found = Draft202012Validator(schema).iter_errors(document)
    return [f"{'/'.join(map(str, error.absolute_path)) or 'top'}: {error.message}" for error in found]
