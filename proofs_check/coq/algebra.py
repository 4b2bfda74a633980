"""Bounds of formulas that are rational in t = exp(x/d), by a factorisation: these may be attained.

The distance from f to its bound is P(t)/D(t). Where D has no negative coefficient, and every factor of P of
odd multiplicity has none either, P is a product of squares and of what is positive for t > 0. flint factors;
coqc checks the product.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import fmpq, fmpq_poly

from gateproof.proofs_check.coq.tail import Limits
from gateproof.proofs_check.coq.text import number, term
from gateproof.theory.formula.nodes import App, Expr, Num, Var

_HEADS = ("exp", "sigmoid", "tanh", "sech", "cosh", "sinh")
_DEGREE = 40
Ratio = tuple[fmpq_poly, fmpq_poly]


class NotAlgebra(Exception):
    """A formula or a bound that this does not reach."""


def algebra(expr: Expr, name: str, coq_name: str, limits: Limits, label: str) -> str | None:
    """The lemma ``label_bounds`` for all reals with its proof, or None where this way does not lead there."""
    try:
        return _lemma(expr, name, coq_name, limits, label)
    except NotAlgebra:
        return None


def _lemma(expr: Expr, name: str, coq_name: str, limits: Limits, label: str) -> str:
    found = (n for n in expr.walk() if isinstance(n, App) and n.head in _HEADS and _depends(n))
    nodes = list(dict.fromkeys(found))
    multiples = {n: _multiple(n.args[0]) for n in nodes}
    if not nodes:
        raise NotAlgebra
    d = math.lcm(*(m.denominator for m in multiples.values()))
    value = _ratio(expr, d)
    names = {name: coq_name}
    base = f"({coq_name} / {d})"
    seen: dict[str, int] = {}
    steps = []
    for node in nodes:
        u = term(node.args[0], names)
        if node.head != "exp":
            steps.append(f"rewrite ({node.head}_t {u}).")
        seen[u] = int(multiples[node] * d)
    for u, n in sorted(seen.items()):
        way = "up" if n >= 0 else "down"
        steps.append(f"rewrite (exp_t_{way} {abs(n)} {u} {base}) by (simpl; field).")
    lines = [
        f"Lemma {label}_bounds ({coq_name} : R) : {limits.statement(f'{label} {coq_name}')}.",
        "Proof.",
        f"  assert (T : 0 < exp {base}) by apply exp_pos.",
    ]
    goals: list[tuple[str, str, str, str, bool]] = []
    for end, strict, sign in (
        (limits.lower, limits.lower_strict, 1),
        (limits.upper, limits.upper_strict, -1),
    ):
        if end is not None:
            goals.append((f"H{len(goals)}", *_distance(value, end, sign, strict, label, coq_name)))
    for letter, left, product, divisor, strict in goals:
        close = (
            "apply Rmult_lt_0_compat; [ positive | apply Rinv_0_lt_compat; positive ]"
            if strict
            else "apply Rmult_le_pos; [ nonnegative | apply Rlt_le, Rinv_0_lt_compat; positive ]"
        )
        lines += [
            f"  assert ({letter} : 0 {'<' if strict else '<='} {left}).",
            f"  {{ unfold {label}. {' '.join(steps)}",
            f"    generalize dependent (exp {base}). intros t T.",
            f"    match goal with |- _ ?a => replace a with (({product}) / ({divisor})) end;",
            "      [ | field; nonzero ].",
            f"    unfold Rdiv. {close}. }}",
        ]
    lines += ["  split; lra." if len(goals) > 1 else "  lra.", "Qed."]
    return "\n".join(lines) + "\n"


def _distance(
    value: Ratio, end: Fraction, sign: int, strict: bool, label: str, coq_name: str
) -> tuple[str, str, str, bool]:
    """``f - end`` for sign 1, ``end - f`` for -1: its term, a product that is it times D, D."""
    above, below = value
    bound = fmpq(end.numerator, end.denominator)
    rest = (above - bound * below) * sign
    if min(_coefficients(below)) < 0:
        raise NotAlgebra
    left = f"{label} {coq_name} - {number(end)}" if sign > 0 else f"{number(end)} - {label} {coq_name}"
    if rest.degree() < 0:
        raise NotAlgebra
    lead, factors = rest.factor()
    parts = []
    for factor, times in factors:
        if min(_coefficients(factor)) >= 0:
            parts.append(f"({_written(factor)}) ^ {times}")
            continue
        if max(_coefficients(factor)) <= 0:
            factor, lead = -factor, lead * (-1) ** times
            parts.append(f"({_written(factor)}) ^ {times}")
            continue
        if times % 2 or strict:
            raise NotAlgebra
        parts.append(f"(({_written(factor)}) ^ {times // 2}) ^ 2")
    if lead <= 0:
        raise NotAlgebra
    product = " * ".join([number(Fraction(int(lead.p), int(lead.q))), *parts])
    return left, product, _written(below), strict


def _coefficients(poly: fmpq_poly) -> list[fmpq]:
    return [poly[k] for k in range(poly.degree() + 1)]


def _written(poly: fmpq_poly) -> str:
    found = [(k, Fraction(int(c.p), int(c.q))) for k, c in enumerate(_coefficients(poly))]
    parts = [f"{number(value)} * t ^ {k}" for k, value in found if value]
    return " + ".join(parts)


def _depends(node: Expr) -> bool:
    return any(isinstance(part, Var) for part in node.walk())


def _multiple(node: Expr) -> Fraction:
    """The rational r of an argument r x."""
    if isinstance(node, Var):
        return Fraction(1)
    if isinstance(node, App) and node.head == "neg":
        return -_multiple(node.args[0])
    if isinstance(node, App) and node.head == "mul":
        inner = [arg for arg in node.args if _depends(arg)]
        outer = [arg for arg in node.args if not _depends(arg)]
        if len(inner) == 1:
            return math.prod((_rational(arg) for arg in outer), start=_multiple(inner[0]))
    if isinstance(node, App) and node.head == "div":
        return _multiple(node.args[0]) / (_rational(node.args[1]) or _refuse())
    raise NotAlgebra


def _rational(node: Expr) -> Fraction:
    if isinstance(node, Num):
        return node.value
    if isinstance(node, App) and node.head == "neg":
        return -_rational(node.args[0])
    raise NotAlgebra


def _refuse() -> Fraction:
    raise NotAlgebra


def _ratio(node: Expr, d: int) -> Ratio:
    """Numerator and denominator in t, without a common factor."""
    if isinstance(node, Num):
        return fmpq_poly([fmpq(node.value.numerator, node.value.denominator)]), fmpq_poly([1])
    if not isinstance(node, App):
        raise NotAlgebra
    if node.head in _HEADS:
        return _function(node.head, int(_multiple(node.args[0]) * d))
    parts = [_ratio(arg, d) for arg in node.args[: 1 if node.head == "pow" else None]]
    above, below = parts[0]
    if node.head == "neg":
        return -above, below
    if node.head == "pow":
        power = node.args[1]
        if not (isinstance(power, Num) and power.value.denominator == 1 and 0 <= power.value <= 12):
            raise NotAlgebra
        return _reduced(above ** int(power.value), below ** int(power.value))
    for top, bottom in parts[1:]:
        if node.head == "add":
            above, below = above * bottom + top * below, below * bottom
        elif node.head == "mul":
            above, below = above * top, below * bottom
        elif node.head == "div" and top.degree() >= 0:
            above, below = above * bottom, below * top
        else:
            raise NotAlgebra
    if node.head not in ("add", "mul", "div"):
        raise NotAlgebra
    return _reduced(above, below)


def _function(head: str, n: int) -> Ratio:
    one, t = fmpq_poly([1]), fmpq_poly([0, 1]) ** abs(n)
    if abs(n) * 2 > _DEGREE:
        raise NotAlgebra
    above, below = (t, one) if n >= 0 else (one, t)  # of exp
    square, unit = above * above, below * below
    return _reduced(
        *{
            "exp": (above, below),
            "sigmoid": (above, above + below),
            "tanh": (square - unit, square + unit),
            "sech": (2 * above * below, square + unit),
            "cosh": (square + unit, 2 * above * below),
            "sinh": (square - unit, 2 * above * below),
        }[head]
    )


def _reduced(above: fmpq_poly, below: fmpq_poly) -> Ratio:
    common = above.gcd(below)
    above, below = above // common, below // common
    if above.degree() > _DEGREE or below.degree() > _DEGREE:
        raise NotAlgebra
    lead = below[below.degree()]
    return (above, below) if lead > 0 else (-above, -below)
