"""Random formulas as small trees, rewritten by valid identities and damaged on purpose.

A tree is a tuple: a head and its parts. ``text`` writes it in the claim language and
``value`` computes it with mpmath, so that nothing here leans on the package under test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import mpmath
from hypothesis import strategies as st
from mpmath import mp, mpf

DIGITS = 60
#: Two values that differ by less are not held to differ.
APART = mpf(10) ** -40

Tree = tuple[Any, ...]
Env = Mapping[str, Any]
Draw = Callable[[st.SearchStrategy[Any]], Any]


# --- building ------------------------------------------------------------------


def num(value: int | str | Fraction) -> Tree:
    return ("num", Fraction(value))


def add(a: Tree, b: Tree) -> Tree:
    return ("add", a, b)


def sub(a: Tree, b: Tree) -> Tree:
    return ("sub", a, b)


def mul(a: Tree, b: Tree) -> Tree:
    return ("mul", a, b)


def div(a: Tree, b: Tree) -> Tree:
    return ("div", a, b)


def neg(a: Tree) -> Tree:
    return ("neg", a)


def call(name: str, *args: Tree) -> Tree:
    return ("call", name, *args)


def branch(test: Tree, then: Tree, other: Tree) -> Tree:
    """``then`` where ``test > 0``."""
    return ("where", test, then, other)


X: Tree = ("var", "x")
TAU: Tree = ("var", "tau")
ONE, TWO, ZERO = num(1), num(2), num(0)


# --- writing -------------------------------------------------------------------


def text(tree: Tree) -> str:
    head, *parts = tree
    if head == "num":
        value: Fraction = parts[0]
        shown = str(abs(value)) if value.denominator == 1 else f"({abs(value)})"
        return shown if value >= 0 else f"(-{shown})"
    if head == "var":
        return str(parts[0])
    if head == "neg":
        return f"(-{text(parts[0])})"
    if head == "pow":
        return f"({text(parts[0])}**{parts[1]})"
    if head == "call":
        return f"{parts[0]}({', '.join(text(p) for p in parts[1:])})"
    if head == "where":
        return f"where({text(parts[0])} > 0, {text(parts[1])}, {text(parts[2])})"
    sign = {"add": "+", "sub": "-", "mul": "*", "div": "/"}[head]
    return f"({text(parts[0])} {sign} {text(parts[1])})"


# --- values --------------------------------------------------------------------


def _softplus(u: Any) -> Any:
    return max(u, mpf(0)) + mpmath.log1p(mpmath.exp(-abs(u)))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "exp": mpmath.exp,
    "log": mpmath.log,
    "tanh": mpmath.tanh,
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "sech": mpmath.sech,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "atan": mpmath.atan,
    "erf": mpmath.erf,
    "sigmoid": lambda u: 1 / (1 + mpmath.exp(-u)),
    "silu": lambda u: u / (1 + mpmath.exp(-u)),
    "softplus": _softplus,
    "relu": lambda u: max(u, mpf(0)),
    "abs": abs,
    "max": max,
    "min": min,
}


def value(tree: Tree, env: Env) -> Any:
    head, *parts = tree
    if head == "num":
        return mpf(parts[0].numerator) / parts[0].denominator
    if head == "var":
        return env[parts[0]]
    if head == "pow":
        return value(parts[0], env) ** parts[1]
    if head == "call":
        return FUNCTIONS[parts[0]](*(value(p, env) for p in parts[1:]))
    if head == "where":
        return value(parts[1] if value(parts[0], env) > 0 else parts[2], env)
    values = [value(p, env) for p in parts]
    if head == "neg":
        return -values[0]
    a, b = values
    return {"add": lambda: a + b, "sub": lambda: a - b, "mul": lambda: a * b, "div": lambda: a / b}[head]()


def differ(left: Tree, right: Tree, points: Iterable[Env]) -> Env | None:
    """A point where the values are certainly not equal or one is undefined, or None.

    What 60 digits tell apart is computed again with 200: rewriting piles up cancellations.
    """
    return next((env for env in points if _apart(left, right, env, DIGITS)), None)


def _apart(left: Tree, right: Tree, env: Env, digits: int) -> bool:
    with mp.workdps(digits):
        try:
            a, b = value(left, env), value(right, env)
        except ZeroDivisionError:
            return True
        if not (mpmath.im(a) or mpmath.im(b) or abs(a - b) > APART * (1 + abs(a) + abs(b))):
            return False
    return digits > DIGITS or _apart(left, right, env, 200)


# --- places --------------------------------------------------------------------


def places(tree: Tree) -> Iterator[tuple[int, ...]]:
    """Paths to all nodes, the root first."""
    yield ()
    for i, part in enumerate(tree):
        if isinstance(part, tuple):
            for path in places(part):
                yield (i, *path)


def at(tree: Tree, path: tuple[int, ...]) -> Tree:
    for i in path:
        tree = tree[i]
    return tree


def put(tree: Tree, path: tuple[int, ...], new: Tree) -> Tree:
    if not path:
        return new
    i, *rest = path
    return (*tree[:i], put(tree[i], tuple(rest), new), *tree[i + 1 :])


# --- random formulas -----------------------------------------------------------

RATIONALS = st.builds(Fraction, st.integers(-9, 9), st.sampled_from([1, 1, 1, 2, 3, 5, 10]))
NONZERO = RATIONALS.filter(bool)
SMOOTH = ("tanh", "sigmoid", "sech", "softplus", "silu")
GROWING = ("exp", "sinh", "cosh")
KINKED = ("relu", "abs")


def linear(draw: Draw, names: tuple[Tree, ...]) -> Tree:
    """``a x + b`` with a of size 1, 2, 3 or 1/2, so that exponentials have a common root."""
    u: Tree = mul(TAU, X) if TAU in names and draw(st.booleans()) else X
    a = draw(st.sampled_from([1, 1, 1, -1, 2, -2, 3, Fraction(1, 2)]))
    tree = u if a == 1 else neg(u) if a == -1 else mul(num(a), u)
    shift = draw(st.sampled_from([0, 0, 0, 1, -2, Fraction(1, 2)]))
    return tree if not shift else add(tree, num(shift))


def formula(draw: Draw, names: tuple[Tree, ...], depth: int, kinks: bool) -> Tree:
    """A formula defined for all real x (and tau > 0)."""
    heads = ["smooth", "grow", "linear", "add", "sub", "mul", "scale", "quotient", "square"]
    if kinks:
        heads += ["kink", "max", "where", "kink", "where"]
    head = draw(st.sampled_from(heads if depth else ["smooth", "smooth", "linear", "grow", "num"]))
    if head == "num":
        return num(draw(NONZERO))
    if head == "linear":
        return linear(draw, names)
    if head == "smooth":
        return call(draw(st.sampled_from(SMOOTH)), linear(draw, names))
    if head == "grow":
        return call(draw(st.sampled_from(GROWING)), linear(draw, names))
    if head == "kink":
        return call(draw(st.sampled_from(KINKED)), linear(draw, names))
    a = formula(draw, names, depth - 1, kinks)
    if head == "scale":
        return mul(num(draw(NONZERO)), a)
    if head == "square":
        return ("pow", a, 2)
    if head == "quotient":
        return div(a, add(ONE, call("exp", linear(draw, names))))
    b = formula(draw, names, depth - 1, kinks)
    if head == "where":
        return branch(sub(X, num(draw(RATIONALS))), a, b)
    if head == "max":
        return call(draw(st.sampled_from(["max", "min"])), linear(draw, names), linear(draw, names))
    return (head, a, b)


# --- valid identities ----------------------------------------------------------


def _exp2(u: Tree) -> Tree:
    return call("exp", mul(TWO, u))


#: Other ways of writing a call of one argument.
OF_CALL: dict[str, tuple[Callable[[Tree], Tree], ...]] = {
    "tanh": (
        lambda u: sub(mul(TWO, call("sigmoid", mul(TWO, u))), ONE),
        lambda u: div(call("sinh", u), call("cosh", u)),
        lambda u: div(sub(_exp2(u), ONE), add(_exp2(u), ONE)),
        lambda u: sub(ONE, div(TWO, add(_exp2(u), ONE))),
        lambda u: neg(call("tanh", neg(u))),
    ),
    "sigmoid": (
        lambda u: div(ONE, add(ONE, call("exp", neg(u)))),
        lambda u: sub(ONE, call("sigmoid", neg(u))),
        lambda u: div(add(ONE, call("tanh", div(u, TWO))), TWO),
        lambda u: div(call("exp", u), add(ONE, call("exp", u))),
    ),
    "sech": (
        lambda u: div(ONE, call("cosh", u)),
        lambda u: div(TWO, add(call("exp", u), call("exp", neg(u)))),
        lambda u: call("sech", neg(u)),
    ),
    "cosh": (
        lambda u: div(add(call("exp", u), call("exp", neg(u))), TWO),
        lambda u: call("cosh", neg(u)),
        lambda u: div(ONE, call("sech", u)),
    ),
    "sinh": (
        lambda u: div(sub(call("exp", u), call("exp", neg(u))), TWO),
        lambda u: neg(call("sinh", neg(u))),
        lambda u: mul(call("tanh", u), call("cosh", u)),
    ),
    "silu": (
        lambda u: mul(u, call("sigmoid", u)),
        lambda u: add(u, call("silu", neg(u))),
        lambda u: div(u, add(ONE, call("exp", neg(u)))),
    ),
    "softplus": (
        lambda u: add(u, call("softplus", neg(u))),
        lambda u: call("log", add(ONE, call("exp", u))),
    ),
    "exp": (
        lambda u: div(ONE, call("exp", neg(u))),
        lambda u: add(call("cosh", u), call("sinh", u)),
        lambda u: ("pow", call("exp", div(u, TWO)), 2),
    ),
    "relu": (
        lambda u: call("max", u, ZERO),
        lambda u: div(add(u, call("abs", u)), TWO),
        lambda u: add(u, call("relu", neg(u))),
        lambda u: branch(u, u, ZERO),
    ),
    "abs": (
        lambda u: call("max", u, neg(u)),
        lambda u: add(call("relu", u), call("relu", neg(u))),
        lambda u: branch(u, u, neg(u)),
        lambda u: call("abs", neg(u)),
    ),
}

OF_PAIR: dict[str, tuple[Callable[[Tree, Tree], Tree], ...]] = {
    "add": (lambda a, b: add(b, a), lambda a, b: sub(a, neg(b)), lambda a, b: neg(sub(neg(a), b))),
    "sub": (lambda a, b: neg(sub(b, a)), lambda a, b: add(neg(b), a)),
    "mul": (lambda a, b: mul(b, a), lambda a, b: neg(mul(neg(a), b)), lambda a, b: mul(neg(a), neg(b))),
    "div": (lambda a, b: mul(a, div(ONE, b)), lambda a, b: neg(div(a, neg(b)))),
    "max": (
        lambda a, b: call("max", b, a),
        lambda a, b: div(add(add(a, b), call("abs", sub(a, b))), TWO),
        lambda a, b: add(a, call("relu", sub(b, a))),
        lambda a, b: neg(call("min", neg(a), neg(b))),
        lambda a, b: branch(sub(a, b), a, b),
    ),
    "min": (
        lambda a, b: call("min", b, a),
        lambda a, b: sub(add(a, b), call("max", a, b)),
        lambda a, b: branch(sub(a, b), b, a),
    ),
}

#: True of every formula.
OF_ALL: tuple[Callable[[Tree], Tree], ...] = (
    lambda a: add(a, sub(call("tanh", X), call("tanh", X))),
    lambda a: mul(a, add(call("sigmoid", X), call("sigmoid", neg(X)))),
    lambda a: mul(a, sub(("pow", call("cosh", X), 2), ("pow", call("sinh", X), 2))),
    lambda a: sub(mul(TWO, a), a),
    lambda a: div(add(mul(call("exp", X), a), a), add(call("exp", X), ONE)),
)


def ways(tree: Tree) -> list[Tree]:
    """Equal formulas, by one identity at the root."""
    head = tree[0]
    found = [f(tree) for f in OF_ALL]
    if head == "call" and len(tree) == 3:
        found += [f(tree[2]) for f in OF_CALL.get(tree[1], ())] * 3
    elif head == "call" or head in OF_PAIR:
        name, a, b = tree[-3:]
        found += [f(a, b) for f in OF_PAIR[name]] * 2
        if head == "mul" and b[0] in ("add", "sub"):
            found += [(b[0], mul(a, b[1]), mul(a, b[2]))] * 3
    elif head == "pow":
        a = tree[1]
        found += [mul(a, a)] * 2
        if a[0] == "add":
            square = add(("pow", a[1], 2), ("pow", a[2], 2))
            found += [add(square, mul(TWO, mul(a[1], a[2])))] * 3
    elif head == "where":
        _, test, then, other = tree
        # test == 0 belongs to the other branch, on either side.
        found += [branch(mul(num(2), test), then, other), sub(add(then, other), branch(test, other, then))]
    return found


def rewritten(draw: Draw, tree: Tree, steps: int) -> Tree:
    for _ in range(steps):
        paths = [p for p in places(tree) if at(tree, p)[0] not in ("num",)]
        path = draw(st.sampled_from(paths))
        tree = put(tree, path, draw(st.sampled_from(ways(at(tree, path)))))
    return tree


# --- damage --------------------------------------------------------------------

TINY = Fraction(1, 10**9)
SWAPPED = {"tanh": "erf", "sigmoid": "tanh", "sinh": "cosh", "cosh": "sinh", "relu": "abs", "max": "min"}


def damages(tree: Tree) -> list[Tree]:
    """Near misses of a node: most are wrong, which the caller checks."""
    head = tree[0]
    found = [neg(tree), add(tree, num(TINY)), mul(tree, num(1 + TINY))]
    if head == "num":
        v = tree[1]
        found = [num(v + 1), num(-v), num(v + TINY), num(v * (1 + Fraction(1, 10**6))), num(v - 1)]
    elif head == "var":
        found = [mul(num(1 + TINY), tree), mul(num(2), tree), add(tree, num(TINY))]
    elif head == "call":
        found += [("call", SWAPPED[tree[1]], *tree[2:])] * 2 if tree[1] in SWAPPED else []
    elif head == "where":
        _, test, then, other = tree
        found += [branch(test, other, then), branch(test, then, add(other, num(TINY)))] * 2
        found += [branch(add(test, num(TINY)), then, other), branch(neg(test), then, other)]
    elif head in ("add", "sub"):
        found += [("sub" if head == "add" else "add", *tree[1:])] * 2
    elif head == "pow":
        found += [("pow", tree[1], tree[2] + 1)]
    return found


def damaged(draw: Draw, tree: Tree) -> Tree:
    path = draw(st.sampled_from(list(places(tree))))
    return put(tree, path, draw(st.sampled_from(damages(at(tree, path)))))
