"""Certificates of every kind but one-variable ranges, with judges of what they say that know no checker."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product
from math import ceil, exp, floor
from typing import Any

import mpmath as mp
from naive_certificates import F, hash_of, make, number, value, write

from gateproof.numerics.lower_bound import lower_bound
from gateproof.proofs_check.checker.evaluate import rational
from gateproof.theory.formula import expand, parse_expr

Document = dict[str, Any]
SLACK = mp.mpf("1e-25")  # what is equal to so many digits may differ: only a clear failure counts


def within(document: Document, real: Any) -> bool:
    """Whether a value keeps the bounds of a conclusion."""
    for side, sign in (("lower", 1), ("upper", -1)):
        bound = document["conclusion"][side]
        if bound is not None:
            room = sign * (real - number(bound))
            if room < -SLACK * (1 + abs(real)) or (document["conclusion"][side + "_strict"] and room == 0):
                return False
    return True


def ends_of(side: Any, far: int = 40) -> tuple[Fraction, Fraction]:
    lo, hi = side["lo"], side["hi"]
    return (F(-far) if lo == "-oo" else F(lo)), (F(far) if hi == "oo" else F(hi))


def grid(side: Any, parts: int = 12, far: int = 40) -> list[Fraction]:
    lo, hi = ends_of(side, far)
    return [lo + (hi - lo) * F(i, parts) for i in range(parts + 1)]


def places(document: Document, parts: int) -> Any:
    names = document["domain"]
    for point in product(*(grid(side, parts) for side in names.values())):
        yield dict(zip(names, map(number, point), strict=True))


def range_holds(document: Document) -> bool:
    at = [{n: number(x) for n, x in w["at"].items()} for w in document["witnesses"]]
    for place, w in zip(at, document["witnesses"], strict=True):
        real = value(document["core"], place)
        if not number(w["lower"]) - SLACK <= real <= number(w["upper"]) + SLACK:
            return False
    return all(within(document, value(document["core"], x)) for x in [*places(document, 10), *at])


def integral_holds(document: Document) -> bool:
    lo, hi = ends_of(document["domain"]["x"], 200)
    cuts = sorted({lo, hi, *(c for c in map(F, (-20, -5, -2, -1, 0, 1, 2, 5, 20)) if lo < c < hi)})
    with mp.workdps(20):
        real = mp.quad(lambda x: value(document["core"], x), [number(c) for c in cuts])
        for side, sign in (("lower", 1), ("upper", -1)):
            bound = document["conclusion"][side]
            if bound is not None and sign * (real - number(bound)) < -mp.mpf("1e-12"):
                return False
    return True


def roots_hold(document: Document) -> bool:
    ((_, side),) = document["domain"].items()
    found = [(F(r["lo"]), F(r["hi"])) for r in document["conclusion"]["roots"]]
    tree, (lo, hi) = document["core"], ends_of(side)
    for a, b in found:
        left, right = value(tree, number(a)), value(tree, number(b))
        if not (lo <= a <= b <= hi and (left * right < 0 or (a == b and abs(left) < SLACK))):
            return False
    if not document["conclusion"]["complete"]:
        return True
    line = sorted({*grid(side, 100), *(x for x in grid({"lo": "-5", "hi": "5"}, 60) if lo <= x <= hi)})
    seen = [(x, mp.sign(value(tree, number(x)))) for x in line]
    for (p, s), (q, t) in pairwise(seen):
        named = sum(1 for a, b in found if p <= b and a <= q)
        if (
            s * t < 0 and named % 2 == 0 and all(p <= a and b <= q for a, b in found if p <= b and a <= q)
        ) or (s == 0 and not any(a <= p <= b for a, b in found)):
            return False
    return True


def finite_holds(document: Document) -> bool:
    sides = [range(ceil(F(s["lo"])), floor(F(s["hi"])) + 1) for s in document["domain"].values()]
    points = (dict(zip(document["domain"], map(number, p), strict=True)) for p in product(*sides))
    return all(within(document, value(document["core"], p)) for p in points)


def supremum_holds(document: Document) -> bool:
    def points(tree: Any) -> Any:
        if tree[0] == "leaf":
            yield {n: number(x) for n, x in tree[1][1].items()}
        else:
            yield from (p for part in tree[-2:] for p in points(part))

    inner = list(points(document["tree"]))
    for outer in places(document, 10):
        best = max(value(document["core"], {**outer, **p}) for p in inner)
        if best < number(document["bound"]) - SLACK or (
            document["strict"] and best == number(document["bound"])
        ):
            return False
    return True


LINE = [F(i, 8) for i in range(-80, 81)]


@lru_cache(maxsize=500)
def on_the_line(core: str) -> list[float]:
    return [float(value(json.loads(core), number(x))) for x in LINE]


def gates_hold(document: Document) -> bool:
    """No gate of many comes closer on the points of a line than the bound."""
    family, target = document["family"], on_the_line(json.dumps(document["core"]))
    bound, shift = float(F(document["bound"])), float(F(family["theta"] or 0))
    lines = []
    for end in (family["left"], family["right"]):
        m, n = float(F(end["slope"])), float(F(end["intercept"]))
        lines.append([(m, n + s * bound) for s in ((-1, -0.5, 0, 0.5, 1) if end["free"] else (0,))])
    for t in (0.2, 0.5, 1, 4, 9, *(k / 32 for k in range(48, 70))):
        for (m, b), (p, c) in product(*lines):
            gap = 0.0
            for x, f in zip(map(float, LINE), target, strict=True):
                share = 1 / (1 + exp(-t * (x - shift)))
                gap = max(gap, abs((m * x + b) * (1 - share) + (p * x + c) * share - f))
            # The line is a grid, so the true error is a little larger than what it shows.
            if gap * 1.01 < bound:
                return False
    return True


def several(text: str, domain: dict[str, Any], tree: Any, **more: Any) -> Document:
    document = make("x", 0, 1, lower=more.pop("lower", None), upper=more.pop("upper", None), pieces=1)
    document["core"] = json.loads(json.dumps(_tree(text)))
    document["formula_hash"] = hash_of(document["core"])
    document["domain"] = {n: {"lo": write(lo), "hi": write(hi)} for n, (lo, hi) in domain.items()}
    document["tails"] = {n: {"minus": None, "plus": None} for n in domain}
    return document | {"tree": tree} | more


def _tree(text: str) -> Any:
    from naive_certificates import tree_of

    return tree_of(text)


def root(text: str, lo: Any, hi: Any, tree: Any, roots: Any, *, complete: bool = True) -> Document:
    document = several(text, {"x": (lo, hi)}, tree, lower=0)
    del document["witnesses"]
    listed = [{"lo": write(a), "hi": write(b)} for a, b in roots]
    cuts = {"minus": "-4" if lo == "-oo" else None, "plus": "4" if hi == "oo" else None}
    conclusion = {"roots": listed, "complete": complete}
    return document | {"kind": "root", "conclusion": conclusion, "tails": {"x": cuts}}


def finite(text: str, domain: dict[str, Any], **bounds: Any) -> Document:
    document = several(text, domain, None, **bounds)
    return {k: v for k, v in document.items() if k not in ("tails", "tree", "witnesses")} | {"kind": "finite"}


def supremum(text: str, inner: list[str], domain: dict[str, Any], bound: Any, tree: Any) -> Document:
    document = several(text, domain, tree, lower=0)
    kept = {k: v for k, v in document.items() if k not in ("tails", "witnesses", "conclusion")}
    return kept | {
        "kind": "parameter-lower-bound",
        "family": None,
        "inner": inner,
        "bound": write(bound),
        "strict": False,
    }


def gate(**family: Any) -> Document:
    found = lower_bound(expand(parse_expr("gelu(x)")), "x", 2, digits=3, **family).certificate
    assert found is not None
    document: Document = json.loads(json.dumps(found))
    return document


def leaf(rule: Any) -> list[Any]:
    return ["leaf", rule]


ROOT2 = (F("1.41421356237309504880"), F("1.41421356237309504881"))
FACES = ["split", "y", "1", leaf(["face", "x", "natural"]), leaf(["face", "x", ["taylor", 3, "y"]])]
BELL = ["split", "x", "0", *[leaf(["taylor", 8])] * 2]
SIDES = ["split", "t", "0", *[leaf(["at", {"x": x}, "natural"]) for x in ("1", "-1")]]
ABOVE = ["split", "x", "3/4", leaf("natural"), leaf(["root", "3/4", "3/2", 4])]
MIDDLE = ["split", "x", "1/2", leaf(["zero", "0", 1, 5]), ABOVE]
THREE = ["split", "x", "-3/4", leaf(["root", "-1", "-1", 6]), ["split", "x", "-1/2", leaf("natural"), MIDDLE]]
CASES: list[tuple[Document, Callable[[Document], bool]]] = [
    (several("x*(1 + y**2) + y/4", {"x": (0, 2), "y": (0, 2)}, FACES, lower=0, upper=11,
             witnesses=[{"at": {"x": "2", "y": "2"}, "lower": "21/2", "upper": "21/2"}]), range_holds),
    (several("x*y - x**2/8", {"x": (-1, 1), "y": (1, 2)}, ["split", "x", "0", leaf("mean"), leaf(
        ["bounds", "natural", "mean"])], lower=-4, upper=4), range_holds),
    (several("exp(x/4)", {"x": (-2, 2)}, BELL, lower=F("4.1687"), upper=F("4.1689"), kind="integral"),
     integral_holds),  # 8 sinh(1/2) = 4.16876...
    (several("x**2*exp(-x)", {"x": (0, "oo")}, ["split", "x", "4", *[leaf(["taylor", 16])] * 2],
             lower=F(19, 10), upper=F(22, 10), kind="integral", tails={"x": {"minus": None, "plus": "9"}}),
     integral_holds),
    (root("x**2 - 2", 1, "oo", ["split", "x", "3", leaf(["root", *map(write, ROOT2), 4]), leaf("natural")],
          [ROOT2]), roots_hold),
    (root("x**3 - x", -2, 2, THREE, [(-1, -1), (0, 0), (F(3, 4), F(3, 2))]), roots_hold),
    (root("(x - 1/3)**2*(2 + x)", 0, F(1, 2), leaf(["zero", "1/3", 2, 4]), [(F(1, 3), F(1, 3))]), roots_hold),
    (root("x**3 - 2", "-oo", "oo", None, [(F(5, 4), F(13, 10))], complete=False), roots_hold),
    (finite("n**2/3 - n", {"n": (-3, 4)}, lower=F(-2, 3), upper=6), finite_holds),
    (finite("(-1)**n*m", {"n": (0, 3), "m": (1, 2)}, lower=-2, upper=2), finite_holds),
    (supremum("abs(x - t)", ["x"], {"t": (-1, 1)}, 1, SIDES), supremum_holds),
    (gate(left=F(0), right=F(0), theta=F(0)), gates_hold),
    (gate(left=F(0), right=F(0)), gates_hold),
]  # fmt: skip


def parts(item: Any, way: tuple[Any, ...] = ()) -> Any:
    """All places of a document."""
    yield way, item
    inner = item.items() if isinstance(item, dict) else enumerate(item) if isinstance(item, list) else ()
    for key, part in inner:
        yield from parts(part, (*way, key))


def put(document: Any, way: Any, new: Any) -> None:
    for step in way[:-1]:
        document = document[step]
    document[way[-1]] = new


def is_number(item: Any) -> bool:
    try:
        rational(item)
    except Exception:
        return False
    return isinstance(item, str)


def move_a_number(document: Document, dice: random.Random) -> None:
    """By 1e-9, or by much, or to a number that stands elsewhere."""
    numbers = [(way, item) for way, item in parts(document) if is_number(item)]
    way, item = dice.choice(numbers)
    step = dice.choice([F(1, 10**9), F(1, 10), F(1)]) * dice.choice([-1, 1])
    put(document, way, dice.choice([write(F(item) + step), write(-F(item)), dice.choice(numbers)[1]]))
    if "core" in way and dice.random() < 0.9:
        document["formula_hash"] = hash_of(document["core"])


def tighten(document: Document, dice: random.Random) -> None:
    """A bound or an end of a root goes inward by 1e-9 or more."""
    keys = {"lower": 1, "upper": -1, "bound": 1, "lo": 1, "hi": -1}
    found = [(w, v) for w, v in parts(document) if w and w[-1] in keys and is_number(v)]
    way, item = dice.choice(found)
    size = dice.choice([F(1, 10**9), F(1, 10**6), F(1, 100), F(1)])
    put(document, way, write(F(item) + keys[way[-1]] * size))


def change_tree(document: Document, dice: random.Random) -> None:
    splits = [(w, v) for w, v in parts(document) if isinstance(v, list) and v and v[0] in ("split", "leaf")]
    if splits:
        way, node = dice.choice(splits)
        other = dice.choice(splits)[1]
        new = [node[-1], node[-2], other, ["leaf", "natural"], ["leaf", ["taylor", 2]], None, node[:-1]]
        put(document, way, json.loads(json.dumps(dice.choice(new))))


def change_whole_number(document: Document, dice: random.Random) -> None:
    found = [(w, v) for w, v in parts(document) if type(v) in (int, bool)]
    way, item = dice.choice(found)
    put(document, way, dice.choice([item + 1, item - 1, not item, 0, float(item), None, "1"]))


def change_a_word(document: Document, dice: random.Random) -> None:
    words = [
        "add",
        "mul",
        "exp",
        "abs",
        "root",
        "zero",
        "monotone",
        "natural",
        "mean",
        "face",
        "x",
        "y",
        "t",
        "oo",
        "nan",
    ]
    way, _ = dice.choice([(w, v) for w, v in parts(document) if isinstance(v, str) and w[0] != "text"])
    put(document, way, dice.choice(words))
    if "core" in way:
        document["formula_hash"] = hash_of(document["core"])


def exchange(document: Document, dice: random.Random) -> None:
    found = [(w, v) for w, v in parts(document) if w]
    put(document, dice.choice(found)[0], json.loads(json.dumps(dice.choice(found)[1])))
    document["formula_hash"] = hash_of(document["core"]) if "core" in document else ""


def drop(document: Document, dice: random.Random) -> None:
    way, _ = dice.choice([(w, v) for w, v in parts(document) if w])
    place: Any = document
    for step in way[:-1]:
        place = place[step]
    del place[way[-1]]


def no_number(document: Document, dice: random.Random) -> None:
    way, _ = dice.choice([(w, v) for w, v in parts(document) if is_number(v)])
    put(document, way, dice.choice([float("nan"), float("inf"), "nan", "1/0", 0.5, ""]))


def truncate(document: Document, dice: random.Random) -> None:
    lists = [(w, v) for w, v in parts(document) if isinstance(v, list) and v]
    way, item = dice.choice(lists)
    put(document, way, item[: dice.randrange(len(item))])


DAMAGE: list[Callable[[Document, random.Random], None]] = [
    move_a_number, tighten, change_tree, change_whole_number, change_a_word, exchange, drop, no_number,
    truncate, move_a_number, tighten, change_tree,
]  # fmt: skip
