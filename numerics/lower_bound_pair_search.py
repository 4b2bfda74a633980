"""The search for a lower bound over gates with two sharpnesses: boxes, cut until each of them is a leaf.

``Search.tree`` goes depth first through a part of one orientation. Nothing that is found in floats is
trusted: a leaf is what :func:`gateproof.numerics.lower_bound_pair.excludes` accepts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, product
from math import isqrt

from gateproof.numerics.certificate import ratio as text
from gateproof.numerics.lower_bound_pair import Leaf, Residual, excludes, rows
from gateproof.numerics.lower_bound_pair_programme import Entry, FloatRow, Pivots, factors, programme
from gateproof.numerics.lower_bound_pair_shapes import APART, FAR, SMALL, Box, Ratio, Side, empty

#: Witnesses.
GRID = tuple(
    sorted([Fraction(k, 4) for k in range(-16, 17)] + [Fraction(s * k) for k in (5, 6, 8) for s in (1, -1)])
)
#: Bits of a weight; a box with all sides below it (in its own units) is given up.
BITS, TINY = 20, 2.0**-9
#: An infinite side of t or d is cut up to there before anything else is.
OUT = {"cross": (4, 8), "beyond": (4, 4), "near": (4, 4)}
_0, _1 = Fraction(0), Fraction(1)
ALL: Side = (_0, None)
#: What has to be covered: FAR, SMALL and APART say how.
PARTS: tuple[Box, ...] = (
    Box("cross", (ALL, ALL, (_0, FAR))),
    Box("beyond", (ALL, (SMALL, None), (_0, _1))),
    Box("beyond", (ALL, (_0, SMALL), (_0, APART))),
    Box("near", (ALL, (_0, SMALL), (_0, 1 / FAR + SMALL))),
)
NAMES = ("t", "d", "place")
Tree = list[object]
Point = tuple[float, float, float]


@dataclass
class Search:
    """One orientation of one function against one bound."""

    residual: Residual
    bound: Fraction
    progress: Callable[[Search], None] = lambda _: None
    boxes: int = 0
    leaves: int = 0
    programmes: int = 0
    reason: str = ""
    _pool: list[Entry] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._pool = [
            (float(x), float(self.residual.value(x).mid()), float(self.residual.half(x))) for x in GRID
        ]

    def tree(self, box: Box) -> Tree | None:
        """The tree of a box, None where a part of it resists (``reason``)."""
        self.boxes += 1
        self.progress(self)
        cut: tuple[str, Fraction] | None = _outward(box) or _coarse(box)
        if cut is None:
            leaf, shares = self._leaf(box)
            if leaf is not None:
                self.leaves += 1
                weights = [[text(x), text(v)] for x, v in leaf.weights.items()]
                return ["leaf", weights, [text(x) for x in leaf.pivots]]
            cut = self._ratio(box) or _across(box, shares)
        if cut is None:
            sides = ", ".join(f"{n} near {float(s[0]):.6g}" for n, s in zip(NAMES, box.sides, strict=True))
            self.reason = f"a box too small to be split, {sides}"
            return None
        below, above = (self.tree(half) for half in halves(box, *cut))
        if below is None or above is None:
            return None
        return ["split", cut[0], text(cut[1]), below, above]

    def _leaf(self, box: Box) -> tuple[Leaf | None, Sequence[float] | None]:
        """A leaf that is accepted; else what the chord rule lacks on each side, where it came to that."""
        if empty(box):
            return Leaf({}, (_0, _0)), None
        wanted = [([float(c) for c in r], [float(s) for s in signs]) for r, signs in rows(box.ratio)]
        centre = tuple((s[0] + (s[0] + 1 if s[1] is None else s[1])) / 2 for s in box.sides)
        start = self._solved(box, [tuple(map(float, centre))], wanted)
        if start is None or start[0] <= 1e-8:
            return None, None
        corners = [tuple(map(float, c)) for c in product(*(_ends(s) for s in box.sides))]
        turns = {x: [factors(box, x, c)[2] for c in corners] for x in start[1]}
        able = [x for x in start[1] if _steady(turns[x])]
        if len(able) < 2:
            return None, None
        # The determinant of the conditions: pivots near each other extrapolate.
        size = {x: abs(start[1][x] * turns[x][0]) for x in able}
        pair = max(combinations(able, 2), key=lambda p: size[p[0]] * size[p[1]] * abs(p[0] - p[1]))
        first, second = (1 if start[1][x] > 0 else -1 for x in pair)
        found = self._solved(box, corners, wanted, Pivots(pair, (first, second), tuple(start[1])))
        if found is None or found[0] <= 1e-9 or not found[1]:
            return None, None
        top = max(map(abs, found[1].values()))
        weights = {Fraction(x): Fraction(round(v / top * 2**BITS), 2**BITS) for x, v in found[1].items()}
        leaf = Leaf({x: v for x, v in sorted(weights.items()) if v}, (Fraction(pair[0]), Fraction(pair[1])))
        held, shares = excludes(self.residual, self.bound, box, leaf)
        return (leaf if held else None), shares

    def _solved(
        self,
        box: Box,
        places: Sequence[Sequence[float]],
        wanted: Sequence[FloatRow],
        pivots: Pivots | None = None,
    ) -> tuple[float, dict[float, float]] | None:
        self.programmes += 1
        return programme(self._pool, self.bound, box, places, wanted, pivots)

    def _ratio(self, box: Box) -> tuple[str, Fraction] | None:
        """A cut of c1/c0, where it makes the centre's programme much better."""
        if box.chart != "cross" or any(s[1] is None for s in box.sides) or box.sides[0][0] >= 4:
            return None
        wide = max(_widths(box))
        cut = _ratio_cut(box.ratio)
        if wide > 0.35 or cut is None:
            return None
        centre = tuple(float(s[0] + s[1]) / 2 for s in box.sides if s[1] is not None)

        def value(ratio: Ratio) -> float:
            wanted = [([float(c) for c in r], [float(s) for s in signs]) for r, signs in rows(ratio)]
            found = self._solved(box, [centre], wanted)
            return -1.0 if found is None else found[0]

        now = value(box.ratio)
        trial = (
            [value(r) for r in _FIRST] if box.ratio is None else [value(r) for r in _parts(box.ratio, cut)]
        )
        return ("ratio", cut) if min(trial) > max((3 if wide > 0.1 else 1.4) * now, 1e-6) else None


