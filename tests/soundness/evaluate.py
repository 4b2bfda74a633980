"""What a statement says by numbers: an evaluator with mpmath that shares nothing with the package.

It reads the text of a statement, draws points of its scope and computes both sides to 30 digits. Suprema,
zeros and the like are found by dense sampling. So it can say that a statement *fails* (clearly, somewhere)
and that it *seems to hold*; it proves nothing.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any

import mpmath
from mpmath import mp, mpf

DIGITS = 30
#: Sides that differ by less, against their size, do not differ here; for values found by sampling.
CLOSE, ROUGH = mpf(10) ** -12, mpf(10) ** -4
MANY, FEW = 60, 5
#: What quadrature, acceleration or sampling finds.
_HARD = re.compile(r"\b(integrate|gauss|limit|sup|inf|argmax|argmin|zeros)\(|\.\.oo|\b(max|min)\(.* in ")


class CannotSay(Exception):
    """A construct or a value that this evaluator has no number for."""


def fails(text: str, seed: int = 0) -> bool | None:
    """Whether the statement clearly fails at some point; None where that cannot be said."""
    mp.dps = DIGITS
    binds, body = _head(text)
    rng = random.Random(seed)
    said = False
    for point in _points(binds, rng, FEW if _HARD.search(body) else MANY):
        try:
            found = _truth(body, point)
        except (
            CannotSay,
            ZeroDivisionError,
            ValueError,
            OverflowError,
            TypeError,
            mpmath.libmp.NoConvergence,
        ):
            continue
        if found is False:
            return True
        said = said or found is True
    return False if said else None


# --- scopes --------------------------------------------------------------------


def _head(text: str) -> tuple[list[str], str]:
    if not text.startswith("for "):
        return [], text
    depth, start = 0, 4
    for k, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c == ":" and depth == 0:
            return _split(text[start:k]), text[k + 1 :].strip()
    raise CannotSay(text)


def _split(text: str, by: str = ",") -> list[str]:
    parts, depth, last = [], 0, 0
    for k, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if depth == 0 and text.startswith(by, k):
            # The comma of an open interval such as [0, 1) closes at its own depth.
            parts.append(text[last:k].strip())
            last = k + len(by)
    return [*parts, text[last:].strip()]


def _points(binds: list[str], rng: random.Random, many: int) -> Iterator[dict[str, Any]]:
    names: list[tuple[str, Callable[[], Any]]] = []
    conditions = []
    for bind in binds:
        m = re.fullmatch(r"(\w+) in (.*)", bind)
        n = re.fullmatch(r"([a-z]\w*) (>=|>|<=|<) ([^<>=]+)", bind)
        if m and "**" in m[2]:
            raise CannotSay(bind)
        if m:
            names.append((m[1], _set(m[2], rng)))
        elif n and n[1] not in [k for k, _ in names]:
            c = _value(n[3], {})
            sign = 1 if ">" in n[2] else -1
            names.append(
                (
                    n[1],
                    lambda c=c, s=sign: (
                        c + s * mpf(rng.choice((0.01, 0.3, 1, 3, 8))) * mpf(rng.random() + 0.01)
                    ),
                )
            )
        else:
            conditions.append(bind)
    for _ in range(many if names else 1):
        point = {name: draw() for name, draw in names}
        if all(_truth(c, point) for c in conditions):
            yield point


def _set(text: str, rng: random.Random) -> Callable[[], Any]:
    text = text.split(" \\ ")[0].strip()
    if text == "R":
        return lambda: mpf(rng.choice((0.1, 1, 4, 15))) * mpf(rng.uniform(-1, 1))
    if text in ("N", "N1", "Z"):
        lo = {"N": 0, "N1": 1, "Z": -9}[text]
        return lambda: rng.randint(lo, 12)
    if ".." in text:
        lo, hi = (int(_value(t, {})) for t in text.split(".."))
        return lambda: rng.randint(lo, hi)
    lo, hi = (_value(t, {}) for t in _split(text[1:-1]))
    if lo == -mp.inf and hi == mp.inf:
        return _set("R", rng)
    if hi == mp.inf:
        return lambda: lo + mpf(rng.choice((0.01, 1, 5, 20))) * mpf(rng.random() + 1e-3)
    if lo == -mp.inf:
        return lambda: hi - mpf(rng.choice((0.01, 1, 5, 20))) * mpf(rng.random() + 1e-3)
    # Also next to the ends, which a widened domain has to be caught at.
    return lambda: lo + (hi - lo) * mpf(rng.choice((rng.random(), rng.random(), 0.002, 0.998)))


# --- statements ----------------------------------------------------------------


def _truth(text: str, point: dict[str, Any]) -> bool | None:
    """True, False where a relation clearly fails, None where both sides are too close to say."""
    text = text.strip()
    for word, stop in ((" or ", True), (" and ", False)):
        parts = _split(text, word)
        if len(parts) > 1:
            found = [_truth(p, point) for p in parts]
            return stop if stop in found else (None if None in found else not stop)
    m = re.fullmatch(r"(increasing|decreasing|convex|even|odd|continuous|differentiable)\((.*)\)", text)
    if m:
        return _predicate(m[1], m[2], point)
    if text.startswith(("exists ", "not ")):
        raise CannotSay(text)
    parts = [text] if _inner_relation(text) else re.split(r" (==|!=|<=|>=|<|>) ", text)
    if len(parts) == 1:
        m = re.fullmatch(r"(.*) in (Z|\(.*\)|\[.*\])", text)
        if not m:
            raise CannotSay(text)
        v = _value(m[1], point)
        if m[2] == "Z":
            return bool(abs(v - mp.nint(v)) < CLOSE)
        lo, hi = (_value(t, point) for t in _split(m[2][1:-1]))
        return bool(lo <= v <= hi)
    known = True
    for a, op, b in zip(parts[::2], parts[1::2], parts[2::2], strict=False):
        found = _relation(a, op, b, point)
        if found is False:
            return False
        known = known and found is True
    return True if known else None


def _inner_relation(text: str) -> bool:
    """Whether relations stand in parentheses only."""
    return len(_split_relations(text)) == 1 and bool(re.search(r" (==|!=|<=|>=|<|>) ", text))


def _split_relations(text: str) -> list[str]:
    depth = 0
    for k, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if depth == 0 and re.match(r" (==|!=|<=|>=|<|>) ", text[k:]):
            return [text[:k], text[k:]]
    return [text]


def _relation(a: str, op: str, b: str, point: dict[str, Any]) -> bool | None:
    rough = bool(_HARD.search(a + b))
    if b.strip().endswith("~") or a.strip().endswith("~"):
        return _printed(a, b, point)
    x, y = _value(a, point), _value(b, point)
    if isinstance(x, list) or isinstance(y, list):
        return _sets(x, y)
    if mp.isnan(x) or mp.isnan(y):
        raise CannotSay(a)
    if mp.isinf(x) or mp.isinf(y):
        same = x == y
        return {"==": same, "!=": not same, "<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y}[op]
    near = (ROUGH if rough else CLOSE) * (1 + abs(x) + abs(y))
    if abs(x - y) <= near:
        return True if op in ("==", "<=", ">=") and not rough else None
    return {"==": False, "!=": True, "<": x < y, "<=": x < y, ">": x > y, ">=": x > y}[op]


def _printed(a: str, b: str, point: dict[str, Any]) -> bool | None:
    exact, printed = (a, b) if b.strip().endswith("~") else (b, a)
    digits = printed.strip().rstrip("~")
    v, p = _value(exact, point), mpf(digits)
    if isinstance(v, list):
        if len(v) != 1:
            return False
        (v,) = v
    return bool(abs(v - p) <= mpf(10) ** -len(digits.partition(".")[2]) * mpf("0.5"))


def _sets(x: Any, y: Any) -> bool | None:
    x, y = (sorted(v) if isinstance(v, list) else [v] for v in (x, y))
    return len(x) == len(y) and all(abs(a - b) < ROUGH * (1 + abs(a)) for a, b in zip(x, y, strict=True))


def _predicate(name: str, inside: str, point: dict[str, Any]) -> bool | None:
    parts = _split(inside)
    body, bind = parts[0], ", ".join(parts[1:])
    var, within = re.fullmatch(r"(\w+) in (.*)", bind).groups()  # type: ignore[union-attr]
    f = _function(body, var, point)
    xs = sorted(_grid(within, 200))
    ys = [f(x) for x in xs]
    pairs = list(pairwise(ys))
    if name in ("increasing", "decreasing"):
        sign = 1 if name == "increasing" else -1
        return not any(sign * (b - a) < -CLOSE for a, b in pairs)
    if name == "convex":
        mids = [(f((p + q) / 2), (u + v) / 2) for p, q, u, v in zip(xs, xs[1:], ys, ys[1:], strict=False)]
        wide = [(f((p + q) / 2), (f(p) + f(q)) / 2) for p, q in zip(xs[::9], xs[40::9], strict=False)]
        return not any(m > c + CLOSE * (1 + abs(c)) for m, c in mids + wide)
    if name in ("even", "odd"):
        sign = 1 if name == "even" else -1
        return not any(abs(f(-x) - sign * y) > CLOSE * (1 + abs(y)) for x, y in zip(xs, ys, strict=True))
    raise CannotSay(name)


def _grid(within: str, count: int) -> list[Any]:
    rng = random.Random(7)
    if within.strip().startswith("R"):
        far = [s * mpf(10) ** k for k in (2, 4, 8) for s in (-1, 1)]
        return [*far, *(mpf(30) * (2 * mpf(k) / count - 1) ** 3 for k in range(count + 1))]
    lo, hi = (_value(t, {}) for t in _split(within.split(" \\ ")[0].strip()[1:-1]))
    if hi == mp.inf:
        far = [lo + mpf(10) ** k for k in (2, 4, 8)]
        return [*far, *(lo + mpf(40) * (mpf(k + mpf("0.001")) / count) ** 3 for k in range(count + 1))]
    if lo == -mp.inf:
        return [hi - mpf(40) * (mpf(k + mpf("0.001")) / count) ** 3 for k in range(count + 1)]
    inner = [lo + (hi - lo) * (k + mpf("0.0001")) / (count + mpf("0.001")) for k in range(count + 1)]
    ends = [v for v, c in ((lo, "["), (hi, "]")) if c in within]
    return [*ends, *inner, lo + (hi - lo) * rng.random()]


# --- values --------------------------------------------------------------------

_NUMBER = re.compile(r"(?<![\w.])(\d+\.\d+(?:e-?\d+)?|\d+(?:e-?\d+)?)(?![\w.])")
_BINDERS = "integrate|sum|prod|limit|diff|taylor|gauss|sup|inf|max|min|argmax|argmin|zeros|at"


def _value(text: str, point: dict[str, Any]) -> Any:
    """A number, or a list of numbers."""
    text = text.strip()
    if text in _PLAIN:
        return _number(text, point)
    if text.startswith("{"):
        return [_value(t, point) for t in _split(text[1:-1])] if text != "{}" else []
    kept: dict[str, Any] = {}
    while m := re.search(rf"\b({_BINDERS})\(", text):
        depth, k = 1, m.end()
        while depth:
            depth += (text[k] in "([{") - (text[k] in ")]}")
            k += 1
        inside = text[m.end() : k - 1]
        name = f"v{len(kept)}_"
        if m[1] in ("max", "min") and not re.search(r"\b\w+ in ", inside):
            kept[name] = (max if m[1] == "max" else min)(_value(t, {**point, **kept}) for t in _split(inside))
        else:
            kept[name] = _bound(m[1], inside, {**point, **kept})
        text = text[: m.start()] + name + text[k:]
    if text in kept:
        return kept[text]
    if not kept:
        _PLAIN.add(text)
    return _number(text, {**point, **kept})


#: Texts without binders.
_PLAIN: set[str] = set()


def _number(text: str, point: dict[str, Any]) -> Any:
    value = eval(_code(text), {"__builtins__": {}, **FUNCTIONS}, point)  # noqa: S307 - see _code
    if isinstance(value, mpmath.mpc):
        raise CannotSay(text)
    return mpf(value)


@lru_cache(maxsize=4096)
def _code(text: str) -> Any:
    """The text is this repository's own data: names, numbers and operators, nothing else."""
    if not re.fullmatch(r"[\w\s.+\-*/(),]*", text):
        raise CannotSay(text)
    return compile(_NUMBER.sub(r'mpf("\1")', text), "<statement>", "eval")


