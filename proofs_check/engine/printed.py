"""Printed numbers ``DEC~``: some real that rounds to what is printed.

A statement with printed numbers holds if some choice of such reals makes it true; the same
literal twice is the same real. So a relation is refuted only if every choice refutes it.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from gateproof.numerics.bounds import Box, prove_bounds
from gateproof.numerics.errors import MaybeUndefined, Undefined
from gateproof.numerics.points import difference_sign
from gateproof.proofs_check.engine.boxes import accept
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.numbers import rational_text
from gateproof.proofs_check.engine.outcome import (
    CERTIFIED,
    PROVED,
    NotYetError,
    Outcome,
    composite,
    undecided,
)
from gateproof.proofs_check.engine.point_certificates import sign_certificate
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.kernels import polynomial_in
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import (
    App,
    Claim,
    Expr,
    Node,
    Num,
    Printed,
    Rel,
    Stmt,
    Var,
    Where,
    rebuild,
)
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

MAX_LITERALS = 8
_METHOD = "interval arithmetic on the rounding intervals"


def printed_in(node: Node) -> list[Printed]:
    """The printed numbers of a node, each literal once."""
    return list(dict.fromkeys(n for n in node.walk() if isinstance(n, Printed)))


def without_printed(relation: Rel) -> Stmt | None:
    """A relation whose one side is a printed number alone, as bounds on the other side; else None."""
    (op,), (a, b) = relation.ops, relation.terms
    if isinstance(a, Printed) and not printed_in(b):
        flipped = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}[op]
        return without_printed(Rel((flipped,), (b, a)))
    if not isinstance(b, Printed) or printed_in(a):
        return None
    lo, hi = Num(b.lo), Num(b.hi)
    if op == "==":
        return Rel(("<=", "<="), (lo, a, hi))
    if op in ("<", "<="):
        return Rel((op,), (a, hi))
    if op in (">", ">="):
        return Rel((op,), (a, lo))
    raise NotYetError("!= with a printed number")


def choices_differ(claim: Claim) -> bool:
    """Whether parts (or cases of a finite range) were free to choose a printed number differently.

    A number alone at an end of a relation says that the other side rounds to it (or is beyond such a
    number), each time anew; only numbers inside arithmetic, or between two relations, are shared.
    """
    seen: set[Printed] = set()
    for node in claim.walk():
        if not isinstance(node, Rel):
            continue
        terms = [() if _alone(node, k) else printed_in(t) for k, t in enumerate(node.terms)]
        for pair in itertools.pairwise(terms):
            found = {p for t in pair for p in t}
            if found & seen or (found and claim.scope.binds):
                return True
            seen |= found
    return False


def _alone(relation: Rel, k: int) -> bool:
    """Whether a term at an end of a relation is a printed number and its neighbour is more than one."""
    last = len(relation.terms) - 1
    if k not in (0, last) or not _is_printed(relation.terms[k]):
        return False
    return not _is_printed(relation.terms[1 if k == 0 else last - 1])


def _is_printed(term: Expr) -> bool:
    return isinstance(term, Printed) or (
        isinstance(term, App) and term.head == "neg" and isinstance(term.args[0], Printed)
    )


def as_printed(claim: Claim) -> Claim:
    """The claim with every shared printed number exactly as it is printed, one of the choices."""

    def change(node: Node) -> Node:
        if isinstance(node, Printed):
            return Num((node.lo + node.hi) / 2)
        if isinstance(node, Rel):
            terms = [t if _alone(node, k) else change(t) for k, t in enumerate(node.terms)]
            return Rel(node.ops, tuple(t for t in terms if isinstance(t, Expr)))
        done = rebuild(node, change)
        assert isinstance(done, Node)
        return done

    done = change(claim)
    assert isinstance(done, Claim)
    return done


def decide_printed(relation: Rel, context: Context) -> Outcome:
    """Decide a closed arithmetic relation with printed numbers on either side."""
    (op,), (a, b) = relation.ops, relation.terms
    literals = printed_in(relation)
    if len(literals) > MAX_LITERALS:
        raise NotYetError(f"more than {MAX_LITERALS} printed numbers in one relation")
    if free_names(relation) or op == "!=":
        raise NotYetError("printed numbers with other names, or with !=")
    names = {p: f"printed_{k}" for k, p in enumerate(literals)}
    left, right = (_named(side, names) for side in (a, b))
    gap = App("add", (left, App("neg", (right,))))
    box: Box = {names[p]: (p.lo, p.hi) for p in literals}
    if not defined_over(gap, box, context):
        return undecided("a side may be undefined for some choice of the printed numbers")
    always = _for_every_choice(relation, left, right, box)
    if always is not None:
        return always
    signs: dict[int, dict[str, Fraction]] = {}
    all_known = True
    for corner in itertools.product(*((p.lo, p.hi) for p in literals)):
        point = dict(zip(names.values(), corner, strict=True))
        try:
            sign = _corner_sign(left, right, point)
        except (Undefined, MaybeUndefined):
            sign = None
        if sign is None:
            all_known = False
        else:
            signs.setdefault(sign, point)
    wanted = {"==": {0}, "<": {-1}, "<=": {-1, 0}, ">": {1}, ">=": {1, 0}}[op]
    choice = next((signs[s] for s in wanted if s in signs), None)
    if choice is not None:
        text = ", ".join(f"{p.text}~ = {rational_text(choice[names[p]])}" for p in literals)
        (sign,) = (s for s in signs if signs[s] is choice)
        known = _at_corners(gap, {sign: choice})
        trust = ("arb", "mpfr") if known is not None else ("arb",)
        step = f"with {text} the relation holds"
        return Outcome(True, PROVED, "exact arithmetic", trust, (step,), certificate=known)
    if op == "==" and {1, -1} <= set(signs) and not may_jump(gap):
        step = "the difference is continuous and takes both signs at corners of the rounding intervals"
        known = _at_corners(gap, {s: signs[s] for s in (-1, 1)})
        trust = ("arb", "mpfr") if known is not None else ("arb",)
        return Outcome(True, PROVED, _METHOD, trust, (step,), certificate=known)
    return _never(relation, gap, box, signs, all_known, context)


def defined_over(expr: Expr, box: Box, context: Context) -> bool:
    """Whether an expression has a value on the whole box: as a polynomial, or by balls."""
    if all(_is_polynomial_node(n) for n in expr.walk()):
        return True
    return prove_bounds(expr, box, budget=context.budget()).status == "proved"


def _multilinear(expr: Expr, names: tuple[str, ...]) -> bool:
    """Whether a polynomial has no name with a power above 1."""
    if not all(_is_polynomial_node(n) for n in expr.walk()):
        return False
    found = [polynomial_in(expr, name) for name in names]
    return all(c is not None and max(c, default=0) <= 1 for c in found)


def _is_polynomial_node(node: Node) -> bool:
    if not isinstance(node, App):
        return isinstance(node, Num | Var)
    if node.head == "pow":
        power = node.args[1]
        return isinstance(power, Num) and power.value.denominator == 1 and power.value >= 0
    return node.head in ("add", "mul", "neg")


def _at_corners(gap: Expr, signs: dict[int, dict[str, Fraction]]) -> Mapping[str, Any] | None:
    """Accepted certificates of the signs of the difference at corners, or None."""
    found = [sign_certificate(gap, point, sign) for sign, point in signs.items()]
    documents = [dict(d) for d in found if d is not None]
    return composite(documents) if len(documents) == len(found) else None


def _for_every_choice(relation: Rel, left: Expr, right: Expr, box: Box) -> Outcome | None:
    """The relation or its opposite by algebra, whatever numbers are meant; None where neither is shown."""
    (op,) = relation.ops
    domains = {}
    for name, (lo, hi) in box.items():
        assert lo is not None
        assert hi is not None
        domains[name] = Domain(Num(lo), Num(hi), True, True)
    opposite = {"==": "!=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}[op]
    for wanted, truth in ((op, True), (opposite, False)):
        proof = prove_relation(left, wanted, right, Assumptions(domains))
        if proof is not None:
            step = f"for every choice of numbers that print so, left {wanted} right"
            witness = None if truth else {"every choice": f"left {wanted} right"}
            steps = (*proof.steps, step)
            return Outcome(truth, PROVED, "symbolic proof", proof.trust, steps, witness=witness)
    return None


def _never(
    relation: Rel,
    gap: Expr,
    box: Box,
    signs: dict[int, dict[str, Fraction]],
    all_known: bool,
    context: Context,
) -> Outcome:
    """Refute: for every choice the difference has the wrong sign."""
    (op,) = relation.ops
    zero = Fraction(0)
    if set(signs) == {1} and op in ("==", "<", "<="):
        found = prove_bounds(gap, box, lower=zero, lower_strict=op != "<", budget=context.budget())
    elif set(signs) == {-1} and op in ("==", ">", ">="):
        found = prove_bounds(gap, box, upper=zero, upper_strict=op != ">", budget=context.budget())
    else:
        return undecided("the rounding intervals neither meet nor exclude the relation at their corners")
    side = "above" if 1 in signs else "below"
    step = (
        f"for every choice of numbers that print so, the left side of {to_text(relation)} is {side} the right"
    )
    witness = {"every choice": f"left {side} right"}
    if found.status != "proved" and all_known and _multilinear(gap, tuple(box)):
        # Linear in each number by itself: the extremes are at corners, and the sign is known at each.
        steps = ("the difference is linear in each printed number: its extremes are at corners", step)
        return Outcome(False, PROVED, "exact arithmetic", ("arb",), steps, witness=witness)
    if found.status != "proved":
        return undecided(f"the rounding intervals: {found.reason or found.status}")
    accepted = found.certificate is not None and accept(found.certificate) is None
    return Outcome(
        False,
        CERTIFIED,
        _METHOD,
        ("arb", "mpfr") if accepted else ("arb",),
        (step,),
        witness=witness,
        certificate=found.certificate if accepted else None,
    )


def may_jump(expr: Expr) -> bool:
    """Whether a defined expression may be discontinuous: it has a case, a sign, or a varying exponent."""
    return any(
        isinstance(n, Where)
        or (isinstance(n, App) and (n.head == "sign" or (n.head == "pow" and free_names(n.args[1]))))
        for n in expr.walk()
    )


def _named(node: Expr, names: dict[Printed, str]) -> Expr:
    def visit(part: Node) -> Node:
        if isinstance(part, Printed):
            return Var(names[part])
        done = rebuild(part, visit)
        assert isinstance(done, Node)
        return done

    found = visit(node)
    assert isinstance(found, Expr)
    return found


def _corner_sign(left: Expr, right: Expr, point: dict[str, Fraction]) -> int | None:
    """The sign of left - right at a corner, exactly where both are rational there."""
    values: dict[str, Expr] = {name: Num(value) for name, value in point.items()}
    numbers = [constant_value(substitute(side, values)) for side in (left, right)]
    if numbers[0] is not None and numbers[1] is not None:
        return (numbers[0] > numbers[1]) - (numbers[0] < numbers[1])
    return difference_sign(left, right, point, 256)
