"""One reading: parse, decide, try the controls, give the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.controls import planted
from gateproof.proofs_check.engine.matrix_witness import with_matrices
from gateproof.proofs_check.engine.outcome import Outcome
from gateproof.proofs_check.engine.statements import decide_claim
from gateproof.proofs_check.records import Controls, Decision, Reading, Settings
from gateproof.theory.formula import Claim, Definition, FormulaError, define_all, expand_node, parse_claim
from gateproof.theory.formula.apart import apart, binds, definitions_apart
from gateproof.theory.formula.nodes import App, Node, num, rebuild
from gateproof.theory.formula.printer import to_text

#: Claims made from their own definitions never nest deeper than the definitions file allows.
MAX_DEFINITIONS = 64


def definitions_of(reading: Reading) -> dict[str, Definition]:
    """The reading's own definitions, each allowed to use those before it."""
    if len(reading.define) > MAX_DEFINITIONS:
        raise FormulaError(f"more than {MAX_DEFINITIONS} definitions")
    return define_all(reading.define)


def read(text: str, extra: dict[str, Definition]) -> Claim:
    """A parsed claim in core nodes, in which nothing that is put in for a name is bound there."""
    parsed = parse_claim(text, extra)
    if parsed.format:
        from gateproof.proofs_check.floating.written import written as computed

        return computed(parsed, extra)
    written = apart(parsed)
    claim: Node = expand_node(written, definitions_apart(written, extra))
    claim = roots_of_squares(apart(claim) if any(binds(d.body) for d in extra.values()) else claim)
    assert isinstance(claim, Claim)
    return claim


def roots_of_squares(node: Node) -> Node:
    """The node with abs(u) for sqrt(u**2): equal functions, and only one of them shows its kink."""
    done: Node = rebuild(node, roots_of_squares)
    if isinstance(done, App) and done.head == "sqrt":
        (inside,) = done.args
        if isinstance(inside, App) and inside.head == "pow" and inside.args[1] == num(2):
            return App("abs", (inside.args[0],))
    return done


def decide_reading(reading: Reading, settings: Settings) -> Decision:
    """The verdict on a reading. Raises FormulaError for text that cannot be read."""
    extra = definitions_of(reading)
    claim = read(reading.formal, extra)
    given = [(text, read(text, extra)) for text in reading.controls]
    context = Context(settings)
    outcome = _decided(claim, context)
    if outcome.truth is None:
        return _decision(outcome, Controls(), reading.formal)
    tried = given or [(to_text(c), c) for c in _planted(claim, outcome, context)]
    missed = tuple(t for t, control in tried if _decided(control, context).truth is not (not outcome.truth))
    controls = Controls(len(tried), len(tried) - len(missed), missed)
    if missed:
        reason = f"a near miss was not told apart: {missed[0]}"
        return _decision(replace(outcome, truth=None, reason=reason), controls, reading.formal)
    if outcome.witness is not None:
        outcome = replace(outcome, witness=with_matrices(outcome.witness, parse_claim(reading.formal, extra)))
    return _decision(outcome, controls, reading.formal)


def _decided(claim: Claim, context: Context) -> Outcome:
    """The outcome of a claim on real numbers, or on those of a format."""
    if claim.format:
        from gateproof.proofs_check.floating.decide import decide_floating

        return decide_floating(claim, context)
    return decide_claim(claim, context)


def _planted(claim: Claim, outcome: Outcome, context: Context) -> list[Claim]:
    """Near misses made from the claim."""
    if claim.format:
        from gateproof.proofs_check.floating import controls

        return controls.planted(claim, outcome, context)
    return planted(claim, outcome, context)


def _titled(outcome: Outcome, text: str) -> Mapping[str, Any] | None:
    """The certificate; a composite one names the statement that its parts are put together for."""
    document = outcome.certificate
    if document is None or document["kind"] != "composite":
        return document
    return {**document, "conclusion": text}


def _decision(outcome: Outcome, controls: Controls, text: str) -> Decision:
    return Decision(
        verdict=outcome.verdict,
        method=outcome.method,
        trust=outcome.trust,
        value=outcome.value,
        witness=outcome.witness,
        controls=controls,
        certificate=_titled(outcome, text),
        steps=outcome.steps,
        reason=outcome.reason,
    )
