"""What a statement says by numbers: an evaluator with mpmath that shares nothing with the package.

It reads the text of a statement, takes points of its scope and computes both sides to 30 digits. Suprema,
zeros and the like are found by dense sampling. So it can say that a statement *fails* (clearly, somewhere),
that a part of it has *no value* at a point, and that it *seems to hold*; it proves nothing.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Any

import mpmath
from mpmath import mp, mpf
from soundness import scopes, values
from soundness.values import HUGE, ROUGH, CannotSay, NoValue, function, split, value

DIGITS = 30
#: Sides that differ by less, against their size, do not differ here; those that differ by less than the
#: second at the second number of digits are taken as equal, which a strict relation fails at.
CLOSE, EQUAL, EQUAL_DIGITS = mpf(10) ** -12, mpf(10) ** -60, 70
MANY, FEW = 60, 5
#: What quadrature, acceleration or sampling finds.
_HARD = re.compile(r"\b(integrate|gauss|limit|sup|inf|argmax|argmin|zeros)\(|\.\.oo|\b(max|min)\(.* in ")
_POLES = re.compile(r"\b(tan|cot|sec|csc)\(")
_OP = r" (==|!=|<=|>=|<|>) "
_UNKNOWN = (CannotSay, ZeroDivisionError, ValueError, OverflowError, TypeError, mpmath.libmp.NoConvergence)


def fails(text: str, seed: int = 0) -> bool | None:
    """Whether the statement clearly fails at some point; None where that cannot be said."""
    binds, body = head(text)
    digits = max((len(d) for d in re.findall(r"\d*\.\d+", body)), default=0)
    mp.dps = max(DIGITS, digits + 10)
    scope, rng, said = scopes.read(binds), random.Random(seed), False
    hard = bool(_HARD.search(body))
    for point in _points(scope, rng, hard):
        try:
            found = truth(body, point)
            if found is None and not hard and _strictly_equal(body, point):
                return True
        except _UNKNOWN:
            continue
        if found is False:
            return True
        said = said or found is True
    return False if said else None


def _points(scope: scopes.Scope, rng: random.Random, hard: bool) -> Iterator[dict[str, Any]]:
    yield from scope.points(rng, FEW if hard else MANY)
    if not hard and scope.names:
        yield from scope.chosen()


def without_value(text: str) -> bool:
    """Whether some part of the statement is seen to have no value at a point of the scope."""
    mp.dps = DIGITS
    binds, body = head(text)
    scope = scopes.read(binds)
    if "exists " in body:
        raise CannotSay(body)
    terms = [t for part in _relations(body) for t in _sides(part)[::2] if "~" not in t]
    for term in terms:
        many = FEW if _HARD.search(term) else MANY
        for point in (*islice(scope.chosen(), 3 * many), *scope.points(random.Random(3), many)):
            try:
                found = value(term, point)
                if _POLES.search(term) and not isinstance(found, list) and abs(found) > HUGE:
                    return True
            except NoValue:
                return True
            except (*_UNKNOWN, AttributeError, IndexError):
                continue
        if _inner_pole(term, scope):
            return True
    return any(_pole_between(t, scope) for t in terms)


def _relations(body: str) -> list[str]:
    return re.split(r" (?:and|or|=>) ", body)


def _pole_between(term: str, scope: scopes.Scope) -> bool:
    """Whether a divisor changes its sign over the range of the only name, or an argument of log leaves 0."""
    if len(scope.names) != 1 or scope.conditions or _HARD.search(term):
        return False
    (name, over), *_ = scope.names
    if over.integer:
        return False
    xs = sorted(x for x in (over.draw(random.Random(k)) for k in range(80)) if x in over)
    return any(_vanishes(d, name, xs, over) for d in divisors(term))


def _vanishes(divisor: str, name: str, xs: list[Any], over: scopes.Set) -> bool:
    f = function(divisor, name, {})
    try:
        ys = [f(x) for x in xs]
        for a, b, u, v in zip(xs, xs[1:], ys, ys[1:], strict=False):
            if u * v < 0:
                root = mp.findroot(f, (a, b), solver="anderson", tol=1e-20, verify=False)
                if root in over and abs(f(root)) < mpf("1e-15"):
                    return True
    except _UNKNOWN:
        pass
    return False


def divisors(term: str) -> list[str]:
    """The texts that something is divided by, cosines under tangents and secants among them."""
    found = []
    for m in re.finditer(r"/(?=[\w(])|\b(?:tan|sec|cot|csc)(?=\()", term):
        k = m.end()
        while k < len(term) and re.match(r"\w", term[k]):
            k += 1
        if k < len(term) and term[k] == "(":
            depth = 1
            k += 1
            while depth and k < len(term):
                depth += (term[k] == "(") - (term[k] == ")")
                k += 1
        text = term[m.end() : k]
        if m[0] in ("tan", "sec"):
            text = f"cos{text}"
        elif m[0] in ("cot", "csc"):
            text = f"sin{text}"
        found.append(text)
    return found


def _inner_pole(term: str, scope: scopes.Scope) -> bool:
    """Whether an integrand has no value strictly between its fixed ends."""
    for m in re.finditer(r"integrate\(", term):
        depth, k = 1, m.end()
        while depth:
            depth += (term[k] == "(") - (term[k] == ")")
            k += 1
        parts = split(term[m.end() : k - 1])
        try:
            lo, hi = sorted((value(parts[2], {}), value(parts[3], {})))
            ends = ", ".join(mp.nstr(e, 25).replace("+inf", "oo").replace("-inf", "-oo") for e in (lo, hi))
            if without_value(f"for {parts[1]} in ({ends}): {parts[0]} == 0"):
                return True
        except _UNKNOWN:
            continue
    return False


# --- statements ----------------------------------------------------------------


def head(text: str) -> tuple[list[str], str]:
    """The binds and the body."""
    if not text.startswith("for "):
        return [], text
    depth = 0
    for k, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c == ":" and depth == 0:
            return split(text[4:k]), text[k + 1 :].strip()
    raise CannotSay(text)


def truth(text: str, point: dict[str, Any]) -> bool | None:
    """True, False where a relation clearly fails, None where both sides are too close to say."""
    text = text.strip()
    premise, arrow, then = text.partition(" => ")
    if arrow:
        given = truth(premise, point)
        return True if given is False else truth(then, point) if given else None
    for word, stop in ((" or ", True), (" and ", False)):
        parts = split(text, word)
        if len(parts) > 1:
            found = [truth(p, point) for p in parts]
            return stop if stop in found else (None if None in found else not stop)
    m = re.fullmatch(r"(increasing|decreasing|convex|even|odd|continuous|differentiable)\((.*)\)", text)
    if m:
        return _predicate(m[1], m[2], point)
    if text.startswith(("exists ", "not ")):
        raise CannotSay(text)
    parts = _sides(text)
    if len(parts) == 1:
        return _member(text, point)
    known = True
    for a, op, b in zip(parts[::2], parts[1::2], parts[2::2], strict=False):
        found_one = _relation(a, op, b, point)
        if found_one is False:
            return False
        known = known and found_one is True
    return True if known else None


values.CONDITION[:] = [truth]


def _sides(text: str) -> list[str]:
    """Terms and relations in turn, of those that stand outside of brackets."""
    parts, last, depth = [], 0, 0
    for k, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        m = re.match(_OP, text[k:]) if depth == 0 else None
        if m:
            parts += [text[last:k], m[1]]
            last = k + m.end()
    return [*parts, text[last:]]


def _member(text: str, point: dict[str, Any]) -> bool | None:
    m = re.fullmatch(r"(.*) in (Z|N|N1|[(\[].*[)\]])", text)
    if not m:
        raise CannotSay(text)
    v = value(m[1], point)
    if m[2] in ("Z", "N", "N1"):
        return bool(abs(v - mp.nint(v)) < CLOSE) and v > {"Z": -mp.inf, "N": -0.5, "N1": 0.5}[m[2]]
    over = scopes.read_set(m[2])
    ends = [e for e in (over.lo, over.hi) if not mp.isinf(e)]
    return None if any(abs(v - e) < CLOSE for e in ends) else v in over


def _strictly_equal(body: str, point: dict[str, Any]) -> bool:
    """Whether a strict relation has equal sides here, to many digits."""
    parts = _sides(body)
    for a, op, b in zip(parts[::2], parts[1::2], parts[2::2], strict=False):
        if op in ("<", ">", "!=") and "~" not in a + b and "diff(" not in a + b:
            with mp.workdps(EQUAL_DIGITS):
                near = {n: _again(x) for n, x in point.items()}
                if any(x is None for x in near.values()):
                    return False
                x, y = value(a, near), value(b, near)
                if abs(x - y) <= EQUAL * (1 + abs(x) + abs(y)):
                    return True
    return False


def _again(x: Any) -> Any:
    """The chosen number with more digits; None for a random one."""
    for text in scopes._NICE:
        exact = value(text, {})
        if abs(exact - x) < mpf(10) ** -(DIGITS - 3):
            return exact
    return None


def _relation(a: str, op: str, b: str, point: dict[str, Any]) -> bool | None:
    rough = bool(_HARD.search(a + b))
    if b.strip().endswith("~") or a.strip().endswith("~"):
        return _printed(a, op, b, point, rough)
    x, y = value(a, point), value(b, point)
    if isinstance(x, list) or isinstance(y, list):
        return _sets(x, y) if op == "==" else None
    if mp.isnan(x) or mp.isnan(y):
        raise CannotSay(a)
    if mp.isinf(x) or mp.isinf(y):
        same = x == y
        return {"==": same, "!=": not same, "<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y}[op]
    near = (ROUGH if rough else CLOSE) * (1 + abs(x) + abs(y))
    if abs(x - y) <= near:
        return True if op in ("==", "<=", ">=") and not rough else None
    return {"==": False, "!=": True, "<": x < y, "<=": x < y, ">": x > y, ">=": x > y}[op]


def _printed(a: str, op: str, b: str, point: dict[str, Any], rough: bool) -> bool | None:
    exact, printed = (a, b) if b.strip().endswith("~") else (b, a)
    digits = printed.strip().rstrip("~")
    v, p = value(exact, point), value(digits, {})
    if isinstance(v, list):
        if len(v) != 1:
            return False
        (v,) = v
    if op != "==":
        raise CannotSay(op)
    unit = mpf(10) ** -len(digits.partition(".")[2]) * mpf("0.5")
    if abs(v - p) <= unit and not rough:
        return True
    return None if abs(v - p) <= unit + (ROUGH * (1 + abs(v)) if rough else 0) else False


def _sets(x: Any, y: Any) -> bool | None:
    x, y = (sorted(v) if isinstance(v, list) else [v] for v in (x, y))
    return len(x) == len(y) and all(abs(a - b) < ROUGH * (1 + abs(a)) for a, b in zip(x, y, strict=True))


def _predicate(name: str, inside: str, point: dict[str, Any]) -> bool | None:
    parts = split(inside)
    body, bind = parts[0], ", ".join(parts[1:])
    var = re.match(r"\w+", bind)[0]  # type: ignore[index]
    f = function(body, var, point)
    xs = sorted(scopes.grid(bind.partition(" in ")[2] if " in " in bind else bind, 200))
    ys = [f(x) for x in xs]
    if name in ("increasing", "decreasing"):
        sign = 1 if name == "increasing" else -1
        return not any(sign * (b - a) < -CLOSE for a, b in pairwise(ys))
    if name == "convex":
        mids = [(f((p + q) / 2), (u + v) / 2) for p, q, u, v in zip(xs, xs[1:], ys, ys[1:], strict=False)]
        wide = [(f((p + q) / 2), (f(p) + f(q)) / 2) for p, q in zip(xs[::9], xs[40::9], strict=False)]
        return not any(m > c + CLOSE * (1 + abs(c)) for m, c in mids + wide)
    if name in ("even", "odd"):
        sign = 1 if name == "even" else -1
        return not any(abs(f(-x) - sign * y) > CLOSE * (1 + abs(y)) for x, y in zip(xs, ys, strict=True))
    raise CannotSay(name)
