"""Sums and products in a normal form, so that one stable form is found for many spellings.

In it there is no subtraction, division or sign: ``-u`` is ``-1*u`` and ``u/v`` is ``u*v**-1``.
Sums and products are flat, like terms and like factors are joined, and operands are in a fixed order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from math import isqrt

from gateproof.theory.formula.nodes import App, Const, Expr, Num, Var, Where, num
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

ONE = num(1)
#: Functions that some real number has no value under; a factor with them is never cancelled.
_PARTIAL = frozenset({"log", "sqrt", "asin", "acos", "acosh", "atanh", "tan"})
Factors = dict[Expr, Fraction]
Terms = dict[Expr, Fraction]


@lru_cache(maxsize=8192)
def key(node: Expr) -> str:
    """What operands are ordered by."""
    return to_text(node)


@lru_cache(maxsize=8192)
def is_closed(node: Expr) -> bool:
    """Whether the node has no names, so that it is a number."""
    return not free_names(node)


@lru_cache(maxsize=8192)
def is_total(node: Expr) -> bool:
    """Whether the node has a value everywhere but for poles."""
    if isinstance(node, App) and not is_closed(node):
        whole = isinstance(node.args[-1], Num) and node.args[-1].value.denominator == 1
        if node.head in _PARTIAL or (node.head == "pow" and not whole):
            return False
        return all(is_total(a) for a in node.args)
    return not isinstance(node, Where)


def as_product(node: Expr) -> tuple[Fraction, Factors]:
    """The number in front, and the other factors with their powers."""
    if isinstance(node, Num):
        return node.value, {}
    if isinstance(node, App) and node.head == "mul":
        number, factors = Fraction(1), Factors()
        for arg in node.args:
            c, more = as_product(arg)
            number *= c
            for base, power in more.items():
                factors[base] = factors.get(base, Fraction(0)) + power
        return number, factors
    if isinstance(node, App) and node.head == "pow" and isinstance(node.args[1], Num):
        return Fraction(1), {node.args[0]: node.args[1].value}
    return Fraction(1), {node: Fraction(1)}


def product(number: Fraction, factors: Mapping[Expr, Fraction]) -> Expr:
    """The node of a product."""
    nodes: list[Expr] = []
    for base in sorted(factors, key=key):
        power = factors[base]
        if power == 0 and is_total(base):
            continue
        nodes.append(base if power == 1 else App("pow", (base, Num(power))))
    if number == 0 and all(is_total(n) for n in nodes):
        return num(0)
    if number != 1 or not nodes:
        nodes.insert(0, Num(number))
    return nodes[0] if len(nodes) == 1 else App("mul", tuple(nodes))


def as_sum(node: Expr) -> Terms:
    """The terms without their numbers, each with its number; the constant stands at ONE."""
    if isinstance(node, App) and node.head == "add":
        return _joined((m, c) for a in node.args for m, c in as_sum(a).items())
    number, factors = as_product(node)
    if len(factors) == 1:
        (base, power) = next(iter(factors.items()))
        if power == 1 and isinstance(base, App) and base.head == "add":
            return {m: number * c for m, c in as_sum(base).items()}
    return {product(Fraction(1), factors): number}


def _joined(terms: Iterable[tuple[Expr, Fraction]]) -> Terms:
    found = Terms()
    for term, number in terms:
        found[term] = found.get(term, Fraction(0)) + number
    return found


def total(terms: Mapping[Expr, Fraction]) -> Expr:
    """The node of a sum."""
    kept = {m: c for m, c in terms.items() if c != 0 or not is_total(m)}
    nodes = [scaled(m, kept[m]) for m in sorted(kept, key=key) if m != ONE]
    if ONE in kept:
        nodes.append(Num(kept[ONE]))
    if not nodes:
        return num(0)
    return nodes[0] if len(nodes) == 1 else App("add", tuple(nodes))


def scaled(node: Expr, number: Fraction) -> Expr:
    """A number times a node."""
    c, factors = as_product(node)
    return product(c * number, factors)


def times(*nodes: Expr) -> Expr:
    """A product, joined but not simplified further."""
    number, factors = as_product(App("mul", nodes))
    return product(number, factors)


def plus(*nodes: Expr) -> Expr:
    """A sum, joined but not simplified further."""
    return total(_joined((m, c) for n in nodes for m, c in as_sum(n).items()))


def minus(node: Expr) -> Expr:
    """-node, with the sign carried into a sum."""
    return total({m: -c for m, c in as_sum(node).items()})


def split_sign(node: Expr) -> tuple[int, Expr]:
    """(-1, -node) where a sign can be taken out of the node, else (1, node)."""
    terms = as_sum(node)
    leading = next(
        (terms[m] for m in sorted(terms, key=key) if m != ONE and terms[m]), terms.get(ONE, Fraction(0))
    )
    return (-1, minus(node)) if leading < 0 else (1, node)


def square_root(value: Fraction) -> tuple[Fraction, int]:
    """(s, m) with sqrt(value) = s*sqrt(m) for a value >= 0; m has no small square in it."""
    top = value.numerator * value.denominator
    out, rest = 1, top
    root = isqrt(rest)
    if root * root == rest:
        return Fraction(root, value.denominator), 1
    for p in (2, 3, 5, 7, 11, 13):
        while rest % (p * p) == 0:
            rest //= p * p
            out *= p
    return Fraction(out, value.denominator), rest


def exponent_of(node: Expr) -> Expr | None:
    """u where the node is exp(u), else None."""
    if node == Const("e"):
        return ONE
    return node.args[0] if isinstance(node, App) and node.head == "exp" else None


def is_name(node: Expr) -> bool:
    """Whether the node is a plain name."""
    return isinstance(node, Var)
