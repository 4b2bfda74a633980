"""Values of expressions by mpmath, read from their text; shares nothing with the package."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import mpmath
from mpmath import mp, mpf
from soundness.functions import FUNCTIONS

#: For values found by sampling; terms of a series that is summed directly.
ROUGH, TERMS = mpf(10) ** -4, 400
#: Beyond this a value next to a pole.
HUGE = mpf(10) ** 25


class CannotSay(Exception):
    """A construct or a value that this evaluator has no number for."""


class NoValue(CannotSay):
    """A point at which an expression has no real value."""


_NUMBER = re.compile(r"(?<![\w.])(\d+\.\d+(?:e-?\d+)?|\d+(?:e-?\d+)?)(?![\w.])")
_BINDERS = "integrate|sum|prod|limit|diff|taylor|gauss|sup|inf|max|min|argmax|argmin|zeros|at|where"
#: A condition of ``where``; set by the reader of statements.
CONDITION: list[Callable[[str, dict[str, Any]], bool | None]] = []


def split(text: str, by: str = ",") -> list[str]:
    """Parts of the text between separators outside of brackets."""
    parts, depth, last = [], 0, 0
    for k, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if depth == 0 and text.startswith(by, k):
            # The comma of an open interval such as [0, 1) closes at its own depth.
            parts.append(text[last:k].strip())
            last = k + len(by)
    return [*parts, text[last:].strip()]


def value(text: str, point: dict[str, Any]) -> Any:
    """A number, or a list of numbers. Raises CannotSay, and NoValue where there is no real one."""
    text = text.strip()
    if text in _PLAIN:
        return _number(text, point)
    if text.startswith("{"):
        return [value(t, point) for t in split(text[1:-1])] if text != "{}" else []
    kept: dict[str, Any] = {}
    while m := re.search(rf"\b({_BINDERS})\(", text):
        depth, k = 1, m.end()
        while depth:
            depth += (text[k] in "([{") - (text[k] in ")]}")
            k += 1
        inside = text[m.end() : k - 1]
        # Names of one expression must not be those of an inner one.
        name = f"v{len(kept)}_{len(point)}_"
        if m[1] in ("max", "min") and not re.search(r"\b\w+ in ", inside):
            kept[name] = (max if m[1] == "max" else min)(value(t, {**point, **kept}) for t in split(inside))
        else:
            kept[name] = bound(m[1], inside, {**point, **kept})
        text = text[: m.start()] + name + text[k:]
    if text in kept:
        return kept[text]
    if not kept:
        _PLAIN.add(text)
    return _number(text, {**point, **kept})


#: Texts without binders.
_PLAIN: set[str] = set()


def _number(text: str, point: dict[str, Any]) -> Any:
    try:
        found = eval(_code(text), {"__builtins__": {}, **FUNCTIONS}, point)  # noqa: S307 - see _code
    except ZeroDivisionError:
        raise NoValue(text) from None
    except (TypeError, ValueError, NameError) as error:
        if "pole" in str(error) or "domain" in str(error) or isinstance(error, ValueError):
            raise NoValue(text) from None
        raise CannotSay(text) from None
    if isinstance(found, list):
        raise CannotSay(text)
    if isinstance(found, mpmath.mpc):
        raise NoValue(text)
    return mpf(found)


@lru_cache(maxsize=4096)
def _code(text: str) -> Any:
    """The text is this repository's own data: names, numbers and operators, nothing else."""
    if not re.fullmatch(r"[\w\s.+\-*/(),]*", text):
        raise CannotSay(text)
    return compile(_NUMBER.sub(r'mpf("\1")', text), "<statement>", "eval")


def function(body: str, var: str, point: dict[str, Any]) -> Callable[[Any], Any]:
    """The body as a function of one of its names."""
    return lambda x: value(body, {**point, var: x})


