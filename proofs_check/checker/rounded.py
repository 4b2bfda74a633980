"""What a format computes at one point, by MPFR.

MPFR rounds each operation once, to nearest, with the format's bits and exponents and its subnormal
numbers. points.py has what stands outside of ``fl``, and statements.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import gmpy2
from gmpy2 import mpq

from gateproof.proofs_check.checker.algebra import Rejected
from gateproof.proofs_check.checker.evaluate import rational
from gateproof.proofs_check.checker.interval import Intervals

#: Significant bits and the largest exponent of each format.
FORMATS = {"float16": (11, 15), "bfloat16": (8, 127), "float32": (24, 127), "float64": (53, 1023)}
Point = Mapping[str, Any]
Value = Callable[[Point], Any]


def need_format(name: Any) -> tuple[int, int]:
    """The bits and the largest exponent."""
    if not isinstance(name, str) or name not in FORMATS:
        raise Rejected(f"not a format: {name!r:.60}")
    return FORMATS[name]


def exponent(q: Any) -> int:
    """e with 2^e <= abs(q) < 2^(e+1), for a rational q that is not 0."""
    e = int(q.numerator.bit_length()) - int(q.denominator.bit_length())
    return e if abs(q) >= power_of_two(e) else e - 1


def power_of_two(e: int) -> Any:
    """2^e, exactly."""
    return mpq(1 << e) if e >= 0 else mpq(1, 1 << -e)


class Rounded:
    """Trees as functions of a point, whose coordinates are rationals that the format holds."""

    truth: Any  # (tree, kind of value): the statement at a point

    def __init__(self, name: Any, names: Mapping[str, Any], bits: int) -> None:
        self.bits, self.highest = need_format(name)
        self.least = 2 - self.highest - self.bits  # the exponent of the least number above 0
        self.mpfr = gmpy2.context(
            precision=self.bits, emax=self.highest + 1, emin=self.least + 1, subnormalize=True, round=0
        )
        self.field, self.names, self.size = Intervals(bits), names, 0

    # --- computed -------------------------------------------------------------

    def finite(self, value: Any) -> Any:
        """A number of the format as it is; an infinity or NaN is no value."""
        if not gmpy2.is_finite(value):
            raise Rejected("a computed value is no finite number")
        return value

    def computed(self, tree: Any) -> Value:
        """The number that the format gives, as MPFR's."""
        self.size += 1
        finite, mpfr = self.finite, self.mpfr
        match tree:
            case ["num", text]:
                return self.fixed(rational(text))
            case ["const", "pi" | "e" as name]:
                value = mpfr.const_pi() if name == "pi" else mpfr.exp(gmpy2.mpfr(1))
                return lambda _: value
            case ["var", str(name)] if name in self.names:
                return lambda x: mpfr.add(gmpy2.mpfr(0), x[name])
            case ["fl", inner]:
                return self.computed(inner)
            case ["where", p, a, b]:
                truth, then, other = self.truth(p, self.held), self.computed(a), self.computed(b)
                return lambda x: then(x) if truth(x) else other(x)
            case ["app", "pow", base, ["num", "2/1"]] if self.number(base) is None:
                inner = self.computed(base)
                return lambda x: finite(mpfr.mul(inner(x), inner(x)))
            case ["app", "pow", base, power]:
                return self.fixed(self.power(base, power))
            case ["app", "add" | "mul" | "max" | "min" as head, first, *rest]:
                step = {"add": mpfr.add, "mul": mpfr.mul, "max": max, "min": min}[head]
                parts = [self.computed(part) for part in (first, *rest)]
                return lambda x: reduce(lambda a, b: finite(step(a, b)), [part(x) for part in parts])
            case ["app", "div", a, b]:
                over, under = self.computed(a), self.computed(b)
                return lambda x: finite(mpfr.div(over(x), under(x)))
            case ["app", "fma", a, b, c]:
                u, v, w = self.computed(a), self.computed(b), self.computed(c)
                return lambda x: finite(mpfr.fma(u(x), v(x), w(x)))
            case ["app", "sqrt" | "neg" | "abs" | "sign" as head, a]:
                of = self.computed(a)
                if head == "sign":
                    return lambda x: gmpy2.mpfr(gmpy2.sign(of(x)))
                exact = {"sqrt": mpfr.sqrt, "neg": mpfr.minus, "abs": mpfr.abs}[head]
                return lambda x: finite(exact(of(x)))
        raise Rejected(f"not computed by a format: {tree!r:.60}")

    def fixed(self, q: Any) -> Value:
        """A rational constant, rounded once."""
        value = self.finite(self.mpfr.add(gmpy2.mpfr(0), q))
        return lambda _: value

    def number(self, tree: Any) -> Any:
        """The rational that is written out with its sign, else None."""
        match tree:
            case ["num", text]:
                return rational(text)
            case ["app", "neg", inner]:
                found = self.number(inner)
                return None if found is None else -found
        return None

    def power(self, base: Any, power: Any) -> Any:
        """A power of two rationals that are written out."""
        a, n = self.number(base), self.number(power)
        if a is None or n is None or n.denominator != 1 or abs(n) > 10_000 or (a == 0 and n < 0):
            raise Rejected("a power that is neither a square nor one of numbers")
        return a ** int(n)

    def held(self, tree: Any) -> Value:
        """A computed number as the rational that it is."""
        value = self.computed(tree)
        return lambda x: mpq(value(x))
