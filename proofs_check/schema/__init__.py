"""The JSON Schema of report.json, and the check of a document against it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parent / "report.schema.json"


def faults(document: Mapping[str, Any]) -> list[str]:
    """List where a document differs from the schema, a line each."""
    from jsonschema import Draft202012Validator

    schema = json.loads(FILE.read_text(encoding="utf-8"))
    found = Draft202012Validator(schema).iter_errors(document)
    return [f"{'/'.join(map(str, error.absolute_path)) or 'top'}: {error.message}" for error in found]