def bound(name: str, inside: str, point: dict[str, Any]) -> Any:
    """The value of a call that binds a name."""
    parts = split(inside)
    body = parts[0]
    if name == "where":
        holds = CONDITION[0](parts[0], point)
        if holds is None:
            raise CannotSay(inside)
        return value(parts[1 if holds else 2], point)
    if name in ("sum", "prod"):
        var, lo, hi = re.fullmatch(r"(\w+) in (.*)\.\.(.*)", parts[1]).groups()  # type: ignore[union-attr]
        return _series(name, body, var, value(lo, point), value(hi, point), point)
    if name == "at":
        var, _, where = parts[1].partition("=")
        return _at(body, var.strip(), value(where, point), point)
    if name == "integrate":
        return _integral(body, parts[1], value(parts[2], point), value(parts[3], point), point)
    if name == "diff":
        order = int(value(parts[2], point)) if len(parts) > 2 else 1
        if parts[1] not in point:
            raise CannotSay(inside)
        # An inner derivative of a derivative has too few digits.
        if "diff(" in body:
            raise CannotSay(inside)
        return mp.diff(function(body, parts[1], point), point[parts[1]], order)
    if name == "limit":
        if "sum(" in body or "prod(" in body:
            raise CannotSay(inside)
        f, to = function(body, parts[1], point), value(parts[2], point)
        return _limit(f, to, parts[3] if len(parts) > 3 else "")
    if name == "gauss":
        return _gauss(parts, point)
    if name in ("sup", "inf", "max", "min", "argmax", "argmin", "zeros") and len(parts) == 2:
        from soundness.scopes import grid

        var, within = re.fullmatch(r"(\w+) in (.*)", parts[1]).groups()  # type: ignore[union-attr]
        return _searched(name, function(body, var, point), sorted(grid(within, 600)))
    raise CannotSay(name)


def _at(body: str, var: str, where: Any, point: dict[str, Any]) -> Any:
    m = re.fullmatch(rf"diff\((.*), {var}(?:, (\d+))?\)", body)
    if m:
        return mp.diff(function(m[1], var, point), where, int(m[2] or 1))
    return value(body, {**point, var: where})


def _integral(body: str, var: str, lo: Any, hi: Any, point: dict[str, Any]) -> Any:
    if lo == hi:
        return mpf(0)
    low, high = (lo, hi) if lo <= hi else (hi, lo)
    inner = [mpf(c) for c in (-1, 0, 1) if low < c < high]
    f = function(body, var, point)
    found, error = mp.quad(f, [low, *inner, high], error=True)
    # An estimate that a slow tail or a wave would fool is held against another partition.
    again = mp.quad(f, [low, *sorted({*inner, mpf("0.37"), mpf("2.6")} & _between(low, high)), high])
    if error > mpf(10) ** -8 * (1 + abs(found)) or abs(found - again) > mpf(10) ** -8 * (1 + abs(found)):
        raise CannotSay("an integral that quadrature does not settle")
    return found if lo <= hi else -found


def _between(low: Any, high: Any) -> set[Any]:
    return {c for c in (mpf(-1), mpf(0), mpf(1), mpf("0.37"), mpf("2.6")) if low < c < high}


def _gauss(parts: list[str], point: dict[str, Any]) -> Any:
    q = value(parts[2].partition("=")[2], point)
    mean = value(parts[3].partition("=")[2], point) if len(parts) > 3 else mpf(0)
    f = function(parts[0], parts[1], point)
    s = mp.sqrt(q)
    ends = sorted({mpf(-14), -mean / s, mpf(0), mpf(14)})
    found, error = mp.quad(lambda t: f(mean + s * t) * mp.npdf(t), ends, error=True)
    if error > ROUGH * (1 + abs(found)) or abs(f(mean + 14 * s)) + abs(f(mean - 14 * s)) > 1e20:
        raise CannotSay("a mean that counts far out")
    return found