def _function(body: str, var: str, point: dict[str, Any]) -> Callable[[Any], Any]:
    return lambda x: _value(body, {**point, var: x})


def _bound(name: str, inside: str, point: dict[str, Any]) -> Any:
    parts = _split(inside)
    body = parts[0]
    if name in ("sum", "prod"):
        var, lo, hi = re.fullmatch(r"(\w+) in (.*)\.\.(.*)", parts[1]).groups()  # type: ignore[union-attr]
        return _series(name, body, var, _value(lo, point), _value(hi, point), point)
    if name == "integrate":
        lo, hi = _value(parts[2], point), _value(parts[3], point)
        return (
            mp.quad(
                _function(body, parts[1], point), sorted({lo, hi, *[c for c in (-1, 0, 1) if lo < c < hi]})
            )
            * (1 if lo <= hi else -1)
            if lo != hi
            else mpf(0)
        )
    if name == "diff":
        order = int(_value(parts[2], point)) if len(parts) > 2 else 1
        if parts[1] not in point:
            raise CannotSay(inside)
        return mp.diff(_function(body, parts[1], point), point[parts[1]], order)
    if name == "limit":
        if "sum(" in body:
            raise CannotSay(inside)
        return _limit(
            _function(body, parts[1], point), _value(parts[2], point), parts[3] if len(parts) > 3 else ""
        )
    if name == "gauss":
        q = _value(parts[2].partition("=")[2], point)
        mean = _value(parts[3].partition("=")[2], point) if len(parts) > 3 else mpf(0)
        f = _function(body, parts[1], point)
        s = mp.sqrt(q)
        ends = sorted({mpf(-14), -mean / s, mpf(0), mpf(14)})
        found, error = mp.quad(lambda t: f(mean + s * t) * mp.npdf(t), ends, error=True)
        if error > ROUGH * (1 + abs(found)) or abs(f(mean + 14 * s)) + abs(f(mean - 14 * s)) > 1e20:
            raise CannotSay("a mean that counts far out")
        return found
    if name in ("sup", "inf", "max", "min", "argmax", "argmin", "zeros") and len(parts) == 2:
        var, within = re.fullmatch(r"(\w+) in (.*)", parts[1]).groups()  # type: ignore[union-attr]
        return _searched(name, _function(body, var, point), within)
    raise CannotSay(name)


