"""Numbers as a proposal writes them: by an exact name where one fits, else rounded to six digits."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from gateproof.numerics.decimals import ceil_decimal, floor_decimal, magnitude
from gateproof.numerics.points import enclosure
from gateproof.theory.formula import parse_expr
from gateproof.theory.formula.nodes import App, Expr, Num, Printed
from gateproof.theory.formula.powers import constant_value

#: Significant digits of a rounded constant.
SHOWN = 6
#: Whole and broken multiples of these are tried as names; a name is a guess that the engine must prove.
_UNITS = (
    "sqrt(2)", "sqrt(3)", "sqrt(5)", "pi", "1/pi", "sqrt(pi)", "1/sqrt(pi)", "sqrt(2*pi)", "1/sqrt(2*pi)",
    "e", "1/e", "log(2)", "log(3)", "asinh(1)", "log(2 + sqrt(3))",
)  # fmt: skip
_LARGEST_PART, _LARGEST_FACTOR = 10_000, 24
_TIGHT = Fraction(1, 10**10)


@cache
def _units() -> tuple[tuple[str, Fraction], ...]:
    found = []
    for text in _UNITS:
        lo, hi = enclosure(parse_expr(text))
        found.append((text, (lo + hi) / 2))
    return tuple(found)


def names_of(lo: Fraction, hi: Fraction) -> list[Expr]:
    """Exact numbers of a short form that lie in a narrow enclosure, the simplest first."""
    middle = (lo + hi) / 2
    if lo <= 0 <= hi:
        return [Num(Fraction(0))]
    if hi - lo > abs(middle) * _TIGHT:
        return []
    ratio = middle.limit_denominator(_LARGEST_PART)
    if lo <= ratio <= hi and abs(ratio.numerator) <= _LARGEST_PART * 100:
        return [number(ratio)]
    found: list[Expr] = []
    slack = abs(middle) * Fraction(1, 10**30)
    for text, unit in _units():
        ratio = (middle / unit).limit_denominator(_LARGEST_FACTOR)
        if abs(ratio.numerator) <= _LARGEST_FACTOR and lo - slack <= ratio * unit <= hi + slack:
            found.append(_multiple(ratio, text))
    return found


def _multiple(ratio: Fraction, unit: str) -> Expr:
    over, below = abs(ratio.numerator), ratio.denominator
    if unit.startswith("1/"):
        text = f"{over}/({below}*{unit[2:]})" if below > 1 else f"{over}/{unit[2:]}"
    else:
        text = unit if over == 1 else f"{over}*{unit}"
        text = text if below == 1 else f"{text}/{below}"
    node = parse_expr(text)
    return App("neg", (node,)) if ratio < 0 else node


def number(value: Fraction) -> Expr:
    """The number as it is written: a quotient of whole numbers, with a sign in front."""
    size: Expr = Num(abs(value))
    if value.denominator != 1:
        size = App("div", (Num(Fraction(abs(value.numerator))), Num(Fraction(value.denominator))))
    return App("neg", (size,)) if value < 0 else size


def styled(node: Expr, like: Expr) -> Expr:
    """A quotient as a decimal where it has a short one, and is long or replaces a decimal."""
    value = constant_value(node)
    decimals = any(isinstance(n, Num) and n.value.denominator != 1 for n in like.walk())
    if value is None or 10**SHOWN % value.denominator or not (decimals or value.denominator > 64):
        return node
    return App("neg", (Num(-value),)) if value < 0 else Num(value)


def decimal(value: Fraction, *, up: bool, digits: int = SHOWN) -> Expr:
    """The number rounded up or down to a decimal."""
    places = digits - 1 - magnitude(value)
    text = ceil_decimal(value, places) if up else floor_decimal(value, places)
    return parse_expr(_short(text))


def printed(lo: Fraction, hi: Fraction, digits: int = SHOWN) -> Printed | None:
    """``0.278465~``: the value rounded to some digits; None where the enclosure does not fix them."""
    places = digits - 1 - magnitude((lo + hi) / 2)
    return printed_to(lo, hi, places)


def printed_to(lo: Fraction, hi: Fraction, places: int) -> Printed | None:
    """The value rounded to some decimal places (none where these are negative)."""
    places = max(places, 0)
    scale = 10**places
    first, last = round(lo * scale), round(hi * scale)
    if first != last:
        return None
    text = floor_decimal(Fraction(first, scale), places)
    node = parse_expr(f"{text}~")
    return node if isinstance(node, Printed) else None


def _short(text: str) -> str:
    """A decimal without zeros that say nothing."""
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
