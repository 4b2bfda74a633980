"""Root certificates looked at without thought: what each leaf claims is sampled with mpmath."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath as mp
from naive_certificates import hash_of, number, value

F = Fraction
SAMPLES = 8


def objection(document: dict[str, Any]) -> str | None:
    """What samples say against a document, or None."""
    if document["kind"] == "composite":
        return next((o for o in map(objection, document["parts"]) if o is not None), None)
    assert document["kind"] == "root"
    assert document["version"] == 1
    assert document["formula_hash"] == hash_of(document["core"])
    ((name, ends),) = document["domain"].items()
    cuts = document["tails"].get(name, {"minus": None, "plus": None})
    lo = F(cuts["minus"] if ends["lo"] == "-oo" else ends["lo"])
    hi = F(cuts["plus"] if ends["hi"] == "oo" else ends["hi"])
    roots = [(F(r["lo"]), F(r["hi"])) for r in document["conclusion"]["roots"]]
    if any(b[0] <= a[1] for a, b in pairwise(roots)):
        return "roots are not ascending and apart"
    with mp.workdps(document["bits"] // 3 + 30):
        f = lambda q: value(document["core"], number(q))  # noqa: E731
        if not document["conclusion"]["complete"]:
            return (
                None
                if document["tree"] is None and all(f(a) * f(b) < 0 for a, b in roots)
                else "no change of sign"
            )
        for cut, side in ((cuts["minus"], -1), (cuts["plus"], 1)):
            if cut is not None and len({mp.sign(f(F(cut) + side * k)) for k in (0, F(1, 3), 1, 2)}) > 1:
                return "two signs in a tail"
        named: set[tuple[F, F]] = set()
        against = _tree(document["tree"], lo, hi, f, named)
    return against or (None if sorted(named) == roots else "the leaves name other roots")


def _tree(tree: Any, lo: F, hi: F, f: Any, named: set[tuple[F, F]]) -> str | None:
    if tree[0] == "split":
        at = F(tree[2])
        if not lo < at < hi:
            return "a split outside of its box"
        return _tree(tree[3], lo, at, f, named) or _tree(tree[4], at, hi, f, named)
    rule = tree[1]
    grid = [lo + (hi - lo) * F(k, SAMPLES) for k in range(SAMPLES + 1)]
    values = [f(x) for x in grid]
    steps = {mp.sign(b - a) for a, b in pairwise(values)}
    where = f"{rule[0] if isinstance(rule, list) else rule} on [{lo}, {hi}]"
    if rule == "natural" or rule[0] == "taylor":
        return None if len({mp.sign(v) for v in values}) == 1 and 0 not in values else where
    if rule[0] == "monotone":
        return None if len(steps) == 1 and values[0] * values[-1] > 0 else where
    if rule[0] == "root":
        a, b = F(rule[1]), F(rule[2])
        named.add((a, b))
        crossed = f(a) == 0 if a == b else f(a) * f(b) < 0
        return None if lo <= a <= b <= hi and len(steps) == 1 and crossed else where
    assert rule[0] == "zero"
    c, order = F(rule[1]), rule[2]
    named.add((c, c))
    elsewhere = all(v != 0 or x == c for x, v in zip(grid, values, strict=True))
    h = F(1, 10**8)
    small = abs(f(c + h)) < number(h) ** (order - 1)
    return None if lo <= c <= hi and f(c) == 0 and elsewhere and small and rule[3] >= order else where