def _series(name: str, body: str, var: str, lo: Any, hi: Any, point: dict[str, Any]) -> Any:
    f = _function(body, var, point)
    if hi == mp.inf:
        if name == "prod":
            raise CannotSay(body)
        if "prod(" in body or "sum(" in body:
            return mp.fsum(f(k) for k in range(int(lo), int(lo) + 120))
        with mp.workdps(15):
            return mp.nsum(lambda k: f(int(k)), [int(lo), mp.inf], maxterms=4000)
    values = [f(k) for k in range(int(lo), int(hi) + 1)]
    return mp.fsum(values) if name == "sum" else mp.fprod(values)


def _limit(f: Callable[[Any], Any], at: Any, side: str) -> Any:
    """By values nearer and nearer; CannotSay where they do not settle."""
    if mp.isinf(at):
        near = [mpf(10) ** k * (1 if at > 0 else -1) for k in (3, 5, 7)]
    else:
        sign = -1 if side == "-" else 1
        near = [at + sign * mpf(10) ** -k for k in (3, 5, 7)]
    with mp.workdps(60):
        values = [f(x) for x in near]
    if abs(values[-1]) > 1e4 and abs(values[-1]) > 3 * abs(values[-2]):
        return mp.inf if values[-1] > 0 else -mp.inf
    if abs(values[-1] - values[-2]) > mpf("3e-5") * (1 + abs(values[-1])):
        raise CannotSay("a limit that comes slowly")
    return values[-1]


