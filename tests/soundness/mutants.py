"""Wrong variants of statements: one thing changed, and seen by ``evaluate`` to fail or to lack a value."""

from __future__ import annotations

import random
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from soundness.evaluate import CannotSay, fails, without_value

_SWAPS = {
    "sin": "cos", "cos": "sin", "tan": "tanh", "sinh": "cosh", "cosh": "sinh", "tanh": "tan", "asin": "atan",
    "atan": "asinh", "acos": "asin", "asinh": "atan", "erf": "tanh", "erfc": "sech", "sech": "csch",
    "sigmoid": "tanh", "softplus": "relu", "exp": "cosh", "increasing": "decreasing", "even": "odd",
    "odd": "even", "sqrt": "exp", "log": "sqrt",
    "max": "min", "min": "max", "sup": "inf", "inf": "sup", "argmax": "argmin",
    "gamma": "loggamma", "loggamma": "gamma", "digamma": "loggamma", "zeta": "gamma", "lambertw": "atan",
    "besselj": "bessely", "bessely": "besselj", "besseli": "besselj", "besselk": "besseli",
    "airyai": "airybi", "airybi": "airyai", "airyaiprime": "airybiprime", "airybiprime": "airyaiprime",
    "elliptick": "elliptice", "elliptice": "elliptick", "si": "ci", "ci": "si", "ei": "si",
}  # fmt: skip
_ORDER = {"<": ">", "<=": ">", ">": "<", ">=": "<"}
_STRICT = {"<=": "<", ">=": ">"}
TRIES = 14
SECONDS = 1.5


@dataclass(frozen=True)
class Variant:
    """A changed text; what was changed; whether it fails somewhere (else it has no value somewhere)."""

    text: str
    change: str
    fails: bool


_New = Callable[[str, random.Random], str | None]
_NUMBER: tuple[str, str, _New] = (
    "number",
    r"(?<![\w.])\d+(?![\w.]|\.\.)",
    lambda t, rng: str(int(t) + rng.choice((1, 2))),
)
#: Of the body: its name, places and what is put there; numbers twice as often.
_BODY: tuple[tuple[str, str, _New], ...] = (
    _NUMBER,
    _NUMBER,
    ("sign", r" [+-] ", lambda t, _: " - " if "+" in t else " + "),
    ("relation", r"(?<= )(<=|>=|<|>)(?= )", lambda t, _: _ORDER[t]),
    ("strictness", r"(?<= )(<=|>=)(?= )", lambda t, _: _STRICT[t]),
    ("function", r"\b[a-z]+(?=\()", lambda t, _: _SWAPS.get(t)),
    ("order", r"\bn\b(?!_)|(?<=\.\.)n\b", lambda t, _: "(n + 1)"),
)
#: Of the scope: a hole is filled, a half-line becomes the line, an open end is closed, an end moves out.
_SCOPE: tuple[tuple[str, str, _New], ...] = (
    ("hole", r" \\ \{[^}]*\}", lambda _, __: ""),
    ("half-line", r"\b[a-z]\w* (>=|>|<=|<) -?[\w./]+(?=[,:])", lambda t, _: f"{t.split()[0]} in R"),
    ("open end", r"(?<= in )\(", lambda _, __: "["),
    ("open end", r"\)(?=[,:])", lambda _, __: "]"),
    ("wider", r"(?<= in [(\[])(-?\d+)(?=,)", lambda t, rng: str(int(t) - rng.choice((1, 2)))),
    ("wider", r"(?<=, )(\d+)(?=[)\]][,:])", lambda t, rng: str(int(t) + rng.choice((1, 2)))),
)
_UNREADABLE = (CannotSay, ValueError, TypeError, ArithmeticError, AttributeError, KeyError, IndexError,
               SyntaxError, NameError, RecursionError)  # fmt: skip


def variants(text: str, rng: random.Random) -> Iterator[tuple[str, str]]:
    """One change each, with its name."""
    colon = _body(text)
    for _ in range(TRIES):
        in_scope = colon > 0 and rng.random() < 0.3
        lo, hi = (0, colon) if in_scope else (colon, len(text))
        name, pattern, new = rng.choice(_SCOPE if in_scope else _BODY)
        places = list(re.finditer(pattern, text[lo:hi]))
        if places:
            m = rng.choice(places)
            put = new(m[0], rng)
            # An infinite end stays open.
            if put is not None and "oo]" not in (made := text[: lo + m.start()] + put + text[lo + m.end() :]):
                yield made.replace("[-oo", "(-oo"), name


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


def false_variants(text: str, count: int, seed: int) -> list[Variant]:
    """At most ``count`` different variants that clearly fail, or lack a value, somewhere."""
    rng = random.Random(f"{seed} {text}")
    found: list[Variant] = []
    for made, change in variants(text, rng):
        if len(found) == count:
            break
        if made == text or any(made == v.text for v in found):
            continue
        if seen_failing(made):
            found.append(Variant(made, change, True))
        elif seen_without_value(made):
            found.append(Variant(made, change, False))
    return found


class _TooLongError(Exception):
    """Not among what the evaluator passes over."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """CannotSay after so much processor time: a changed number may make a sum or a power endless."""

    def stop(_: int, __: FrameType | None) -> None:
        raise _TooLongError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    except _TooLongError:
        raise CannotSay("too long") from None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def seen_failing(text: str) -> bool:
    """Whether the evaluator sees the statement fail."""
    try:
        with limited(SECONDS):
            return fails(text) is True
    except _UNREADABLE:
        return False


def seen_without_value(text: str) -> bool:
    """Whether the evaluator sees a point of the scope without a value."""
    try:
        with limited(SECONDS):
            return without_value(text)
    except _UNREADABLE:
        return False
