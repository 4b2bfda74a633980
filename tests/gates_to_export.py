"""Gates of every kind, and their exact values from the definitions at many digits."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

import mpmath as mp

from gateproof.numerics.fits.exports.form import Form
from gateproof.numerics.points import enclosure
from gateproof.theory.formula import expand, parse_expr
from gateproof.theory.formula.nodes import Const, Expr, Num
from gateproof.theory.gate import Gate

OO = Const("oo")
DIGITS = 60


def gate(tau: Sequence[object], theta: Sequence[object], slope: Sequence[object], intercept: Sequence[object],
         algebra: str = "difference") -> Gate:  # fmt: skip
    """A gate from texts and numbers."""
    return Gate(*(tuple(number(v) for v in part) for part in (tau, theta, slope, intercept)), algebra)


def number(value: object) -> Expr:
    return OO if value == "oo" else expand(parse_expr(str(value)))


def drawn(seed: int) -> Gate:
    """A random gate: K up to 16, three algebras, soft, hard, mixed, shared or free, scales 1e-6 to 1e6."""
    r = random.Random(seed)
    n = r.choice([1, 2, 2, 3, 3, 4, 5, 8, 16])
    algebra = r.choice(["difference", "stick", "softmax"])
    scale, height = (10.0 ** r.choice([0, 0, 0, -6, 6]) for _ in range(2))
    sharpness = r.choice(["shared", "free", "hard", "mixed"])
    if algebra == "softmax" and sharpness in ("hard", "mixed"):
        sharpness = "free"
    theta = sorted(decimal(r.gauss(0, 2) * scale) for _ in range(n - 1))
    one = decimal(10 ** r.uniform(-1, 1.2) / scale)
    tau = [one if sharpness == "shared" else decimal(10 ** r.uniform(-1, 1.2) / scale) for _ in range(n - 1)]
    kinds = [sharpness == "hard" or (sharpness == "mixed" and r.random() < 0.5) for _ in tau]
    slope = [
        Fraction(r.choice([0, 0, 1, 1, -1])) if r.random() < 0.4 else decimal(r.gauss(0, 1)) for _ in range(n)
    ]
    intercept = [Fraction(0) if r.random() < 0.3 else decimal(r.gauss(0, 1)) for _ in range(n)]
    return Gate(
        tuple(OO if hard else Num(t) for hard, t in zip(kinds, tau, strict=True)),
        tuple(Num(t) for t in theta),
        tuple(Num(s * decimal(height / scale)) for s in slope),
        tuple(Num(c * decimal(height)) for c in intercept),
        algebra,
    )


def decimal(value: float) -> Fraction:
    """The number that a float prints as."""
    return Fraction(repr(float(f"{value:.12g}")))


def named() -> dict[str, Gate]:
    """Gates with something special."""
    free = gate(["1.3", "7"], [-2, "1/2"], [0, "0.3", 1], ["0.1", "-0.2", 0])
    return {
        "line": gate([], [], ["0.25"], [-1]),
        "constant": gate([], [], [0], ["pi"]),
        "zero": gate([], [], [0], [0]),
        "silu": gate([1], [0], [0, 1], [0, 0]),
        "tanh": gate([2], [0], [0, 0], [-1, 1]),
        "relu": gate(["oo"], [0], [0, 1], [0, 0]),
        "step": gate(["oo"], ["1/3"], [0, 0], [0, 1]),
        "hard_tanh": gate(["oo", "oo"], [-1, 1], [0, 1, 0], [-1, 0, 1]),
        "symbolic": gate(
            ["sqrt(2)", "sqrt(2)"], ["-pi/4", "1/3"], ["-pi/2", "1/7", "pi/2"], [-1, "exp(1)", -1]
        ),
        "free": free,
        "crossing": gate([1, 9], [-1, "-0.9"], [1, -3, 0], [0, 2, 5]),
        "mixed": gate(["oo", 2, "oo"], [-1, 0, "0.7"], [0, 1, "0.5", -1], [1, 0, -2, 0]),
        "unordered": gate([2, 2], [1, -1], [0, 1, 0], [3, 0, -3]),
        "far_away": gate([1, 1], ["1000000.3", "1000002.1"], [0, "0.4", 1], [0, "-400000", "-1000000"]),
        "wide": gate(["1e-6"], [0], [0, 1], [0, 0]),
        "narrow": gate(["1e6"], ["1e-6"], [0, 1], [0, "-1e-6"]),
        "stick": Gate(free.tau, free.theta, free.slope, free.intercept, "stick"),
        "softmax": Gate(free.tau, free.theta, free.slope, free.intercept, "softmax"),
    }


class Exact:
    """The gate's value, and the scale A(x) of its lines, from the definitions; independent of the exports."""

    def __init__(self, gate: Gate) -> None:
        self.algebra = gate.algebra
        with mp.workdps(DIGITS):
            self.hard = [t == OO for t in gate.tau]
            self.tau = [mp.mpf(1) if h else real(t) for t, h in zip(gate.tau, self.hard, strict=True)]
            self.theta, self.slope, self.intercept = (
                [real(v) for v in part] for part in (gate.theta, gate.slope, gate.intercept)
            )

    def weights(self, x: mp.mpf) -> list[mp.mpf]:
        z = [t * (x - h) for t, h in zip(self.tau, self.theta, strict=True)]
        up = [
            mp.mpf(x > h) if hard else 1 / (1 + mp.exp(-u))
            for u, h, hard in zip(z, self.theta, self.hard, strict=True)
        ]
        n = len(self.slope)
        if self.algebra == "difference":
            above = [mp.mpf(1), *up, mp.mpf(0)]
            return [above[k] - above[k + 1] for k in range(n)]
        if self.algebra == "stick":
            return [mp.fprod(up[:k]) * (1 - up[k] if k < n - 1 else 1) for k in range(n)]
        powers = [mp.exp(mp.fsum(z[:k])) for k in range(n)]
        return [p / mp.fsum(powers) for p in powers]

    def __call__(self, x: float) -> mp.mpf:
        with mp.workdps(DIGITS):
            at = mp.mpf(x)
            lines = [s * at + c for s, c in zip(self.slope, self.intercept, strict=True)]
            return mp.fsum(w * y for w, y in zip(self.weights(at), lines, strict=True))

    def size(self, x: float, centre: float = 0.0) -> mp.mpf:
        """A(x): the largest |slope t| + |intercept at the centre|."""
        with mp.workdps(DIGITS):
            t, h = mp.mpf(x) - mp.mpf(centre), mp.mpf(centre)
            return max(abs(s * t) + abs(c + s * h) for s, c in zip(self.slope, self.intercept, strict=True))

    def at_infinity(self, sign: int) -> float:
        """The limit of the outer line."""
        k = -1 if sign > 0 else 0
        slope = self.slope[k]
        return float(self.intercept[k]) if slope == 0 else float(mp.sign(slope) * sign * mp.inf)


