"""Exact linear combinations: a rational number and rational multiples of irrational ones such as pi."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from gateproof.numerics.backends.numbers import to_float
from gateproof.theory.formula.nodes import App, Expr, Num
from gateproof.theory.formula.powers import constant_value


@dataclass(frozen=True)
class Sum:
    """``rational`` plus the sum of factor times number; factors are not 0.

    Two that are equal as data are equal numbers. The reverse does not hold: no relation between the
    irrational numbers is known.
    """

    rational: Fraction = Fraction(0)
    terms: Mapping[Expr, Fraction] = field(default_factory=dict)

    def __add__(self, other: Sum) -> Sum:
        terms = dict(self.terms)
        for number, factor in other.terms.items():
            terms[number] = terms.get(number, Fraction(0)) + factor
        return Sum(self.rational + other.rational, {n: f for n, f in terms.items() if f})

    def times(self, factor: Fraction) -> Sum:
        """A multiple."""
        if not factor:
            return Sum()
        return Sum(self.rational * factor, {n: f * factor for n, f in self.terms.items()})

    def __sub__(self, other: Sum) -> Sum:
        return self + other.times(Fraction(-1))

    def over(self, other: Sum) -> Fraction | None:
        """The quotient where it is seen to be rational."""
        parts = [(self.rational, other.rational)]
        parts += [(self.terms.get(n, Fraction(0)), other.terms.get(n, Fraction(0)))
                  for n in {**self.terms, **other.terms}]  # fmt: skip
        quotients = {a / b if b else None for a, b in parts if a or b}
        return quotients.pop() if len(quotients) == 1 else None

    @property
    def zero(self) -> bool:
        """Whether it is 0 as it stands."""
        return not self.rational and not self.terms

    @property
    def expression(self) -> Expr:
        """The same as a closed expression."""
        parts: list[Expr] = [Num(self.rational)] if self.rational or not self.terms else []
        for number, factor in self.terms.items():
            size = number if abs(factor) == 1 else App("mul", (Num(abs(factor)), number))
            parts.append(size if factor > 0 else App("neg", (size,)))
        return parts[0] if len(parts) == 1 else App("add", tuple(parts))

    def __float__(self) -> float:
        return to_float(self.expression)


def sum_of(number: Expr) -> Sum:
    """A closed expression; what is no sum of multiples is one irrational number."""
    known = constant_value(number)
    if known is not None:
        return Sum(known)
    if isinstance(number, App):
        if number.head == "add":
            total = Sum()
            for part in number.args:
                total = total + sum_of(part)
            return total
        if number.head == "neg":
            return sum_of(number.args[0]).times(Fraction(-1))
        if number.head == "div":
            below = constant_value(number.args[1])
            if below:
                return sum_of(number.args[0]).times(1 / below)
        if number.head == "mul":
            known_factors = [constant_value(a) for a in number.args]
            others = [a for a, v in zip(number.args, known_factors, strict=True) if v is None]
            product = Fraction(1)
            for v in known_factors:
                product *= 1 if v is None else v
            if len(others) == 1:
                return sum_of(others[0]).times(product)
    return Sum(Fraction(0), {number: Fraction(1)})