def _searched(name: str, f: Callable[[Any], Any], within: str) -> Any:
    xs = sorted(_grid(within, 600))
    ys = []
    for x in xs:
        try:
            ys.append(f(x))
        except (ZeroDivisionError, ValueError, CannotSay):
            ys.append(mp.nan)
    known = [(y, x) for y, x in zip(ys, xs, strict=True) if not mp.isnan(y)]
    if name == "zeros":
        found = []
        for a, b, u, v in zip(xs, xs[1:], ys, ys[1:], strict=False):
            if u == 0 or v == 0:
                root = a if u == 0 else b
                if not any(abs(root - r) < 1e-3 for r in found):
                    found.append(root)
            elif u * v < 0:
                root = mp.findroot(f, (a, b), solver="anderson", tol=1e-15, verify=False)
                if not any(abs(root - r) < 1e-3 for r in found):
                    found.append(root)
        return found
    best, at = max(known) if name in ("sup", "max", "argmax") else min(known)
    k = xs.index(at)
    if 0 < k < len(xs) - 1:
        lo, hi, sign = xs[k - 1], xs[k + 1], 1 if name in ("sup", "max", "argmax") else -1
        for _ in range(60):
            p, q = lo + (hi - lo) / 3, hi - (hi - lo) / 3
            if sign * f(p) < sign * f(q):
                lo = p
            else:
                hi = q
        at, best = lo, f(lo)
    if name.startswith("arg"):
        others = [
            x for y, x in known if abs(y - best) < mpf("0.01") * (1 + abs(best)) and abs(x - at) > mpf("0.1")
        ]
        if others:
            raise CannotSay("several places")
        return [at]
    return best


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


def _root(x: Any) -> Any:
    if x < 0:
        raise CannotSay("a root of less than 0")
    return mp.sqrt(x)


def _log(x: Any) -> Any:
    if x <= 0:
        raise CannotSay("a logarithm of at most 0")
    return mp.log(x)


FUNCTIONS: dict[str, Any] = {
    **{
        n: getattr(mp, n)
        for n in (
            "sin", "cos", "tan", "sec", "csc", "cot", "asin", "acos", "atan", "sinh", "cosh", "tanh", "sech",
            "csch", "coth", "asinh", "acosh", "atanh", "exp", "erf", "erfc", "sign",
        )
    },
    "abs": abs, "sqrt": _root, "log": _log, "pi": mp.pi, "e": mp.e, "oo": mp.inf, "mpf": mpf,
    "sigmoid": _sigmoid, "softplus": lambda x: mp.log1p(mp.exp(-abs(x))) + max(x, 0),
    "relu": lambda x: max(x, 0), "step": lambda x: mpf(x > 0),
    "gelu": lambda x: x * mp.erfc(-x / mp.sqrt(2)) / 2,
    "expm1": mp.expm1, "log1p": mp.log1p,
}  # fmt: skip
