"""The claims file of an activation: what can be known of it at once, computed and then claimed.

Each number is certified first and printed with the digits that are certain, so every claim of the
new file holds when it is checked; what has no value (a slope at a kink, an infinite bound) is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

from gateproof.proofs_check.records import Settings
from gateproof.proofs_check.refused import RefusedError

DIGITS = 6
#: Enough for the functions that people write; what needs more is left out, not waited for.
SETTINGS = Settings(digits=DIGITS, boxes=4_000, wall_seconds=10)


def text(name: str, formula: str) -> str:
    """The whole file."""
    head = [
        f"# The activation {name}(x) = {formula}, and what is known of it.",
        f"# Decide it: gateproof check {name}.claims.toml      Accept it: the same with --update-pins",
        f"# Fit a gate to it: gateproof fit '{formula}' -k 3",
        f"# Its edge of chaos: gateproof meanfield '{formula}' --sigma-b2 0.05 --eoc",
        "# A formal line that is wrong is answered with what is true instead; change one and see.",
    ]
    blocks = [
        f'[[claim]]\nid = "{name}.{key}"\nsays = "{says}"\ndefine = {{ {name} = "{formula}" }}\n'
        f'formal = "{formal}"\n'
        for key, says, formal in _facts(name, formula)
    ]
    if not blocks:
        raise RefusedError(
            f"new activation: nothing is certified of {formula!r:.60} on R; gateproof new claim is for that"
        )
    return "\n".join(["\n".join(head) + "\n", *blocks])


def _facts(name: str, formula: str) -> Iterator[tuple[str, str, str]]:
    f = f"{name}(x)"
    if _holds(name, formula, f"defined({f}, x in R)"):
        yield "defined", "It is defined on all of R.", f"defined({f}, x in R)"
    for word in ("odd", "even", "increasing"):
        if _holds(name, formula, f"{word}({f}, x in R)"):
            yield word, f"It is {word}.", f"{word}({f}, x in R)"
    for key, says, expression in (
        ("at_zero", "Its value at 0.", f"at({f}, x=0)"),
        ("slope", "Its slope at 0, to the digits that are printed.", f"at(diff({f}, x), x=0)"),
    ):
        printed = _printed(name, formula, expression)
        if printed:
            yield key, says, f"{expression} == {printed}"
    for key, says, expression, rounding in (
        ("lipschitz", "Its slope is at most this in size.", f"sup(abs(diff({f}, x)), x in R)", ROUND_CEILING),
        ("least", "It is never below this.", f"inf({f}, x in R)", ROUND_FLOOR),
        ("greatest", "It is never above this.", f"sup({f}, x in R)", ROUND_CEILING),
    ):
        bound = _bound(name, formula, expression, rounding)
        if bound:
            relation = ">=" if rounding == ROUND_FLOOR else "<="
            yield key, says, f"{expression} {relation} {bound}"


def _value(name: str, formula: str, expression: str) -> dict[str, Any] | None:
    """The certified enclosure of a number; None where it has none."""
    from gateproof.proofs_check.certify_text import certify_text

    try:
        found = certify_text(expression.replace(f"{name}(x)", f"({formula})"), DIGITS, SETTINGS)
    except (RefusedError, ValueError):
        return None
    return found["value"] if found["kind"] == "value" and found["value"] else None


def _printed(name: str, formula: str, expression: str) -> str:
    """The number as the claim has it: exact where both ends agree, else rounded to three digits or to 1."""
    value = _value(name, formula, expression)
    if value is None or "/" in value["lo"] + value["hi"]:
        return ""
    lo, hi = Decimal(value["lo"]), Decimal(value["hi"])
    if lo == hi:
        return plain(lo)
    # A printed number ends at its last digit: one that is rounded to thousands cannot be written.
    context = Context(prec=max(3, lo.adjusted() + 1))
    rounded = context.plus(lo)
    return f"{rounded:f}~" if rounded == context.plus(hi) else ""


def _bound(name: str, formula: str, expression: str, rounding: str) -> str:
    """The number rounded to four digits so that the bound holds."""
    value = _value(name, formula, expression)
    if value is None or "/" in value["lo"] + value["hi"] or "oo" in value["lo"] + value["hi"]:
        return ""
    end = Decimal(value["hi"] if rounding == ROUND_CEILING else value["lo"])
    return plain(Context(prec=4, rounding=rounding).plus(end))


def plain(number: Decimal) -> str:
    """The number without an exponent and without zeros behind its last digit."""
    return f"{number.normalize():f}" if number else "0"


def _holds(name: str, formula: str, statement: str) -> bool:
    from gateproof.proofs_check.api import decide_text

    try:
        decision = decide_text(statement, define={name: formula}, settings=SETTINGS)
    except ValueError:
        return False
    return decision.verdict in ("proved", "certified")