def _steady(turns: Sequence[float]) -> bool:
    """Whether tanh z is far from 0 at all corners."""
    sizes = [abs(v) for v in turns]
    return (min(turns) > 0 or max(turns) < 0) and min(sizes) > max(sizes) / 5


def _ends(side: Side) -> tuple[Fraction, ...]:
    lo, hi = side
    return (lo, 4 * lo) if hi is None else (lo,) if lo == hi else (lo, hi)


def _units(box: Box) -> tuple[float, float, float]:
    """Lengths that count as wide."""
    (t, _), (d, _), _ = box.sides
    third = {"cross": 1.0, "beyond": 0.5, "near": 0.25}[box.chart]
    return 1.0 + float(t) / 4, 0.5 + float(d) / 2, third


def _widths(box: Box) -> list[float]:
    return [
        0.0 if s[1] is None else float(s[1] - s[0]) / u for s, u in zip(box.sides, _units(box), strict=True)
    ]


def _outward(box: Box) -> tuple[str, Fraction] | None:
    """The cut of an infinite side that is not far out yet."""
    for k in (0, 1):
        lo, hi = box.sides[k]
        if hi is None and lo < OUT[box.chart][k]:
            return NAMES[k], 2 * lo if lo >= (4, Fraction(1, 2))[k] else Fraction((4, Fraction(1, 2))[k])
    return None


def _coarse(box: Box) -> tuple[str, Fraction] | None:
    return _across(box, None) if max(_widths(box)) > 1 else None


def _across(box: Box, shares: Sequence[float] | None) -> tuple[str, Fraction] | None:
    """The middle of the side that lacks most, or of the widest; None where all are tiny."""
    widths = _widths(box)
    k = next((j for j in (0, 1) if box.sides[j][1] is None), None)
    if k is not None and max(widths) < (0.2 if box.sides[k][0] < 16 else 2.0**-7):
        return NAMES[k], 2 * box.sides[k][0]
    if max(widths) < TINY:
        return None
    measure = widths if shares is None or not any(shares) else shares
    k = max(range(3), key=lambda j: (measure[j], widths[j]))
    lo, hi = box.sides[k]
    return None if hi is None else (NAMES[k], (lo + hi) / 2)


_FIRST: tuple[Side, ...] = tuple(
    zip(
        (_0, *(Fraction(2) ** k for k in range(-2, 3))),
        (*(Fraction(2) ** k for k in range(-2, 3)), None),
        strict=True,
    )
)


def _ratio_cut(ratio: Ratio) -> Fraction | None:
    if ratio is None:
        return _1
    lo, hi = ratio
    if hi is None:
        return 4 * lo if lo < 64 else None
    if not lo:
        return hi / 4 if hi > Fraction(1, 64) else None
    if hi < lo * Fraction(33, 32):
        return None
    return Fraction(isqrt(int(lo * hi * 2**20)), 2**10) if hi > 2 * lo else (lo + hi) / 2


def _parts(ratio: Side, cut: Fraction) -> tuple[Side, Side]:
    return (ratio[0], cut), (cut, ratio[1])


def halves(box: Box, name: str, cut: Fraction) -> tuple[Box, Box]:
    """The parts of a box below and above a cut."""
    if name == "ratio":
        low, high = _parts(box.ratio or ALL, cut)
        return Box(box.chart, box.sides, low), Box(box.chart, box.sides, high)
    k = NAMES.index(name)

    def put(side: Side) -> Box:
        first, second, third = (side if j == k else s for j, s in enumerate(box.sides))
        return Box(box.chart, (first, second, third), box.ratio)

    lo, hi = box.sides[k]
    return put((lo, cut)), put((cut, hi))
