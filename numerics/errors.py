"""What the numerics raise."""

from __future__ import annotations


class NumericsError(ArithmeticError):
    """Base of all errors of the numerics."""


class Undefined(NumericsError):
    """The expression has no real value at any point of the box; ``where`` names the part."""

    def __init__(self, where: str) -> None:
        self.where = where
        super().__init__(where)


class MaybeUndefined(NumericsError):
    """The enclosure cannot exclude that a part is undefined somewhere in the box."""

    def __init__(self, where: str) -> None:
        self.where = where
        super().__init__(where)


class NotReal(NumericsError):
    """``oo`` was used as a value: only comparisons and domains may hold it."""


class NotSmooth(NumericsError):
    """A kink or a jump may lie in the box, so there is no Taylor expansion over it."""


class NotImplementedOperator(NumericsError):
    """An operator of the language that the numerics cannot evaluate yet."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"not implemented: {name}")
