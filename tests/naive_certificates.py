"""Certificates made without thought, and formulas' values by mpmath, to test the checker with."""

from __future__ import annotations

import copy
import hashlib
import json
import random
from fractions import Fraction
from typing import Any

import mpmath as mp

from gateproof.theory.formula import expand, parse_expr
from gateproof.theory.formula.serial import to_json

Document = dict[str, Any]
F = Fraction


def tree_of(text: str) -> list[Any]:
    return to_json(expand(parse_expr(text)))


def hash_of(core: Any) -> str:
    return hashlib.sha256(json.dumps(core, separators=(",", ":")).encode()).hexdigest()


def write(q: Fraction | int | str | None) -> str | None:
    if q is None or isinstance(q, str):
        return q
    return f"{Fraction(q).numerator}/{Fraction(q).denominator}"


def uniform(lo: Fraction, hi: Fraction, pieces: int, rule: Any) -> list[Any]:
    """A balanced tree that cuts x in [lo, hi] into equal pieces."""
    if pieces == 1:
        return ["leaf", rule]
    left = pieces // 2
    cut = lo + (hi - lo) * left / pieces
    halves = uniform(lo, cut, left, rule), uniform(cut, hi, pieces - left, rule)
    return ["split", "x", write(cut), *halves]


def adaptive(core: Any, lo: Fraction, hi: Fraction, lower: Any, upper: Any, rule: Any) -> list[Any]:
    """A tree halved until three sampled values, with their spread to spare, keep the bounds."""
    middle, width = (lo + hi) / 2, float(hi - lo)
    left, at, right = (float(value(core, number(x))) for x in (lo, middle, hi))
    spread = 2 * max(abs(at - left), abs(at - right)) + 2 * width * width
    held = lower is None or at - spread > Fraction(lower)
    held = held and (upper is None or at + spread < Fraction(upper))
    if held or width < 1e-4:
        return ["leaf", rule]
    halves = adaptive(core, lo, middle, lower, upper, rule), adaptive(core, middle, hi, lower, upper, rule)
    return ["split", "x", write(middle), *halves]


def make(
    text: str,
    lo: Any = "-oo",
    hi: Any = "oo",
    *,
    lower: Any = None,
    upper: Any = None,
    strict: bool = False,
    cut: int = 8,
    pieces: int | None = 64,
    rule: Any = ("taylor", 4),
    bits: int = 106,
    witnesses: list[Any] | None = None,
) -> Document:
    """A range certificate of a formula in x: pieces (None: as many as it takes) between ends or cuts."""
    core, rule = tree_of(text), list(rule) if isinstance(rule, tuple) else rule
    start = F(-cut) if lo == "-oo" else F(lo)
    end = F(cut) if hi == "oo" else F(hi)
    document = {
        "kind": "range",
        "version": 1,
        "text": text,
        "core": core,
        "formula_hash": hash_of(core),
        "bits": bits,
        "domain": {"x": {"lo": write(lo), "hi": write(hi)}},
        "conclusion": {
            "lower": write(lower),
            "lower_strict": strict and lower is not None,
            "upper": write(upper),
            "upper_strict": strict and upper is not None,
        },
        "tails": {
            "x": {
                "minus": write(F(-cut)) if lo == "-oo" else None,
                "plus": write(F(cut)) if hi == "oo" else None,
            }
        },
        "tree": uniform(start, end, pieces, rule)
        if pieces
        else adaptive(core, start, end, lower, upper, rule),
        "witnesses": witnesses or [],
    }
    return copy.deepcopy(document)


FUNCTIONS: dict[str, Any] = {
    "neg": lambda a: -a,
    "abs": abs,
    "sign": mp.sign,
    "exp": mp.exp,
    "log": mp.log,
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
    "acosh": mp.acosh,
    "atanh": mp.atanh,
    "sigmoid": lambda a: 1 / (1 + mp.exp(-a)),
    "softplus": lambda a: max(a, 0) + mp.log1p(mp.exp(-abs(a))),
    "erf": mp.erf,
    "erfc": mp.erfc,
}
PRIMITIVES = sorted(FUNCTIONS.keys() - {"neg", "abs", "sign", "sqrt"})


