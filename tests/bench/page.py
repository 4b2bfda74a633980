"""docs/benchmarks.md from the record of a run."""

from __future__ import annotations

import statistics
from typing import Any

HEAD = """# Times beside Sollya and alkahest

`make bench` measures this page (`tests/bench/against_sollya.py`; the numbers: `tests/bench/scores.json`).

The question is sup |f| on [-8, 8], with equal digits: a relative width of at most 10^-8, then 10^-12. Each
program has the same formula, transcribed node by node and compared at five points. Times are milliseconds
of CPU inside of a process that is already running, medians of 7 runs that alternate between the programs
(supnorm and alkahest: 3, or fewer once they have taken 2 s).

- *enclosure*: ours, without a certificate, from an expression that has been read. What earlier runs left in
  caches is thrown away before each run, but for the definitions of the language's functions.
- *certified*: ours, with the reading of the text and the certificate.
- *check*: the independent checker on that certificate; `gateproof.certify` is *certified* and *check*.
- *infnorm*: Sollya's, with the fastest of the settings tried (prec 53, 80, 165; diam 10^-3, 10^-4, ...)
  that reach the digits. *supnorm*: Sollya's `supnorm(0, f, [-8;8], absolute, eps)`, eps for the digits,
  prec 80.
- *range*, ours, beside alkahest's `bound_on_box`, which encloses the range: sup and inf one after the
  other, without a certificate; its `tol` is set for the digits.

Sollya and alkahest give an enclosure and no certificate, which is what *enclosure* and *range* are to be
compared with. Our enclosures have more digits than were asked for.
"""


def page(record: dict[str, Any]) -> str:
    """The whole page."""
    machine = ", ".join(f"{name} {value}" for name, value in record["machine"].items())
    rows = record["rows"]
    tables = [_table(n, [r for r in rows if r["digits"] == n]) for n in sorted({r["digits"] for r in rows})]
    return "\n".join([HEAD, f"Machine: {machine}.\n", *tables, _beyond(record["beyond"])])


def _cell(row: dict[str, Any], name: str) -> str:
    if name in row["notes"]:
        return row["notes"][name]
    return f"{row['ms'][name]:.3g}" if name in row["ms"] else "not installed"


def _ratio(row: dict[str, Any], theirs: str, ours: str) -> float | None:
    known = theirs in row["ms"] and theirs not in row["notes"]
    return row["ms"][theirs] / row["ms"][ours] if known else None


def _table(digits: int, rows: list[dict[str, Any]]) -> str:
    names = ("ours", "certify", "check", "infnorm", "supnorm", "range", "alkahest")
    heads = ("enclosure", "certified", "check", "infnorm", "supnorm", "range", "alkahest")
    lines = [
        f"## {digits} digits\n",
        "| f | " + " | ".join(heads) + " |",
        "|---" * (len(heads) + 1) + "|",
    ]
    lines += [f"| `{r['function']}` | " + " | ".join(_cell(r, n) for n in names) + " |" for r in rows]
    lines += ["", "How many times as long the others take:\n"]
    pairs = [("infnorm", "ours"), ("infnorm", "certify"), ("supnorm", "ours"), ("supnorm", "certify")]
    pairs.append(("alkahest", "range"))
    title = {"ours": "enclosure", "certify": "certified", "range": "range"}
    lines.append("| f | " + " | ".join(f"{a} / {title[b]}" for a, b in pairs) + " |")
    lines.append("|---" * (len(pairs) + 1) + "|")
    columns: dict[tuple[str, str], list[float]] = {pair: [] for pair in pairs}
    for r in rows:
        cells = []
        for pair in pairs:
            found = _ratio(r, *pair)
            cells.append("" if found is None else f"{found:.2g}" if found < 10 else f"{found:.0f}")
            columns[pair] += [] if found is None else [found]
        lines.append(f"| `{r['function']}` | " + " | ".join(cells) + " |")
    medians = [f"**{statistics.median(c):.3g}** ({len(c)})" if c else "" for c in columns.values()]
    lines.append("| **median** (functions) | " + " | ".join(medians) + " |")
    slower = [
        f"`{r['function']}`: {a} {r['ms'][a]:.3g} ms, ours ({title[b]}) {r['ms'][b]:.3g} ms"
        for pair in pairs for r in rows for a, b in [pair] if (_ratio(r, a, b) or 2) <= 1
    ]  # fmt: skip
    lines.append("\nWhere ours is slower: " + ("; ".join(slower) if slower else "nowhere") + ".\n")
    return "\n".join(lines)


def _beyond(entries: list[dict[str, str]]) -> str:
    lines = ["## Kinks, and all of R\n", "Answers as they are printed:\n"]
    for entry in entries:
        lines.append(f"- `{entry['asked']}`")
        lines += [f"  - {name}: {said}" for name, said in entry.items() if name != "asked"]
    return "\n".join(lines) + "\n"
