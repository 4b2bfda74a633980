"""What ``import gateproof`` offers: check, report, certify and decide_text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from gateproof.proofs_check.records import Decision, Reading, Settings
from gateproof.proofs_check.refused import NothingSelectedError, RefusedError

__all__ = [
    "NothingSelectedError",
    "RefusedError",
    "Settings",
    "certify",
    "check",
    "decide_text",
    "report",
]


def check(
    *what: str | PathLike[str],
    settings: Settings | None = None,
    jobs: int | None = None,
    cache: bool = True,
) -> dict[str, Any]:
    """Decide the claims chosen by id, glob or claims file; return report.json's document.

    Raises RefusedError (a ValueError) for files that cannot be read, with every fault,
    and NothingSelectedError where no claim matches. ``gateproof.proofs_check.status``
    tells the exit code of a document.
    """
    from gateproof.proofs_check.guard import decide_claims
    from gateproof.proofs_check.selection import select

    chosen = select([fspath(word) for word in what])
    found = decide_claims(chosen.claims, settings or Settings(), jobs=jobs, use_cache=cache)
    return found.document()[0]


def report(
    *what: str | PathLike[str],
    out: str | PathLike[str] = "report",
    settings: Settings | None = None,
    jobs: int | None = None,
    cache: bool = True,
) -> dict[str, Any]:
    """Do the same, and write the report's files (docs/report.md) to ``out``."""
    from gateproof.proofs_check import report_folder
    from gateproof.proofs_check.guard import decide_claims
    from gateproof.proofs_check.selection import select

    chosen = select([fspath(word) for word in what])
    report_folder.prepare(Path(out))
    found = decide_claims(chosen.claims, settings or Settings(), jobs=jobs, use_cache=cache)
    return report_folder.write(found, Path(out))


def certify(
    text: str,
    digits: int | None = None,
    settings: Settings | None = None,
    *,
    tolerance: Mapping[str, str] | None = None,
    noise: Mapping[str, str] | None = None,
    samples: int = 1_000,
) -> dict[str, Any]:
    """Enclose a closed formula to so many significant digits (15), or decide a statement.

    ``tolerance={"tau": "5%", "theta": "0.01"}`` gives the worst case over all gates tg(...) whose parameters
    are within that of their values; ``noise`` of the same form, standard deviations, a sample of devices.

    Returns what ``gateproof certify --json`` prints. Raises RefusedError for text that is
    no formula, and for tolerances that mean nothing.
    """
    from gateproof.proofs_check.certify_text import certify_text

    chosen = settings or Settings()
    return certify_text(text, digits, chosen, tolerance=tolerance, noise=noise, samples=samples)


def decide_text(
    formal: str,
    *,
    controls: Sequence[str] = (),
    define: Mapping[str, str] | None = None,
    settings: Settings | None = None,
) -> Decision:
    """Decide one statement of the language in this process.

    A refuted one comes with the nearest true statement that was found, if any.

    Raises FormulaError (a ValueError) for text that cannot be read.
    """
    from dataclasses import replace

    from gateproof.proofs_check.worker import ENGINE, find, suggest
    from gateproof.theory.formula import define_all, parse_claim

    extra = define_all(define or {})
    for statement in (formal, *controls):
        parse_claim(statement, extra)
    reading = Reading("", formal, controls=tuple(controls), define=dict(define or {}))
    chosen = settings or Settings()
    decision = find(ENGINE)(reading, chosen)
    return replace(decision, nearest=suggest(reading, chosen)) if decision.verdict == "refuted" else decision
