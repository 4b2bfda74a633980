"""What check, report and show share: choose claims, decide them, set their pins."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gateproof.proofs_check.cli import output
from gateproof.proofs_check.cli.options import settings, with_project
from gateproof.proofs_check.decision_json import INTERRUPTED

if TYPE_CHECKING:
    from gateproof.proofs_check.guard import Guarded
    from gateproof.proofs_check.runner import Progress, Result
    from gateproof.proofs_check.selection import Selection

#: From so many readings on a log says when deciding starts and ends.
SPARSE = 20


def decided(selection: Selection, options: argparse.Namespace) -> Guarded:
    """Decide what was chosen, with a progress bar where somebody watches."""
    from gateproof.proofs_check.guard import decide_claims

    options = with_project(options)
    total = sum(len(claim.readings) for claim in selection.claims)
    with _progress(total, options.json) as progress:
        found = decide_claims(
            selection.claims,
            settings(options),
            jobs=options.jobs,
            use_cache=not options.no_cache,
            progress=progress,
        )
    if found.run.interrupted:
        done = sum(result.decision.reason != INTERRUPTED for result in found.run.results)
        output.note(f"interrupted: {done} of {total} readings were decided")
    return found


def with_pins(found: Guarded, words: list[str]) -> Guarded:
    """Accept the verdicts: write them as pins, and read the claims again."""
    from dataclasses import replace

    from gateproof.proofs_check.files.pins import changes, update
    from gateproof.proofs_check.refused import RefusedError
    from gateproof.proofs_check.selection import select

    if found.run.interrupted:
        output.note("pins stay as they are, as the run was interrupted")
        return found
    wanted = changes(found.claims, found.decisions)
    update(wanted)
    for change in wanted:
        place = f"{change.file}: {change.claim} ({change.reading})"
        output.note(f"{place}: pin {change.old or 'none'} -> {change.new}")
    renewed = select(words).claims
    if [c.id for c in renewed] != [c.id for c in found.claims]:
        raise RefusedError("the claims files were changed meanwhile; run the command again")
    return replace(found, claims=renewed)


@contextmanager
def _progress(total: int, quiet: bool) -> Iterator[Progress | None]:
    if not sys.stderr.isatty() or total < 2:
        if quiet or total < SPARSE:
            yield None
            return
        output.note(f"deciding {total} readings")
        done = cached = 0

        def count(_index: int, result: Result) -> None:
            nonlocal done, cached
            done, cached = done + 1, cached + result.cached

        yield count
        if done == total:
            output.note(f"decided {total} readings, {cached} of them from the cache")
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("deciding"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda _index, _result: bar.advance(task)