def real(node: Expr) -> mp.mpf:
    lo, hi = (node.value, node.value) if isinstance(node, Num) else enclosure(node, 512)
    with mp.workdps(DIGITS):
        return mp.mpf((lo + hi).numerator) / (lo + hi).denominator / 2


def points(gate: Gate, seed: int = 0, most: int = 40) -> list[float]:
    """Where a gate may go wrong: its thresholds and beside them, its scale, 0, far out on both sides."""
    import math

    r = random.Random(seed)
    theta = [float(real(t)) for t in gate.theta]
    widths = [1 / float(real(t)) for t in gate.tau if t != OO]
    width, spread = (min(widths) if widths else 1.0), max([1.0, *map(abs, theta), *widths])
    found = [0.0, 1.0, -1.0, spread * 100, -spread * 100, 1e15, -1e15]
    for t in theta:
        found += [t, math.nextafter(t, math.inf), math.nextafter(t, -math.inf), t + width, t - 3 * width]
    r.shuffle(found)
    middle = r.choice(theta) if theta else 0.0
    return found[:most] + [
        middle + r.gauss(0, 1) * r.choice([width, spread, 30 * width]) for _ in range(most // 2)
    ]


def zoo(random_gates: int = 25, first: int = 0) -> dict[str, Gate]:
    """The named gates and drawn ones."""
    return {**named(), **{f"drawn_{s}": drawn(s) for s in range(first, first + random_gates)}}


#: What each export is run at besides its points.
SPECIAL = [float("inf"), float("-inf"), float("nan"), -0.0, 5e-324, 1.7e308, -1.7e308]


def wrong(exact: Exact, form: Form, x: float, got: float, slack: int = 1) -> str:
    """What is wrong with a value, '' if nothing; the stated rounding is allowed ``slack`` times."""
    unit, least = mp.mpf(2) ** -form.floating.digits, mp.mpf(2) ** form.floating.least
    if mp.isnan(x):
        return "" if mp.isnan(got) else f"NaN gives {got}"
    if mp.isinf(x):
        want = exact.at_infinity(1 if x > 0 else -1)
        good = got == want or abs(got - want) <= unit * abs(want)
        return "" if good else f"{x} gives {got}, not {want}"
    with mp.workdps(DIGITS):
        size = exact.size(x, form.centre)
        # A gate that underflows loses a quantum of itself.
        allowed = slack * form.rounding * unit * size + 4 * form.branches * least * (1 + size)
        want, largest = exact(x), mp.mpf(form.floating.largest.numerator)
        if abs(want) > largest:
            return "" if got == mp.sign(want) * mp.inf else f"{x} gives {got} past the largest number"
        off = abs(mp.mpf(got) - want)
        if off <= allowed:
            return ""
        return f"{x} gives {got}, exact {mp.nstr(want, 20)}, {mp.nstr(off / allowed, 4)} of what is allowed"
