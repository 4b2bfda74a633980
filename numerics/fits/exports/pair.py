"""The differential pair that a hardware table is for, as a user gives it: units stand in the names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from gateproof.numerics.fits.exports.about import one_line
from gateproof.numerics.fits.exports.formats import RefusedExport
from gateproof.numerics.written import written
from gateproof.theory.differential_pair import Pair

#: Room temperature, a usual slope factor, one microampere.
USUAL = Pair(Fraction(300), Fraction(3, 2), Fraction(1, 10**6))
#: By key: the field of a pair, its least and largest number, what it is, an example. The ends are wide; they
#: catch numbers in another unit.
_KEYS: dict[str, tuple[str, str, str, str, str]] = {
    "temperature-kelvin": ("temperature", "1", "1000", "absolute temperature in kelvin", "300"),
    "slope-factor": ("slope_factor", "1", "10", "subthreshold slope factor n, without unit", "1.5"),
    "tail-ampere": ("tail", "1e-18", "1", "tail current in ampere", "1e-6"),
}
_MOST = 100

Given = Pair | str | Iterable[str] | Mapping[str, Any] | None


def read_pair(given: Given, option: str = "hardware") -> Pair:
    """A pair from ``"temperature-kelvin=300,slope-factor=1.3"``, several such texts, or a mapping.

    Keys may have _ for -; a key that is not given has its usual value. Decimals are exact. Raises
    RefusedExport, in one line that starts with ``option``, for unknown keys, keys given twice, what is no
    number, and numbers out of range.
    """
    if given is None:
        return USUAL
    if isinstance(given, Pair):
        return given
    values: dict[str, Fraction] = {}
    for word, number in _words(given, option):
        key = word.strip().replace("_", "-")
        if key not in _KEYS:
            raise RefusedExport(f"{option} {one_line(word, 40)!r}: the keys are {', '.join(_KEYS)}")
        field, least, most, what, example = _KEYS[key]
        if field in values:
            raise RefusedExport(f"{option} {key} is given twice")
        value = written(number, _MOST)
        if value is None or not Fraction(least) <= value <= Fraction(most):
            shown = "" if number is None else f"={one_line(str(number), 40)}"
            raise RefusedExport(
                f"{option} {key}{shown}: give the {what}, {least} to {most}, as {key}={example}"
            )
        values[field] = value
    usual = {field: getattr(USUAL, field) for field, *_ in _KEYS.values()}
    return Pair(**{**usual, **values})


def _words(given: str | Iterable[str] | Mapping[str, Any], option: str) -> list[tuple[str, Any]]:
    if isinstance(given, Mapping):
        return [(str(key), value) for key, value in given.items()]
    several: Any = given
    texts = [given] if isinstance(given, str) else list(several) if isinstance(several, Iterable) else []
    if not texts or not all(isinstance(text, str) for text in texts):
        raise RefusedExport(
            f"{option} {one_line(repr(given), 40)}: give {{'temperature_kelvin': 300}} or a text"
        )
    words = [word for text in texts for word in text.split(",")]
    return [(key, value if sign else None) for key, sign, value in (word.partition("=") for word in words)]
