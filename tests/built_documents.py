"""Documents of a report made of claims and decisions, without an engine."""

from __future__ import annotations

from gateproof.proofs_check import document, run_info
from gateproof.proofs_check.records import Settings
from gateproof.proofs_check.runner import Result, Run


def build(claims, decisions):
    run = Run(tuple(Result(decision, 0.5) for decision in decisions))
    info = run_info.describe(claims, run, Settings(), started=0, seconds=1, jobs=1)
    return document.build(claims, decisions, info, document.by_file)[0]
