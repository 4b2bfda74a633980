"""Witnesses and weights that a box of sharpness is likely to need, found in floats.

For fixed sharpness the best weights solve a linear programme with one column for each witness and
sign. Its dual is a gate; where that gate's error is largest new witnesses are put, so that they
gather at the points where the error equioscillates. On a box the rows are taken at both ends:
the weights then also balance the derivative by the sharpness, and the bound is off by the square
of the width only. Nothing here is trusted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from math import exp, inf, isfinite
from operator import mul

from gateproof.numerics.lower_bound_family import Family
from gateproof.numerics.lower_bound_points import Target, rounded
from gateproof.numerics.lower_bound_simplex import Game, solve

#: Rounds of new witnesses for one programme.
ROUNDS = 10
#: Peaks lower by this share of the error are followed as well: they may be higher than the parabola says.
NEAR = 0.02
#: Columns that enter a programme at once.
MOST_NEW = 8


@dataclass(frozen=True)
class Proposal:
    """A programme's solution: value, weights (by witness), the witnesses in use, and the pivots made.

    ``hopeless``: the dual gate has error at most e at all the places that were looked at.
    """

    game: Game
    weights: tuple[tuple[float, float], ...]
    hopeless: bool
    pivots: int

    @property
    def active(self) -> tuple[float, ...]:
        """The witnesses with a weight."""
        return tuple(x for x, _ in self.weights)


class Programme:
    """The programme of one error e and some sharpnesses, over a growing list of witnesses."""

    def __init__(
        self, family: Family, target: Target, sharpness: Sequence[float], extra: Iterable[float] = ()
    ) -> None:
        self.family, self.target, self.sharpness = family, target, sharpness
        self.centre = sum(sharpness) / len(sharpness)
        self.shift = float(family.theta or 0)
        self.modes = [(float(m.rate), float(m.slope), float(m.intercept)) for m in family.modes]
        index = {m: k for k, m in enumerate(family.modes)}
        once = {k for k, m in enumerate(family.modes) if m.rate == 0}
        self.rows = [
            (at, [(index[m], sign) for m, sign in row])
            for row in family.rows
            for at in (sharpness[:1] if index[row[0][0]] in once else sharpness)
        ]
        self.points: list[float] = []
        self._parts: list[list[list[tuple[float, float, float]]]] = []
        self._scales: list[float] = []
        for x in dict.fromkeys((*target.grid, *extra)):
            self._add(x)
        self._arrange()
        inherited = set(extra)
        stride = max(1, len(self.points) // 16)
        self._first = {
            2 * k + side
            for k, x in enumerate(self.points)
            if k % stride == 0 or x in inherited
            for side in (0, 1)
        }
        self._use = set(self._first)
        self.gains: list[float] = []

    def _entries(self, x: float) -> tuple[list[list[tuple[float, float, float]]], float]:
        """For each row its parts (factor, residual, sign), and the scale that keeps the factors moderate."""
        f = self.target.value(x)
        z = x - self.shift
        top = max(w * self.centre * z for w, _, _ in self.modes)
        scale = sum(exp(w * self.centre * z - top) for w, _, _ in self.modes)
        parts = []
        for at, row in self.rows:
            part = []
            for k, sign in row:
                w, m, n = self.modes[k]
                part.append((exp(min(600.0, w * at * z - top)) / scale, f - m * x - n, float(sign)))
            parts.append(part)
        return parts, exp(min(600.0, top)) * scale

    def _add(self, x: float) -> bool:
        try:
            parts, scale = self._entries(x)
        except (ArithmeticError, ValueError):
            return False
        if not all(isfinite(r) for part in parts for _, r, _ in part):
            return False
        self.points.append(x)
        self._parts.append(parts)
        self._scales.append(scale)
        return True

    def _gain(self, game: Game, x: float, side: int, e: float) -> float:
        """What a unit of weight at x of this sign would add to the row mixture."""
        parts, scale = self._entries(x)
        total = sum(
            mu * sum(g * (side * (r - s * e) - e) for g, r, s in part)
            for mu, part in zip(game.mixture, parts, strict=True)
            if mu
        )
        if self.family.middle:
            total -= side * (game.lines[0] + game.lines[1] * x) / scale
        return total

    def game(self, e: float) -> Game | None:
        """The solution for the witnesses so far, by column generation.

        Column 2k is a positive weight at point k, column 2k + 1 a negative one.
        """
        columns = [self._column(k, side, e) for k in range(len(self.points)) for side in (1, -1)]
        size, pivots = len(self.rows), 0
        while True:
            use = sorted(self._use)
            rows = [[columns[j][r] for j in use] for r in range(size)]
            zeros = [[columns[j][r] for j in use] for r in range(size, len(columns[0]))]
            game = solve(rows, zeros)
            if game is None:
                return None
            pivots += game.pivots
            prices = game.mixture + [-u for u in game.lines]
            self.gains = [sum(map(mul, prices, c)) for c in columns]
            fresh = [
                j
                for j, g in enumerate(self.gains)
                if g > game.value + 1e-13 and j not in self._use and self._peak(j)
            ]
            if not fresh:
                named = {use[j]: v for j, v in game.weights.items()}
                self._use = set(named) | self._first
                return Game(game.value, named, game.mixture, game.lines, pivots)
            self._use.update(sorted(fresh, key=lambda j: -self.gains[j])[:MOST_NEW])

    def _column(self, k: int, side: int, e: float) -> list[float]:
        column = [sum(g * (side * (r - s * e) - e) for g, r, s in part) for part in self._parts[k]]
        if self.family.middle:
            one = side / self._scales[k]
            column += [one, self.points[k] * one]
        return column

    def _peak(self, j: int) -> bool:
        """Whether no neighbour of the same sign gains more."""
        before, after = self._beside(j)
        here = self.gains[j]
        return (before is None or self.gains[before] <= here) and (after is None or self.gains[after] <= here)

    def _beside(self, j: int) -> tuple[int | None, int | None]:
        """The columns of the same sign at the next points left and right."""
        k, side = divmod(j, 2)
        place = self._place[k]
        before = 2 * self._order[place - 1] + side if place else None
        after = 2 * self._order[place + 1] + side if place + 1 < len(self._order) else None
        return before, after

    def solve(self, e: float, rounds: int = ROUNDS) -> Proposal | None:
        """The programme with new witnesses where its gate's error is largest, until its value is positive."""
        pivots, before = 0, inf
        for round_ in count():
            game = self.game(e)
            if game is None:
                return None
            pivots += game.pivots
            if game.value > 0 or round_ == rounds:
                return self._proposal(game, pivots, hopeless=False)
            settled = abs(game.value - before) <= -game.value / 4
            before = game.value
            best, fresh = self.refine(game, e)
            if (best <= 0 and settled) or not fresh:
                return self._proposal(game, pivots, hopeless=best <= 0)
        return None

    def refine(self, game: Game, e: float) -> tuple[float, int]:
        """Add witnesses at the peaks of the gain, by parabolas: the largest gain seen, and how many."""
        best, known, fresh = game.value, set(self.points), []
        for j, here in enumerate(self.gains):
            before, after = self._beside(j)
            if before is None or after is None or not self._peak(j):
                continue
            x, left, right = self.points[j // 2], self.points[before // 2], self.points[after // 2]
            down, up = here - self.gains[before], here - self.gains[after]
            a, b = x - left, right - x
            bend = down * b + up * a
            if bend <= 0 or here + (down + up) < game.value:
                continue
            at = rounded(x + (down * b * b - up * a * a) / (2 * bend))
            gain = self._gain(game, at, 1 - 2 * (j % 2), e)
            best = max(best, gain)
            if gain > game.value - NEAR * e and at not in known:
                known.add(at)
                fresh.append(at)
        added = sum(self._add(x) for x in fresh)
        self._arrange()
        return best, added

    def _arrange(self) -> None:
        self._order = sorted(range(len(self.points)), key=self.points.__getitem__)
        self._place = {k: i for i, k in enumerate(self._order)}

    def _proposal(self, game: Game, pivots: int, *, hopeless: bool) -> Proposal:
        total: dict[int, float] = {}
        for column, v in game.weights.items():
            k, side = divmod(column, 2)
            total[k] = total.get(k, 0.0) + (-v if side else v) / self._scales[k]
        found = tuple((self.points[k], v) for k, v in sorted(total.items()) if v)
        return Proposal(game, found, hopeless, pivots)

    def error(self, rounds: int = ROUNDS) -> tuple[float, float, int] | None:
        """The least error at the (one) sharpness, its derivative by it, and the pivots; None if not found.

        Dinkelbach's iteration from above: the gate of the last programme has a smaller error.
        """
        e, pivots = 1.0, 0
        game = self.game(e)
        while game is not None and game.value > 0 and e < 1e6:
            e *= 4
            game = self.game(e)
        for _ in range(40):
            if game is None:
                return None
            pivots += game.pivots
            new = self._ratio(game, e)
            if rounds and abs(new - e) <= e / 100:
                rounds = rounds - 1 if self.refine(game, e)[1] else 0
            elif abs(new - e) <= 1e-13 * e:
                break
            e = new
            game = self.game(e)
        return None if game is None else (e, self._slope(game, e), pivots)

    def _ratio(self, game: Game, e: float) -> float:
        """The error of the game's gate at the witnesses."""
        best, prices = 0.0, game.mixture + [-u for u in game.lines]
        for k in range(len(self.points)):
            for side in (1, -1):
                here, there = (sum(map(mul, prices, self._column(k, side, u))) for u in (e, e + 1))
                if here > there:
                    best = max(best, e + here / (here - there))
        return best

    def _slope(self, game: Game, e: float) -> float:
        """The derivative of the least error, by the envelope theorem."""
        t = self.sharpness[0]
        values = []
        for at, err in ((t * (1 + 1e-6), e), (t * (1 - 1e-6), e), (t, e * (1 + 1e-6)), (t, e * (1 - 1e-6))):
            moved = Programme.__new__(Programme)
            moved.__dict__.update(self.__dict__)
            moved.rows = [(at, row) for _, row in self.rows]
            values.append(
                sum(
                    v * moved._gain(game, self.points[c // 2], 1 - 2 * (c % 2), err)
                    for c, v in game.weights.items()
                )
            )
        by_t = (values[0] - values[1]) / (2e-6 * t)
        by_e = (values[2] - values[3]) / (2e-6 * e) if e else 0.0
        return -by_t / by_e if by_e else 0.0
