"""Extrema inside arithmetic by their exact values: sup(sin) == sup(cos), of which no enclosure can tell.

Each extremum that some point of its set reaches is replaced by the exact value there, which is decided to be
the extremum; what remains is a relation of constants.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from gateproof.numerics.certify import certify
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.extremum import decide_extremum, set_of
from gateproof.proofs_check.engine.integers import over_integers
from gateproof.proofs_check.engine.nested import is_nested
from gateproof.proofs_check.engine.outcome import CERTIFIED, PROVED, Outcome, conjunction, merged_trust
from gateproof.proofs_check.engine.periodic import one_period
from gateproof.proofs_check.engine.reached import greatest
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import Expr, Extremum, Num
from gateproof.theory.formula.rewriting import replaced

_NUMBERS = ("sup", "inf", "max", "min")
#: A rational is guessed from so many digits.
_DIGITS, _DENOMINATORS = 30, 10_000


def by_exact_values(
    a: Expr,
    b: Expr,
    body_of: Callable[[Extremum], Expr],
    decide: Callable[[Expr, Expr], Outcome],
    context: Context,
) -> Outcome | None:
    """The relation of two sides with exact values in place of extrema; None where one has none that is found.

    ``body_of`` gives an extremum's formula in core nodes, ``decide`` the relation of two constants.
    """
    values: dict[Expr, Expr] = {}
    proofs: list[Outcome] = []
    for node in dict.fromkeys(n for side in (a, b) for n in side.walk() if isinstance(n, Extremum)):
        if node.op not in _NUMBERS or is_nested(node):
            return None
        found = _value(node, body_of(node), context)
        if found is None:
            return None
        values[node] = found[0]
        proofs.append(found[1])
    last = decide(replaced(a, values), replaced(b, values))
    if last.truth is None or last.ill_posed:
        return None
    if last.truth:
        return conjunction([*proofs, last])
    exact = all(o.rigor == PROVED for o in proofs)
    steps = tuple(s for o in (*proofs, last) for s in o.steps)
    rigor = last.rigor if exact else CERTIFIED
    return replace(last, rigor=rigor, trust=merged_trust(*proofs, last), steps=steps, certificate=None)


def _value(node: Extremum, body: Expr, context: Context) -> tuple[Expr, Outcome] | None:
    """The exact value of an extremum, decided to be it: at a point of the set, or a number that is near."""
    space = set_of(node, context)
    if over_integers(space):
        return None
    best = greatest(one_period(space, body) or space, body, node.op in ("sup", "max"), context)
    value = substitute(body, best[0]) if best is not None else _simple(node, context)
    if value is None:
        return None
    held = decide_extremum(node, body, "==", value, context)
    return (value, held) if held.truth is True else None


def _simple(node: Extremum, context: Context) -> Expr | None:
    """A rational of a small denominator inside the enclosure; where it comes from does not matter."""
    found = certify(node, _DIGITS, context.budget())
    if found["kind"] != "value" or found["value"] is None:
        return None
    lo, hi = (Fraction(found["value"][k]) for k in ("lo", "hi"))
    near = ((lo + hi) / 2).limit_denominator(_DENOMINATORS)
    return Num(near) if lo <= near <= hi else None
