"""What an arithmetic must offer so that a formula can be evaluated in it.

Three do: intervals, Taylor polynomials (jet.py) and expansions at infinity (tail.py). A value stands for
a function on the box or tail at hand; Rejected is raised where it is undefined or cannot be enclosed.
"""
# ruff: noqa: D102 - the names say it

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: The signs of a - b for which a relation holds.
HOLDS = {"<": {-1}, "<=": {-1, 0}, "==": {0}, "!=": {-1, 1}, ">=": {0, 1}, ">": {1}}


class Rejected(Exception):
    """The certificate is not accepted, and why."""


class Algebra:
    """The operations; kinks take the one branch that the signs of their arguments decide."""

    number: Any  # (q): an exact rational constant
    constant: Any  # (name): pi or e
    add: Any
    neg: Any
    mul: Any
    div: Any
    power: Any  # (a, q): a**q for an exact q; 0**0 is 1; a >= 0 unless q is whole
    function: Any  # (a, name): exp(a), log(a), ...
    signs: Callable[[Any], set[int]]  # (a): a set that holds the sign of every value of a

    def undecided(self, head: str, *_: Any) -> Any:
        """The value of abs, sign, max or where when signs and conditions do not decide between the others."""
        raise Rejected(f"the branch of {head} is not decided")

    def choose(self, head: str, signs: set[int], a: Any, b: Any) -> Any:
        """The first for signs that are not negative, the second for such that are not positive."""
        return a if -1 not in signs else b if 1 not in signs else self.undecided(head, a, b)

    def sub(self, a: Any, b: Any) -> Any:
        return self.add(a, self.neg(b))

    def line(self, a: Any, b: Any, u: Any) -> Any:
        """a + b u for two rationals."""
        return self.add(self.number(a), self.mul(self.number(b), u))

    def abs(self, a: Any) -> Any:
        return self.choose("abs", self.signs(a), a, self.neg(a))

    def max(self, a: Any, b: Any) -> Any:
        return self.choose("max", self.signs(self.sub(a, b)), a, b)

    def min(self, a: Any, b: Any) -> Any:
        return self.neg(self.max(self.neg(a), self.neg(b)))

    def sign(self, a: Any) -> Any:
        found = [self.number(sign) for sign in sorted(self.signs(a))]
        return found[0] if len(found) == 1 else self.undecided("sign", *found)

    def whole(self, a: Any, n: int) -> Any:
        """a**n for n >= 0."""
        result = a if n else self.number(1)
        for bit in bin(n)[3:]:
            result = self.mul(result, result)
            result = self.mul(result, a) if bit == "1" else result
        return result

    # Conditions are sets that hold every truth value which they have on the box.

    def compare(self, a: Any, b: Any, relation: str) -> set[bool]:
        return {sign in HOLDS[relation] for sign in self.signs(self.sub(a, b))}

    def both(self, p: set[bool], q: set[bool]) -> set[bool]:
        return {x and y for x in p for y in q}

    def negation(self, p: set[bool]) -> set[bool]:
        return {not x for x in p}

    def where(self, p: set[bool], a: Any, b: Any) -> Any:
        return self.undecided("where", a, b) if len(p) > 1 else a if True in p else b


class Guided(Algebra):
    """Pairs of values of two algebras, the branches of kinks those of the first.

    So a Taylor polynomial at a point of a box is that of the formula which holds on the box: at 0 alone
    the branch of abs(-x**2) would be any.
    """

    def __init__(self, *parts: Algebra) -> None:
        self.parts = parts

    def __getattr__(self, name: str) -> Callable[..., tuple[Any, ...]]:
        """The operations that Algebra leaves open."""
        return lambda *args: tuple(
            getattr(part, name)(*(a[i] if isinstance(a, tuple) else a for a in args))
            for i, part in enumerate(self.parts)
        )

    def signs(self, a: tuple[Any, ...]) -> set[int]:
        return self.parts[0].signs(a[0])
