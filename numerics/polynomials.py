"""Expressions as polynomials in names and in whatever else is not a sum, product or power."""

from __future__ import annotations

from fractions import Fraction

from gateproof.theory.formula.nodes import App, Expr, Num
from gateproof.theory.formula.powers import constant_value

Monomial = tuple[tuple[Expr, int], ...]
Polynomial = dict[Monomial, Fraction]
#: Polynomials longer than this, and powers higher, are left alone.
MAX_TERMS, MAX_POWER = 60, 12


def expanded(node: Expr) -> Polynomial | None:
    """The expression as a polynomial with rational coefficients; None where it is too long."""
    if isinstance(node, Num):
        return {(): node.value} if node.value else {}
    if isinstance(node, App):
        if node.head == "neg":
            inner = expanded(node.args[0])
            return None if inner is None else {m: -c for m, c in inner.items()}
        if node.head in ("add", "mul"):
            parts = [expanded(a) for a in node.args]
            total: Polynomial = {} if node.head == "add" else {(): Fraction(1)}
            for part in parts:
                if part is None:
                    return None
                total = _sum(total, part) if node.head == "add" else _multiplied(total, part)
                if len(total) > MAX_TERMS:
                    return None
            return total
        if node.head == "pow":
            n = constant_value(node.args[1])
            base = expanded(node.args[0])
            if n is not None and n.denominator == 1 and 0 <= n <= MAX_POWER and base is not None:
                total = {(): Fraction(1)}
                for _ in range(int(n)):
                    total = _multiplied(total, base)
                return total if len(total) <= MAX_TERMS else None
        if node.head == "div":
            value = constant_value(node.args[1])
            inner = expanded(node.args[0])
            if value and inner is not None:
                return {m: c / value for m, c in inner.items()}
    return {((node, 1),): Fraction(1)}


def _sum(a: Polynomial, b: Polynomial) -> Polynomial:
    total = dict(a)
    for m, c in b.items():
        total[m] = total.get(m, Fraction(0)) + c
    return {m: c for m, c in total.items() if c}


def _multiplied(a: Polynomial, b: Polynomial) -> Polynomial:
    total: Polynomial = {}
    for m, c in a.items():
        for k, d in b.items():
            powers: dict[Expr, int] = dict(m)
            for base, n in k:
                powers[base] = powers.get(base, 0) + n
            key = tuple(sorted(powers.items(), key=lambda e: repr(e[0])))
            total[key] = total.get(key, Fraction(0)) + c * d
    return {m: c for m, c in total.items() if c}
