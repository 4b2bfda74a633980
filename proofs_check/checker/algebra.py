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

    def signs(self, a: Any) -> set[int]:
        """A set that holds the sign of every value of a."""
        raise NotImplementedError

    def undecided(self, head: str, *_: Any) -> Any:
        """The value of abs, sign, max or where when signs and conditions do not decide it."""
        raise Rejected(f"the branch of {head} is not decided")

    def sub(self, a: Any, b: Any) -> Any:
        return self.add(a, self.neg(b))

    def abs(self, a: Any) -> Any:
        signs = self.signs(a)
        if -1 not in signs:
            return a
        return self.neg(a) if 1 not in signs else self.undecided("abs", a)

    def sign(self, a: Any) -> Any:
        signs = self.signs(a)
        return self.number(*signs) if len(signs) == 1 else self.undecided("sign", a)

    def max(self, a: Any, b: Any) -> Any:
        signs = self.signs(self.sub(a, b))
        if -1 not in signs:
            return a
        return b if 1 not in signs else self.undecided("max", a, b)

    def min(self, a: Any, b: Any) -> Any:
        return self.neg(self.max(self.neg(a), self.neg(b)))

    # Conditions are True or False where that holds on the whole box, None where it is not known.

    def compare(self, a: Any, b: Any, relation: str) -> bool | None:
        signs, wanted = self.signs(self.sub(a, b)), HOLDS[relation]
        return True if signs <= wanted else None if signs & wanted else False

    def both(self, p: bool | None, q: bool | None) -> bool | None:
        return False if False in (p, q) else None if None in (p, q) else True

    def negation(self, p: bool | None) -> bool | None:
        return None if p is None else not p


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
