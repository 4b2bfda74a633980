"""Wrong variants of statements: one thing changed, and seen to be false by ``evaluate``."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator

from soundness.evaluate import CannotSay, fails

_SWAPS = {
    "sin": "cos", "cos": "sin", "tan": "tanh", "sinh": "cosh", "cosh": "sinh", "tanh": "tan", "asin": "atan",
    "atan": "asinh", "acos": "asin", "asinh": "atan", "erf": "tanh", "erfc": "sech", "sech": "csch",
    "sigmoid": "tanh", "softplus": "relu", "exp": "cosh", "increasing": "decreasing", "even": "odd",
    "odd": "even",
    "max": "min", "min": "max", "sup": "inf", "inf": "sup", "argmax": "argmin",
}  # fmt: skip
_ORDER = {"<": ">", "<=": ">", ">": "<", ">=": "<"}
TRIES = 12


def variants(text: str, rng: random.Random) -> Iterator[str]:
    """One change each: a number, a sign, a relation, a function."""
    colon = _body(text)
    body = text[colon:]
    for _ in range(TRIES):
        pattern, new = rng.choice(_CHANGES)
        places = list(re.finditer(pattern, body))
        if places:
            m = rng.choice(places)
            put = new(m[0], rng)
            if put is not None:
                yield text[:colon] + body[: m.start()] + put + body[m.end() :]


_New = Callable[[str, random.Random], str | None]
_NUMBER: tuple[str, _New] = (r"(?<![\w.])\d+(?![\w.]|\.\.)", lambda t, rng: str(int(t) + rng.choice((1, 2))))
#: Places and what is put there; numbers twice as often.
_CHANGES: tuple[tuple[str, _New], ...] = (
    _NUMBER,
    _NUMBER,
    (r" [+-] ", lambda t, _: " - " if "+" in t else " + "),
    (r"(?<= )(<=|>=|<|>)(?= )", lambda t, _: _ORDER[t]),
    (r"\b[a-z]+(?=\()", lambda t, _: _SWAPS.get(t)),
)


def _body(text: str) -> int:
    """Where the statement begins behind its names."""
    if not text.startswith("for "):
        return 0
    depth = 0
    for k, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c == ":" and depth == 0:
            return k + 1
    return 0


def false_variants(text: str, count: int, seed: int) -> list[str]:
    """At most ``count`` different variants that clearly fail somewhere."""
    rng = random.Random(f"{seed} {text}")
    found: list[str] = []
    for variant in variants(text, rng):
        if variant in found or len(found) == count:
            continue
        try:
            if fails(variant) is True:
                found.append(variant)
        except (
            CannotSay,
            ValueError,
            TypeError,
            ArithmeticError,
            AttributeError,
            KeyError,
            SyntaxError,
            NameError,
        ):
            continue
    return found
