"""Steps of a gate as lines of a language with infix arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gateproof.numerics.fits.exports.form import Form
from gateproof.numerics.fits.exports.walk import Ops

_CHOICE, _COMPARISON, _SUM, _PRODUCT, _UNARY, _ATOM = range(6)


@dataclass(frozen=True)
class Text:
    """An expression's text, how tightly it binds, and the names in it."""

    text: str
    level: int = _ATOM
    names: frozenset[str] = frozenset()

    def at_least(self, level: int) -> str:
        """The text, in parentheses where it binds less tightly."""
        return self.text if self.level >= level else f"({self.text})"

    def _with(self, sign: str, other: Text, level: int, right: int) -> Text:
        text = f"{self.at_least(level)} {sign} {other.at_least(right)}"
        return Text(text, level, self.names | other.names)

    def __add__(self, other: Text) -> Text:
        return self._with("+", other, _SUM, _PRODUCT)

    def __sub__(self, other: Text) -> Text:
        return self._with("-", other, _SUM, _PRODUCT)

    def __mul__(self, other: Text) -> Text:
        return self._with("*", other, _PRODUCT, _UNARY)

    def __truediv__(self, other: Text) -> Text:
        return self._with("/", other, _PRODUCT, _ATOM)

    def __neg__(self) -> Text:
        return Text(f"-{self.at_least(_ATOM)}", _UNARY, self.names)


@dataclass
class Language:
    """How a language writes numbers, calls, choices and the definition of a name."""

    number: Callable[[float], str]
    calls: dict[str, str]
    choice: Callable[[str, str, str], str]
    clip: Callable[[str, str], str]
    define: Callable[[str, str], str]
    scalar: bool = True
    atomic_choice: bool = False
    conditions: dict[str, str] = field(default_factory=dict)


class TextOps(Ops):
    """Collects named steps; :meth:`lines` gives those that the result needs."""

    def __init__(self, form: Form, language: Language) -> None:
        super().__init__(form)
        self.language = language
        self.scalar = language.scalar
        self.steps: list[tuple[str, Text]] = []

    def number(self, value: float) -> Text:
        """A literal; a negative one binds like a unary minus."""
        return Text(self.language.number(value), _UNARY if value < 0 else _ATOM)

    def name(self, name: str) -> Text:
        """A variable."""
        return Text(name, _ATOM, frozenset({name}))

    def call(self, name: str, *args: Text) -> Text:
        """A call of a function of the language."""
        names = frozenset().union(*(a.names for a in args))
        return Text(f"{self.language.calls[name]}({', '.join(a.text for a in args)})", _ATOM, names)

    def compare(self, a: Text, op: str, b: Text) -> Text:
        """A comparison."""
        return Text(f"{a.at_least(_SUM)} {op} {b.at_least(_SUM)}", _COMPARISON, a.names | b.names)

    def select(self, condition: Text, a: Text, b: Text) -> Text:
        """The language's choice."""
        text = self.language.choice(condition.text, a.text, b.text)
        level = _ATOM if self.language.atomic_choice else _CHOICE
        return Text(text, level, condition.names | a.names | b.names)

    def clip(self, value: Text, reach: float) -> Text:
        """The language's clip."""
        return Text(self.language.clip(value.text, self.language.number(reach)), _ATOM, value.names)

    def infinite_and_zero(self, x: Text, m: Text) -> Text:
        """The condition as the language has it for arrays."""
        text = self.language.conditions["infinite and zero"].format(x=x.text, m=m.text)
        return Text(text, _ATOM, x.names | m.names)

    def is_nan(self, x: Text) -> Text:
        """The condition as the language has it for arrays."""
        return Text(self.language.conditions["nan"].format(x=x.text), _ATOM, x.names)

    def let(self, name: str, value: Text) -> Text:
        """A step, unless the value is a name or a literal already."""
        if value.level == _ATOM and value.text.replace("_", "").isalnum():
            return value
        self.steps.append((name, value))
        return self.name(name)

    def lines(self, result: Any) -> list[str]:
        """Definitions of the names that the result needs, in order."""
        needed, kept = set(result.names), list[str]()
        for name, expression in reversed(self.steps):
            if name in needed:
                needed |= expression.names
                kept.append(self.language.define(name, expression.text))
        return kept[::-1]
