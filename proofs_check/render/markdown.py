"""Markdown: what needs a look first, then every claim. No timings: two runs are the same."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gateproof.proofs_check import clean
from gateproof.proofs_check.render import words
from gateproof.proofs_check.render.tex import readable
from gateproof.proofs_check.status import readings, state

_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~$&]|^[-+](?=\s)|(?<=^\d)[.)])")
URGENT = (
    ("drift", "Drift", "The verdict is another than the pinned one."),
    ("failed", "Failed", "Not pinned, and neither proved nor certified."),
    ("open", "Open", "Pinned, but stopped by the clock or by Ctrl-C."),
)


def render(document: Mapping[str, Any]) -> str:
    """Return the whole file."""
    lines = ["# Theorem-check report", "", plain(words.headline(document)) + ".", ""]
    lines += [*_legend(document), ""]
    for name, title, meaning in URGENT:
        found = [(c, r) for c, r in readings(document) if state(r) == name]
        if found:
            lines += [f"## {title} ({len(found)})", "", meaning, ""]
            lines += [*_table(found, with_id=True), ""]
    lines += ["## Counts", "", *_counts(document), ""]
    for paper, claims in words.by_paper(document):
        lines += [f"## {plain(words.paper_name(paper))}", ""]
        for claim in claims:
            lines += [*_claim(claim), ""]
    return "\n".join(lines).rstrip() + "\n"


def _legend(document: Mapping[str, Any]) -> Iterator[str]:
    """What the verdicts that occur mean."""
    for verdict in words.shown_verdicts(document):
        look = words.VERDICTS[verdict]
        yield f"- {look.sign} **{verdict}**: {plain(look.meaning)}"


def plain(text: str) -> str:
    """Return user text so that Markdown shows it as it stands, on one line."""
    return _SPECIAL.sub(r"\\\1", clean.line(" ".join(text.split())))


def code(text: str) -> str:
    """Return text as a code span, also with backticks or table bars in it."""
    shown = clean.line(" ".join(text.split())).replace("|", "\\|")
    if not shown:
        return ""
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    space = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{space}{shown}{space}{fence}"


def _claim(claim: Mapping[str, Any]) -> Iterator[str]:
    yield f"### {plain(claim['id'])}"
    yield ""
    if claim["says"]:
        yield plain(claim["says"]) + (f" ({plain(claim['where'])})" if claim["where"] else "")
        yield ""
    if claim["latex"]:
        yield f"As printed: {plain(readable(claim['latex']))}"
        yield ""
        fence = "`" * max(3, 1 + max((len(r) for r in re.findall("`+", claim["latex"])), default=0))
        yield from (f"{fence}tex", *map(clean.line, claim["latex"].strip().splitlines()), fence, "")
    if claim["correction"]:
        yield f"Corrected by {plain(claim['correction'])}."
        yield ""
    yield from _table([(claim, reading) for reading in claim["readings"]], with_id=False)


def _table(rows: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]], *, with_id: bool) -> Iterator[str]:
    heads = ["reading", "formal", "verdict", "pin", "evidence"]
    heads = ["claim", *heads] if with_id else heads
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for claim, reading in rows:
        look = words.VERDICTS[reading["verdict"]]
        cells = [
            plain(reading["name"]),
            code(reading["formal"]),
            f"{look.sign} {reading['verdict']}",
            plain(words.pinned(reading)),
            _evidence(reading),
        ]
        cells = [plain(claim["id"]), *cells] if with_id else cells
        yield f"| {' | '.join(cells)} |"


def _evidence(reading: Mapping[str, Any]) -> str:
    parts = [
        plain(reading["reason"]),
        code(words.enclosure(reading["value"])),
        code(words.witness(reading["witness"])),
        f"true instead: {code(words.nearest(reading))}" if reading.get("nearest") else "",
        plain(reading["method"]),
        plain(f"controls {words.controls(reading['controls'])}"),
    ]
    return "; ".join(part for part in parts if part)


def _counts(document: Mapping[str, Any]) -> Iterator[str]:
    shown = words.shown_verdicts(document)
    heads = ["paper", "claims", "readings", *shown, "drift", "failed", "open"]
    yield f"| {' | '.join(heads)} |"
    yield f"|---|{'--:|' * (len(heads) - 1)}"
    counts = document["counts"]
    rows = [(words.paper_name(paper), found) for paper, found in counts["papers"].items()]
    for name, found in [*rows, ("total", counts)]:
        numbers = [found["claims"], found["readings"], *(found["verdicts"][v] for v in shown)]
        numbers += [found[key] for key in ("drift", "failed", "open")]
        yield f"| {plain(name)} | {' | '.join(map(str, numbers))} |"
