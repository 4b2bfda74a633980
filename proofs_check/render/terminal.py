"""Text for a terminal or a CI log: a line a reading, and more where something is wrong."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gateproof.proofs_check import clean
from gateproof.proofs_check.decision_json import TIME
from gateproof.proofs_check.records import Settings
from gateproof.proofs_check.render import opening, varied, words
from gateproof.proofs_check.render.tex import readable
from gateproof.proofs_check.status import readings, state, unreached

MAX_STEPS = 200


@dataclass(frozen=True)
class Style:
    """What the terminal can show."""

    colour: bool = False
    signs: bool = True


def look() -> Style:
    """Return what stdout can show; NO_COLOR and dumb terminals are respected."""
    tty = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower()
    return Style(tty and not os.environ.get("NO_COLOR"), encoding.replace("-", "") == "utf8")


def listing(document: Mapping[str, Any], style: Style) -> str:
    """Return a line a reading that was reached, a line for all others, and a last line that sums up."""
    rows = [row for row in readings(document) if not unreached(row[1])]
    width = min(40, max((len(claim["id"]) for claim, _ in rows), default=0))
    names = min(32, max((len(reading["name"]) for _, reading in rows), default=0))
    lines: list[str] = []
    for claim, reading in rows:
        verdict = _verdict(reading["verdict"], style, 14)
        label = f"{claim['id']:{width}}  {clean.line(reading['name'], 60):{names}}"
        value = clean.line(words.enclosure(reading["value"]))
        pin = words.pinned(reading)
        lines.append(f"{label}  {verdict}  {_marked(pin, reading, style)}  {value}".rstrip())
        if state(reading) != "ok":
            lines += [f"    {text}" for text in _why(claim, reading)]
    return "\n".join([*lines, *_missing(document), words.headline(document)]) + "\n"


def _missing(document: Mapping[str, Any]) -> list[str]:
    """A line for what an interrupted run did not reach."""
    count = sum(unreached(reading) for _, reading in readings(document))
    return [f"not-run: {count} {'reading' if count == 1 else 'readings'}, interrupted"] if count else []


def details(document: Mapping[str, Any], style: Style) -> str:
    """Return claims in full."""
    lines: list[str] = []
    for claim in document["claims"]:
        place = ", ".join(text for text in (claim["paper"], claim["where"]) if text)
        lines.append(f"{_bold(claim['id'], style)}{'  ' + clean.line(place) if place else ''}")
        lines += [f"  {line}" for line in _folded(claim["says"])]
        if claim["latex"]:
            lines += [f"  as printed: {clean.line(readable(claim['latex']))}"]
            lines += ["  TeX:", *(f"    {line}" for line in _folded(claim["latex"]))]
        if claim["correction"]:
            lines.append(f"  corrected by {claim['correction']}")
        if claim.get("uses"):
            lines.append(f"  rests on {', '.join(map(clean.line, claim['uses']))}")
        for reading in claim["readings"]:
            lines += ["", *_reading(reading, style)]
        lines.append("")
    return "\n".join(lines)


def summary(document: Mapping[str, Any], style: Style) -> str:
    """Return a table of counts, a row a paper, and what drifted or failed."""
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = words.shown_verdicts(document)
    table = Table(box=SIMPLE, pad_edge=False)
    table.add_column("paper")
    for name in ("claims", "readings", *shown, "drift", "failed", "open"):
        table.add_column(name, justify="right")
    counts = document["counts"]
    rows = [(words.paper_name(paper), found) for paper, found in counts["papers"].items()]
    for name, found in [*rows, ("total", counts)] if len(rows) > 1 else rows:
        numbers = [found["claims"], found["readings"], *(found["verdicts"][v] for v in shown)]
        numbers += [found[name] for name in ("drift", "failed", "open")]
        cells = [str(number) if number else "·" for number in numbers]
        # Text, not str: rich would read [brackets] in a name as markup.
        table.add_row(Text(clean.line(name, 40)), *cells)
    text = io.StringIO()
    console = Console(file=text, width=160, force_terminal=style.colour, no_color=not style.colour)
    console.print(table)
    wrong = [f"{claim['id']} ({clean.line(reading['name'], 60)}): {reading['verdict']}, "
             f"{words.pinned(reading)}"
             for claim, reading in readings(document)
             if state(reading) != "ok" and not unreached(reading)]  # fmt: skip
    wrong += _missing(document)
    lines = [line.rstrip() for line in text.getvalue().strip("\n").splitlines()]
    lines += _statements(document)
    return "\n".join([*lines, *([""] if wrong else []), *wrong]) + "\n"


def _statements(document: Mapping[str, Any]) -> Iterator[str]:
    """A line a paper: how many of its statements are right, in part, and so on."""
    first = opening.opening(document)
    for paper in first.papers:
        parts = [
            f"{len(found)} {opening.GROUPS[name][0]}" for name, found in first.groups[paper].items() if found
        ]
        name = clean.line(words.paper_name(paper), 40)
        yield f"{name}: {first.total(paper)} statements, {', '.join(parts)}"


def certified(found: Mapping[str, Any], settings: Settings) -> str:
    """Return the answer of ``certify``."""
    lines: list[str] = []
    if found["kind"] is None:
        lines.append("inconclusive")
    elif found["kind"] == "boolean":
        truth = {True: "true", False: "false", None: "inconclusive"}[found["value"]]
        lines.append(f"{truth} ({found['verdict']})")
        if found.get("witness"):
            lines.append(f"witness: {words.witness(found['witness'])}")
    elif found["value"] is not None:
        lines.append(words.enclosure(found["value"]))
    elif found["kind"] != "set" or not found["points"]:
        lines.append(str(found["kind"]))
    lines += [f"at {words.enclosure(point)}" for point in found["points"] or ()]
    lines += varied.lines(found)
    told = dict(found)
    if told.get("attained") is not None:
        told["attained"] = "yes" if told["attained"] else "no"
    if found["kind"] is not None and not told.get("digits"):
        # Without a finite value there are no digits to speak of.
        told["digits"] = None
    told["reason"] = _reason(told.get("reason") or "", settings)
    for key in ("attained", "digits", "domain", "reason"):
        known = told.get(key)
        lines += [] if known in (None, "", {}) else [f"{key}: {known}"]
    lines += varied.noise(found["noise"]) if found.get("noise") else ()
    return "".join(f"{clean.line(line, 2_000)}\n" for line in lines)


def _reason(reason: str, settings: Settings) -> str:
    """The reason with its first part in words where that is a word of the engine."""
    first, mark, rest = reason.partition("; ")
    said = {
        "boxes": f"the {settings.boxes} boxes of the budget are used up",
        TIME: f"the {settings.wall_seconds:g} s of --timeout are over",
    }
    return f"{said.get(first, first)}{mark}{rest}"


def _reading(reading: Mapping[str, Any], style: Style) -> Iterator[str]:
    yield f"  {_verdict(reading['verdict'], style)}  {clean.line(reading['name'])}"
    entries = [
        ("formal", reading["formal"]),
        *((f"  {name}(x)", text) for name, text in reading.get("define", {}).items()),
        ("meaning", reading["meaning"]),
        ("value", words.enclosure(reading["value"])),
        ("witness", words.witness(reading["witness"])),
        ("true instead", words.nearest(reading)),
        ("evidence", reading.get("evidence", {}).get("name", "")),
        ("rests on", words.effective(reading)),
        ("reason", reading["reason"]),
        ("method", reading["method"]),
        ("trust", ", ".join(reading["trust"])),
        ("controls", words.controls(reading["controls"])),
        ("pin", words.pinned(reading)),
        ("certificate", reading["certificate"] or ""),
    ]
    for name, text in entries:
        if text:
            yield clean.line(f"    {name:12} {text}")
    for number, step in enumerate(reading["steps"][:MAX_STEPS], 1):
        yield f"    {f'step {number}':12} {clean.line(step)}"


def _why(claim: Mapping[str, Any], reading: Mapping[str, Any]) -> Iterator[str]:
    yield clean.line(reading["formal"], 200)
    if reading["reason"]:
        yield clean.line(f"reason: {reading['reason']}", 300)
    if reading["witness"]:
        yield clean.line(f"witness: {words.witness(reading['witness'])}", 300)
    if reading.get("nearest"):
        yield clean.line(f"true instead: {words.nearest(reading)}", 500)
    if claim["correction"]:
        yield f"corrected by {claim['correction']}"


def _verdict(verdict: str, style: Style, width: int = 0) -> str:
    found = words.VERDICTS[verdict]
    text = f"{found.sign if style.signs else found.plain} {verdict}".ljust(width)
    return f"\x1b[{found.colour}m{text}\x1b[0m" if style.colour else text


def _marked(text: str, reading: Mapping[str, Any], style: Style) -> str:
    urgent = state(reading) in ("drift", "failed")
    return f"\x1b[1;31m{text}\x1b[0m" if style.colour and urgent else text


def _bold(text: str, style: Style) -> str:
    return f"\x1b[1m{text}\x1b[0m" if style.colour else text


def _folded(text: str) -> Iterator[str]:
    for line in text.strip().splitlines():
        yield clean.line(line)
