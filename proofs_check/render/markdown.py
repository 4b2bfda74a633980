"""Markdown: what needs a look first, then every claim. No timings: two runs are the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gateproof.proofs_check import clean
from gateproof.proofs_check.render import opening, words
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
    lines += ["## Counts", "", *_counts(document), "", *_opening(document)]
    for paper, claims in words.by_paper(document):
        lines += [f"## {plain(words.paper_name(paper))}", ""]
        for claim in claims:
            lines += [*_claim(claim), ""]
    return "\n".join(lines).rstrip() + "\n"


def _opening(document: Mapping[str, Any]) -> Iterator[str]:
    """The statements by paper, what fails, what is right, what waits: one page."""
    first = opening.opening(document)
    if first.papers:
        yield from _groups(first)
    sections: list[tuple[str, str, Callable[[Mapping[str, Any]], str]]] = [
        ("fails", "What fails as stated, and its correction", first.instead),
        ("partly", "What holds as stated and fails in another reading", _share),
        ("right", "What is exactly right", opening.said),
        ("supported", "What holds, in part by a sample or a run only", opening.said),
        ("waits", "What waits for a run", lambda claim: "; ".join(opening.needs(claim))),
        ("open", "What is not decided", opening.stated),
    ]
    for name, title, text in sections:
        claims = [claim for paper in first.papers for claim in first.groups[paper][name]]
        yield from _list(title, claims, text, "; " if name == "partly" else "")
    yield from _list("What we add", first.ours, opening.said)


def _groups(first: opening.Opening) -> Iterator[str]:
    """The table of statements by paper, and what its columns mean."""
    shown = first.shown
    yield f"| paper | statements | {' | '.join(opening.GROUPS[name][0] for name in shown)} |"
    yield f"|---|{'--:|' * (1 + len(shown))}"
    for paper in first.papers:
        numbers = [first.total(paper), *(len(first.groups[paper][name]) for name in shown)]
        yield f"| {plain(words.paper_name(paper))} | {' | '.join(map(str, numbers))} |"
    yield ""
    yield from (f"- **{opening.GROUPS[name][0]}**: {opening.GROUPS[name][1]}" for name in shown)
    yield ""


def _share(claim: Mapping[str, Any]) -> str:
    return f"{opening.failing(claim)} of {len(claim['readings'])}"


def _list(
    title: str,
    claims: Sequence[Mapping[str, Any]],
    text: Callable[[Mapping[str, Any]], str],
    joined: str = "",
) -> Iterator[str]:
    """A section with a line a claim, or with all in one line."""
    if not claims:
        return
    yield f"## {title} ({len(claims)})"
    yield ""
    entries = [f"**{plain(claim['id'])}** {plain(text(claim))}".rstrip() for claim in claims]
    yield from [joined.join(entries)] if joined else (f"- {entry}" for entry in entries)
    yield ""


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
    if claim.get("ours"):
        yield "A finding of ours."
        yield ""
    if claim.get("uses"):
        yield f"Rests on {', '.join(map(plain, claim['uses']))}."
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
        plain(words.effective(reading)),
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
