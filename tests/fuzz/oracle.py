"""Truth of statements by sampling in mpmath: walks the tree as it was read, shares no code with the engine.

It can contradict a statement, never confirm one: a contradiction is a point of the scope at which a relation
fails by more than the error of the values. Suprema, limits and integrals are estimates with wide margins.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import pairwise, product
from typing import Any

from mpmath import mp, mpf

from gateproof.theory.formula import expand_node
from gateproof.theory.formula.nodes import (
    And,
    App,
    At,
    Bind,
    Claim,
    Const,
    Diff,
    Exists,
    Expr,
    Extremum,
    FiniteSet,
    Gauss,
    Implies,
    In,
    Index,
    Integral,
    IntervalSet,
    IntRange,
    Limit,
    Lse,
    NamedSet,
    Node,
    Not,
    Num,
    Or,
    Pred,
    Printed,
    Rel,
    Scope,
    Series,
    SetExpr,
    SetMinus,
    SetPower,
    Softmax,
    Stmt,
    Taylor,
    Tg,
    Var,
    Where,
)

DIGITS = 80
#: Relative error allowed for plain values, and for what is estimated.
EXACT, ROUGH = mpf(10) ** -25, mpf(10) ** -5
Env = dict[str, Any]


class Unknown(Exception):
    """No value here, or none that this oracle can find."""


def _sigma(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x)) if x > -500 else mp.exp(x)


def _gelu_tanh(x: Any) -> Any:
    return x / 2 * (1 + mp.tanh(mp.sqrt(2 / mp.pi) * (x + mpf("0.044715") * x**3)))


def _softplus(x: Any) -> Any:
    return max(x, mpf(0)) + mp.log1p(mp.exp(-abs(x)))


def _soft_threshold(x: Any, d: Any = None) -> Any:
    return mp.sign(x) * max(abs(x) - (mpf(1) / 2 if d is None else d), mpf(0))


def _leaky(x: Any, a: Any = None) -> Any:
    return x if x > 0 else x * (mpf(1) / 100 if a is None else a)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": lambda *a: sum(a, mpf(0)),
    "mul": lambda *a: mp.fprod(a),
    "neg": lambda a: -a,
    "div": lambda a, b: a / b,
    "pow": lambda a, b: a**b,
    "max": max,
    "min": min,
    "abs": abs,
    "sign": mp.sign,
    "exp": mp.exp,
    "log": mp.log,
    "ln": mp.log,
    "sqrt": mp.sqrt,
    "sin": mp.sin,
    "cos": mp.cos,
    "tan": mp.tan,
    "asin": mp.asin,
    "acos": mp.acos,
    "atan": mp.atan,
    "sinh": mp.sinh,
    "cosh": mp.cosh,
    "tanh": mp.tanh,
    "sech": mp.sech,
    "asinh": mp.asinh,
    "arsinh": mp.asinh,
    "acosh": mp.acosh,
    "atanh": mp.atanh,
    "sigmoid": _sigma,
    "softplus": _softplus,
    "erf": mp.erf,
    "erfc": mp.erfc,
    "step": lambda x: mpf(x > 0),
    "relu": lambda x: max(x, mpf(0)),
    "leaky_relu": _leaky,
    "silu": lambda x: x * _sigma(x),
    "gelu": lambda x: x * (1 + mp.erf(x / mp.sqrt(2))) / 2,
    "gelu_tanh": _gelu_tanh,
    "mish": lambda x: x * mp.tanh(_softplus(x)),
    "soft_threshold": _soft_threshold,
}


def value(node: Expr, env: Env) -> Any:
    """The real value of an expression. Raises Unknown."""
    try:
        found = _value(node, env)
    except (ZeroDivisionError, OverflowError, ValueError, TypeError) as error:
        raise Unknown(str(error)) from None
    if isinstance(found, mp.mpc) or (found != found):
        raise Unknown("not real")
    return mpf(found)


def _value(node: Expr, env: Env) -> Any:
    if isinstance(node, Num):
        return mpf(node.value.numerator) / node.value.denominator
    if isinstance(node, Printed):
        return env["~"][node.text]
    if isinstance(node, Const):
        return {"pi": mp.pi, "e": mp.e, "oo": mp.inf}[node.name]
    if isinstance(node, Var):
        return env[node.name]
    if isinstance(node, App):
        if node.head in FUNCTIONS:
            return FUNCTIONS[node.head](*(value(a, env) for a in node.args))
        written = expand_node(node)
        if written == node or not isinstance(written, Expr):
            raise Unknown(node.head)
        return value(written, env)
    if isinstance(node, Where):
        known = truth(node.cond, env)
        if known is None:
            # Equality decides a branch as well: the margin is for statements only.
            known = truth(node.cond, env, margin=mpf(0))
        return value(node.then if known else node.other, env)
    if isinstance(node, At):
        return value(node.body, {**env, node.var: value(node.value, env)})
    if isinstance(node, Diff):
        return mp.diff(lambda x: value(node.body, {**env, node.var: x}), env[node.var], node.order)
    if isinstance(node, Taylor):
        return _taylor(node, env)
    if isinstance(node, Series):
        return _series(node, env)
    if isinstance(node, Tg):
        return _gate(node, env)
    if isinstance(node, Index):
        return env[node.vector][_place(node.index, node.vector, env)]
    if isinstance(node, Lse | Softmax):
        return _vector(node, env)
    return _estimate(node, env)


def _taylor(node: Taylor, env: Env) -> Any:
    at = value(node.point, env)
    found = mp.taylor(lambda x: value(node.body, {**env, node.var: x}), at, node.order)
    return mp.polyval(found[::-1], env[node.var] - at)


def _series(node: Series, env: Env) -> Any:
    lo, hi = value(node.lo, env), value(node.hi, env)
    if not mp.isfinite(hi) or hi - lo > 300:
        raise Unknown("a long range")
    terms = [value(node.body, {**env, node.index: mpf(k)}) for k in range(int(lo), int(hi) + 1)]
    return sum(terms, mpf(0)) if node.op == "sum" else mp.fprod(terms)


def _gate(node: Tg, env: Env) -> Any:
    x = value(node.x, env)
    theta, slope, intercept = (
        [value(v, env) for v in part] for part in (node.theta, node.slope, node.intercept)
    )
    tau = [value(v, env) for v in node.tau] * (len(theta) if len(node.tau) == 1 else 1)
    right = [mpf(x > h) if mp.isinf(t) else _sigma(t * (x - h)) for t, h in zip(tau, theta, strict=True)]
    ends = [mpf(1), *right, mpf(0)]
    lines = zip(ends, ends[1:], slope, intercept, strict=False)
    return sum(((a - b) * (s * x + c) for a, b, s, c in lines), mpf(0))


def _place(index: Expr, vector: str, env: Env) -> int:
    """A place of a vector, counted from 0. Raises Unknown for one that it does not have."""
    found = value(index, env)
    if found != int(found) or not 1 <= found <= len(env[vector]):
        raise Unknown("no such place")
    return int(found) - 1


def _vector(node: Lse | Softmax, env: Env) -> Any:
    z = list(env[node.vector])
    if isinstance(node, Softmax):
        return mp.exp(z[_place(node.index, node.vector, env)]) / sum(mp.exp(v) for v in z)
    if node.without is not None:
        del z[_place(node.without, node.vector, env)]
    if not z:
        return -mp.inf
    return mp.log(sum(mp.exp(v) for v in z))


def _estimate(node: Expr, env: Env) -> Any:
    with mp.workdps(20):
        if isinstance(node, Extremum) and node.op in ("sup", "inf", "max", "min"):
            return _extremum(node, env)[0]
        if isinstance(node, Limit):
            return _limit(node, env)
        if isinstance(node, Integral):
            ends = [value(node.lo, env), value(node.hi, env)]
            inside = [p for p in (mpf(-1), mpf(0), mpf(1)) if ends[0] < p < ends[1]]
            return mp.quad(lambda s: value(node.body, {**env, node.var: s}), [ends[0], *inside, ends[1]])
        if isinstance(node, Gauss):
            q, mean = value(node.q, env), value(node.mean, env)
            if q <= 0:
                raise Unknown("a variance of 0")
            root = mp.sqrt(q)
            weight = lambda z: mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi)  # noqa: E731
            inner = lambda z: weight(z) * value(node.body, {**env, node.var: mean + root * z})  # noqa: E731
            first, last = (mp.quad(inner, [-12, *cuts, 12]) for cuts in ((-3, 0, 3), (-4, -1.7, 0.6, 2.1, 5)))
            if abs(first - last) > ROUGH / 10 * (1 + abs(last)):
                raise Unknown("a kink that the rule does not see")
            return last
    raise Unknown(type(node).__name__)


def _limit(node: Limit, env: Env) -> Any:
    at = value(node.point, env)
    found = []
    for k in (6, 8):
        if mp.isinf(at):
            points = [mp.sign(at) * mpf(10) ** (k // 2)]
        else:
            sides = {"+": (1,), "-": (-1,)}.get(node.side, (1, -1))
            points = [at + s * mpf(10) ** -k for s in sides]
        found.append([value(node.body, {**env, node.var: p}) for p in points])
    first, last = found
    if any(abs(a - b) > ROUGH / 10 * (1 + abs(b)) for a, b in zip(first, last, strict=True)):
        raise Unknown("no limit in sight")
    if max(last) - min(last) > ROUGH:
        raise Unknown("two sides")
    return last[0]


def _extremum(node: Extremum, env: Env) -> tuple[Any, list[Any]]:
    """The best value found, and the places where it was: a grid, then golden steps round the best points."""
    if len(node.scope.binds) != 1 or node.scope.conditions:
        raise Unknown("several names")
    if any(isinstance(n, Extremum) for n in node.body.walk()):
        raise Unknown("an extremum of extrema")
    (bind,) = node.scope.binds
    sign = 1 if node.op in ("sup", "max", "argmax") else -1

    def height(x: Any) -> Any:
        try:
            return sign * value(node.body, {**env, bind.name: x})
        except Unknown:
            return -mp.inf

    xs = sorted({*_points(bind, env, random.Random(0), 160), *_far(bind.within, env)})
    heights = [height(x) for x in xs]
    order = sorted(range(len(xs)), key=lambda k: heights[k], reverse=True)
    found: list[tuple[Any, Any]] = []
    whole = isinstance(bind.within, NamedSet | IntRange) and bind.within != NamedSet("R")
    if whole:
        if order[0] in (0, len(xs) - 1):
            raise Unknown("whole numbers, perhaps further out")
        return sign * heights[order[0]], [xs[order[0]]]
    for k in order[:3]:
        lo, hi = xs[max(k - 1, 0)], xs[min(k + 1, len(xs) - 1)]
        for _ in range(60):
            a, b = lo + (hi - lo) / 3, hi - (hi - lo) / 3
            lo, hi = (a, hi) if height(a) < height(b) else (lo, b)
        middle = (lo + hi) / 2
        found.append(max((height(middle), middle), (heights[k], xs[k])))
    best = max(h for h, _ in found)
    if not mp.isfinite(best) or abs(best) > 10**6:
        raise Unknown("perhaps unbounded")
    return sign * best, [x for h, x in found if best - h < mpf(10) ** -9]


def _far(within: SetExpr, env: Env) -> list[Any]:
    """Points far out on each unbounded side."""
    if isinstance(within, IntervalSet):
        ends = value(within.lo, env), value(within.hi, env)
    elif within == NamedSet("R"):
        ends = -mp.inf, mp.inf
    else:
        return []
    far = [mp.sign(e) * mpf(10) ** k for e in ends if mp.isinf(e) for k in (2, 3, 6, 9)]
    return [x for x in far if ends[0] < x < ends[1]]


# --- sets and samples -----------------------------------------------------------------


def _points(bind: Bind, env: Env, rng: random.Random, count: int) -> list[Any]:
    within: SetExpr = bind.within
    return [p for p in _members(within, env, rng, count) if mp.isfinite(p)]


def _members(within: SetExpr, env: Env, rng: random.Random, count: int) -> list[Any]:
    if isinstance(within, NamedSet):
        if within.name != "R":
            start = {"N": 0, "N1": 1, "Z": -8}[within.name]
            return [mpf(k) for k in (*range(start, start + 16), 30, 101)][:count]
        near = [mpf(k) / 4 for k in range(-24, 25)]
        return _some([*near, *(mpf(rng.uniform(-40, 40)) for _ in range(count))], rng, count)
    if isinstance(within, IntRange):
        lo, hi = int(value(within.lo, env)), int(value(within.hi, env))
        return _some([mpf(k) for k in range(lo, min(hi, lo + 400) + 1)], rng, count)
    if isinstance(within, IntervalSet):
        return _between(within, env, rng, count)
    if isinstance(within, SetMinus):
        holes = [value(p, env) for p in within.points]
        return [p for p in _members(within.base, env, rng, count) if all(p != h for h in holes)]
    raise Unknown("a set")


def _between(within: IntervalSet, env: Env, rng: random.Random, count: int) -> list[Any]:
    lo, hi = value(within.lo, env), value(within.hi, env)
    found: list[Any] = []
    if mp.isfinite(lo) and mp.isfinite(hi):
        found += [lo + (hi - lo) * mpf(k) / 64 for k in range(1, 64)]
        found += [lo + (hi - lo) * mpf(rng.random()) for _ in range(count)]
        found += [end + s * (hi - lo) / mpf(10) ** 6 for end, s in ((lo, 1), (hi, -1))]
    elif mp.isfinite(lo) or mp.isfinite(hi):
        end, sign = (lo, 1) if mp.isfinite(lo) else (hi, -1)
        found += [end + sign * mpf(k) / 8 for k in range(1, 80)]
        found += [end + sign * mpf(10) ** -k for k in (2, 3, 6)] + [end + sign * mpf(10) ** k for k in (2, 4)]
        found += [end + sign * mpf(rng.uniform(0, 60)) for _ in range(count)]
    else:
        return _members(NamedSet("R"), env, rng, count)
    ends = [e for e, closed in ((lo, within.lo_closed), (hi, within.hi_closed)) if closed and mp.isfinite(e)]
    return ends + _some([p for p in found if lo < p < hi], rng, count)


def _some(items: list[Any], rng: random.Random, count: int) -> list[Any]:
    return items if len(items) <= count else rng.sample(items, count)


def samples(scope: Scope, env: Env, rng: random.Random, count: int) -> Iterator[Env]:
    """Points of a scope that surely meet its conditions."""
    for _ in range(count):
        point = dict(env)
        for bind in scope.binds:
            if isinstance(bind.within, SetPower):
                size = int(value(bind.within.n, point))
                inner = Bind(bind.name, bind.within.base)
                if not 0 < size < 30:
                    break
                point[bind.name] = [rng.choice(_points(inner, point, rng, 40)) for _ in range(size)]
                continue
            members = _points(bind, point, rng, 60)
            if not members:
                break
            point[bind.name] = rng.choice(members)
        else:
            try:
                if all(truth(c, point) is True for c in scope.conditions):
                    yield point
            except Unknown:
                continue


# --- statements -----------------------------------------------------------------------


def truth(stmt: Stmt, env: Env, margin: Any = None) -> bool | None:
    """True or False where that is sure at the point, else None. Raises Unknown."""
    if isinstance(stmt, Rel):
        return _all(_relation(op, a, b, env, margin) for op, a, b in _links(stmt))
    if isinstance(stmt, And):
        return _all(truth(p, env, margin) for p in stmt.parts)
    if isinstance(stmt, Or):
        inner = _all(_opposite(truth(p, env, margin)) for p in stmt.parts)
        return _opposite(inner)
    if isinstance(stmt, Not):
        return _opposite(truth(stmt.part, env, margin))
    if isinstance(stmt, Implies):
        premise = truth(stmt.left, env, margin)
        return (None if premise is None else True) if premise is not True else truth(stmt.right, env, margin)
    if isinstance(stmt, In):
        return _inside(stmt, env)
    if isinstance(stmt, Pred):
        return _predicate(stmt, env)
    if isinstance(stmt, Exists):
        rng = random.Random(1)
        return True if any(truth(stmt.body, e) is True for e in samples(stmt.scope, env, rng, 40)) else None
    raise Unknown(type(stmt).__name__)


def _links(stmt: Rel) -> Iterator[tuple[str, Expr, Expr]]:
    yield from zip(stmt.ops, stmt.terms, stmt.terms[1:], strict=False)


def _opposite(known: bool | None) -> bool | None:
    return None if known is None else not known


def _all(found: Iterator[bool | None]) -> bool | None:
    known = list(found)
    return False if False in known else None if None in known else True


_ROUGHLY = (Extremum, Limit, Integral, Gauss, Diff, Taylor)


def _relation(op: str, a: Expr, b: Expr, env: Env, margin: Any) -> bool | None:
    sets = [t for t in (a, b) if isinstance(t, FiniteSet) or _is_places(t)]
    if sets:
        return _places(op, a, b, env)
    x, y = value(a, env), value(b, env)
    if margin is None:
        rough = any(isinstance(n, _ROUGHLY) for t in (a, b) for n in t.walk())
        size = (1 + abs(x) + abs(y)) if mp.isfinite(x) and mp.isfinite(y) else 1
        margin = (ROUGH if rough else EXACT) * size
    if mp.isinf(x) or mp.isinf(y):
        raise Unknown("infinite")
    gap = x - y
    if op in ("==", "!="):
        differ = True if abs(gap) > margin else (False if margin == 0 else None)
        return differ if op == "!=" else _opposite(differ)
    if op[0] == ">":
        gap = -gap
    if abs(gap) <= margin:
        return None if margin else op.endswith("=")
    return bool(gap < 0)


def _is_places(node: Expr) -> bool:
    return isinstance(node, Extremum) and node.op in ("argmax", "argmin", "zeros")


def _places(op: str, a: Expr, b: Expr, env: Env) -> bool | None:
    """Only that a given point is no place at all: it is clearly below the best, or its value is not 0."""
    node, other = (a, b) if _is_places(a) else (b, a)
    if op != "==" or not isinstance(node, Extremum) or _is_places(other):
        return None
    items = other.items if isinstance(other, FiniteSet) else (other,)
    (bind,) = node.scope.binds
    best = mpf(0) if node.op == "zeros" else _extremum(node, env)[0]
    for item in items:
        if isinstance(item, Printed):
            return None
        height = value(node.body, {**env, bind.name: value(item, env)})
        if abs(height - best) > mpf(10) ** -12 * (1 + abs(best)):
            return False
    return None


def _inside(stmt: In, env: Env) -> bool | None:
    if not isinstance(stmt.within, IntervalSet):
        return None
    x, lo, hi = (value(t, env) for t in (stmt.item, stmt.within.lo, stmt.within.hi))
    slack = EXACT * (1 + abs(x))
    return False if x < lo - slack or x > hi + slack else None


def _predicate(stmt: Pred, env: Env) -> bool | None:
    if len(stmt.scope.binds) != 1 or stmt.scope.conditions:
        return None
    (bind,) = stmt.scope.binds
    xs = sorted(_points(bind, env, random.Random(2), 50))

    def f(x: Any) -> Any:
        return value(stmt.body, {**env, bind.name: x})

    if stmt.name in ("even", "odd"):
        sign = 1 if stmt.name == "even" else -1
        wrong = (abs(f(x) - sign * f(-x)) > EXACT * (1 + abs(f(x))) for x in xs)
    elif stmt.name in ("increasing", "decreasing"):
        sign = 1 if stmt.name == "increasing" else -1
        wrong = (sign * (f(b) - f(a)) < -EXACT * (1 + abs(f(a))) for a, b in pairwise(xs))
    elif stmt.name == "convex":
        wrong = (
            f((a + b) / 2) - (f(a) + f(b)) / 2 > EXACT * (1 + abs(f(a)) + abs(f(b)))
            for a, b in product(xs[::5], xs[::7])
        )
    else:
        return None
    return False if any(wrong) else None


def contradiction(claim: Claim, seed: int = 0, count: int = 60) -> Env | None:
    """A point at which a statement surely fails; None where none was found.

    Printed numbers may be chosen: the statement must fail at every corner of their rounding intervals.
    """
    printed = {n.text: n for n in claim.walk() if isinstance(n, Printed)}
    if len(printed) > 6:
        return None
    first: Env | None = None
    with mp.workdps(DIGITS):
        ends = [[(t, mpf(e.numerator) / e.denominator) for e in (n.lo, n.hi)] for t, n in printed.items()]
        for corner in product(*ends):
            found = _failing(claim, {"~": dict(corner)}, random.Random(seed), count)
            if found is None:
                return None
            first = first or found
        if printed and _signs_differ(claim, ends):
            return None
    return first


def _failing(claim: Claim, env: Env, rng: random.Random, count: int) -> Env | None:
    try:
        for point in _worst(claim, env):
            if truth(claim.body, point) is False:
                return point
        for point in samples(claim.scope, env, rng, count if claim.scope.binds else 1):
            try:
                if truth(claim.body, point) is False:
                    return point
            except Unknown:
                continue
    except Unknown:
        pass
    return None


def _worst(claim: Claim, env: Env) -> list[Env]:
    """Where a bound in one name is broken most, as far as a climb finds it."""
    if len(claim.scope.binds) != 1 or claim.scope.conditions or not isinstance(claim.body, Rel):
        return []
    (bind,) = claim.scope.binds
    found: list[Env] = []
    for op, a, b in _links(claim.body):
        if op in ("==", "!=") or any(isinstance(n, Extremum) for t in (a, b) for n in t.walk()):
            continue
        gap = App("add", (a, App("neg", (b,))) if op[0] == "<" else (b, App("neg", (a,))))
        try:
            places = _extremum(Extremum("sup", gap, claim.scope), env)[1]
        except Unknown:
            continue
        found += [{**env, bind.name: x} for x in places]
    return found


def _signs_differ(claim: Claim, ends: list[Any]) -> bool:
    """Whether an equality changes its sign between corners: then it holds somewhere between."""
    body: Node = claim.body
    if not isinstance(body, Rel):
        return True
    for op, a, b in _links(body):
        if op != "==":
            continue
        signs = set()
        for corner in product(*ends):
            try:
                signs.add(mp.sign(value(a, {"~": dict(corner)}) - value(b, {"~": dict(corner)})))
            except (Unknown, KeyError):
                return True
        if len(signs) > 1:
            return True
    return False
