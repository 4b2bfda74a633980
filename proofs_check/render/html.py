"""HTML: one offline file that reads without script, in which everything from outside is escaped."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from gateproof.proofs_check import clean
from gateproof.proofs_check.decision_json import digest
from gateproof.proofs_check.render import curve, interval_line, katex, number_line, opening, words
from gateproof.proofs_check.status import STRENGTH, readings, state, unreached
from gateproof.theory.formula import FormulaError, define_all

FOLDER = Path(__file__).resolve().parent
#: The colours of verdicts, classes of the style sheet.
TONES = {
    "proved": "good",
    "certified": "good",
    "refuted": "bad",
    "supported": "cool",
    "unsupported": "odd",
    "ill-posed": "odd",
    "inconclusive": "warn",
    "not-run": "mute",
}
#: What a claim can be filtered by beside its verdicts.
STATES = ("drift", "failed", "open")


def render(document: Mapping[str, Any]) -> str:
    """Return the whole page. Raises RefusedError for TeX that KaTeX does not know."""
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
    setting, notice = katex.usable()
    script = (FOLDER / "report.js").read_text(encoding="utf-8")
    hashed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    tags = {claim["id"]: _tags(claim) for claim in document["claims"]}
    report = digest({key: value for key, value in document.items() if key != "run"})
    page = environment.get_template("report.html.j2").render(
        document=document,
        counts=document["counts"],
        papers=words.by_paper(document),
        verdicts=words.VERDICTS,
        tones=TONES,
        shown=words.shown_verdicts(document),
        tags=tags,
        tags_shown=[
            tag for tag in (*words.VERDICTS, *STATES) if any(tag in found for found in tags.values())
        ],
        ids={claim["id"] for claim in document["claims"]},
        weakest={claim["id"]: _weakest(claim) for claim in document["claims"]},
        used_by=_used_by(document),
        state=state,
        words=words,
        first=opening.opening(document),
        groups=opening.GROUPS,
        failing=opening.failing,
        needs=opening.needs,
        said=opening.said,
        urgent=[row for row in readings(document) if state(row[1]) != "ok" and not unreached(row[1])],
        katex=setting,
        notice=notice,
        typeset=lambda claim: Markup(setting.typeset(claim["latex"], claim["id"])) if setting else "",
        pictures=_pictures,
        again=_again,
        cite=lambda claim: words.cited(claim, document["run"]["versions"]["gateproof"], report),
        script=script,
        script_hash=f"sha256-{hashed}",
    )
    return str(page)


def check_tex(claims: Mapping[str, str]) -> None:
    """Set each claim's TeX, so that what KaTeX does not know is refused before anything is decided."""
    setting, _ = katex.usable()
    for name, tex in claims.items():
        if setting is not None and tex:
            setting.typeset(tex, name)


def _tags(claim: Mapping[str, Any]) -> list[str]:
    """Return what a claim can be filtered by."""
    found = {reading["verdict"] for reading in claim["readings"]}
    found |= {state(reading) for reading in claim["readings"]} & set(STATES)
    return sorted(found)


def _weakest(claim: Mapping[str, Any]) -> str:
    """Return the weakest verdict of a claim, what it is worth by what it rests on included."""
    found = [reading.get("effective", reading["verdict"]) for reading in claim["readings"]]
    return str(max(found, key=STRENGTH.__getitem__))


def _used_by(document: Mapping[str, Any]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for claim in document["claims"]:
        for name in claim.get("uses", ()):
            found.setdefault(name, []).append(claim["id"])
    return found


def _pictures(reading: Mapping[str, Any]) -> Markup:
    """Return the number line and the curve of a reading, as far as it has any."""
    try:
        known = define_all(reading.get("define", {}))
    except FormulaError:
        return Markup()
    drawn = (picture.draw(reading, known) for picture in (number_line, interval_line, curve))
    return Markup("".join(drawn))


def _again(claim: Mapping[str, Any]) -> str:
    """Return the command that decides a claim alone."""
    file = claim.get("source", {}).get("file", "gateproof/")
    return f"gateproof check {claim['id'] if file.startswith('gateproof/') else file + ':' + claim['id']}"


def _visible(value: object) -> object:
    return clean.block(value) if type(value) is str else value
