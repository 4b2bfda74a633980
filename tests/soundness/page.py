"""``docs/soundness.md`` from ``score.json``: ``python -m soundness.page`` writes it, ``--check`` compares."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from soundness.suite import LOOKED_UP, MOST_INCONCLUSIVE, PRINTED_WRONG, SCORE, SETTINGS, statements

PAGE = Path(__file__).resolve().parents[2] / "docs" / "soundness.md"
COLUMNS = ("statements", "proved", "certified", "refuted", "ill-posed", "inconclusive", "wrong")
_TEXT = """# Soundness

The suite has {true} statements that are true and {variants} that are not. Of the true ones {looked_up}
name the entry of a public table that they were written from: an identifier of
[fungrim](https://github.com/fredrik-johansson/fungrim) or the number of an equation of the
[DLMF](https://dlmf.nist.gov), restricted to the real numbers, some at one order only; facts, written
anew. The others name a section or chapter, or are textbook facts and inequalities. The false ones are
variants of these with one thing changed: a number, a sign, a relation, its strictness, a function, an
order, a hole, a half-line or an end of the scope; and {printed} entries of fungrim that are false as
they are printed. `make soundness` decides every third, `--thin 1` all; it fails on a true statement that
is called anything but proved, certified or inconclusive, on a false one that is proved or certified, and
where more than {limit} of the true ones stay inconclusive. The score is of {share}, of the false
ones by default of half of these, at the other precisions of a twelfth or a twenty-fourth.

{verdicts}

*low* allows 64 bits and 500 boxes, *default* is what `check` takes, *high* allows 2,048 bits and 40,000
boxes. {inconclusive} of the true ones are inconclusive by default, of those whose entry was looked up
{looked_up_inconclusive}: the aim of a tenth is not met.

## By source

{sources}

## By table

{tables}

## By what was changed

{changes}

A variant counts only where an evaluator that shares no code with the package (mpmath,
`tests/soundness/evaluate.py`) sees it fail, or sees a point without a value, at which it may be
ill-posed. {justified} The same evaluator must not see any printed statement fail, which finds some of
what was mistyped; what comes near it calls undecided.

A statement is a line `source | text` in `tests/soundness/tables`. With `PYTHONPATH=tests`, `python -m
soundness.suite --variants --write` renews the variants and the score, `python -m soundness.page` this
page. The score is of the engine {engine} (SHA-256 of its files, shortened); a run says where that has
changed. What is behind the verdicts stands in [certificates](certificates.md); adversaries' finds are
tests of their own, with those of the checker, in `tests/proofs_check/soundness`.
"""


def table(rows: Mapping[str, Mapping[str, int]], first: str) -> str:
    """A table with the verdicts of each row."""
    lines = ["| " + " | ".join((first, *COLUMNS)) + " |", "|" + "---|" * (len(COLUMNS) + 1)]
    lines += [
        "| " + " | ".join((name, *(str(row.get(c, 0)) for c in COLUMNS))) + " |" for name, row in rows.items()
    ]
    return "\n".join(lines)


def runs(score: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """The rows of the settings."""
    return {k: score[k] for s in SETTINGS for t in ("true", "changed") if (k := f"{s}, {t}") in score}


def page(score: Mapping[str, Any], variants: int) -> str:
    """The page's text."""
    cases = statements()
    sources = score["by source"]
    known = [sources[k] for k in LOOKED_UP]
    looked_up = sum(c.true and c.group in LOOKED_UP for c in cases)
    decided = sum(row["statements"] for row in known)
    share = sum(row.get("inconclusive", 0) for row in known) / decided
    doubtful = sum(row.get("unjustified", 0) for row in runs(score).values())
    thin = score["thin"]
    return _TEXT.format(
        true=sum(c.true for c in cases),
        share="all" if thin == 1 else f"one in {thin}",
        variants=variants,
        looked_up=looked_up,
        printed=sum(c.table == PRINTED_WRONG for c in cases),
        limit=f"{100 * MOST_INCONCLUSIVE:.0f} %",
        verdicts=table(runs(score), "precision, statements"),
        inconclusive=score["inconclusive, default"],
        looked_up_inconclusive=f"{100 * share:.1f} %",
        sources=table(sources, "true ones, source"),
        tables=table(score["by table"], "true ones, table"),
        changes=table(score.get("by change", {}), "false ones, change"),
        justified=(
            "It sees one for every false statement that is called ill-posed."
            if not doubtful
            else f"For {doubtful} of those that are called ill-posed it sees no such point."
        ),
        engine=score["made from"]["engine"][:12],
    )


def main(words: list[str] | None = None) -> int:
    """Write the page, or say whether it is that of the score."""
    from soundness.suite import kept_variants

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare only; 1 where it differs")
    options = parser.parse_args(words)
    text = page(json.loads(SCORE.read_text(encoding="utf-8")), len(kept_variants()))
    if options.check:
        return int(PAGE.read_text(encoding="utf-8") != text)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
