"""Criteria: statements whose names are numbers of a record.

A criterion has no quantifier of its own. Names ``X_lo`` and ``X_hi`` are the ends of the
record's interval X, other names its plain numbers; with the numbers put in it is a closed
statement, which the engine decides like any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise

from gateproof.proofs_check.decision_json import digest
from gateproof.proofs_check.records import Reading
from gateproof.theory.formula import Definition, FormulaError, define_all, parse_claim, to_text
from gateproof.theory.formula.library import substitute_node
from gateproof.theory.formula.names import CONSTANTS, SETS
from gateproof.theory.formula.nodes import Claim, Expr, Num, Scope
from gateproof.theory.formula.scopes import free_names
from gateproof.theory.formula.tokens import tokenize

ENDS = ("_lo", "_hi")
_BINDING = ("for", "exists", "in")


def stem(name: str) -> str:
    """The interval that a name is an end of, or the name."""
    return name[:-3] if name.endswith(ENDS) else name


def names_of(text: str) -> list[str]:
    """The record's numbers that a criterion speaks of, in order. Raises FormulaError."""
    tokens = tokenize(text)
    found: dict[str, None] = {}
    for token, after in pairwise(tokens):
        if token.kind == "keyword" and token.text in _BINDING:
            raise FormulaError(
                f"{token.text!r} in a criterion", token.column, "all its names are numbers of a record"
            )
        plain = token.kind == "name" and token.text not in CONSTANTS and token.text not in SETS
        if plain and after.text not in ("(", "="):
            found[token.text] = None
    return list(found)


def parse(text: str, extra: Mapping[str, Definition]) -> Claim:
    """The criterion with its names bound over R. Raises FormulaError."""
    names = names_of(text)
    if not any(name.endswith(ENDS) for name in names):
        raise FormulaError("no end of an interval (NAME_lo or NAME_hi): a run alone gives no interval")
    front = f"for {', '.join(f'{name} in R' for name in names)}: "
    try:
        return parse_claim(f"{front}({text})", extra)
    except FormulaError as error:
        column = None if error.column is None else max(1, error.column - len(front) - 1)
        raise FormulaError(error.message, column, error.hint) from None


def closed(text: str, extra: Mapping[str, Definition], numbers: Mapping[str, Fraction]) -> str:
    """The criterion with a record's numbers in it. Raises FormulaError for a name it has no number for."""
    claim = parse(text, extra)
    values: dict[str, Expr] = {name: Num(value) for name, value in numbers.items()}
    body = substitute_node(claim.body, values)
    missing = sorted(free_names(body))
    if missing:
        raise FormulaError(f"the record has no number {', '.join(missing)}")
    return to_text(Claim(Scope((), ()), body))  # type: ignore[arg-type]


def definitions(reading: Reading) -> dict[str, Definition]:
    """The reading's own functions."""
    return define_all(reading.define)


def fingerprint(reading: Reading) -> str:
    """The sha256 of a criterion as parsed, with the functions that it uses, so that spaces do not count."""
    extra = definitions(reading)
    claim = parse(reading.formal, extra)
    words = {token.text for token in tokenize(reading.formal)}
    # A function may use those before it: all are taken once one is used.
    used = [list(pair) for pair in reading.define.items()] if words & set(reading.define) else []
    return digest({"criterion": to_text(claim), "define": used})
