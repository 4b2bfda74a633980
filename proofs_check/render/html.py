"""HTML: one offline file without script, in which everything from outside is escaped."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gateproof.proofs_check import clean
from gateproof.proofs_check.render import opening, words
from gateproof.proofs_check.render.tex import readable
from gateproof.proofs_check.status import readings, state, unreached

FOLDER = Path(__file__).resolve().parent
FILTERS = (
    ("drift", "drift"),
    ("failed", "failed"),
    ("refuted", "refuted"),
    ("ill-posed", "ill-posed"),
    ("inconclusive", "inconclusive"),
    ("not-run", "not run"),
)


def render(document: Mapping[str, Any]) -> str:
    """Return the whole page."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # Characters that reorder or hide text are written out; then the rest is escaped.
        finalize=_visible,
    )
    tags = {claim["id"]: _tags(claim) for claim in document["claims"]}
    present = {tag for found in tags.values() for tag in found.split()}
    page = environment.get_template("report.html.j2").render(
        document=document,
        counts=document["counts"],
        papers=words.by_paper(document),
        verdicts=words.VERDICTS,
        shown=words.shown_verdicts(document),
        filters=[entry for entry in FILTERS if entry[0] in present],
        tags=tags,
        ids={claim["id"] for claim in document["claims"]},
        state=state,
        words=words,
        first=opening.opening(document),
        groups=opening.GROUPS,
        failing=opening.failing,
        needs=opening.needs,
        said=opening.said,
        urgent=[row for row in readings(document) if state(row[1]) != "ok" and not unreached(row[1])],
        readable=readable,
    )
    return str(page)


def _tags(claim: Mapping[str, Any]) -> str:
    """Return what a claim can be filtered by."""
    found = {reading["verdict"] for reading in claim["readings"]}
    found |= {state(reading) for reading in claim["readings"]}
    return " ".join(sorted(found))


def _visible(value: object) -> object:
    return clean.block(value) if type(value) is str else value
