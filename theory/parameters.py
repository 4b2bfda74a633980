"""Where the parameters of an activation range, and calls outside of it.

Checked where a call is read and where it is written out, for constants alone: a parameter
that is a name is looked at by nobody, and the formula is taken as it stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from gateproof.theory.activations import zoo
from gateproof.theory.formula.nodes import Expr
from gateproof.theory.formula.powers import constant_value


@dataclass(frozen=True)
class Range:
    """An interval of the reals; None is no bound on that side."""

    text: str
    lo: Fraction | None
    hi: Fraction | None
    lo_closed: bool
    hi_closed: bool

    def excludes(self, least: Fraction, most: Fraction) -> bool:
        """Whether no number of [least, most] lies in the interval."""
        below = self.lo is not None and (most < self.lo or (most == self.lo and not self.lo_closed))
        above = self.hi is not None and (least > self.hi or (least == self.hi and not self.hi_closed))
        return below or above


@cache
def read(text: str) -> Range:
    """An interval as ``domains`` of an activation writes it, as in '(0, oo)'. Raises ValueError."""
    first, last = text[:1], text[-1:]
    ends = text[1:-1].split(",")
    if first not in ("(", "[") or last not in (")", "]") or len(ends) != 2:
        raise ValueError(f"{text!r} is no interval")
    lo, hi = (e.strip() for e in ends)
    return Range(
        text,
        None if lo == "-oo" else Fraction(lo),
        None if hi == "oo" else Fraction(hi),
        first == "[",
        last == "]",
    )


def outside(word: str, args: tuple[Expr, ...]) -> str | None:
    """What is wrong with the constant parameters of a call of an activation (x first), or None."""
    activation = zoo().get(word)
    if activation is None or not activation.domains:
        return None
    for name, value in zip(activation.parameters, args[1:], strict=False):
        within = read(activation.domains.get(name, "(-oo, oo)"))
        bounds = _bounds(value)
        if bounds is not None and within.excludes(*bounds):
            shown = str(bounds[0]) if bounds[0] == bounds[1] else f"about {float(bounds[0]):.6g}"
            return f"{activation.name}: the parameter {name} lies in {within.text}, found {shown}"
    return None


def _bounds(value: Expr) -> tuple[Fraction, Fraction] | None:
    exact = constant_value(value)
    if exact is not None:
        return exact, exact
    from gateproof.theory.exact import balls

    return balls.rational_bounds(value)
