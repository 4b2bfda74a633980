"""Whether a criterion asks anything of a run: numbers on which it fails are looked for.

``h_lo <= h_hi`` or ``h_lo*0 == 0`` holds on every record, so that a record that meets it says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product

from gateproof.numerics.errors import NumericsError
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.judge import read
from gateproof.proofs_check.engine.outcome import IllPosedError, NotYetError, UndecidedError
from gateproof.proofs_check.engine.statements import decide_claim
from gateproof.proofs_check.evidence.criterion import closed, definitions, names_of, stem
from gateproof.proofs_check.records import Reading, Settings
from gateproof.theory.formula import FormulaError
from gateproof.theory.formula.nodes import And, App, Claim, Const, Not, Num, Or, Printed, Rel, Scope, Where

#: Numbers are moved this far, and scaled by these.
FAR, SCALES = (1_000, 10**12), (Fraction(0), Fraction(1, 10**6), Fraction(10**6))
#: Numbers that are moved in all combinations of signs.
MAX_TOGETHER = 4
_QUICK = (And, App, Claim, Const, Not, Num, Or, Printed, Rel, Scope, Where)
_NOTHING = (FormulaError, NumericsError, IllPosedError, NotYetError, UndecidedError, ArithmeticError)


def can_fail(reading: Reading, numbers: Mapping[str, Fraction]) -> bool:
    """Whether the criterion fails on some moved numbers; True where trying would take long.

    The ends of an interval are moved together, so that none is turned around.
    """
    extra = definitions(reading)
    for values in _moved(sorted({stem(name) for name in names_of(reading.formal)}), numbers):
        try:
            claim = read(closed(reading.formal, extra, values), extra)
            if not all(isinstance(node, _QUICK) for node in claim.walk()):
                return True
            if decide_claim(claim, Context(Settings())).truth is False:
                return True
        except _NOTHING:
            continue
    return False


def _moved(stems: list[str], numbers: Mapping[str, Fraction]) -> Iterator[dict[str, Fraction]]:
    together = list(product((-1, 0, 1), repeat=len(stems))) if len(stems) <= MAX_TOGETHER else []
    alone = [tuple(s * (k == at) for k in range(len(stems))) for at in range(len(stems)) for s in (-1, 1)]
    for signs in (*alone, *together):
        by = dict(zip(stems, signs, strict=True))
        for far in FAR:
            yield {name: value + far * by.get(stem(name), 0) for name, value in numbers.items()}
    for one in stems:
        for scale in SCALES:
            yield {name: value * scale if stem(name) == one else value for name, value in numbers.items()}