def _series(name: str, body: str, var: str, lo: Any, hi: Any, point: dict[str, Any]) -> Any:
    f = function(body, var, point)
    if hi != mp.inf:
        values = [f(mpf(k)) for k in range(int(lo), int(hi) + 1)]
        return mp.fsum(values) if name == "sum" else mp.fprod(values)
    if name == "prod" or "sum(" in body or "sin(" in body or "cos(" in body:
        raise CannotSay(body)
    if "prod(" not in body:
        with mp.workdps(15):
            return mp.nsum(lambda k: f(mpf(int(k))), [int(lo), mp.inf], maxterms=4000)
    # Factorials: summed directly, as far as the terms fall fast.
    total, last = mpf(0), mpf(1)
    for k in range(int(lo), int(lo) + TERMS):
        term = f(mpf(k))
        total += term
        if abs(term) < mpf(10) ** -18 * (1 + abs(total)) and abs(term) < abs(last) * mpf("0.9"):
            return total
        last = term
    raise CannotSay("a series that falls slowly")


def _limit(f: Callable[[Any], Any], at: Any, side: str) -> Any:
    """By values nearer and nearer; CannotSay where they do not settle."""
    if mp.isinf(at):
        near = [mpf(10) ** k * (1 if at > 0 else -1) for k in (3, 5, 7)]
    else:
        sign = -1 if side == "-" else 1
        near = [at + sign * mpf(10) ** -k for k in (3, 5, 7)]
    with mp.workdps(60):
        values = [f(x) for x in near]
        if not mp.isinf(at) and not side:
            other = f(2 * at - near[-1])
            if abs(other - values[-1]) > mpf("1e-3") * (1 + abs(values[-1])):
                raise NoValue("a limit whose sides differ")
    if abs(values[-1]) > 1e4 and abs(values[-1]) > 3 * abs(values[-2]):
        return mp.inf if values[-1] > 0 else -mp.inf
    if abs(values[-1] - values[-2]) > mpf("3e-5") * (1 + abs(values[-1])):
        raise CannotSay("a limit that comes slowly")
    return values[-1]


def _searched(name: str, f: Callable[[Any], Any], xs: list[Any]) -> Any:
    ys = []
    for x in xs:
        try:
            ys.append(f(x))
        except (ZeroDivisionError, ValueError, CannotSay):
            ys.append(mp.nan)
    if name == "zeros":
        return _zeros(f, xs, ys)
    known = [(y, x) for y, x in zip(ys, xs, strict=True) if not mp.isnan(y)]
    most = name in ("sup", "max", "argmax")
    best, at = max(known) if most else min(known)
    k = xs.index(at)
    if 0 < k < len(xs) - 1:
        lo, hi, sign = xs[k - 1], xs[k + 1], 1 if most else -1
        for _ in range(60):
            p, q = lo + (hi - lo) / 3, hi - (hi - lo) / 3
            if sign * f(p) < sign * f(q):
                lo = p
            else:
                hi = q
        at, best = lo, f(lo)
    if name.startswith("arg"):
        close = [x for y, x in known if abs(y - best) < mpf("0.01") * (1 + abs(best))]
        if any(abs(x - at) > mpf("0.1") for x in close):
            raise CannotSay("several places")
        return [at]
    return best


def _zeros(f: Callable[[Any], Any], xs: list[Any], ys: list[Any]) -> list[Any]:
    found: list[Any] = []
    for k, (a, b, u, v) in enumerate(zip(xs, xs[1:], ys, ys[1:], strict=False)):
        if u == 0 or v == 0:
            root = a if u == 0 else b
        elif u * v < 0:
            root = mp.findroot(f, (a, b), solver="anderson", tol=1e-15, verify=False)
            if abs(f(root)) > mpf("1e-6") * (1 + abs(u) + abs(v)):
                continue
        else:
            # A double root shows as a small value between larger ones.
            if k > 0 and abs(u) < abs(ys[k - 1]) and abs(u) < abs(v) and abs(u) < mpf("1e-3"):
                raise CannotSay("perhaps a double zero")
            continue
        if not any(abs(root - r) < 1e-3 for r in found):
            found.append(root)
    return found