def number(q: Any) -> Any:
    """A rational in mpmath's current precision."""
    q = Fraction(q)
    return mp.mpf(q.numerator) / q.denominator


def value(tree: Any, x: Any) -> Any:
    """The value of a tree at x, or at a mapping of names, in mpmath's precision; ValueError if none."""
    kind, *rest = tree
    if kind == "num":
        return number(rest[0])
    if kind == "const":
        return {"pi": mp.pi, "e": mp.e}[rest[0]] * mp.mpf(1)
    if kind == "var":
        return x[rest[0]] if isinstance(x, dict) else x
    if kind == "where":
        return value(rest[1] if truth(rest[0], x) else rest[2], x)
    head, *args = rest
    parts = [value(a, x) for a in args]
    if head in {*PRIMITIVES, "pow"} and any(part and abs(mp.mag(part)) > 2_000 for part in parts):
        raise OverflowError("mpmath would take hours")
    try:
        if head in ("add", "mul"):
            found = (mp.fsum if head == "add" else mp.fprod)(parts)
        elif head in ("max", "min"):
            found = (max if head == "max" else min)(parts)
        elif head == "div":
            found = parts[0] / parts[1]
        elif head == "pow":
            if not parts[0] and parts[1] < 0:
                raise ZeroDivisionError
            found = parts[0] ** parts[1]
        else:
            found = FUNCTIONS[head](parts[0])
    except ZeroDivisionError:
        raise ValueError(head) from None
    if isinstance(found, mp.mpc) or not mp.isfinite(found):
        raise ValueError(head)
    return found


def truth(tree: Any, x: Any) -> bool:
    kind, *rest = tree
    if kind == "rel":
        ops, *terms = rest
        at = [value(t, x) for t in terms]
        holds = {
            "<": lambda a, b: a < b,
            "<=": lambda a, b: a <= b,
            "==": lambda a, b: a == b,
            "!=": lambda a, b: a != b,
            ">=": lambda a, b: a >= b,
            ">": lambda a, b: a > b,
        }
        return all(holds[op](a, b) for op, a, b in zip(ops, at, at[1:], strict=False))
    if kind == "not":
        return not truth(rest[0], x)
    return (all if kind == "and" else any)([truth(t, x) for t in rest])


def random_tree(dice: random.Random, depth: int) -> list[Any]:
    """A formula in x of any kind, often without a value somewhere."""
    roll = dice.random()
    inner = [random_tree(dice, depth - 1) for _ in range(4 if depth else 0)]
    if not inner or roll < 0.12:
        number = ["num", f"{dice.randint(-9, 9)}/{dice.randint(1, 5)}"]
        return dice.choice([["var", "x"]] * 4 + [number, number, ["const", dice.choice(["pi", "e"])]])
    if roll < 0.4:
        return ["app", dice.choice(["add", "mul", "add", "mul", "max", "min"]), *inner[:2]]
    if roll < 0.5:
        return ["app", "div", *inner[:2]]
    if roll < 0.6:
        powers = [["num", q] for q in (f"{dice.randint(-4, 5)}/1", "1/2", "-1/2", "2/3")]
        return ["app", "pow", inner[0], dice.choice([*powers, inner[1]])]
    if roll < 0.65:
        relation = ["rel", [dice.choice(["<", "<=", "==", ">", "!="])], *inner[:2]]
        condition = dice.choice([relation, ["not", relation], ["or", relation, ["rel", ["<"], *inner[1:3]]]])
        return ["where", condition, *inner[2:]]
    return ["app", dice.choice(sorted(FUNCTIONS)), inner[0]]
